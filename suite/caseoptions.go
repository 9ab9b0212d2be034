package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// caseOnly are keys of a case that are often written among its options by mistake.
var caseOnly = map[string]string{
	"vars": "vars", "assert": "assert", "threshold": "threshold", "metadata": "metadata", "description": "description",
}

// options decodes the options of one layer over those of the layers below.
func (p *pass) options(l *layer, at string, o *value.Object) {
	if o.Len() == 0 {
		return
	}
	c := &l.proto.Options
	extra := false
	if o.At("postprocess") != nil {
		c.Transform = p.Text(at+"/postprocess", o.At("postprocess"))
	}
	for key, v := range o.All() {
		if v == nil || p.option(c, at, key, v) || p.switches(l, at, key, v) {
			continue
		}
		if !extra { // the layer below may be shared
			c.Extra, extra = c.Extra.Clone(), true
		}
		c.Extra.Set(key, v)
		p.suspiciousOption(at, key)
	}
}

// option decodes the options that have a field.
func (p *pass) option(c *proviso.CaseOptions, at, key string, v any) bool {
	switch key {
	case "prefix":
		c.Prefix = p.Text(at+"/prefix", v)
	case "suffix":
		c.Suffix = p.Text(at+"/suffix", v)
	case "transform":
		if v != nil {
			c.Transform = p.Text(at+"/transform", v)
		}
	case "postprocess":
	case "transformVars":
		c.TransformVars = p.Text(at+"/transformVars", v)
	case "storeOutputAs":
		c.StoreOutputAs = p.Label(at+"/storeOutputAs", v)
	case "runSerially":
		c.RunSerially = p.Flag(at+"/runSerially", v)
	case "provider":
		c.Grader = p.providerRef(at+"/provider", v)
	case "rubricPrompt":
		c.RubricPrompt = v
	default:
		return false
	}
	return true
}

// switches decodes the options that control how a case is built.
func (p *pass) switches(l *layer, at, key string, v any) bool {
	switch key {
	case "disableVarExpansion":
		l.noExpansion = p.Flag(at+"/disableVarExpansion", v)
	case "disableDefaultAsserts":
		l.noDefaults = p.Flag(at+"/disableDefaultAsserts", v)
	case "repeat":
		l.repeat = p.repetition(at+"/repeat", v, l.repeat)
	default:
		return false
	}
	return true
}

// suspiciousOption warns of a setting that is probably a mistake. Any other key is a
// setting for the provider.
func (p *pass) suspiciousOption(at, key string) {
	if hasRow(optionKeys, key) {
		return
	}
	if name, ok := caseOnly[key]; ok {
		p.Warn(document.Join(at, key), "%q among the options goes to the provider; it belongs to the case, beside options", name)
		return
	}
	if near := document.Nearest(key, validKeys(optionKeys())); near != "" {
		e := proviso.ErrorAt(document.Join(at, key), proviso.Invalid, "the option %q is none of proviso's and goes to the provider", key)
		e.Valid, e.Warning = []string{near}, true
		p.Report(e)
	}
}
