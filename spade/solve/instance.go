package solve

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Instance is the input of a selection. Candidates and examples are numbered from 0.
type Instance struct {
	Good    []bool   // human label, by example
	Fails   [][]int  // failed examples, ascending, by candidate
	Implies [][2]int // a, b: whatever passes a passes b, so b adds nothing to a
	Cost    []int    // cost of selection, by candidate, at least 1; nil means 1 for all
	Need    int      // minimum number of bad examples that a selection catches
	Allow   int      // maximum number of good examples that it fails
	Keep    []int    // candidates that are in every selection
	Limits  []Limit  // bounds on sums over a selection; nil for none
}

// Limits of an instance.
const (
	maxCandidates = 1 << 16
	maxExamples   = 1 << 22
	MaxCost       = 1 << 20 // cost of selecting one candidate
)

// Thresholds converts the share of bad examples to catch and the share of good ones that may
// fail to counts. It ignores floating-point rounding errors.
func Thresholds(good, bad int, alpha, tau float64) (need, allow int) {
	const slack = 1e-9
	return int(math.Ceil(float64(alpha*float64(bad)) - slack)), int(math.Floor(float64(tau*float64(good)) + slack))
}

// Count returns the numbers of good and bad examples.
func (in *Instance) Count() (good, bad int) {
	for _, g := range in.Good {
		if g {
			good++
		}
	}
	return good, len(in.Good) - good
}

func (in *Instance) check() error {
	m, n := len(in.Fails), len(in.Good)
	switch {
	case m > maxCandidates:
		return fmt.Errorf("%d candidates, of at most %d", m, maxCandidates)
	case n > maxExamples:
		return fmt.Errorf("%d examples, of at most %d", n, maxExamples)
	case in.Cost != nil && len(in.Cost) != m:
		return fmt.Errorf("%d costs for %d candidates", len(in.Cost), m)
	case in.Need < 0 || in.Allow < 0:
		return errors.New("a threshold is negative")
	}
	for j, c := range in.Cost {
		if c < 1 || c > MaxCost {
			return fmt.Errorf("candidate %d: cost %d is not from 1 to %d", j, c, MaxCost)
		}
	}
	for j, fails := range in.Fails {
		for k, i := range fails {
			if i < 0 || i >= n {
				return fmt.Errorf("candidate %d fails example %d, of %d", j, i, n)
			}
			if k > 0 && fails[k-1] >= i {
				return fmt.Errorf("candidate %d: failed examples must ascend", j)
			}
		}
	}
	for _, j := range in.Keep {
		if j < 0 || j >= m {
			return fmt.Errorf("candidate %d is kept, of %d", j, m)
		}
	}
	for _, p := range in.Implies {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= m {
			return fmt.Errorf("implication %d → %d, of %d candidates", p[0], p[1], m)
		}
	}
	return in.checkLimits()
}

func (in *Instance) cost(j int) int {
	if in.Cost == nil {
		return 1
	}
	return in.Cost[j]
}

// eligible returns a function that reports whether a candidate by itself stays within the
// limit of false failures and all other limits.
func (in *Instance) eligible() func(int) bool {
	return func(j int) bool {
		failed := 0
		for _, i := range in.Fails[j] {
			if in.Good[i] {
				failed++
			}
		}
		return failed <= in.Allow && in.affordable([]int{j})
	}
}

// every returns the candidates that keep accepts.
func (in *Instance) every(keep func(int) bool) []int {
	out := []int{}
	for j := range in.Fails {
		if keep(j) {
			out = append(out, j)
		}
	}
	return out
}

// Worth holds the measures of a selection, counted on the original instance.
type Worth struct {
	Selected  []int // ascending
	Objective int   // objective of the method
	Covered   int   // bad examples caught
	False     int   // good examples failed
	// LeftOver are the candidates that are neither selected nor implied by a selected one.
	LeftOver []int
	// Addable are the members of LeftOver that could also be selected within the limit of
	// false failures and the other limits.
	Addable []int
}

// Check measures a selection and reports whether it is within both thresholds and all
// limits.
func Check(in *Instance, method Method, selected []int) (w Worth, within bool, err error) {
	if err := in.check(); err != nil {
		return Worth{}, false, err
	}
	selected = slices.Sorted(slices.Values(selected))
	selected = slices.Compact(selected)
	for _, j := range selected {
		if j < 0 || j >= len(in.Fails) {
			return Worth{}, false, fmt.Errorf("no candidate %d, of %d", j, len(in.Fails))
		}
	}
	w = in.worth(method, selected)
	return w, w.Covered >= in.Need && w.False <= in.Allow && in.affordable(selected), nil
}

func (in *Instance) worth(method Method, selected []int) Worth {
	w := Worth{Selected: selected, LeftOver: []int{}, Addable: []int{}}
	failed := make([]bool, len(in.Good))
	known := make([]bool, len(in.Fails))
	for _, j := range selected {
		known[j] = true
		w.Objective += in.cost(j)
		for _, i := range in.Fails[j] {
			if failed[i] {
				continue
			}
			failed[i] = true
			if in.Good[i] {
				w.False++
			} else {
				w.Covered++
			}
		}
	}
	for _, p := range in.Implies {
		if _, ok := slices.BinarySearch(selected, p[0]); ok {
			known[p[1]] = true
		}
	}
	for j := range in.Fails {
		if known[j] {
			continue
		}
		w.LeftOver = append(w.LeftOver, j)
		more := 0
		for _, i := range in.Fails[j] {
			if in.Good[i] && !failed[i] {
				more++
			}
		}
		if w.False+more <= in.Allow && in.affordable(append(slices.Clone(selected), j)) {
			w.Addable = append(w.Addable, j)
		}
	}
	if method == Subsumption {
		w.Objective += len(w.LeftOver)
	}
	return w
}
