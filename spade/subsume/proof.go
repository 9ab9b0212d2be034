package subsume

import (
	"math/bits"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// ProofKind is why an implication holds; "" if it is not proven.
type ProofKind string

// The kinds of proofs.
const (
	ByEquality ProofKind = "equal"   // both have the same meaning
	ByPhrases  ProofKind = "phrases" // phrases of one contain those of the other
	ByLimit    ProofKind = "limit"   // a count or threshold lies within the other
	BySchema   ProofKind = "schema"  // a schema or a list of elements is at least as strict
	ByValue    ProofKind = "value"   // the only output that passes one passes the other
	ByText     ProofKind = "text"    // no text passes one and fails the other
	ByPart     ProofKind = "part"    // whatever a part of the output has, the output has
	ByCriteria ProofKind = "parts"   // each part of a judged assertion is implied
)

// says returns the reason that a proof kind stands for.
func (k ProofKind) says() string {
	switch k {
	case ByEquality:
		return "the same check"
	case ByPhrases:
		return "the phrases of one hold those of the other"
	case ByLimit:
		return "its limit lies within the other's"
	case BySchema:
		return "it asks for no less"
	case ByValue:
		return "a single output decides it"
	case ByText:
		return "no text passes one and fails the other"
	case ByPart:
		return "what a part of the output has, the output has"
	case ByCriteria:
		return "each part of the other follows from one of its own"
	}
	return ""
}

// maxDecided bounds how often the engine runs on single outputs.
const maxDecided = 200_000

// Prover proves implications between assertions from the meaning of their types. It is not
// safe for concurrent use.
type Prover struct {
	list    []proviso.Candidate
	claims  [][]claim
	facts   []*fact // facts with text languages, in order
	x       explorer
	known   map[comparison]answer
	decided map[*fact]*check.Set
	c       *check.Compiler
	own     bool // the prover closes the compiler
	left    int  // remaining decisions
	tests   [][]rune
	unsure  int
	shown   []string // cached results of [Prover.shows]
}

// comparison identifies two compared languages.
type comparison struct {
	a, b       *fact
	notA, notB bool
}

// answer is the result of comparing two languages.
type answer struct {
	text         []rune // a text in only one of them
	found, known bool
}

// NewProver prepares proofs between candidates. The compiler decides single outputs; for nil,
// NewProver creates one that reads no files and asks no model, and [Prover.Close] closes it.
func NewProver(list []proviso.Candidate, c *check.Compiler) *Prover {
	return newProver(list, c, nil)
}

func newProver(list []proviso.Candidate, c *check.Compiler, trees pythonTrees) *Prover {
	own := c == nil
	if own {
		c = check.New(check.Options{})
	}
	p := &Prover{
		list: list, c: c, own: own, x: explorer{effort: maxEffort}, left: maxDecided,
		known: map[comparison]answer{}, decided: map[*fact]*check.Set{},
	}
	reader := &claims{languages: newLanguages(), facts: map[string]*fact{}, trees: trees}
	defer reader.languages.patterns.Close()
	p.claims = make([][]claim, len(list))
	for i := range list {
		p.claims[i] = reader.of(list[i].Assertion)
		for _, one := range p.claims[i] {
			if one.text != nil && !slices.Contains(p.facts, one.fact) {
				p.facts = append(p.facts, one.fact)
			}
		}
	}
	p.examples()
	return p
}

// Close closes the compiler if the prover created it. The prover must not be used
// afterwards.
func (p *Prover) Close() error {
	if !p.own {
		return nil
	}
	return p.c.Close()
}

// examples tries short texts on all languages, so that most comparisons need no search: a text
// that is in only one of the languages suffices.
func (p *Prover) examples() {
	tests := map[string]bool{"": true}
	p.tests = [][]rune{nil}
	for _, f := range p.facts {
		if f.phrases != nil {
			f.passes = f.phrases.example()
		} else {
			f.passes, _, _ = p.x.between(f.text, nothing)
			f.fails, _, _ = p.x.between(not(f.text), nothing)
		}
		for _, units := range [...][]rune{f.passes, f.fails} {
			if !tests[string(units)] {
				tests[string(units)] = true
				p.tests = append(p.tests, units)
			}
		}
	}
	effort := maxSweep
	for _, f := range p.facts {
		list := f.text.machines(nil)
		f.text.size = len(list)
		if slices.ContainsFunc(list, func(m *machine) bool { return m.full }) {
			f.text = nil // too many states
			continue
		}
		f.seen, f.exist = make([]uint64, (len(p.tests)+63)/64), true
		for i, units := range p.tests {
			if effort -= len(units) * f.text.size; effort < 0 {
				f.exist = false
				break
			}
			if f.holds(units) {
				f.seen[i/64] |= 1 << (i % 64)
			}
		}
	}
}

// Proves returns the kind of proof that whatever passes candidate a passes b; "" if there is
// none. a and b are indices into the list.
func (p *Prover) Proves(a, b int) ProofKind {
	from, to := p.claims[a], p.claims[b]
	if a == b || from == nil || to == nil {
		return ""
	}
	var why ProofKind
	for i := range to {
		kind := p.any(from, &to[i])
		switch {
		case kind == "":
			return ""
		case i > 0 || len(from) > 1:
			why = ByCriteria
		default:
			why = kind
		}
	}
	return why
}

func (p *Prover) any(from []claim, to *claim) ProofKind {
	for i := range from {
		if kind := p.entails(&from[i], to); kind != "" {
			return kind
		}
	}
	return ""
}

// entails compares two claims. An implication that holds for every single part of an output
// holds for all parts and for any part.
func (p *Prover) entails(a, b *claim) ProofKind {
	if a.frame != b.frame {
		return partOf(a, b)
	}
	if a.any != b.any {
		return ""
	}
	if a.fact == b.fact {
		if a.not == b.not {
			return ByEquality
		}
		return ""
	}
	if kind := direct(a, b); kind != "" {
		return kind
	}
	if p.byValue(a, b) {
		return ByValue
	}
	if a.text != nil && b.text != nil && (a.phrases == nil || b.phrases == nil) {
		if got := p.compare(a, b); got.known && !got.found {
			return ByText
		}
	}
	return ""
}

// direct makes the comparisons that need no search.
func direct(a, b *claim) ProofKind {
	if a.counted != "" && a.counted == b.counted {
		x, y := a.amounts, b.amounts
		if a.not {
			x = x.without()
		}
		if b.not {
			y = y.without()
		}
		if x.within(y) {
			return ByLimit
		}
	}
	if a.name != "" && a.of == b.of && !a.not && b.not && a.name != b.name {
		return ByValue
	}
	if a.not != b.not {
		return ""
	}
	x, y := a.fact, b.fact
	if a.not {
		x, y = y, x // not a implies not b if b implies a
	}
	switch {
	case x.phrases != nil && y.phrases != nil && x.phrases.entails(y.phrases):
		return ByPhrases
	case x.limit != nil && y.limit != nil && x.measure == y.measure && x.limit.within(y.limit):
		return ByLimit
	case x.schema != nil && y.schema != nil && x.schema.stricter(y.schema):
		return BySchema
	case x.name != "" && x.of == y.of && x.name == y.name:
		return ByEquality
	}
	return ""
}

// compare looks for a text that passes a and fails b.
func (p *Prover) compare(a, b *claim) answer {
	if a.exist && b.exist {
		for i := range a.seen {
			x, y := a.seen[i], b.seen[i]
			if a.not {
				x = ^x
			}
			if b.not {
				y = ^y
			}
			if differ := x &^ y; differ != 0 {
				if at := i*64 + bits.TrailingZeros64(differ); at < len(p.tests) {
					return answer{text: p.tests[at], found: true, known: true}
				}
			}
		}
	}
	which := comparison{a.fact, b.fact, a.not, b.not}
	if got, ok := p.known[which]; ok {
		return got
	}
	if p.x.effort <= 0 {
		p.unsure++
		return answer{}
	}
	if text, ok := p.joined(a, b); ok {
		return answer{text: text, found: true, known: true}
	}
	from, to := a.text, b.text
	if a.not {
		from = not(from)
	}
	if b.not {
		to = not(to)
	}
	got := answer{}
	if got.text, got.found, got.known = p.x.between(from, to); got.known {
		p.known[which] = got
	} else {
		p.unsure++
	}
	return got
}

// joined tries the concatenation of a text that passes a and one that fails b.
func (p *Prover) joined(a, b *claim) ([]rune, bool) {
	x, y := a.passes, b.passes
	if a.not {
		x = a.fails
	}
	if !b.not {
		y = b.fails
	}
	for _, text := range [...][]rune{slices.Concat(x, []rune{' '}, y), slices.Concat(y, []rune{' '}, x)} {
		p.x.effort -= len(text) * (a.text.size + b.text.size)
		if a.holds(text) != a.not && b.holds(text) == b.not {
			return text, true
		}
	}
	return nil, false
}

// holds reports whether a text has the property.
func (f *fact) holds(text []rune) bool {
	return f.text.holds(func(m *machine) bool {
		s := m.start()
		for _, r := range text {
			if s = m.step(s, r); s == matched {
				break
			}
		}
		return m.accepts(s)
	})
}

// Refutes returns a text that passes candidate a and fails b, if both are about the whole text
// of the output and such a text is known.
func (p *Prover) Refutes(a, b int) (text string, ok bool) {
	from, to := p.claims[a], p.claims[b]
	if len(from) != 1 || len(to) != 1 || !from[0].plain || !to[0].plain || from[0].text == nil || to[0].text == nil {
		return "", false
	}
	got := p.compare(&from[0], &to[0])
	if !got.known || !got.found {
		return "", false
	}
	text = regex.Text(got.text)
	passes, known := p.decide(from[0].fact, text)
	fails, also := p.decide(to[0].fact, text)
	return text, known && also && (passes == proviso.Pass) != from[0].not && (fails == proviso.Pass) == to[0].not
}

// reason explains in a sentence why a proven implication holds.
func (p *Prover) reason(a, b int, kind ProofKind) string {
	return kind.says() + ": " + p.shows(a) + " → " + p.shows(b)
}

// shows returns a short form of a candidate's check.
func (p *Prover) shows(i int) string {
	if p.shown == nil {
		p.shown = make([]string, len(p.list))
	}
	if p.shown[i] != "" {
		return p.shown[i]
	}
	a := p.list[i].Assertion
	text := a.Type
	if _, undefined := a.Value.(value.Undefined); !undefined && a.Value != nil {
		text += " " + value.Stringify(a.Value)
	}
	p.shown[i] = report.Line(text, 60)
	return p.shown[i]
}
