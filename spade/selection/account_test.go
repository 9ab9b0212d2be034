package selection_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/selection"
)

// rivals has a candidate for each fate: tau 0.25 allows one false failure in four good
// outputs.
const rivals = `id,label,tight,loose,twin,harsh,other
a,1,1,1,1,0,1
b,1,1,1,1,0,1
c,1,0,1,1,0,1
d,1,1,1,1,0,0
e,0,0,1,0,0,0
f,0,0,1,0,0,1
g,0,1,1,1,1,1
`

func TestAccounts(t *testing.T) {
	t.Parallel()
	m := read(t, rivals)
	s, err := selection.Select(context.Background(), m, []candidate.Implication{{A: "tight", B: "loose"}}, selection.Options{Method: "cov", Alpha: 0.6, Tau: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range s.Accounts() {
		got = append(got, fmt.Sprintf("%s %s %d-%d alone %v together %d by %v left %v", a.Name, a.Fate, a.Covered, a.False, a.Alone, a.Together, a.By, a.LeftOver))
	}
	want := []string{
		"tight spare 2-1 alone [] together 1 by [] left []",
		"loose spare 0-0 alone [] together 0 by [] left []",
		"twin selected 2-0 alone [e f] together 0 by [] left []",
		"harsh unfair 2-4 alone [] together 4 by [] left []",
		"other spare 1-1 alone [] together 1 by [] left []",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAccountsOfImpliedAndCrowded(t *testing.T) {
	t.Parallel()
	m := read(t, "id,label,tight,loose,other\na,1,1,1,1\nb,1,1,1,1\nc,1,0,1,1\nd,1,1,1,0\ne,0,0,0,0\nf,0,0,1,1\n")
	s, err := selection.Select(context.Background(), m, []candidate.Implication{{A: "tight", B: "loose"}}, selection.Options{Method: "sub", Alpha: 1, Tau: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	list := s.Accounts()
	if list[0].Fate != selection.Selected || !reflect.DeepEqual(list[0].LeftOver, []string{"loose"}) || list[0].OnlyFalse != 1 {
		t.Errorf("tight: %+v", list[0])
	}
	if list[1].Fate != selection.Implied || !reflect.DeepEqual(list[1].By, []string{"tight"}) {
		t.Errorf("loose: %+v", list[1])
	}
	if list[2].Fate != selection.Crowded || list[2].Together != 2 {
		t.Errorf("other: %+v", list[2])
	}
}

// TestThresholds: a trade-off for given thresholds equals the selection for them.
func TestThresholds(t *testing.T) {
	t.Parallel()
	m := read(t, rivals)
	o := selection.Options{Method: "cov", Work: 1_000_000}
	trades := func(o selection.Options, x selection.Axes) ([]selection.Trade, error) {
		list, _, _, err := selection.Trades(context.Background(), m, nil, o, x, selection.Prices{})
		return list, err
	}
	list, err := trades(o, selection.Axes{Alphas: []float64{0.3, 0.6, 1}, Taus: []float64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprintf("%v/%v %s %d", p.At, p.Tau, p.Status, len(p.Selected)))
	}
	want := "0.3/0 optimal 1, 0.6/0 optimal 1, 1/0 infeasible 0, 0.3/1 optimal 1, 0.6/1 optimal 1, 1/1 infeasible 0"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	for name, try := range map[string]func() error{
		"has no trade-offs to show": func() error {
			_, err := trades(selection.Options{Method: "base"}, selection.Axes{Alphas: []float64{1}, Taus: []float64{1}})
			return err
		},
		"alpha is 2": func() error {
			_, err := trades(o, selection.Axes{Alphas: []float64{2}, Taus: []float64{1}})
			return err
		},
		"of 500 points": func() error {
			_, err := trades(o, selection.Axes{Alphas: make([]float64, 500), Taus: []float64{1}})
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}
