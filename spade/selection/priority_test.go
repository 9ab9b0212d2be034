package selection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/selection"
)

// randomProblem returns a small random matrix with implications and priorities, and perhaps a
// budget.
func randomProblem(r *rand.Rand) (m *matrix.Matrix, implies []candidate.Implication, o selection.Options) {
	m = &matrix.Matrix{}
	n := 2 + r.IntN(8)
	for i := range n {
		m.Examples = append(m.Examples, matrix.Example{ID: fmt.Sprint(i), Good: i == 0 || i > 1 && r.IntN(2) == 0})
	}
	o = selection.Options{Alpha: r.Float64(), Tau: r.Float64() / 2, Cost: map[string]int{}}
	for j := range 2 + r.IntN(6) {
		name := string(rune('a' + j))
		m.Names = append(m.Names, name)
		column := make([]matrix.Cell, n)
		for i := range column {
			column[i] = matrix.Cell(r.IntN(2))
		}
		m.Cells = append(m.Cells, column)
		switch r.IntN(6) {
		case 0:
			o.Keep = append(o.Keep, name)
		case 1:
			if j > 0 { // one is left
				o.Ban = append(o.Ban, name)
			}
		}
		if r.IntN(3) == 0 {
			o.Cost[name] = 1 + r.IntN(4)
		}
	}
	if r.IntN(3) == 0 {
		budget := float64(r.IntN(9)) / 1000
		o.Budget, o.Price = &budget, map[string]float64{}
		for _, name := range m.Names {
			o.Price[name] = float64(r.IntN(4)) / 1000
		}
	}
	for range r.IntN(6) {
		implies = append(implies, candidate.Implication{A: m.Names[r.IntN(len(m.Names))], B: m.Names[r.IntN(len(m.Names))]})
	}
	return m, implies, o
}

// leastObjective tries every subset that contains the pinned candidates and none of the banned
// ones. It counts without the package's instance; ok is false if no subset is within the
// thresholds.
func leastObjective(m *matrix.Matrix, implies []candidate.Implication, o selection.Options) (best int, ok bool) {
	good, bad := m.Count()
	for mask := range 1 << len(m.Names) {
		has := func(j int) bool { return mask&(1<<j) != 0 }
		objective, right, mills := 0, true, 0
		caught, failed := 0, 0
		for i, e := range m.Examples {
			fails := false
			for j := range m.Names {
				fails = fails || has(j) && m.Cells[j][i] == matrix.Failed
			}
			switch {
			case fails && e.Good:
				failed++
			case fails:
				caught++
			}
		}
		for j, name := range m.Names {
			pinned, banned := slices.Contains(o.Keep, name), slices.Contains(o.Ban, name)
			right = right && !(pinned && !has(j)) && !(banned && has(j))
			implied := slices.ContainsFunc(implies, func(p candidate.Implication) bool {
				return p.B == name && has(slices.Index(m.Names, p.A))
			})
			switch {
			case has(j):
				mills += int(1000*o.Price[name] + 0.5)
				objective += max(1, o.Cost[name])
			case !banned && !implied && o.Method == "sub":
				objective++
			}
		}
		right = right && (o.Budget == nil || mills <= int(1000**o.Budget+0.5))
		if right && float64(caught) >= o.Alpha*float64(bad)-1e-9 && float64(failed) <= o.Tau*float64(good)+1e-9 && (!ok || objective < best) {
			best, ok = objective, true
		}
	}
	return best, ok
}

func TestPrioritiesKeepTheProofExact(t *testing.T) {
	t.Parallel()
	infeasible := 0
	for seed := range uint64(700) {
		m, implies, o := randomProblem(rand.New(rand.NewPCG(seed, 19)))
		for _, o.Method = range []string{"cov", "sub"} {
			want, found := leastObjective(m, implies, o)
			s, err := selection.Select(context.Background(), m, implies, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !found {
				infeasible++
			}
			if s.Found() != found || found && (s.Answer.Objective != want || !s.Proven()) {
				t.Fatalf("seed %d %s: found %v, objective %d (proven %v); trying everything: %v, %d", seed, o.Method, s.Found(), s.Answer.Objective, s.Proven(), found, want)
			}
		}
	}
	if infeasible == 0 || infeasible == 1400 {
		t.Errorf("%d of 1400 have no selection", infeasible)
	}
}

func TestPrioritiesFromCandidates(t *testing.T) {
	t.Parallel()
	list := []proviso.Candidate{{Name: "polite", Ban: true}, {Name: "cites", Pin: true, Cost: 3}, {Name: "short", Ban: true, Cost: 2}, {Name: "elsewhere", Pin: true}}
	o := selection.Options{Method: "cov", Alpha: 0.3, Tau: 0.25, Keep: []string{"short"}, Cost: map[string]int{"short": 7}}
	o.TakePriorities(list, read(t, small).Names)
	s, err := selection.Select(context.Background(), read(t, small), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Selected(), " "); got != "short cites" || s.Answer.Objective != 10 {
		t.Errorf("selected %s at %d, want short and cites at 10: the options come before the file", got, s.Answer.Objective)
	}
	if !slices.Equal(s.Banned, []string{"polite"}) {
		t.Errorf("banned %v", s.Banned)
	}
}

func TestPrioritiesThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pin, ban []string
		want     string
	}{
		{pin: []string{"polit"}, want: `"polit" is pinned, and no candidate has that name (did you mean "polite"?)`},
		{ban: []string{"sort"}, want: `"sort" is banned, and no candidate has that name (did you mean "short"?)`},
		{pin: []string{"short"}, ban: []string{"short"}, want: `"short" is pinned and banned; choose one`},
		{ban: []string{"short", "polite", "cites", "never", "always"}, want: "every candidate is banned"},
	} {
		_, err := selection.Select(context.Background(), read(t, small), nil, selection.Options{Method: "sub", Alpha: 0.6, Tau: 0.25, Keep: c.pin, Ban: c.ban})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("pin %v, ban %v: %v, want %s", c.pin, c.ban, err, c.want)
		}
	}
}
