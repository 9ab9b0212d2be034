package suite

import (
	"cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// caseHints explain common keys that a case does not have.
var caseHints = map[string]string{
	"asserts":           "assert",
	"assertion":         "assert",
	"assertions":        "assert",
	"assertionTemplate": "assert",
	"expected":          "assert: [{type: equals, value: …}]",
	"expect":            "assert: [{type: equals, value: …}]",
	"output":            "providerOutput",
	"name":              "description",
	"label":             "description",
	"title":             "description",
	"input":             "vars: {input: …}",
	"variables":         "vars",
	"var":               "vars",
	"tags":              "metadata: {tags: …}",
	"tests":             "the list below tests itself; this file is read as a list of cases",
	"transform":         "options: {transform: …}",
	"transformVars":     "options: {transformVars: …}",
	"storeOutputAs":     "options: {storeOutputAs: …}",
	"rubricPrompt":      "options: {rubricPrompt: …}",
	"prefix":            "options: {prefix: …}",
	"suffix":            "options: {suffix: …}",
}

// layer is a partially merged case: the defaults, then what a scenario adds, then the
// case itself.
type layer struct {
	proto proviso.Case // fields that are the same for every repetition and combination

	raw      *value.Object // all keys merged; nil if the layers below have none
	vars     *value.Object
	options  *value.Object
	metadata *value.Object
	asserts  []*proviso.Assertion
	written  []any // the assertions as written
	defaults int   // how many of the first assertions are the suite's defaults

	repeat      repetition
	noExpansion bool
	noDefaults  bool
}

// testCase decodes a case into l, over the layers below it.
func (p *pass) testCase(l *layer, w written, base *layer) {
	*l = *base
	own := ownParts{}
	at, o := w.at, w.object
	if p.remote && p.refuseFiles(at, o) {
		return
	}
	for key, v := range o.All() {
		if v == nil && hasRow(caseKeys, key) {
			continue // treated as absent
		}
		if !p.coreKey(l, &own, at, key, v) && !p.caseKey(l, at, key, v) {
			failed := p.Failed
			p.UnknownKey(at, key, "a case", validKeys(caseKeys()), caseHints[key])
			p.Failed = failed // report further mistakes of the case too
		}
	}
	p.guardCase(at, o, &own)
	l.proto.Pointer = at
	l.vars = merged(base.vars, own.vars)
	l.options = merged(base.options, own.options)
	l.metadata = merged(base.metadata, own.metadata)
	l.proto.Metadata = l.metadata
	l.mergeAsserts(base, &own)
	l.mergeRaw(base, &own, o)
	if l.proto.Description == "" && w.title != "" {
		l.proto.Description = cmp.Or(o.Text("id"), w.title) // an id is more specific than "Row #7"
		if l.raw == o {
			l.raw = o.Clone()
		}
		l.raw.Set("description", l.proto.Description)
	}
}

// ownParts are the parts of a case that are merged rather than replaced.
type ownParts struct {
	vars, options, metadata *value.Object
	asserts                 []*proviso.Assertion
	written                 []any
}

// coreKey decodes the keys that nearly every case has.
func (p *pass) coreKey(l *layer, own *ownParts, at, key string, v any) bool {
	switch key {
	case "description":
		l.proto.Description = p.Label(at+"/description", v)
	case "vars":
		own.vars = p.vars(at+"/vars", v)
	case "assert":
		own.asserts = p.List(at+"/assert", v)
		own.written, _ = v.([]any)
	case "options":
		own.options = p.Object(at+"/options", v)
		p.options(l, at+"/options", own.options)
	case "metadata":
		own.metadata = p.Object(at+"/metadata", v)
	default:
		return false
	}
	return true
}

// caseKey decodes the keys that replace those of the layers below.
func (p *pass) caseKey(l *layer, at, key string, v any) bool {
	switch key {
	case "id":
		l.proto.ID = p.Label(at+"/id", v)
	case "threshold":
		p.caseThreshold(l, at+"/threshold", v)
	case "provider":
		l.proto.Provider = p.providerRef(at+"/provider", v)
	case "providers":
		l.proto.Providers = p.names(at+"/providers", v, "provider", p.source.providerNames)
	case "prompts":
		l.proto.Prompts = p.names(at+"/prompts", v, "prompt", p.source.promptNames)
	case "providerOutput":
		l.proto.Output, l.proto.HasOutput = v, v != nil
	case "assertScoringFunction":
		l.proto.Scoring = p.Text(at+"/assertScoringFunction", v)
	case "repeat":
		l.repeat = p.repetition(at+"/repeat", v, l.repeat)
	default:
		return false
	}
	return true
}

// caseThreshold accepts numbers only: promptfoo ignores texts.
func (p *pass) caseThreshold(l *layer, at string, v any) {
	switch v := v.(type) {
	case float64:
		l.proto.Threshold = &v
	case nil:
	case string:
		if p.Lenient {
			p.Warn(at, "the threshold %q is a text and is ignored: it checks nothing; write a number without quotes", v)
			return
		}
		p.Mistake(at, "expected a number, got %s; write it without quotes", kind.Shown(v))
	default:
		p.Mistake(at, "expected a number, got %s", kind.Shown(v))
	}
}

// names decodes a name filter: a text or a list of texts, each of which must match
// something.
func (p *pass) names(at string, v any, what string, known []nameable) []string {
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for i, e := range list {
		at := at
		if ok {
			at = document.Join(at, i)
		}
		name := p.Label(at, e)
		if name == "" {
			continue
		}
		out = append(out, name)
		if len(known) == 0 || matchesAny(name, known) {
			continue
		}
		p.Failed = true
		e := proviso.ErrorAt(at, proviso.Invalid, "no %s is named %q", what, name)
		e.Valid = document.Suggest(name, validNames(known))
		p.Report(e)
	}
	return out
}

// mergeAsserts puts the assertions of the layers below first.
func (l *layer) mergeAsserts(base *layer, own *ownParts) {
	below, belowWritten := base.asserts, base.written
	if l.noDefaults && base.defaults > 0 {
		below, belowWritten = below[base.defaults:], belowWritten[base.defaults:]
		l.defaults = 0
	}
	if len(below) == 0 {
		l.asserts, l.written = own.asserts, own.written
	} else if len(own.asserts) > 0 || len(own.written) > 0 {
		l.asserts = append(below[:len(below):len(below)], own.asserts...)
		l.written = append(belowWritten[:len(belowWritten):len(belowWritten)], own.written...)
	} else {
		l.asserts, l.written = below, belowWritten
	}
	l.proto.Assert = l.asserts
}

// mergeRaw builds the object for reports. It is the object as written if the layers
// below have none.
func (l *layer) mergeRaw(base *layer, own *ownParts, o *value.Object) {
	if base.raw.Len() == 0 {
		l.raw = o
		if own.vars != nil && o.At("vars") != any(own.vars) { // they came from a file
			l.raw = o.Clone()
			l.raw.Set("vars", own.vars)
		}
		return
	}
	l.raw = base.raw.Clone()
	for key, v := range o.All() {
		l.raw.Set(key, v)
	}
	setIfPresent(l.raw, "vars", l.vars, own.vars)
	setIfPresent(l.raw, "options", l.options, own.options)
	setIfPresent(l.raw, "metadata", l.metadata, own.metadata)
	if l.written != nil {
		l.raw.Set("assert", l.written)
	}
}

func setIfPresent(raw *value.Object, key string, all, own *value.Object) {
	if all != nil && own != nil {
		raw.Set(key, all)
	}
}

// merged returns the members of both objects; those of own win.
func merged(below, own *value.Object) *value.Object {
	switch {
	case below.Len() == 0:
		if own == nil {
			return below
		}
		return own
	case own.Len() == 0:
		return below
	}
	all := below.Clone()
	for key, v := range own.All() {
		all.Set(key, v)
	}
	return all
}
