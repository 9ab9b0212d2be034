package suite

import (
	"errors"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// pass is one reading of all cases. It belongs to one goroutine.
type pass struct {
	decoder
	source *caseSource
	yield  func(*proviso.Case, error) bool

	stopped   bool // the consumer stopped
	quiet     bool // warnings were reported when the suite was read
	broken    bool // the case has mistakes
	refused   bool // because of one of them the case is not read further: it is about untrusted input, or the case is empty
	countOnly bool // nothing is yielded, only counted
	checkOnly bool // nothing is yielded, only checked
	read      int  // cases read
	matched   int  // cases that the filters before a sample kept
	selected  int  // cases that all filters kept
	index     int  // index of the next case to yield
	keep      map[int]struct{}
	base      string // folder that file names of the cases are relative to
	remote    bool   // the cases came over the network
	origin    string // for messages: the code that made the case, with the case's number there; "" if it is written in the suite

	ids      identities
	current  layer
	varCache map[string]string
	varBytes int
}

func newPass(s *caseSource, yield func(*proviso.Case, error) bool) *pass {
	p := &pass{source: s, yield: yield, ids: newIdentities()}
	p.decoder = decoder{facts: s.facts, trust: s.trust, files: s.files, load: s.load}
	p.Decoder = assertion.Decoder{Lenient: s.promptfoo, Owner: &p.decoder, Report: p.yieldError}
	return p
}

// yieldError yields a mistake to the consumer.
func (p *pass) yieldError(e *proviso.Error) {
	p.refused = p.refused || e.Code == proviso.Refused
	if p.stopped || e.Warning && p.quiet {
		return
	}
	p.stopped = !p.yield(nil, p.fromCode(e))
}

// fail reports a mistake that may be a warning.
func (p *pass) fail(e *proviso.Error) {
	p.Failed = p.Failed || !e.Warning
	p.Report(e)
}

// fileError reports an error from opening or reading a file, at the place that names
// the file.
func (p *pass) fileError(at string, err error) {
	p.fail(errorAt(at, err))
}

func errorAt(at string, err error) *proviso.Error {
	var known *proviso.Error
	if errors.As(err, &known) {
		e := *known
		e.Pointer = at
		return &e
	}
	var line *document.LineError
	if errors.As(err, &line) {
		return &proviso.Error{Code: line.Code, Pointer: at, Message: line.Message}
	}
	return &proviso.Error{Code: proviso.Invalid, Pointer: at, Err: err}
}

// run reads all cases.
func (p *pass) run() {
	for _, from := range p.source.streams {
		p.quiet, p.base = from.inline, from.base
		p.enter(from.remote)
		if !from.each(p, p.one) {
			break
		}
	}
	p.quiet = false
	p.enter(false)
	if !p.stopped {
		p.ids.publish(p.source.known)
	}
	if p.stopped || p.countOnly || p.selected > 0 {
		return
	}
	switch {
	case p.read > 0 && p.source.filter.active():
		p.Report(proviso.Errorf(proviso.Invalid, "no case is left: %s", p.source.filter.explain(p.read)))
	case p.read == 0 && p.source.unseen:
	case p.read == 0:
		p.Report(&proviso.Error{Code: proviso.Invalid, Pointer: p.source.at, Message: "the suite has no cases"})
	}
}

// one decodes, filters and yields a case. It returns false when the pass is over.
func (p *pass) one(w written) bool {
	switch {
	case w.err != nil:
		p.read++ // a broken case counts too
		p.selected++
		p.fail(w.err)
		return !p.stopped
	case w.generator != nil:
		return p.generated(w)
	}
	p.read++
	p.Failed, p.refused = false, false
	if p.base != "" {
		w.object, _ = rebaseFiles(w.object, p.base).(*value.Object)
	}
	base := w.base
	if base == nil {
		base = &p.source.defaults
	}
	l := &p.current
	p.testCase(l, w, base)
	p.checkContent(w)
	if l.proto.ID != "" && !p.ids.claim(l.proto.ID) {
		p.Mistake(w.at+"/id", "the id %q is given to more than one case", l.proto.ID)
	}
	keep, more := p.filter(l)
	if keep {
		p.selected++
		if !p.countOnly && (!p.Failed || p.source.broken && !p.refused && !p.remote) {
			p.broken = p.Failed
			p.Failed = false
			p.unroll(w, l)
		}
	}
	return more && !p.stopped
}

// checkContent checks that a case has content.
func (p *pass) checkContent(w written) {
	if w.object.Len() == 0 && w.base == nil {
		return
	}
	for _, key := range [...]string{
		"vars", "assert", "options", "metadata", "provider", "providers", "prompts", "providerOutput", "threshold",
	} {
		if w.object.Has(key) {
			return
		}
	}
	message := "a case needs at least one of vars, assert, options, metadata, provider, providerOutput and threshold"
	switch file, isText := w.object.At("file").(string); {
	case isText:
		message += "; to read cases from a file, name it in place of the case: - file://" + document.Excerpt(strings.TrimPrefix(file, "file://"))
	case slices.ContainsFunc(w.object.Keys(), func(key string) bool { return !hasRow(caseKeys, key) }):
		message += "; put variables under vars"
	}
	p.Mistake(w.at, "%s", message)
	p.refused = true // what else would be said of it follows from this
}

// unroll yields a case for each repetition and combination of variables.
func (p *pass) unroll(w written, l *layer) {
	axes, ok := p.axes(l)
	if !ok {
		return
	}
	repeat := l.repeat
	if repeat.n == 0 {
		repeat = p.source.repeat
	}
	if p.checkOnly {
		repeat = repetition{n: 1}
	}
	if repeat.n == 1 && len(axes) == 0 { // the common case
		c := p.build(l, l.vars, false)
		c.ID, c.Repeats, c.RepeatPass = p.id(w, l, l.vars, nil, 0), 1, repeat.pass
		p.emit(c)
		return
	}
	p.unrollAll(w, l, axes, repeat)
}

func (p *pass) unrollAll(w written, l *layer, axes []axis, repeat repetition) {
	var ids []string // ids of the combinations; every repetition has the same ids
	for r := range repeat.n {
		i := 0
		more := combine(l.vars, axes, func(vars *value.Object) bool {
			if !p.source.filter.keepRow(vars) {
				return true
			}
			if i == len(ids) {
				ids = append(ids, p.id(w, l, vars, axes, i))
			}
			c := p.build(l, vars, len(axes) > 0)
			c.ID, c.Repeat, c.Repeats, c.RepeatPass = ids[i], r, repeat.n, repeat.pass
			i++
			return p.emit(c)
		})
		if !more {
			return
		}
	}
}

// build makes the case for one combination.
func (p *pass) build(l *layer, vars *value.Object, combined bool) *proviso.Case {
	c := new(proviso.Case)
	*c = l.proto
	c.Options.DisableTemplates = p.source.literal || p.remote
	c.Origin = p.origin
	c.Set = p.source.set
	c.Vars = p.fileVars(c, vars)
	if c.Vars == nil {
		c.Vars = &value.Object{}
	}
	c.Raw = redact(p.facts.Types, l.raw)
	if combined {
		c.Raw = c.Raw.Clone()
		c.Raw.Set("vars", vars)
	}
	return c
}

func (p *pass) emit(c *proviso.Case) bool {
	if p.Failed && !p.source.broken { // a file of its variables cannot be read
		return !p.stopped
	}
	c.Broken = p.broken || p.Failed
	c.Index, c.Number = p.index, p.read-1
	p.index++
	if !p.yield(c, nil) {
		p.stopped = true
	}
	return !p.stopped
}

// generated continues with the cases that code yields, or yields the code itself.
func (p *pass) generated(w written) bool {
	if p.source.expand == nil {
		p.read++
		p.selected++
		if p.countOnly {
			return true
		}
		p.Failed, p.broken = false, false
		return p.emit(&proviso.Case{Index: p.index, Generator: w.generator, Pointer: w.at, Repeats: 1})
	}
	v, err := p.source.expand(w.generator)
	if err != nil {
		return p.unmade(w, errorAt(w.at, err))
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	return p.made(w.at, w.generator.Name(), list, func(m written) bool {
		m.base, m.data = w.base, w.data
		return p.one(m)
	})
}

// unmade reports why code yields no cases. If code that cannot run here is skipped,
// the generator itself is an undecided case.
func (p *pass) unmade(w written, e *proviso.Error) bool {
	p.read++
	p.selected++
	p.Failed, p.broken = false, false
	if !p.source.skipUnsupported || e.Code != proviso.Unavailable && e.Code != proviso.Unsupported {
		p.fail(e)
		return !p.stopped
	}
	e.Warning = true
	p.fail(e)
	if p.countOnly || p.stopped {
		return !p.stopped
	}
	return p.emit(&proviso.Case{Index: p.index, Generator: w.generator, Pointer: w.at, Repeats: 1, Unsupported: e.Error()})
}
