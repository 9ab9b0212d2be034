// Package mutate breaks outputs on purpose, by rules, one instruction of a prompt at a
// time. It is known what a mutant breaks, so if all assertions pass it, they miss
// something. Start at [Of].
//
// The method is mutation testing (R. A. DeMillo, R. J. Lipton and F. G. Sayward, "Hints on
// Test Data Selection", Computer 11 (1978) 34-41), with outputs in place of programs and
// assertions in place of tests.
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
	Line     int    // line of the prompt, from 1; 0 for [AnyAnswer]
	Category string // spade's taxonomy; "" if unknown
	// Checks are the checks that spade's rules derive from the instruction; none if they do
	// not understand it.
	Checks []*proviso.Assertion
	// Apart means that the instruction applies only sometimes, or follows words that invert
	// its meaning, such as "Never:". Without a check, no rule is known to break such an
	// instruction.
	Apart bool
}

// AnyAnswer is the implicit instruction of every prompt: there is an answer, it is
// complete, and it is no refusal. Its mutants are counted separately.
var AnyAnswer = Instruction{Text: "There is a complete answer, not a refusal."}

// Output is an output to break.
type Output struct {
	ID   string
	Text string
	Vars *value.Object // variables of its case; may be nil
}

// Basis is the reason to believe that a mutant breaks its instruction.
type Basis string

// The bases.
const (
	Checked Basis = "checked" // the rules' check of the instruction fails
	Assumed Basis = "assumed" // the operator breaks what the instruction's words name
	Claimed Basis = "claimed" // a model made the mutant and claims it
)

// Mutant is a broken output.
type Mutant struct {
	Operator string // its name in [Operators]; "model" for a model's
	Text     string
	Basis    Basis
	Also     int // number of other instructions whose checks pass on the output and fail on the mutant
}

// Standing is which instructions a text keeps, according to the rules' checks.
type Standing struct {
	Known  bool // the instruction has a check, which was decided
	Broken bool // that check fails
	Others int  // checks of other instructions that fail here and pass on the output
}

// Options configure [Of].
type Options struct {
	Seed uint64
	Most int // maximum mutants of an instruction and an output; 0 means no limit
	// Stands decides the checks of all instructions on a text. Nil decides none.
	Stands func(text string) Standing
}

// MaxText is the maximum length, in bytes, of an output to break.
const MaxText = 256 << 10

// maxGrowth is how many bytes longer than its output a mutant may be. maxMade limits the
// mutants of an output by one operator.
const (
	maxGrowth = 64 << 10
	maxMade   = 8
)

// Of returns mutants of an output that break one instruction. They differ from the output
// and from each other. If the rules derive checks from the instruction, each mutant fails
// one of them, and Of returns only the mutants that break the fewest other instructions.
// Otherwise, except for [AnyAnswer], each mutant passes the checks of the other
// instructions. The mutants come from the operators in turn. The same seed and arguments
// give the same mutants. The time is linear in the length of the output. There are no
// mutants of an output longer than [MaxText].
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

// hash returns a hash of texts.
func hash(texts ...string) uint64 {
	h := fnv.New64a()
	for _, t := range texts {
		_, _ = h.Write([]byte(t)) // a hash never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// choose returns the mutants that break the fewest other instructions, taking them from the
// operators in turn.
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

	// The part of the output that text operators change, and the function that puts the
	// rest around it; see frame.
	body string
	wrap func(body string) string

	operator string
	made     int
	seen     map[string]bool
	list     []Mutant
}

// put adds a mutant with a changed body.
func (w *work) put(body string) bool { return w.whole(w.wrap(body)) }

// whole adds a mutant and reports whether it was added. It adds none that equals the output
// or an earlier mutant, or that keeps the instruction.
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
	case isAnyAnswer(w.in): // a missing answer breaks other instructions as well
	case s.Others > 0: // it certainly breaks another instruction
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

// sameWords reports whether two texts differ only in blanks.
func sameWords(a, b string) bool {
	return slices.Equal(strings.Fields(a), strings.Fields(b))
}

// grow adds the first mutant of a series that breaks the instruction. It calls text with 1,
// 2, 4 and so on.
func (w *work) grow(text func(n int) string) {
	for n := 1; n <= 1<<13; n *= 2 {
		body := text(n)
		if len(body) > len(w.body)+maxGrowth || w.put(body) {
			return
		}
	}
}
