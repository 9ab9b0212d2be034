package suite

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// caseSource yields the cases of a suite. It does not change once it is built, so
// several passes may run at the same time.
type caseSource struct {
	files           *Files
	env             proviso.Env
	settings        proviso.Env // the user's environment, for proviso itself
	trust           *Trust
	promptfoo       bool
	skipUnsupported bool
	noExpansion     bool // lists do not expand to several cases
	plainPictures   bool // pictures are read as text, like other files
	facts           proviso.Facts
	broken          bool // cases with mistakes are yielded too
	literal         bool // variables are data and never refer to a file
	unseen          bool // some cases are elsewhere and were not read

	streams       []stream // the sources of the cases, in order
	at            string   // pointer of the tests, for the message that there are none
	defaults      layer
	set           []*proviso.Assertion
	promptNames   []nameable
	providerNames []nameable
	repeat        repetition
	filter        filter
	expand        func(*proviso.Generator) (any, error)

	sampled *sample   // the cases that a sample keeps, shared by all passes
	known   *knownIDs // ids from earlier passes, shared by all passes
}

var (
	_ proviso.CaseExpander = (*caseSource)(nil)
	_ proviso.CaseChecker  = (*caseSource)(nil)
)

// sample holds the cases that a sampling filter keeps.
type sample struct {
	once sync.Once
	keep map[int]struct{}
}

// stream is one source of cases.
type stream struct {
	inline bool   // they are in the suite itself, and were checked when it was read
	remote bool   // they came over the network and are untrusted
	base   string // folder for relative file names in them; "" is the suite's
	each   eachCase
}

// eachCase calls visit for each case. It stops and returns false if visit returns
// false.
type eachCase func(p *pass, visit func(written) bool) bool

// written is a case as written in a suite, before defaults.
type written struct {
	at        string // pointer
	object    *value.Object
	line      string             // the line that the object was parsed from, in a file of lines
	title     string             // description of a case that has none of its own
	base      *layer             // the scenario's additions to the defaults; nil outside a scenario
	data      *value.Object      // the scenario's entry as written
	generator *proviso.Generator // instead of an object: code that yields cases
	err       *proviso.Error     // instead of an object: the mistake in it
}

// cases returns the cases of a suite: those of its tests, then those of its
// scenarios, over its defaultTest. Mistakes in the defaults, or in the references to
// cases, are recorded at once. Mistakes within cases are yielded.
func (r *reading) cases(doc *document.Document, cfg *value.Object, pr []proviso.Prompt, providers []proviso.ProviderSpec) proviso.CaseSource {
	s := r.newCaseSource()
	if r.options.ModelOutputs != "" {
		r.outputCases(s, doc)
		return s
	}
	s.promptNames, s.providerNames = namesOf(pr, nameOfPrompt), namesOf(providers, nameOfProvider)
	s.repeat = suiteRepeat(cfg)
	s.defaults = r.caseDefaults(s, doc, cfg)
	s.streams = r.testStreams(doc, "/tests", cfg.At("tests"))
	if list, isList := cfg.At("tests").([]any); len(s.streams) > 0 || isList && len(list) == 0 {
		s.at = r.at(doc, "/tests") // otherwise their mistakes were reported already
	}
	s.streams = append(s.streams, r.scenarioStreams(doc, cfg.At("scenarios"))...)
	s.unseen = r.unseen > 0
	if r.asksOnce(doc, cfg, s) {
		s.streams = []stream{inlineCase(r.at(doc, ""), &value.Object{})}
	}
	r.checkInline(s, doc)
	return s
}

// asksOnce reports whether the prompts are sent once, without variables, because
// the suite has no tests. An empty list of tests is a mistake, but a warning in a
// suite of promptfoo's shape, because promptfoo runs it.
func (r *reading) asksOnce(doc *document.Document, cfg *value.Object, s *caseSource) bool {
	if len(s.streams) > 0 || hasMembers(cfg.At("scenarios")) {
		return false
	}
	tests, written := cfg.Get("tests")
	if list, isList := tests.([]any); r.promptfoo && isList && len(list) == 0 {
		r.warn(doc, "/tests", "the list of cases is empty: each prompt runs once, without variables")
		return true
	}
	return !written
}

func (r *reading) newCaseSource() *caseSource {
	return &caseSource{
		files: r.files, env: r.env, settings: r.options.Env, trust: r.trust,
		promptfoo: r.promptfoo, skipUnsupported: r.skipUnsupported,
		noExpansion: r.flag("PROMPTFOO_DISABLE_VAR_EXPANSION"), plainPictures: r.flag("PROMPTFOO_DISABLE_MULTIMEDIA_AS_BASE64"),
		facts: r.options.Facts, set: r.set, repeat: repetition{n: 1}, sampled: &sample{}, known: newKnownIDs(),
	}
}

// checkInline records the mistakes of the cases in the suite itself.
func (r *reading) checkInline(s *caseSource, doc *document.Document) {
	p := r.recorder(s, doc)
	p.yield = func(*proviso.Case, error) bool { return true }
	p.checkOnly = true
	for _, from := range s.streams {
		if from.inline && !from.each(p, func(w written) bool { return r.ctx.Err() == nil && p.one(w) }) {
			return
		}
	}
}

func hasMembers(v any) bool {
	list, ok := v.([]any)
	return v != nil && (!ok || len(list) > 0)
}

// suiteRepeat is the repetition of cases that do not set their own. Its mistakes are
// found where the options of the suite are read.
func suiteRepeat(cfg *value.Object) repetition {
	for _, key := range [...]string{"commandLineOptions", "evaluateOptions"} {
		o, _ := cfg.At(key).(*value.Object)
		if rep, message := parseRepetition(o.At("repeat")); message == "" && rep.n > 0 {
			return rep
		}
	}
	return repetition{n: 1}
}

// WithExpander returns the same cases with generators expanded.
func (s *caseSource) WithExpander(expand func(*proviso.Generator) (any, error)) proviso.CaseSource {
	c := *s
	c.expand, c.sampled, c.known = expand, &sample{}, newKnownIDs()
	return &c
}

// WithBroken returns the same cases, including those with mistakes.
func (s *caseSource) WithBroken() proviso.CaseSource {
	c := *s
	c.broken = true
	return &c
}

// Cases yields the cases; see [proviso.CaseSource].
func (s *caseSource) Cases() iter.Seq2[*proviso.Case, error] {
	return func(yield func(*proviso.Case, error) bool) {
		p := newPass(s, yield)
		if s.filter.sample > 0 {
			s.sampled.once.Do(s.draw)
			p.keep = s.sampled.keep
		}
		if before := s.known.list.Load(); before != nil {
			p.ids.before = *before
		}
		p.run()
	}
}

// draw counts the cases that the other filters keep and chooses among them.
func (s *caseSource) draw() {
	count := newPass(s, func(*proviso.Case, error) bool { return true })
	count.countOnly = true
	count.run()
	s.sampled.keep = s.filter.draw(count.matched)
}

// Repeat returns a source whose cases run n times, of which pass must pass (0 means
// all), unless a case sets its own repetition. It applies --repeat.
func Repeat(source proviso.CaseSource, n, pass int) (proviso.CaseSource, error) {
	s, ok := source.(*caseSource)
	switch {
	case !ok:
		return nil, errForeign
	case n < 1 || n > maxRepeat:
		return nil, proviso.Errorf(proviso.Invalid, "a case runs between 1 and %d times", maxRepeat)
	case pass < 0 || pass > n:
		return nil, proviso.Errorf(proviso.Invalid, "of %d repetitions %d cannot pass", n, pass)
	}
	c := *s
	c.repeat = repetition{n, pass}
	return &c, nil
}

// Select returns a source with only the cases that a filter keeps. If no case is
// left, the sequence ends with an error.
func Select(source proviso.CaseSource, f Filter) (proviso.CaseSource, error) {
	s, ok := source.(*caseSource)
	if !ok {
		return nil, errForeign
	}
	compiled, err := f.compile()
	if err != nil {
		return nil, err
	}
	c := *s
	c.filter, c.sampled, c.known = compiled, &sample{}, newKnownIDs()
	return &c, nil
}

var errForeign = errors.New("the cases were not read by this package")

// load reads a YAML or JSON file, with its references resolved. Nothing is cached.
func (s *caseSource) load(name string) (*document.Document, error) { return s.loadFrom(s.files, name) }

func (s *caseSource) loadFrom(files *Files, name string) (*document.Document, error) {
	r := newReading(context.Background(), Options{Env: s.settings, SkipUnsupported: s.skipUnsupported})
	r.trust, r.envLater, r.files, r.env, r.promptfoo = s.trust, true, files, s.env, s.promptfoo
	d, err := r.yaml(name)
	if err != nil {
		return nil, err
	}
	for _, m := range r.mistakes {
		if m.Code == proviso.Refused {
			return nil, proviso.Errorf(proviso.Refused, "%s", m)
		}
		if !m.Warning {
			return nil, &document.SyntaxError{Place: m.Place, Message: m.Message}
		}
	}
	return d, nil
}

// caseDefaults decodes defaultTest and the suite's metadata.
func (r *reading) caseDefaults(s *caseSource, doc *document.Document, cfg *value.Object) layer {
	p := r.recorder(s, doc)
	base := layer{}
	if m := cfg.At("metadata"); m != nil {
		p.testCase(&base, written{at: r.at(doc, ""), object: value.ObjectOf("metadata", m)}, &layer{})
	}
	v, at := cfg.At("defaultTest"), "/defaultTest"
	if name, ok := v.(string); ok {
		d, err := r.yaml(name)
		if err != nil {
			r.failed(doc, at, err)
			return base
		}
		doc, at, v = d, "", d.Root
		p = r.recorder(s, doc)
	}
	l := base
	switch o := v.(type) {
	case nil:
	case *value.Object:
		p.testCase(&l, written{at: r.at(doc, at), object: o}, &base)
		l.proto.Description, l.proto.ID = "", ""
		l.raw = withoutKeys(l.raw, "description", "id", "repeat")
	default:
		r.mistake(doc, at, proviso.Invalid, nil, "expected a case to take defaults from, got %s", kind.Shown(v))
	}
	l.defaults = len(l.asserts)
	return l
}

func withoutKeys(o *value.Object, keys ...string) *value.Object {
	o = o.Clone()
	for _, key := range keys {
		o.Delete(key)
	}
	return o
}

// recorder returns a pass that records mistakes in a document right away.
func (r *reading) recorder(s *caseSource, doc *document.Document) *pass {
	p := newPass(s, nil)
	p.Report = r.recordIn(doc)
	return p
}

// recordIn returns a function that records mistakes. Their pointers are relative to
// the whole suite.
func (r *reading) recordIn(doc *document.Document) func(*proviso.Error) {
	root := r.at(doc, "")
	return func(e *proviso.Error) {
		m := mistakeOf(e)
		m.Warning = e.Warning
		if m.Place.File != "" { // a file that cannot be parsed has its own place
			r.append(m)
			return
		}
		if at, ok := strings.CutPrefix(e.Pointer, root); ok {
			r.record(doc, at, m, e.Valid)
			return
		}
		if r.full(m) {
			return
		}
		m.Place = r.places.Place(e.Pointer)
		r.append(m)
	}
}
