package selection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
)

// problem reads a problem from a matrix in CSV and pairs such as "a b".
func problem(t *testing.T, csv string, implied ...string) selection.Problem {
	t.Helper()
	m, mistakes := matrix.Read("m.csv", strings.NewReader(csv))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	p := selection.Problem{Matrix: m, Options: selection.Options{Method: "sub", Alpha: 0.6, Tau: 0.25}}
	for _, pair := range implied {
		a, b, _ := strings.Cut(pair, " ")
		p.Implications = append(p.Implications, candidate.Implication{A: a, B: b})
	}
	return p
}

func TestExplain(t *testing.T) {
	t.Parallel()
	const head = "id,label,x,y\n"
	const good = "g1,1,1,1\ng2,1,1,1\ng3,1,1,1\ng4,1,1,1\n"
	base := head + good + "b1,0,0,1\n"
	for _, tc := range []struct {
		name          string
		before, after selection.Problem
		want          string
	}{
		{"nothing", problem(t, base), problem(t, base), ""},
		{
			"a new label",
			problem(t, base, "x y"),
			problem(t, base+"b2,0,1,0\nb3,0,1,0\n", "x y"),
			"+y: the labels changed; it alone catches b2, b3, labelled bad since",
		}, {
			"a label taken back",
			problem(t, base+"b2,0,1,0\nb3,0,1,0\n", "x y"),
			problem(t, base+"b2,1,1,1\nb3,1,1,1\n", "x y"),
			"-y: the labels changed; it is implied by x",
		}, {
			"an implication",
			problem(t, base),
			problem(t, base, "x y"),
			"-y: the implications changed; it is implied by x",
		}, {
			"a candidate is gone",
			problem(t, base),
			problem(t, "id,label,x\ng1,1,1\ng2,1,1\ng3,1,1\ng4,1,1\nb1,0,0\n"),
			"-y: candidates are gone; it is no longer a candidate",
		}, {
			"a candidate is new",
			problem(t, "id,label,x\ng1,1,1\ng2,1,1\ng3,1,1\ng4,1,1\nb1,0,0\n"),
			problem(t, base),
			"+y: the candidates changed; it catches 0 of 1 bad output",
		}, {
			"a candidate is worse",
			problem(t, base),
			problem(t, head+"g1,1,1,0\ng2,1,1,0\ng3,1,1,1\ng4,1,1,1\nb1,0,0,1\n"),
			"-y: the candidates changed; it fails 2 good outputs, 1 at most",
		},
	} {
		changes, err := selection.Explain(t.Context(), tc.before, tc.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			sign := "-"
			if c.Selected {
				sign = "+"
			}
			got = append(got, fmt.Sprintf("%s%s: %s; %s", sign, c.Name, c.Cause, c.Because))
		}
		if g := strings.Join(got, "\n"); g != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, g, tc.want)
		}
	}
	stricter := problem(t, base)
	stricter.Options.Method = "cov"
	changes, err := selection.Explain(t.Context(), problem(t, base), stricter)
	if err != nil || len(changes) != 1 || changes[0].Cause != selection.ByOptions || changes[0].Because != "what it catches is caught without it" {
		t.Errorf("other options: %+v, %v", changes, err)
	}
	// There was no selection before the labels.
	changes, err = selection.Explain(t.Context(), problem(t, head), problem(t, base))
	if err != nil || len(changes) != 2 || changes[0].Cause != selection.ByLabels {
		t.Errorf("first labels: %+v, %v", changes, err)
	}
	// The first labels lead to another method, which needs them.
	unlabelled := problem(t, head)
	unlabelled.Options.Method = "none"
	changes, err = selection.Explain(t.Context(), unlabelled, problem(t, head+"g1,1,1,0\nb1,0,0,1\n"))
	if err != nil || len(changes) != 1 || changes[0].Name != "y" || changes[0].Selected || changes[0].Cause != selection.ByLabels {
		t.Errorf("first labels and another method: %+v, %v", changes, err)
	}
}
