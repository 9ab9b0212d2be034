package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ilpShape is what an instance of the optimiser's benchmark is made from. The
// same shape always gives the same instance.
type ilpShape struct {
	candidates, examples, seed int
	alpha, tau                 float64 // thresholds
	recall                     float64 // share of the true implications that are known
	precision                  float64 // share of the known implications that are true
	contradicted               bool    // false implications may contradict the examples
}

// newShape has the usual thresholds and implications.
func newShape(candidates, examples, seed int) ilpShape {
	return ilpShape{candidates: candidates, examples: examples, seed: seed, alpha: 0.6, tau: 0.25, recall: 0.6, precision: 0.82}
}

// instance is one problem of selecting assertions.
type instance struct {
	name       string
	alpha, tau float64
	good       []bool         // by example
	fails      [][]int32      // by candidate: the examples it fails, ascending
	implies    [][2]int       // ascending
	names      map[string]int // numbers of candidates; nil if they are called c0, c1, …
}

// shares of an instance's examples and candidates.
const (
	badShare     = 0.45
	borderShare  = 0.15 // of the good ones: those that are often failed
	borderWrong  = 0.8  // of the false failures: those that are of these
	aimlessShare = 0.05 // of the bad ones: those with no failure that a candidate looks for
)

// generator makes an instance: failures that outputs have for a reason, groups of
// candidates that look for one reason each, in versions that are stricter and
// weaker, rewritten, broken or noise.
type generator struct {
	ilpShape
	r       *mt19937
	y       []bool // good, by example
	good    []int32
	border  []bool
	weights []float64 // of the reasons, cumulated
	has     [][]int32 // by reason: the bad examples that have it
	fails   [][]int32 // ascending
	groups  [][]int
	truth   [][2]int // the implications that hold
}

func (s ilpShape) generate() *instance {
	g := &generator{ilpShape: s, r: newRandomText(fmt.Sprintf("proviso-ilp/%d/%d/%d", s.candidates, s.examples, s.seed))}
	g.label()
	g.reasons()
	share := func(f float64) int { return int(float64(s.candidates) * f) }
	broken, never, noisy := share(0.12), share(0.08), share(0.10)
	for target := s.candidates - broken - never - noisy; len(g.fails) < target; {
		g.group(target)
	}
	all := make([]int32, s.examples)
	for i := range all {
		all[i] = int32(i)
	}
	for range broken {
		g.fails = append(g.fails, all)
	}
	g.fails = append(g.fails, make([][]int32, never)...)
	for range noisy {
		rate := g.uniform(0.2, 0.6)
		g.fails = append(g.fails, g.some(all, rate))
	}
	return g.finish()
}

// label decides which examples are good.
func (g *generator) label() {
	g.y = make([]bool, g.examples)
	for i := range g.y {
		g.y[i] = g.r.float64() >= badShare
	}
	if !slices.Contains(g.y, false) {
		g.y[0] = false
	}
	if !slices.Contains(g.y, true) {
		g.y[0] = true
	}
}

// reasons gives every bad example up to three reasons to be bad.
func (g *generator) reasons() {
	n := max(3, int(math.RoundToEven(1.6*math.Sqrt(float64(g.candidates)))))
	g.has = make([][]int32, n)
	sum := 0.0
	for k := range n {
		sum += 1 / math.Pow(float64(k+2), 0.7)
		g.weights = append(g.weights, sum)
	}
	for i, good := range g.y {
		if good {
			g.good = append(g.good, int32(i))
			continue
		}
		if g.r.float64() < aimlessShare {
			continue
		}
		for range choice(g.r, []int{1, 1, 2, 3}) {
			k := g.reason()
			if list := g.has[k]; len(list) == 0 || list[len(list)-1] != int32(i) {
				g.has[k] = append(list, int32(i))
			}
		}
	}
	g.border = make([]bool, g.examples)
	for _, i := range g.good {
		g.border[i] = g.r.float64() < borderShare
	}
}

// reason is random.choices over the reasons.
func (g *generator) reason() int {
	last := len(g.weights) - 1
	at := g.r.float64() * g.weights[last]
	k, _ := slices.BinarySearchFunc(g.weights[:last], at, func(w, at float64) int {
		if w <= at {
			return -1
		}
		return 1
	})
	return k
}

// wrong draws good examples that are failed, most of them borderline.
func (g *generator) wrong(rate float64) []int32 {
	high, low := min(1, rate*borderWrong/borderShare), rate*(1-borderWrong)/(1-borderShare)
	var list []int32
	for _, i := range g.good {
		p := low
		if g.border[i] {
			p = high
		}
		if g.r.float64() < p {
			list = append(list, i)
		}
	}
	return list
}

// some draws a share of a list.
func (g *generator) some(list []int32, share float64) []int32 {
	var out []int32
	for _, i := range list {
		if g.r.float64() < share {
			out = append(out, i)
		}
	}
	return out
}

// uniform is random.uniform.
func (g *generator) uniform(a, b float64) float64 { return a + float64((b-a)*g.r.float64()) }

// choice is random.choice.
func choice[T any](r *mt19937, list []T) T { return list[r.below(len(list))] }

var (
	groupSizes = []int{1, 2, 3, 4, 5, 6, 8, 10}
	wrongRates = []float64{0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15, 0.3}
)

// group adds the candidates that look for one reason: a strict one, weaker ones
// that it implies, and rewrites of it that imply nothing.
func (g *generator) group(target int) {
	reason := g.reason()
	size := min(target-len(g.fails), choice(g.r, groupSizes))
	rate := choice(g.r, wrongRates)
	shared := g.wrong(rate)
	most := newPySet(g.some(g.has[reason], 0.9))
	next := newPySet(g.some(g.has[(reason+1)%len(g.has)], 0.15))
	root := most.union(next).union(newPySet(shared)).members()
	base := len(g.fails)
	ids, parents := []int{base}, []int{-1}
	g.fails = append(g.fails, sorted(slices.Clone(root)))
	for range size - 1 {
		id, parent := len(g.fails), -1
		var fails []int32
		if g.r.float64() < 0.35 {
			fails = g.some(root, 0.85)
			fails = append(fails, g.wrong(rate*0.3)...)
			fails = sorted(append(fails, g.some(g.has[reason], 0.3)...))
		} else {
			parent = choice(g.r, ids)
			share := g.uniform(0.5, 0.95)
			fails = g.some(g.fails[parent], share)
		}
		g.fails = append(g.fails, fails)
		ids, parents = append(ids, id), append(parents, parent)
	}
	g.groups = append(g.groups, ids)
	for _, id := range ids {
		for a := parents[id-base]; a >= 0; a = parents[a-base] {
			g.truth = append(g.truth, [2]int{a, id})
		}
	}
}

func sorted(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}

// finish shuffles the candidates and decides which implications are known.
func (g *generator) finish() *instance {
	at := make([]int, g.candidates) // the old number of each candidate
	for i := range at {
		at[i] = i
	}
	for i := len(at) - 1; i > 0; i-- {
		j := g.r.below(i + 1)
		at[i], at[j] = at[j], at[i]
	}
	in := &instance{
		name: fmt.Sprintf("synth-%dx%d-s%d", g.candidates, g.examples, g.seed), alpha: g.alpha, tau: g.tau, good: g.y,
		fails: make([][]int32, g.candidates),
	}
	now := make([]int, g.candidates)
	for k, old := range at {
		now[old], in.fails[k] = k, g.fails[old]
	}
	var known [][2]int
	for _, p := range g.truth {
		if g.r.float64() < g.recall {
			known = append(known, p)
		}
	}
	for _, p := range append(known, g.spurious(len(known))...) {
		in.implies = append(in.implies, [2]int{now[p[0]], now[p[1]]})
	}
	slices.SortFunc(in.implies, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return in
}

// spurious are false implications within groups.
func (g *generator) spurious(known int) [][2]int {
	want := int(float64(known) * (1 - g.precision) / max(g.precision, 1e-9))
	var several [][]int
	for _, ids := range g.groups {
		if len(ids) > 1 {
			several = append(several, ids)
		}
	}
	taken := map[[2]int]bool{}
	for _, p := range g.truth {
		taken[p] = true
	}
	var list [][2]int
	for tries := 0; len(several) > 0 && len(list) < want && tries < 50*(want+1); tries++ {
		ids := choice(g.r, several)
		// random.sample of two
		a := g.r.below(len(ids))
		b := g.r.below(len(ids) - 1)
		if b == a {
			b = len(ids) - 1
		}
		p := [2]int{ids[a], ids[b]}
		if taken[p] || !g.contradicted && !within(g.fails[p[1]], g.fails[p[0]]) {
			continue
		}
		taken[p] = true
		list = append(list, p)
	}
	return list
}

// within tells whether all of a, which ascends, is in b, which does too.
func within(a, b []int32) bool {
	for _, v := range a {
		at, ok := slices.BinarySearch(b, v)
		if !ok {
			return false
		}
		b = b[at:]
	}
	return true
}

// writeJSON writes the instance as one line of JSON: y is 1 for a good example.
func (in *instance) writeJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `{"name":%q,"m":%d,"n":%d,"alpha":%s,"tau":%s,"y":[`, in.name, len(in.fails), len(in.good), pyFloat(in.alpha), pyFloat(in.tau))
	comma := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
	}
	for i, good := range in.good {
		comma(i)
		b.WriteByte(bit(good))
	}
	b.WriteString(`],"fails":[`)
	var scratch []byte
	for j, fails := range in.fails {
		comma(j)
		b.WriteByte('[')
		for k, i := range fails {
			comma(k)
			scratch = strconv.AppendInt(scratch[:0], int64(i), 10)
			b.Write(scratch)
		}
		b.WriteByte(']')
	}
	b.WriteString(`],"implies":[`)
	for i, p := range in.implies {
		comma(i)
		fmt.Fprintf(b, "[%d,%d]", p[0], p[1])
	}
	b.WriteString("]}\n")
	return b.Flush()
}

func bit(set bool) byte {
	if set {
		return '1'
	}
	return '0'
}

// pyFloat is a share as Python prints it.
func pyFloat(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
