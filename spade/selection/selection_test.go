package selection_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
)

func read(t *testing.T, text string) *matrix.Matrix {
	t.Helper()
	m, mistakes := matrix.Read("matrix.csv", strings.NewReader(text))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

const small = `id,label,short,polite,cites,never,always
a,1,1,1,1,1,0
b,good,1,1,0,1,0
c,1,1,1,1,1,0
d,1,1,1,1,1,0
e,0,0,1,1,1,0
f,bad,1,0,0,1,0
g,0,1,0,1,1,0
h,,1,0,1,1,0
`

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		o       selection.Options
		implies []candidate.Implication
		want    string
		status  string
	}{
		{name: "all", o: selection.Options{Method: "all", Alpha: 1, Tau: 0.25}, want: "short polite cites never always", status: "optimal"},
		{name: "base", o: selection.Options{Method: "base", Alpha: 1, Tau: 0.25}, want: "short polite cites never", status: "optimal"},
		{name: "cov", o: selection.Options{Method: "cov", Alpha: 1, Tau: 0}, want: "short polite", status: "optimal"},
		{name: "cov, less is enough", o: selection.Options{Method: "cov", Alpha: 0.6, Tau: 0.25}, want: "polite", status: "optimal"},
		{name: "sub", o: selection.Options{Method: "sub", Alpha: 0.6, Tau: 0.25}, implies: []candidate.Implication{{A: "polite", B: "cites"}, {A: "short", B: "never"}}, want: "short polite", status: "optimal"},
		{name: "infeasible", o: selection.Options{Method: "cov", Alpha: 1, Tau: 0}, want: "", status: "infeasible"},
		{name: "none", o: selection.Options{Method: "none"}, implies: []candidate.Implication{{A: "polite", B: "cites"}, {A: "cites", B: "short"}, {A: "never", B: "always"}, {A: "always", B: "never"}}, want: "polite never", status: "optimal"},
		{name: "cost", o: selection.Options{Method: "cov", Alpha: 0.3, Tau: 0.25, Cost: map[string]int{"polite": 5, "short": 2}}, want: "cites", status: "optimal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := small
			if c.name == "infeasible" {
				text = strings.Replace(small, "g,0,1,0", "g,0,1,1", 1)
			}
			m := read(t, text)
			if m.Unlabeled != 1 {
				t.Errorf("%d rows without a label, want 1", m.Unlabeled)
			}
			s, err := selection.Select(context.Background(), m, c.implies, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Selected(), " "); got != c.want || s.Answer.Status.String() != c.status {
				t.Errorf("%s: %q, want %s: %q", s.Answer.Status, got, c.status, c.want)
			}
			data, err := s.JSON(time.Millisecond)
			if err != nil || !json.Valid(data) {
				t.Errorf("JSON: %s, %v", data, err)
			}
		})
	}
}

func TestSelectExplainsWhatCannotBe(t *testing.T) {
	t.Parallel()
	m := read(t, strings.Replace(small, "g,0,1,0", "g,0,1,1", 1))
	s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "sub", Alpha: 1, Tau: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	if s.Answer.Best != 2 || !s.Answer.BestProven || strings.Join(s.Uncaught, " ") != "g" {
		t.Errorf("best %d (proven %v), uncaught %v", s.Answer.Best, s.Answer.BestProven, s.Uncaught)
	}
}

func TestUndecidedCells(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,x\na,1,\nb,1,1\nc,0,0\n")
	for undecided, want := range map[string]int{"": 1, "bound": 1, "fail": 1, "ignore": 0} {
		s, err := selection.Select(context.Background(), m, nil, selection.Options{Method: "all", Undecided: undecided})
		if err != nil {
			t.Fatal(err)
		}
		if s.Answer.False != want {
			t.Errorf("undecided %q: %d false failures, want %d", undecided, s.Answer.False, want)
		}
	}
}

func TestUpperBoundOfFalseFailures(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,x\n"+strings.Repeat("g,1,1\n", 0)+rows(40, "1", 2)+rows(10, "0", 10))
	o := selection.Options{Method: "cov", Alpha: 0.5, Tau: 0.1}
	for confidence, want := range map[float64]string{0: "optimal", 0.9: "infeasible"} {
		o.FFRConfidence = confidence
		s, err := selection.Select(context.Background(), m, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Answer.Status.String(); got != want {
			t.Errorf("confidence %v: %s, want %s", confidence, got, want)
		}
	}
}

// rows returns n examples with one label, some of which x fails.
func rows(n int, label string, fails int) string {
	var b strings.Builder
	for i := range n {
		cell := "1"
		if i < fails {
			cell = "0"
		}
		b.WriteString(label + strings.Repeat("-", i+1) + "," + label + "," + cell + "\n")
	}
	return b.String()
}

func TestSelectRefuses(t *testing.T) {
	t.Parallel()
	ok := selection.Options{Method: "cov", Alpha: 0.6, Tau: 0.25}
	with := func(change func(*selection.Options)) selection.Options {
		o := ok
		change(&o)
		return o
	}
	for _, c := range []struct {
		name, matrix string
		implies      []candidate.Implication
		o            selection.Options
		want         string
	}{
		{"method", small, nil, with(func(o *selection.Options) { o.Method = "cover" }), `no method "cover"`},
		{"alpha", small, nil, with(func(o *selection.Options) { o.Alpha = 60 }), "alpha is 60; a share from 0 to 1"},
		{"tau", small, nil, with(func(o *selection.Options) { o.Tau = -1 }), "tau is -1"},
		{"confidence", small, nil, with(func(o *selection.Options) { o.FFRConfidence = 95 }), "the confidence is 95"},
		{"undecided", small, nil, with(func(o *selection.Options) { o.Undecided = "pass" }), `cannot count as "pass"`},
		{"only good", "id,label,x\na,1,0\n", nil, ok, "all 1 labelled examples are good"},
		{"only bad", "id,label,x\na,0,0\n", nil, ok, "all 1 labelled examples are bad"},
		{"no label", "id,label,x\na,,0\n", nil, ok, "no example is labelled"},
		{"no candidates", "id,label\na,1\nb,0\n", nil, ok, "no candidates"},
		{"implication", small, []candidate.Implication{{A: "polit", B: "cites"}}, ok, `"polit", which is not a candidate (did you mean "polite"?)`},
		{"cost of nobody", small, nil, with(func(o *selection.Options) { o.Cost = map[string]int{"x": 2} }), `"x", and no candidate has that name`},
		{"cost", small, nil, with(func(o *selection.Options) { o.Cost = map[string]int{"short": 0} }), `the cost of "short" is 0; a whole number from 1 to 1048576`},
		{"high cost", small, nil, with(func(o *selection.Options) { o.Cost = map[string]int{"short": 2000000} }), `the cost of "short" is 2000000; a whole number from 1 to 1048576`},
	} {
		_, err := selection.Select(context.Background(), read(t, c.matrix), c.implies, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestPaperFiles reads the files of the paper's pipelines, which are kept outside the
// repository because they have no licence.
func TestPaperFiles(t *testing.T) {
	t.Parallel()
	dir := "../../../shared/spade"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the paper's data is not here: %v", err)
	}
	for _, name := range []string{"codereviews", "emails", "finance", "lecturesummaries", "sportroutine", "statsbot"} {
		f, err := os.Open(filepath.Join(dir, name, "matrix.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, mistakes := matrix.Read("matrix.csv", f)
		if mistakes.Err() != nil {
			t.Fatal(mistakes)
		}
		g, err := os.Open(filepath.Join(dir, name, "subsumption.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		implies, mistakes := candidate.ReadImplications("subsumption.csv", g, "final", m.Names)
		if mistakes.Err() != nil {
			t.Fatal(mistakes)
		}
		s, err := selection.Select(context.Background(), m, implies, selection.Options{Method: "sub", Alpha: 0.6, Tau: 0.25})
		if err != nil || s.Answer.Status.String() != "optimal" || len(s.Violates) > 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}
