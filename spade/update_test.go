package spade_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/spade/update"
	"github.com/proviso-eval/proviso/value"
)

const candidates = `assertions:
  - {id: no_sorry, type: not-icontains, value: sorry}
  - {id: no_star, type: not-contains, value: "*"}
`

// shop is a selection of both candidates by eight outputs, of which good1 to good4 are good.
func shop(t *testing.T) update.Input {
	t.Helper()
	list, mistakes := candidate.Read("candidates.yaml", []byte(candidates))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	text := "id,label,no_sorry,no_star\n"
	for i := range 4 {
		text += fmt.Sprintf("good%d,1,1,1\nbad%d,0,%d,%d\n", i+1, i+1, i%2, 1-i%2)
	}
	m, _ := matrix.Read("matrix.csv", strings.NewReader(text))
	g, _ := matrix.ReadGrid("matrix.csv", strings.NewReader(text))
	return update.Input{
		Before: selection.Problem{Matrix: m, Options: selection.Options{Method: "cov", Alpha: 0.5, Tau: 0.25}},
		Grid:   g, Candidates: list, Queue: 5,
	}
}

func said(id, text, label string) trial.Trial {
	return trial.Trial{ID: id, Output: text, Label: label, Vars: value.NewObject(0)}
}

func thumb(id, text, label string) trial.Trial {
	t := said(id, text, label)
	t.Thumb = true
	return t
}

func run(t *testing.T, in update.Input) *update.Report {
	t.Helper()
	r, err := update.Run(context.Background(), in, matrix.Options{Compiler: check.New(check.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestThumbsAreNoLabels(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.Trials = []trial.Trial{thumb("n1", "Sorry.", "1"), thumb("n2", "*No*", "0"), said("n3", "Fine.", "1")}
	r := run(t, in)
	if good, bad := r.After.Good, r.After.Bad; good != 5 || bad != 4 || r.Thumbs != 0 {
		t.Errorf("selected by %d good and %d bad, want 5 and 4", good, bad)
	}
	in.Thumbs = true
	r = run(t, in)
	if good, bad := r.After.Good, r.After.Bad; good != 6 || bad != 5 || r.Thumbs != 2 {
		t.Errorf("with thumbs selected by %d good and %d bad, want 6 and 5", good, bad)
	}
	for _, d := range r.Drift {
		if d.Good.Now.N != 1 || d.Bad.Now.N != 0 || d.Up.N != 1 || d.Down.N != 1 {
			t.Errorf("%s: thumbs are counted with the labels of people: %+v", d.Name, d)
		}
	}
}

func TestNothingIsTriedTwice(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.Known = map[string]string{"good1": record.OutputID("Hello."), "good2": record.OutputID("Other.")}
	in.Trials = []trial.Trial{said("good1", "Hello.", "0"), said("good2", "Changed.", "1"), said("new", "Yes.", "")}
	r := run(t, in)
	if n := len(r.Tried.Entries); n != 2 {
		t.Errorf("%d outputs were tried, want 2", n)
	}
	if !slices.Equal(r.Renamed, [][2]string{{"good2", "good2~2"}}) || r.Outputs[1].ID != "good2~2" || !r.Outputs[0].Known {
		t.Errorf("renamed %v, %+v", r.Renamed, r.Outputs)
	}
	if len(r.Grid.Entries) != 10 || r.Grid.Entries[r.Grid.ByID()["good1"]].Label != "0" {
		t.Errorf("%d rows; a new label of a known output counts", len(r.Grid.Entries))
	}
	in.Grid, in.Known = r.Grid, map[string]string{}
	for _, e := range r.Grid.Entries {
		in.Known[e.ID] = e.OutputID
	}
	if again := run(t, in); len(again.Tried.Entries) != 0 || len(again.Grid.Entries) != 10 {
		t.Errorf("the same update again tried %d outputs, and has %d rows", len(again.Tried.Entries), len(again.Grid.Entries))
	}
}

func TestDriftIsOneThatChanceDoesNotExplain(t *testing.T) {
	t.Parallel()
	in := shop(t)
	for i := range 40 {
		in.Trials = append(in.Trials, said(fmt.Sprint("n", i), "Sorry, number "+fmt.Sprint(i), ""))
	}
	r := run(t, in)
	if len(r.Drift) != 1+len(r.Before.Selected()) || r.Drift[0].Name != "" {
		t.Fatalf("%+v", r.Drift)
	}
	for _, d := range r.Drift[1:] {
		if got, want := update.Changed(d.Change), d.Name == "no_sorry"; got != want {
			t.Errorf("%s: changed %v, %+v", d.Name, got, d.Change)
		}
	}
}

func TestUncaughtOutputsAreGroupedByWhatTheyShare(t *testing.T) {
	t.Parallel()
	in := shop(t)
	for i := range 12 {
		in.Trials = append(in.Trials, said(fmt.Sprint("ok", i), fmt.Sprint("All is well, order ", i), "1"))
	}
	for i := range 4 {
		in.Trials = append(in.Trials, said(fmt.Sprint("ai", i), fmt.Sprint("As a language model I cannot, ", i), "0"))
	}
	for i := range 3 {
		one := said(fmt.Sprint("v", i), fmt.Sprint("Well ", i), "")
		one.Version, one.Said = "9", "fail (x: y)"
		in.Trials = append(in.Trials, one)
	}
	in.Trials = append(in.Trials, said("alone", "Quite different.", "0"), said("caught", "Sorry.", "0"))
	r := run(t, in)
	var got []string
	for _, g := range r.Uncaught {
		var ids []string
		for _, m := range g.Members {
			ids = append(ids, m.ID+" "+string(m.By))
		}
		got = append(got, fmt.Sprintf("%s (%d of %d): %s", g.Shared, g.With, g.Others, strings.Join(ids, ", ")))
	}
	want := []string{
		`the words "as a language" (0 of 13): ai0 people, ai1 people, ai2 people, ai3 people`,
		`the version "9" (0 of 13): v0 run, v1 run, v2 run`,
		` (0 of 13): alone people`,
	}
	if len(got) != 3 || !strings.HasPrefix(got[0], `the words "`) || !strings.Contains(got[0], "ai0 people, ai1 people, ai2 people, ai3 people") || !slices.Equal(got[1:], want[1:]) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Queue) != 3 || r.Queue[0].ID != "v0" || !strings.Contains(r.Queue[0].Why, "failed in its run") {
		t.Errorf("%v", r.Queue)
	}
}

func TestAnImplicationThatANewOutputContradictsIsLeftOut(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.Before.Implications = []candidate.Implication{{A: "no_sorry", B: "no_star"}}
	in.Trials = []trial.Trial{said("n1", "*Bold*", "")}
	if r := run(t, in); len(r.Contradicted) != 1 || len(r.Problem.Implications) != 0 {
		t.Errorf("%v left out of %v", r.Contradicted, in.Before.Implications)
	}
	in.Candidates = in.Candidates[:1]
	_, err := update.Run(context.Background(), in, matrix.Options{})
	if err == nil || !strings.Contains(err.Error(), "no longer have: no_star") {
		t.Error(err)
	}
}
