package label

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// order finds the most useful output to label; see [Start].
type order struct {
	rows    []int // row of the grid, by trial; -1 if there is none
	cells   [][]matrix.Cell
	classes []uint64 // class by candidate: equal for candidates that agree on all labelled outputs
	member  []int    // class numbers, by candidate; computed when needed
	sizes   int      // number of classes
	stale   bool     // member must be recomputed

	seen     []bool // labelled or skipped
	labelled []bool
	prints   []fingerprint
	near     []float64 // distance to the nearest seen output
	out      []bool    // excluded
}

// fingerprint is the basis of distances between outputs.
type fingerprint struct {
	words  [minima]uint32
	length float64 // binary logarithm of the number of bytes
}

// minima is how many minima MinHash keeps: the standard error of the share of common words is
// at most 1/(2√minima), a twelfth.
const minima = 36

func newOrder(trials []trial.Trial, g *matrix.Grid) *order {
	n := len(trials)
	o := &order{rows: make([]int, n), seen: make([]bool, n), labelled: make([]bool, n), out: make([]bool, n), prints: make([]fingerprint, n), near: make([]float64, n), stale: true}
	var at map[string]int
	if g != nil {
		at, o.cells = g.ByID(), g.Cells
		o.classes, o.member = make([]uint64, len(g.Names)), make([]int, len(g.Names))
	}
	for i := range trials {
		o.rows[i] = -1
		if row, ok := at[trials[i].ID]; ok {
			o.rows[i] = row
		}
		o.prints[i] = fingerprintOf(trials[i].Text())
		o.near[i] = math.Inf(1)
	}
	return o
}

// only excludes all trials except those in list.
func (o *order) only(list []int) {
	for i := range o.out {
		o.out[i] = true
	}
	for _, i := range list {
		o.out[i] = false
	}
}

// printedText bounds how much of an output is used.
const printedText = 64 << 10

func fingerprintOf(text string) fingerprint {
	p := fingerprint{length: math.Log2(float64(1 + len(text)))}
	for k := range p.words {
		p.words[k] = math.MaxUint32
	}
	text = text[:min(len(text), printedText)]
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		x := h.Sum64()
		for k := range p.words {
			p.words[k] = min(p.words[k], uint32(mixed(x+uint64(k)*0x9e3779b97f4a7c15)))
		}
	}
	return p
}

// mixed spreads the bits of x (the finalizer of MurmurHash3).
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// distance is between 0, for equal outputs, and 1.
func (p *fingerprint) distance(q *fingerprint) float64 {
	common := 0
	for k := range p.words {
		if p.words[k] == q.words[k] {
			common++
		}
	}
	return (1-float64(common)/minima)/2 + min(1, math.Abs(p.length-q.length)/4)/2
}

// see records that a trial was shown, and whether it got a label.
func (o *order) see(i int, labelled bool) {
	if labelled && !o.labelled[i] {
		o.labelled[i] = true
		o.refine(i)
	}
	if o.seen[i] {
		return
	}
	o.seen[i] = true
	for j := range o.near {
		if !o.seen[j] {
			o.near[j] = min(o.near[j], o.prints[i].distance(&o.prints[j]))
		}
	}
}

// forget reverses see.
func (o *order) forget(i int) {
	if o.labelled[i] {
		o.labelled[i] = false
		o.refine(i) // refining a second time reverts the first
	}
	o.seen[i] = false
	for j := range o.near {
		o.near[j] = math.Inf(1)
	}
	for k, seen := range o.seen {
		if !seen {
			continue
		}
		for j := range o.near {
			if !o.seen[j] {
				o.near[j] = min(o.near[j], o.prints[k].distance(&o.prints[j]))
			}
		}
	}
}

// refine separates candidates that differ on a trial. A class is the exclusive or of 64-bit
// hashes of trials and cells.
func (o *order) refine(i int) {
	if o.rows[i] < 0 {
		return
	}
	for j, cell := range o.cells[o.rows[i]] {
		o.classes[j] ^= mixed(uint64(i)<<2 | uint64(cell) + 1)
	}
	o.stale = true
}

// number numbers the classes.
func (o *order) number() {
	if !o.stale {
		return
	}
	o.stale = false
	numbers := map[uint64]int{}
	for j, class := range o.classes {
		n, ok := numbers[class]
		if !ok {
			n = len(numbers)
			numbers[class] = n
		}
		o.member[j] = n
	}
	o.sizes = len(numbers)
}

// worth is what labelling an output reveals about candidates, the most important measure
// first.
type worth struct{ apart, all, balance int }

func (w worth) compare(v worth) int {
	return cmp.Or(cmp.Compare(w.apart, v.apart), cmp.Compare(w.all, v.all), cmp.Compare(w.balance, v.balance))
}

// next returns the most valuable of the wanted trials, and the reason; -1 if there is none.
func (o *order) next(wanted func(i int) bool, have trial.Labels) (int, string) {
	if o.cells != nil {
		if i, why := o.telling(wanted, have); i >= 0 {
			return i, why
		}
	}
	return o.farthest(wanted)
}

// telling is next by the results of candidates.
func (o *order) telling(wanted func(i int) bool, have trial.Labels) (int, string) {
	o.number()
	best, at := worth{}, -1
	var bestPassed, bestFailed int
	passes, fails := make([]int, o.sizes), make([]int, o.sizes)
	for i, row := range o.rows {
		if row < 0 || o.out[i] || !wanted(i) {
			continue
		}
		clear(passes)
		clear(fails)
		passed, failed := 0, 0
		for j, cell := range o.cells[row] {
			switch cell {
			case matrix.Passed:
				passes[o.member[j]]++
				passed++
			case matrix.Failed:
				fails[o.member[j]]++
				failed++
			}
		}
		w := worth{all: passed * failed, balance: -failed}
		if have.Bad < have.Good {
			w.balance = failed
		}
		for k := range passes {
			w.apart += passes[k] * fails[k]
		}
		if w.all > 0 && (at < 0 || w.compare(best) > 0) {
			best, at, bestPassed, bestFailed = w, i, passed, failed
		}
	}
	if at < 0 {
		return -1, ""
	}
	why := fmt.Sprintf("%s it, %d fail it", format.Counted(bestPassed, "candidate passes", "candidates pass"), bestFailed)
	if best.apart > 0 {
		why += fmt.Sprintf("; it distinguishes %s that the labels so far do not", plural.Of(best.apart, "pair"))
	}
	return at, why
}

// farthest is next by dissimilarity of the outputs.
func (o *order) farthest(wanted func(i int) bool) (int, string) {
	at := -1
	var open []int
	for i := range o.near {
		if o.out[i] || !wanted(i) {
			continue
		}
		open = append(open, i)
		if at < 0 || o.near[i] > o.near[at] {
			at = i
		}
	}
	switch {
	case at < 0:
		return -1, ""
	case math.IsInf(o.near[at], 1): // nothing seen yet
		slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(o.prints[a].length, o.prints[b].length) })
		return open[(len(open)-1)/2], "of median length"
	case o.near[at] == 0:
		return at, "almost the same as one that you have seen"
	}
	return at, "the one least like those that you have seen"
}

// Queued is an output that is worth labelling, and why.
type Queued struct {
	ID  string
	Why string
}

// Queue returns the most useful outputs to label, up to most, in the order of [Start]: each as
// if those before it were labelled. The grid holds the results of candidates by id; nil if
// there are none.
func Queue(trials []trial.Trial, g *matrix.Grid, most int) []Queued {
	o := newOrder(trials, g)
	var have trial.Labels
	for i := range trials {
		if trials[i].Label == "" {
			continue
		}
		if o.see(i, true); trials[i].Label == "1" {
			have.Good++
		} else {
			have.Bad++
		}
	}
	var list []Queued
	for len(list) < most {
		i, why := o.next(func(i int) bool { return !o.seen[i] }, have)
		if i < 0 {
			break
		}
		o.see(i, true)
		list = append(list, Queued{trials[i].ID, why})
	}
	return list
}

// tallyCells counts passed and failed cells.
func tallyCells(row []matrix.Cell) (passed, failed int) {
	for _, cell := range row {
		switch cell {
		case matrix.Passed:
			passed++
		case matrix.Failed:
			failed++
		}
	}
	return passed, failed
}
