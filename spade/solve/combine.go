package solve

import (
	"math/bits"
	"slices"
)

// combiner enumerates the sets of one cost, lowest indices first, and keeps the one that
// catches most and, among those, fails least. If there are few sets, it breaks coverage ties
// faster than another branch and bound.
type combiner struct {
	in       *Instance
	ids      []int
	bad      [][]uint64 // bad examples that the candidate catches, by position
	good     [][]uint64
	reach    [][]int // by position and cost: a bound on what that cost can catch from that position on
	allow    int
	most     int // bad examples covered by the best set so far
	least    int // good examples failed by it
	found    bool
	chosen   []int
	best     []int
	work     int64
	limit    int64
	exceeded bool
}

// combine returns the first of the best sets of the given total cost; ok is false if that
// needs more work than limit.
func combine(in *Instance, ids []int, cost int, best Worth, limit int64) (sel []int, work int64, ok bool) {
	c := &combiner{in: in, ids: ids, allow: in.Allow, most: best.Covered, least: best.False, limit: limit}
	if cost > 12 || int64(len(ids))*int64(len(in.Good)) > limit {
		return nil, 0, false
	}
	c.prepare(cost)
	words := (len(in.Good) + 63) / 64
	free := make([]uint64, 2*words*(cost+2))
	c.visit(0, cost, free[:words], free[words:2*words], free[2*words:], 0, 0)
	return c.best, c.work, !c.exceeded && c.found
}

func (c *combiner) prepare(cost int) {
	words := (len(c.in.Good) + 63) / 64
	c.reach = make([][]int, len(c.ids)+1)
	c.reach[len(c.ids)] = make([]int, cost+1)
	c.bad, c.good = make([][]uint64, len(c.ids)), make([][]uint64, len(c.ids))
	sizes := make([]int, len(c.ids))
	for k, j := range c.ids {
		c.bad[k], c.good[k] = make([]uint64, words), make([]uint64, words)
		for _, i := range c.in.Fails[j] {
			if c.in.Good[i] {
				c.good[k][i/64] |= 1 << (i % 64)
			} else {
				c.bad[k][i/64] |= 1 << (i % 64)
				sizes[k]++
			}
		}
	}
	for k := len(c.ids) - 1; k >= 0; k-- { // a knapsack over the candidates from k on
		row := slices.Clone(c.reach[k+1])
		own := c.in.cost(c.ids[k])
		for b := own; b <= cost; b++ {
			row[b] = max(row[b], c.reach[k+1][b-own]+sizes[k])
		}
		c.reach[k] = row
	}
}

// visit chooses from position k on, with cost left to spend. caught and failed are bit sets;
// scratch holds those of the levels below.
func (c *combiner) visit(k, cost int, caught, failed, scratch []uint64, covered, wrong int) {
	if cost == 0 {
		if covered >= c.in.Need && (covered > c.most || covered == c.most && (wrong < c.least || wrong == c.least && !c.found)) {
			c.most, c.least, c.found = covered, wrong, true
			c.best = slices.Clone(c.chosen)
		}
		return
	}
	for ; k < len(c.ids); k++ {
		if c.exceeded {
			return
		}
		if bound := covered + c.reach[k][cost]; bound < c.most || bound == c.most && c.found && wrong >= c.least {
			return // reach falls with k
		}
		own := c.in.cost(c.ids[k])
		if own > cost {
			continue
		}
		words := len(caught)
		nb, ng := scratch[:words], scratch[words:2*words]
		nc, nf := 0, 0
		for i := range words {
			nb[i], ng[i] = caught[i]|c.bad[k][i], failed[i]|c.good[k][i]
			nc += bits.OnesCount64(nb[i])
			nf += bits.OnesCount64(ng[i])
		}
		if c.work += int64(words); c.work > c.limit {
			c.exceeded = true
			return
		}
		c.chosen = append(c.chosen, c.ids[k])
		if nf > c.allow || !c.in.affordable(c.chosen) {
			c.chosen = c.chosen[:len(c.chosen)-1]
			continue
		}
		c.visit(k+1, cost-own, nb, ng, scratch[2*words:], nc, nf)
		c.chosen = c.chosen[:len(c.chosen)-1]
	}
}
