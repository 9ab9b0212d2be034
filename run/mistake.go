package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/lint"
	"github.com/proviso-eval/proviso/provider"
)

// maxMistakes limits how many mistakes are kept.
const maxMistakes = 100

// mistake records err with its place, as a warning if it may be skipped.
func (p *Plan) mistake(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			p.mistake(one)
		}
		return
	}
	var e *proviso.Error
	if !errors.As(err, &e) {
		e = &proviso.Error{Code: proviso.Invalid, Message: err.Error()}
	}
	if p.o.KeysElsewhere && e.Warning && errors.Is(err, provider.ErrNoKey) {
		return
	}
	skipped := e.Code == proviso.Unsupported || e.Code == proviso.Unavailable
	m := proviso.Mistake{Code: e.Code, Message: e.Error(), Warning: e.Warning || p.o.SkipUnsupported && skipped}
	m.Skips = skipped && !m.Warning
	if p.full(m.Warning) && !errors.Is(err, provider.ErrNoKey) {
		p.dropped++
		return
	}
	if e.Pointer != "" && p.Suite.Places != nil {
		m.Place = p.Suite.Place(e.Pointer)
	}
	m.Nearest = nearest(e)
	if errors.Is(err, provider.ErrNoKey) {
		p.noteAs(m.Message, m, e.Pointer) // a missing key or judge is reported once, where it is first needed
		return
	}
	p.note(m, e.Pointer)
}

// noted is a recorded mistake.
type noted struct {
	at      int    // index in the mistakes
	cases   int    // number of cases read when it was last reported
	pointer string // where it was last reported
}

// note keeps a mistake once, and counts its occurrences: each at another pointer, or in another
// case.
func (p *Plan) note(m proviso.Mistake, pointer string) { p.noteAs(m.String(), m, pointer) }

// noteAs keeps only the first mistake with a key.
func (p *Plan) noteAs(key string, m proviso.Mistake, pointer string) {
	if n, known := p.noted[key]; known {
		if n.cases != p.Cases || n.pointer != pointer {
			n.cases, n.pointer = p.Cases, pointer
			p.mistakes[n.at].Count = max(2, p.mistakes[n.at].Count+1)
		}
		return
	}
	at := len(p.mistakes)
	switch {
	case p.full(m.Warning):
		p.dropped++
		return
	case at < maxMistakes:
		p.mistakes = append(p.mistakes, m)
	default: // mistakes replace warnings
		at = p.lastWarning()
		p.dropped++
		maps.DeleteFunc(p.noted, func(_ string, n *noted) bool { return n.at == at })
		p.mistakes[at] = m
	}
	p.noted[key] = &noted{at: at, cases: p.Cases, pointer: pointer}
}

// full reports whether the limit of mistakes, or warnings, is reached. It is
// checked before the position is computed, which takes long in large files.
func (p *Plan) full(warning bool) bool {
	return len(p.mistakes) >= maxMistakes && (warning || p.lastWarning() < 0)
}

// lastWarning returns the index of the last warning, or -1.
func (p *Plan) lastWarning() int {
	for i, m := range slices.Backward(p.mistakes) {
		if m.Warning {
			return i
		}
	}
	return -1
}

// pointerOf returns the pointer of an error in the suite, "" if it has none.
func pointerOf(err error) string {
	var e *proviso.Error
	if errors.As(err, &e) {
		return e.Pointer
	}
	return ""
}

// unchecked counts the cases without assertions, which pass for every output.
type unchecked struct {
	cases int
	first string // pointer
}

func (u *unchecked) add(pc *prepared) {
	if pc.Broken || pc.Generator != nil || len(pc.Assert) > 0 || len(pc.Set) > 0 || len(pc.byPrompt) > 0 || pc.Scoring != "" {
		return
	}
	if u.cases == 0 {
		u.first = pc.Pointer
	}
	u.cases++
}

// warn reports their number once, at the first such case.
func (u *unchecked) warn(p *Plan) {
	if u.cases == 0 {
		return
	}
	text := fmt.Sprintf("%d of %d cases have no assertions: they pass for every output", u.cases, p.Cases)
	if u.cases == 1 {
		text = fmt.Sprintf("1 of %d cases has no assertion: it passes for every output", p.Cases)
	}
	if p.Cases == 1 {
		text = "the case has no assertion: it passes for every output"
	}
	e := proviso.Errorf(proviso.Invalid, "%s", text)
	e.Pointer, e.Warning = u.first, true
	p.mistake(e)
}

// wording warns about judged assertions whose wording is ambiguous.
type wording struct {
	p    *Plan
	seen map[*proviso.Assertion]bool // the suite's set is the same in every case
}

// maxWorded limits how many assertions are remembered; further ones may be checked twice.
const maxWorded = 10_000

// warn checks assertions and the members of sets.
func (w *wording) warn(list []*proviso.Assertion) {
	for _, a := range list {
		w.warn(a.Assert)
		if len(a.Criteria) == 0 || w.seen[a] {
			continue
		}
		if len(w.seen) < maxWorded {
			w.seen[a] = true
		}
		for _, l := range lint.Assertion(a) {
			e := proviso.Because(errors.New(l.Rule), proviso.Invalid, "%s", l.Text())
			e.Pointer, e.Warning = l.Pointer, true
			w.p.mistake(e)
		}
	}
}
