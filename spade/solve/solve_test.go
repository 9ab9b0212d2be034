package solve_test

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/proviso-eval/proviso/spade/solve"
)

// random is a small instance with all special cases: useless and broken candidates,
// equal ones, cycles of implications, costs, unreachable thresholds, kept candidates,
// and limits.
func random(seed uint64) *solve.Instance {
	r := rand.New(rand.NewPCG(seed, 1))
	m, n := 1+r.IntN(9), 1+r.IntN(14)
	in := &solve.Instance{Good: make([]bool, n), Fails: make([][]int, m)}
	for i := range in.Good {
		in.Good[i] = r.IntN(2) == 0
	}
	for j := range in.Fails {
		rate := []float64{0, 0.1, 0.3, 0.6, 1}[r.IntN(5)]
		for i := range n {
			p := rate
			if in.Good[i] {
				p /= 2
			}
			if r.Float64() < p {
				in.Fails[j] = append(in.Fails[j], i)
			}
		}
		if j > 0 && r.IntN(5) == 0 {
			in.Fails[j] = slices.Clone(in.Fails[j-1])
		}
	}
	for range r.IntN(2 * m) {
		in.Implies = append(in.Implies, [2]int{r.IntN(m), r.IntN(m)})
	}
	if r.IntN(3) == 0 {
		for range m {
			in.Cost = append(in.Cost, 1+r.IntN(3))
		}
	}
	good, bad := in.Count()
	in.Need, in.Allow = solve.Thresholds(good, bad, r.Float64(), r.Float64()*0.6)
	if r.IntN(4) == 0 {
		for range 1 + r.IntN(2) {
			in.Keep = append(in.Keep, r.IntN(m))
		}
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(2) {
			l := solve.Limit{Price: make([]int64, m)}
			for j := range l.Price {
				l.Price[j] = []int64{0, 1, 5, 1_000_003, 7_777_777}[r.IntN(5)]
			}
			l.Most = r.Int64N(1 + []int64{6, 20_000_000}[r.IntN(2)])
			in.Limits = append(in.Limits, l)
		}
	}
	return in
}

// better compares by the order that the package promises.
func better(method solve.Method, a, b solve.Worth) bool {
	left := func(w solve.Worth) int {
		if method == solve.Subsumption {
			return len(w.LeftOver)
		}
		return 0
	}
	x := []int{a.Objective, left(a), -a.Covered, a.False}
	y := []int{b.Objective, left(b), -b.Covered, b.False}
	if c := slices.Compare(x, y); c != 0 {
		return c < 0
	}
	return lower(a.Selected, b.Selected)
}

// lower reports whether a has the lowest candidate that is in only one of both.
func lower(a, b []int) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) > len(b)
}

// affordable reports whether a selection is within all limits.
func affordable(in *solve.Instance, sel []int) bool {
	for _, l := range in.Limits {
		sum := int64(0)
		for _, j := range sel {
			sum += l.Price[j]
		}
		if sum > l.Most {
			return false
		}
	}
	return true
}

func brute(t *testing.T, in *solve.Instance, method solve.Method) (best solve.Worth, found bool, most int) {
	t.Helper()
	for mask := range 1 << len(in.Fails) {
		var sel []int
		for rest := uint(mask); rest != 0; rest &= rest - 1 {
			sel = append(sel, bits.TrailingZeros(rest))
		}
		w, within, err := solve.Check(in, method, sel)
		if err != nil {
			t.Fatal(err)
		}
		if want := w.Covered >= in.Need && w.False <= in.Allow && affordable(in, sel); within != want {
			t.Fatalf("Check says of %v that within is %v", sel, within)
		}
		if slices.ContainsFunc(in.Keep, func(j int) bool { return mask&(1<<j) == 0 }) {
			continue
		}
		if w.False <= in.Allow && affordable(in, sel) {
			most = max(most, w.Covered)
		}
		if within && (!found || better(method, w, best)) {
			best, found = w, true
		}
	}
	return best, found, most
}

func TestAnswersEqualThoseOfTryingEverything(t *testing.T) {
	t.Parallel()
	infeasible := 0
	for seed := range uint64(3000) {
		in := random(seed)
		for _, method := range []solve.Method{solve.Coverage, solve.Subsumption} {
			want, found, most := brute(t, in, method)
			got, err := solve.Solve(context.Background(), in, method, solve.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !found {
				infeasible++
				if got.Status != solve.Infeasible || got.Best != most || !got.BestProven {
					t.Fatalf("seed %d %v: %v, best coverage %d (proven %v), want infeasible, %d", seed, method, got.Status, got.Best, got.BestProven, most)
				}
				continue
			}
			if got.Status != solve.Optimal || got.LowerBound != want.Objective || !got.Tied {
				t.Fatalf("seed %d %v: %v %d ≥ %d, tied %v; want optimal %d", seed, method, got.Status, got.Objective, got.LowerBound, got.Tied, want.Objective)
			}
			if !slices.Equal(got.Selected, want.Selected) {
				t.Fatalf("seed %d %v: selected %v (%+v), want %v (%+v)", seed, method, got.Selected, got.Worth, want.Selected, want)
			}
		}
	}
	if infeasible < 100 {
		t.Errorf("only %d instances were infeasible", infeasible)
	}
}

// TestWorkIsLimited checks that a search ends soon after its last step, in every stage.
func TestWorkIsLimited(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	const m, n = 40, 90
	in := &solve.Instance{Good: make([]bool, n), Fails: make([][]int, m)}
	for i := range in.Good {
		in.Good[i] = i%2 == 0
	}
	for j := range in.Fails {
		for i := range n {
			if r.Float64() < 0.12 {
				in.Fails[j] = append(in.Fails[j], i)
			}
		}
	}
	for range 2 * m {
		in.Implies = append(in.Implies, [2]int{r.IntN(m), r.IntN(m)})
	}
	in.Need, in.Allow = solve.Thresholds(n/2, n/2, 0.6, 0.25)
	for _, method := range []solve.Method{solve.Coverage, solve.Subsumption} {
		full, err := solve.Solve(context.Background(), in, method, solve.Options{})
		if err != nil || full.Status != solve.Optimal {
			t.Fatalf("%v: %v, %v", method, full.Status, err)
		}
		const visit = 400_000 // more than the ascent at a root takes here
		for limit := full.Work / 8; limit < full.Work; limit += full.Work / 4 {
			a, err := solve.Solve(context.Background(), in, method, solve.Options{Work: limit})
			if err != nil {
				t.Fatal(err)
			}
			if a.Work > limit+visit {
				t.Errorf("%v: %d steps were done, of %d", method, a.Work, limit)
			}
			if a.LowerBound > full.Objective || a.Objective < full.Objective {
				t.Errorf("%v after %d steps: %d ≥ %d, but the best is %d", method, limit, a.Objective, a.LowerBound, full.Objective)
			}
		}
	}
}

// TestALimitIsProvenOnALargerMatrix checks that the relaxation prices the limits: without
// that, the proof takes fifty times as many steps.
func TestALimitIsProvenOnALargerMatrix(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	const m, n = 60, 120
	in := &solve.Instance{Good: make([]bool, n), Fails: make([][]int, m)}
	for i := range in.Good {
		in.Good[i] = i%2 == 0
	}
	l := solve.Limit{Price: make([]int64, m)}
	for j := range in.Fails {
		p := 0.05
		if j%2 == 0 {
			l.Price[j], p = 100_000+r.Int64N(900_000), 0.25
		}
		for i := range n {
			if !in.Good[i] && r.Float64() < p || r.Float64() < p/10 {
				in.Fails[j] = append(in.Fails[j], i)
			}
		}
	}
	in.Need, in.Allow = solve.Thresholds(n/2, n/2, 0.8, 0.2)
	free, err := solve.Solve(context.Background(), in, solve.Coverage, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Most = l.Taken(free.Selected) / 4
	in.Limits = []solve.Limit{l}
	a, err := solve.Solve(context.Background(), in, solve.Coverage, solve.Options{Work: 200_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if a.Status != solve.Optimal || a.LowerBound != a.Objective || l.Taken(a.Selected) > l.Most || a.Objective <= free.Objective {
		t.Errorf("%v after %d steps: %v for %d of %d, and %v without the limit", a.Status, a.Work, a.Selected, l.Taken(a.Selected), l.Most, free.Selected)
	}
}
