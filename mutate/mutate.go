// Package mutate breaks outputs on purpose, by rules, one instruction of a prompt at a
// time. What a mutant breaks is known, so assertions that all pass it miss something.
// Start at [Of].
//
// The method is that of mutation testing (R. A. DeMillo, R. J. Lipton and F. G.
// Sayward, "Hints on Test Data Selection", Computer 11 (1978) 34-41) with outputs in
// place of programs and assertions in place of tests.
package mutate

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Instruction is one thing that a prompt asks of its outputs.
type Instruction struct {
	Text     string
	Line     int    // in the prompt, from 1; 0 for [AnyAnswer]
	Category string // spade's taxonomy; "" if unknown
	// Checks are what the rules of spade make of the instruction. None if they do not
	// understand it.
	Checks []*proviso.Assertion
	// Apart means that it holds only sometimes, or stands under words that turn its meaning,
	// such as "Never:". Without a check, nothing is known to break it.
	Apart bool
}

// AnyAnswer is what every prompt asks without saying so: an answer that is there, is
// complete, and is no refusal. Its mutants are counted apart from those of the prompt.
var AnyAnswer = Instruction{Text: "An answer is there, is complete and is no refusal."}

// Output is an output to break.
type Output struct {
	ID   string
	Text string
	Vars *value.Object // of its case; may be nil
}

// Basis is why a mutant is taken to break its instruction.
type Basis string

// The bases.
const (
	Checked Basis = "checked" // the check that rules make of the instruction fails on it
	Assumed Basis = "assumed" // the operator breaks what the words of the instruction name
	Claimed Basis = "claimed" // a model made it, and says so
)

// Mutant is an output that was broken.
type Mutant struct {
	Operator string // its name in [Operators]; "model" for a model's
	Text     string
	Basis    Basis
	Also     int // other instructions whose checks it fails, and the output passed
}

// Standing says which instructions a text keeps, by the checks that rules make.
type Standing struct {
	Known  bool // the instruction has such a check, and it was decided
	Broken bool // it fails
	Others int  // checks of other instructions that fail, and pass on the output itself
}

// Options configure [Of].
type Options struct {
	Seed uint64
	Most int // mutants of an instruction and an output; 0 means all
	// Stands decides the checks of all instructions on a text. Nil decides none.
	Stands func(text string) Standing
}

// MaxText is the longest output that is broken, in bytes.
const MaxText = 256 << 10

// maxGrowth bounds by how much a mutant is longer than its output, in bytes, and
// maxMade how many mutants one operator makes of an output.
const (
	maxGrowth = 64 << 10
	maxMade   = 8
)

// Of returns mutants of an output that break one instruction. All of them differ from
// the output, and from each other. If rules make a check of the instruction, each of
// them fails that check: a mutant that still keeps the instruction is not returned. If
// they make none, each of them passes the checks of the other instructions. Else they do
// so as far as possible. They are made by different operators in turn.
// The same seed and arguments give the same mutants. The time is linear in the length of
// the output, and there are none for one that is longer than [MaxText].
func Of(in *Instruction, out *Output, o Options) []Mutant {
	if len(out.Text) > MaxText || strings.TrimSpace(out.Text) == "" {
		return nil
	}
	if o.Stands == nil {
		o.Stands = func(string) Standing { return Standing{} }
	}
	w := &work{in: in, out: out, stands: o.Stands, seen: map[string]bool{out.Text: true}}
	w.frame()
	for i := range operators {
		op := &operators[i]
		if !op.applies(in) {
			continue
		}
		w.operator, w.made = op.name, 0
		w.rng = rand.New(rand.NewPCG(o.Seed, hash(out.ID, in.Text, op.name)))
		op.make(w)
	}
	return choose(w.list, o.Most)
}

// hash identifies texts.
func hash(texts ...string) uint64 {
	h := fnv.New64a()
	for _, t := range texts {
		_, _ = h.Write([]byte(t)) // a hash never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// choose picks mutants that break as few other instructions as possible, in turn from
// each operator.
func choose(list []Mutant, most int) []Mutant {
	if len(list) == 0 {
		return nil
	}
	least := slices.MinFunc(list, func(a, b Mutant) int { return cmp.Compare(a.Also, b.Also) }).Also
	var operators []string
	by := map[string][]Mutant{}
	for _, m := range list {
		if m.Also > least {
			continue
		}
		if by[m.Operator] == nil {
			operators = append(operators, m.Operator)
		}
		by[m.Operator] = append(by[m.Operator], m)
	}
	var out []Mutant
	for turn := 0; ; turn++ {
		more := false
		for _, op := range operators {
			if turn >= len(by[op]) {
				continue
			}
			if more = true; most > 0 && len(out) == most {
				return out
			}
			out = append(out, by[op][turn])
		}
		if !more {
			return out
		}
	}
}

// work is the state while one output is broken.
type work struct {
	in     *Instruction
	out    *Output
	stands func(string) Standing
	rng    *rand.Rand

	// The part of the output that text operators change, and what is around it: see
	// frame.
	body string
	wrap func(body string) string

	operator string
	made     int
	seen     map[string]bool
	list     []Mutant
}

// put adds a mutant with a changed body.
func (w *work) put(body string) bool { return w.whole(w.wrap(body)) }

// whole adds a mutant, unless it is the output, was made already, or keeps the
// instruction. It reports whether it was added.
func (w *work) whole(text string) bool {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if w.made >= maxMade || w.seen[text] || len(text) > len(w.out.Text)+maxGrowth {
		return false
	}
	m := Mutant{Operator: w.operator, Text: text, Basis: Assumed}
	s := w.stands(text)
	switch {
	case s.Known && !s.Broken:
		return false
	case s.Known:
		m.Basis = Checked
	case len(w.in.Checks) > 0 || sameWords(text, w.out.Text):
		return false
	case isAnyAnswer(w.in): // what is no answer breaks the others as well
	case s.Others > 0: // it certainly breaks another one
		return false
	}
	if m.Basis == Checked {
		m.Also = s.Others
	}
	w.seen[text] = true
	w.made++
	w.list = append(w.list, m)
	return true
}

// sameWords reports whether two texts differ by blanks alone.
func sameWords(a, b string) bool {
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

// grow adds the first mutant of a series that breaks the instruction: text is given 1, 2,
// 4 and so on.
func (w *work) grow(text func(n int) string) {
	for n := 1; n <= 1<<13; n *= 2 {
		body := text(n)
		if len(body) > len(w.body)+maxGrowth || w.put(body) {
			return
		}
	}
}
