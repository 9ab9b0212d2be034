package main

import (
	"math"
	"math/bits"
	"slices"

	"github.com/proviso-eval/proviso/spade/solve"
)

// bounds returns how many bad examples a selection must catch and how many good
// ones it may fail.
func (in *instance) bounds() (need, allow int) {
	good := 0
	for _, g := range in.good {
		if g {
			good++
		}
	}
	return solve.Thresholds(good, len(in.good)-good, in.alpha, in.tau)
}

// worth counts what a selection is worth from the instance alone: its objective
// and whether it is within both thresholds.
func (in *instance) worth(method string, selected []int) (objective int, within bool) {
	failed := make([]bool, len(in.good))
	known := make([]bool, len(in.fails))
	for _, j := range selected {
		known[j] = true
		for _, i := range in.fails[j] {
			failed[i] = true
		}
	}
	for _, p := range in.implies {
		if slices.Contains(selected, p[0]) {
			known[p[1]] = true
		}
	}
	objective = len(selected)
	if method == "sub" {
		for _, k := range known {
			if !k {
				objective++
			}
		}
	}
	caught, wrong := 0, 0
	for i, f := range failed {
		switch {
		case f && in.good[i]:
			wrong++
		case f:
			caught++
		}
	}
	need, allow := in.bounds()
	return objective, caught >= need && wrong <= allow
}

// bitset holds examples.
type bitset []uint64

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// more counts the members that other would add.
func (b bitset) more(other bitset) int {
	n := 0
	for i, w := range other {
		n += bits.OnesCount64(w &^ b[i])
	}
	return n
}

func (b bitset) add(other bitset) {
	for i, w := range other {
		b[i] |= w
	}
}

// greed is the plain greedy selection that any solver has to beat.
type greed struct {
	in          *instance
	good, bad   []bitset // by candidate: what it fails
	words       int
	need, allow int
}

func newGreed(in *instance) *greed {
	g := &greed{in: in, words: (len(in.good) + 63) / 64}
	g.need, g.allow = in.bounds()
	for _, fails := range in.fails {
		good, bad := make(bitset, g.words), make(bitset, g.words)
		for _, i := range fails {
			if in.good[i] {
				good[i/64] |= 1 << (i % 64)
			} else {
				bad[i/64] |= 1 << (i % 64)
			}
		}
		g.good, g.bad = append(g.good, good), append(g.bad, bad)
	}
	return g
}

// greedPrices are what failing a good example may cost beside catching a bad one.
var greedPrices = []float64{0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10}

// run returns a selection within the thresholds, nil if greed finds none.
func (g *greed) run(method string) []int {
	var best []int
	for _, price := range greedPrices {
		if sel := g.cover(price); sel != nil && (best == nil || len(sel) < len(best)) {
			best = sel
		}
	}
	if method == "sub" && best != nil {
		best = g.subsume(best)
	}
	return best
}

// cover takes what catches most for what it fails until that is enough, and drops
// what turned out not to be needed.
func (g *greed) cover(price float64) []int {
	caught, failed := make(bitset, g.words), make(bitset, g.words)
	sel := []int{}
	for caught.count() < g.need {
		pick, value := -1, 0.0
		wrong := failed.count()
		for j := range g.bad {
			more := failed.more(g.good[j])
			if wrong+more > g.allow {
				continue
			}
			if v := float64(caught.more(g.bad[j])) / (1 + price*float64(more)); v > value {
				pick, value = j, v
			}
		}
		if pick < 0 {
			return nil
		}
		sel = append(sel, pick)
		caught.add(g.bad[pick])
		failed.add(g.good[pick])
	}
	order := slices.Clone(sel)
	slices.SortStableFunc(order, func(a, b int) int { return g.bad[a].count() - g.bad[b].count() })
	for _, j := range order {
		rest := make(bitset, g.words)
		others := slices.DeleteFunc(slices.Clone(sel), func(k int) bool { return k == j })
		for _, k := range others {
			rest.add(g.bad[k])
		}
		if rest.count() >= g.need {
			sel = others
		}
	}
	return sel
}

// subsume adds what implies candidates that would be left over, most first, as
// long as it fits.
func (g *greed) subsume(start []int) []int {
	next := make([][]int, len(g.in.fails))
	for _, p := range g.in.implies {
		next[p[0]] = append(next[p[0]], p[1])
	}
	selected, implied, failed := make([]bool, len(next)), make([]bool, len(next)), make(bitset, g.words)
	sel := slices.Clone(start)
	take := func(j int) {
		selected[j] = true
		failed.add(g.good[j])
		for _, b := range next[j] {
			implied[b] = true
		}
	}
	for _, j := range start {
		take(j)
	}
	for {
		pick, most, least := -1, 0, math.MaxInt
		wrong := failed.count()
		for j := range next {
			if selected[j] {
				continue
			}
			gain := 0
			for _, b := range next[j] {
				if !selected[b] && !implied[b] {
					gain++
				}
			}
			if implied[j] {
				gain--
			}
			if gain <= 0 || gain < most {
				continue
			}
			total := wrong + failed.more(g.good[j])
			if total <= g.allow && (gain > most || total < least) {
				pick, most, least = j, gain, total
			}
		}
		if pick < 0 {
			slices.Sort(sel)
			return sel
		}
		sel = append(sel, pick)
		take(pick)
	}
}
