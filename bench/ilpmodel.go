package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// program is an instance as an integer program. Variables: x, a candidate is
// selected; u, a bad example is caught; z, a good one is failed; r, a candidate is
// implied by a selected one; s, it is left over.
type program struct {
	in     *instance
	method string
	// lean leaves out the candidates that break the limit of false failures by
	// themselves, makes equal examples one, and lets only x be whole.
	lean bool

	w      *bufio.Writer
	use    []bool    // by candidate: it has an x
	pred   [][]int   // by candidate: the candidates with an x that imply it
	rows   []example // those that some candidate fails
	offset int       // of the objective, which the program does not have
	names  []string  // of the variables beside x
}

// example is an example, or several that the same candidates fail.
type example struct {
	good   bool
	by     []int // candidates
	weight int
}

func newProgram(in *instance, method string, lean bool) *program {
	p := &program{in: in, method: method, lean: lean, use: make([]bool, len(in.fails)), pred: make([][]int, len(in.fails))}
	_, allow := in.bounds()
	by := make([][]int, len(in.good))
	for j, fails := range in.fails {
		wrong := 0
		for _, i := range fails {
			if in.good[i] {
				wrong++
			}
		}
		p.use[j] = !lean || wrong <= allow
		if p.use[j] {
			for _, i := range fails {
				by[i] = append(by[i], j)
			}
		}
	}
	for _, e := range in.implies {
		if e[0] != e[1] && p.use[e[0]] && !slices.Contains(p.pred[e[1]], e[0]) {
			p.pred[e[1]] = append(p.pred[e[1]], e[0])
		}
	}
	seen := map[string]int{}
	for i, list := range by {
		key := fmt.Sprint(in.good[i], list)
		at, ok := seen[key]
		switch {
		case ok && lean:
			p.rows[at].weight++
		case len(list) > 0:
			seen[key] = len(p.rows)
			p.rows = append(p.rows, example{in.good[i], list, 1})
		}
	}
	return p
}

// write writes the program as CPLEX-LP text.
func (p *program) write(w io.Writer) error {
	p.w = bufio.NewWriterSize(w, 1<<16)
	fmt.Fprint(p.w, "Minimize\n obj:")
	p.offset = 0
	for j, use := range p.use {
		cost := 1
		switch {
		case p.method != "sub":
		case p.leftOver(j):
			p.term("+", 1, "s", j)
		default: // left over exactly if it is not selected
			cost = 0
			p.offset++
		}
		if use {
			p.term("+", cost, "x", j)
		}
	}
	fmt.Fprint(p.w, "\nSubject To\n")
	p.examples()
	if p.method == "sub" {
		p.subsumption()
	}
	p.declare()
	return p.w.Flush()
}

// leftOver tells whether candidate j has an s: the lean program has none where x
// says the same.
func (p *program) leftOver(j int) bool { return !p.lean || len(p.pred[j]) > 0 }

func (p *program) term(sign string, weight int, kind string, i int) {
	if weight == 1 {
		fmt.Fprintf(p.w, "\n %s %s%d", sign, kind, i)
		return
	}
	fmt.Fprintf(p.w, "\n %s %d %s%d", sign, weight, kind, i)
}

func (p *program) name(kind string, i int) {
	p.names = append(p.names, fmt.Sprintf("%s%d", kind, i))
}

// examples writes what it takes to catch and to fail an example, and the
// thresholds on their numbers.
func (p *program) examples() {
	need, allow := p.in.bounds()
	for i, e := range p.rows {
		if e.good {
			p.name("z", i)
			for _, j := range e.by {
				fmt.Fprintf(p.w, " z%d_%d: z%d - x%d >= 0\n", i, j, i, j)
			}
			continue
		}
		p.name("u", i)
		fmt.Fprintf(p.w, " u%d_: u%d", i, i)
		for _, j := range e.by {
			p.term("-", 1, "x", j)
		}
		fmt.Fprint(p.w, " <= 0\n")
	}
	for _, side := range []struct {
		good       bool
		kind, bind string
		n          int
	}{{false, "u", ">=", need}, {true, "z", "<=", allow}} {
		var at []int
		for i, e := range p.rows {
			if e.good == side.good {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		fmt.Fprintf(p.w, " count_%s:", side.kind)
		for _, i := range at {
			p.term("+", p.rows[i].weight, side.kind, i)
		}
		fmt.Fprintf(p.w, " %s %d\n", side.bind, side.n)
	}
}

// subsumption writes when a candidate is left over.
func (p *program) subsumption() {
	for j, pred := range p.pred {
		if !p.leftOver(j) {
			continue
		}
		p.name("s", j)
		if p.lean {
			fmt.Fprintf(p.w, " s%d_: s%d", j, j)
			if p.use[j] {
				p.term("+", 1, "x", j)
			}
			for _, a := range pred {
				p.term("+", 1, "x", a)
			}
			fmt.Fprint(p.w, " >= 1\n")
			continue
		}
		p.name("r", j)
		fmt.Fprintf(p.w, " r%d_: r%d", j, j)
		for _, a := range pred {
			p.term("-", 1, "x", a)
		}
		fmt.Fprint(p.w, " <= 0\n")
		for _, a := range pred {
			fmt.Fprintf(p.w, " r%d_%d: r%d - x%d >= 0\n", j, a, j, a)
		}
		fmt.Fprintf(p.w, " s%d_a: s%d + x%d <= 1\n s%d_b: s%d + r%d <= 1\n s%d_c: s%d + x%d + r%d >= 1\n", j, j, j, j, j, j, j, j, j, j)
	}
}

// declare says which variables are whole.
func (p *program) declare() {
	if p.lean && len(p.names) > 0 {
		fmt.Fprint(p.w, "Bounds\n")
		for _, name := range p.names {
			fmt.Fprintf(p.w, " 0 <= %s <= 1\n", name)
		}
	}
	fmt.Fprint(p.w, "Binary\n")
	for j, use := range p.use {
		if use {
			fmt.Fprintf(p.w, " x%d\n", j)
		}
	}
	if !p.lean {
		fmt.Fprintf(p.w, " %s\n", strings.Join(p.names, "\n "))
	}
	fmt.Fprint(p.w, "End\n")
}
