package suite

import (
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

var _ proviso.CaseRewriter = (*caseSource)(nil)

// Rewritten returns the cases in a list; see [proviso.CaseRewriter].
func (s *caseSource) Rewritten(tests []any, defaults *value.Object, pointer, origin string) proviso.CaseSource {
	c := *s
	c.at, c.filter, c.sampled, c.defaults = pointer, filter{}, &sample{}, layer{}
	c.streams = []stream{{each: func(p *pass, visit func(written) bool) bool {
		if defaults.Len() > 0 && p.source.defaults.raw == nil {
			p.overDefaults(defaults, pointer)
		}
		return p.made(pointer, origin, tests, visit)
	}}}
	return &c
}

// overDefaults decodes the defaults of all cases of a pass.
func (p *pass) overDefaults(defaults *value.Object, pointer string) {
	own := *p.source
	p.testCase(&own.defaults, written{at: pointer, object: defaults}, &layer{})
	own.defaults.proto.Description, own.defaults.proto.ID = "", ""
	own.defaults.defaults = len(own.defaults.asserts)
	p.source = &own
}

// made visits the cases of a list from code. Messages on a case name the code and the
// case's number there.
func (p *pass) made(at, origin string, list []any, visit func(written) bool) bool {
	defer func(before string) { p.origin = before }(p.origin)
	for i, e := range list {
		p.origin = fmt.Sprintf("%s, case %d", origin, i+1)
		if !visit(Cells(p.source.facts.Types).member(at, e)) {
			return false
		}
	}
	return true
}

// fromCode rewords a mistake in a case from code. Its place is the one that names the
// code.
func (p *pass) fromCode(e *proviso.Error) *proviso.Error {
	if p.origin == "" {
		return e
	}
	made := *e
	made.Message = p.origin + ": " + made.Message
	return &made
}

// Rewrite returns a case with the changes of a hook; see [proviso.CaseRewriter].
// Parts that the hook did not change are kept, so the hook need not see all of them.
func (s *caseSource) Rewrite(c *proviso.Case, test *value.Object, pointer, origin string) (*proviso.Case, error) {
	changed := changedKeys(c.Raw, test)
	if len(changed) == 0 {
		return c, nil
	}
	own := *s
	own.defaults = layer{}
	own.literal = own.literal || c.Options.DisableTemplates // data stays data
	p := newPass(&own, nil)
	p.origin = origin
	var wrong error
	p.Report = func(e *proviso.Error) {
		if wrong == nil && !e.Warning {
			wrong = p.fromCode(e)
		}
	}
	part := value.NewObject(len(changed))
	for _, key := range changed {
		part.Set(key, test.At(key))
	}
	var l layer
	p.testCase(&l, written{at: pointer, object: part}, &own.defaults)
	n := *c
	n.Origin, n.Raw = origin, c.Raw.Clone()
	for _, key := range changed {
		p.replace(&n, &l, key)
		if n.Raw.Delete(key); test.Has(key) {
			n.Raw.Set(key, test.At(key))
		}
	}
	return &n, wrong
}

// replace takes one key of a case from a layer.
func (p *pass) replace(c *proviso.Case, l *layer, key string) {
	switch key {
	case "vars":
		built := p.build(l, l.vars, false)
		c.Vars, c.Scripts = built.Vars, built.Scripts
	case "assert":
		c.Assert = l.proto.Assert
	case "options":
		literal := c.Options.DisableTemplates
		c.Options = l.proto.Options
		c.Options.DisableTemplates = literal
	case "metadata":
		c.Metadata = l.proto.Metadata
	case "description":
		c.Description = l.proto.Description
	case "threshold":
		c.Threshold = l.proto.Threshold
	case "provider":
		c.Provider = l.proto.Provider
	case "providerOutput":
		c.Output, c.HasOutput = l.proto.Output, l.proto.HasOutput
	case "assertScoringFunction":
		c.Scoring = l.proto.Scoring
	}
}

// changedKeys returns the keys whose values differ, sorted. An empty object or list
// counts as absent.
func changedKeys(before, after *value.Object) []string {
	keys := append(slices.Clone(before.Keys()), after.Keys()...)
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Compact(keys), func(key string) bool {
		a, b := before.At(key), after.At(key)
		return document.Same(a, b) || isEmpty(a) && isEmpty(b) || value.Stringify(a) == value.Stringify(b)
	})
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case *value.Object:
		return v.Len() == 0
	}
	return false
}
