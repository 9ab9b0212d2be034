package subsume

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
)

// Limits of the automata. Nothing is proven beyond them.
const (
	maxProgram  = 2000     // instructions per pattern
	maxStates   = 4000     // states per pattern, and per comparison
	maxDistance = 1 << 17  // steps per comparison
	maxEffort   = 1 << 23  // steps of all comparisons in a list
	maxSweep    = 32 << 20 // steps of trying texts on languages
)

// machine decides whether a pattern matches somewhere in a text, one code unit at a time (see
// package regex for the units). Its states are sets of positions in the program, built on
// first visit: the lazy subset construction of Rabin and Scott, as in Thompson's matchers.
type machine struct {
	prog  *syntax.Prog
	cuts  []rune // starts of the unit classes that the program distinguishes; the first is 0
	ascii [128]uint16
	first bool // the start of the text matters
	words bool // word boundaries matter

	index map[string]int32
	sets  []positions
	next  [][]int32 // by state and class; 0 is unknown, else the state plus one
	ends  []int8    // whether a text may end in the state: 0 means unknown, 1 yes, 2 no
	full  bool      // there are too many states; the results are invalid

	marks []uint32 // by instruction: number of the last closure that contained it
	mark  uint32
	stack []uint32
	work  int // instructions visited so far
}

// positions are a machine's knowledge about the text so far.
type positions struct {
	before rune    // stands for the previous unit: -1 at the start, 'a' in a word, else ' '
	at     []int32 // instructions that may come next, ascending
}

// matched is the state after a match: every longer text also matches.
const matched = 0

// newMachine compiles an expression of package regexp/syntax; nil if it is too large.
func newMachine(expr string) *machine {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return nil
	}
	m := &machine{prog: prog, index: map[string]int32{}, marks: make([]uint32, len(prog.Inst))}
	m.classes()
	m.state(positions{before: ' ', at: []int32{-1}}) // unlike any other state
	start := positions{before: ' '}
	if m.first || m.words {
		start.before = -1
	}
	m.state(start)
	return m
}

// start returns the state before the first unit.
func (m *machine) start() int32 { return matched + 1 }

// classes finds the unit classes that the program distinguishes.
func (m *machine) classes() {
	m.cuts = []rune{0}
	for i := range m.prog.Inst {
		inst := &m.prog.Inst[i]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(inst.Rune) == 1 {
				m.single(inst.Rune[0])
				continue
			}
			for k := 0; k+1 < len(inst.Rune); k += 2 {
				m.cuts = append(m.cuts, inst.Rune[k], inst.Rune[k+1]+1)
			}
		case syntax.InstRuneAnyNotNL:
			m.cuts = append(m.cuts, '\n', '\n'+1)
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(inst.Arg)
			m.first = m.first || op&syntax.EmptyBeginText != 0
			m.words = m.words || op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	if m.words {
		m.cuts = append(m.cuts, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	slices.Sort(m.cuts)
	m.cuts = slices.Compact(m.cuts)
	for c := range m.ascii {
		m.ascii[c] = uint16(m.search(rune(c)))
	}
}

// single separates a unit from all others, and so do its case variants: the compiler writes
// a|A as A with case folding.
func (m *machine) single(r rune) {
	m.cuts = append(m.cuts, r, r+1)
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		m.cuts = append(m.cuts, other, other+1)
	}
}

// search returns the class of a unit.
func (m *machine) search(r rune) int {
	i, ok := slices.BinarySearch(m.cuts, r)
	if !ok {
		i--
	}
	return i
}

func (m *machine) class(r rune) int {
	if r < rune(len(m.ascii)) {
		return int(m.ascii[r])
	}
	return m.search(r)
}

// state returns the number of a state, adding it if it is new.
func (m *machine) state(p positions) int32 {
	key := binary.AppendVarint(nil, int64(p.before))
	for _, at := range p.at {
		key = binary.AppendVarint(key, int64(at))
	}
	if s, ok := m.index[string(key)]; ok {
		return s
	}
	if len(m.sets) >= maxStates {
		m.full = true
		return matched
	}
	s := int32(len(m.sets))
	m.index[string(key)] = s
	m.sets, m.next, m.ends = append(m.sets, p), append(m.next, nil), append(m.ends, 0)
	return s
}

// step returns the state after one more unit.
func (m *machine) step(s int32, r rune) int32 {
	if s == matched {
		return matched
	}
	c := m.class(r)
	row := m.next[s]
	if row == nil {
		row = make([]int32, len(m.cuts))
		m.next[s] = row
	}
	if row[c] != 0 {
		return row[c] - 1
	}
	to := m.move(m.sets[s], r)
	row[c] = to + 1
	return to
}

func (m *machine) move(p positions, r rune) int32 {
	at, done := m.closure(p, r)
	if done {
		return matched
	}
	to := positions{before: ' '}
	if m.words && syntax.IsWordChar(r) {
		to.before = 'a'
	}
	for _, pc := range at {
		inst := &m.prog.Inst[pc]
		if inst.Op == syntax.InstRuneAny || inst.MatchRune(r) {
			to.at = append(to.at, int32(inst.Out))
		}
	}
	slices.Sort(to.at)
	to.at = slices.Compact(to.at)
	return m.state(to)
}

// accepts reports whether the pattern matches in a text that ends in state s.
func (m *machine) accepts(s int32) bool {
	if s == matched {
		return true
	}
	if m.ends[s] == 0 {
		m.ends[s] = 2
		if _, done := m.closure(m.sets[s], -1); done {
			m.ends[s] = 1
		}
	}
	return m.ends[s] == 1
}

// closure returns the instructions that read the next unit, and whether the pattern has
// matched before it; next is -1 at the end. A match may start anywhere, so the start of the
// program is always among the positions.
func (m *machine) closure(p positions, next rune) (at []uint32, done bool) {
	flags := syntax.EmptyOpContext(p.before, next)
	m.mark++
	stack := append(m.stack[:0], uint32(m.prog.Start))
	defer func() { m.stack = stack }()
	for _, pc := range p.at {
		stack = append(stack, uint32(pc))
	}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m.marks[pc] == m.mark {
			continue
		}
		m.marks[pc] = m.mark
		m.work++
		inst := &m.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			at = append(at, pc)
		}
	}
	return at, false
}
