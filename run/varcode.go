package run

import (
	"context"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// varEntry is the name of the function that computes a variable.
const varEntry = "get_var"

// computed is a variable that code computes for each row.
type computed struct {
	name string
	ref  string // its placeholder until it is computed
	fn   *function
}

// prepareVars compiles the code of a case's variables.
func (p *Plan) prepareVars(pc *prepared) {
	for _, name := range pc.Vars.Keys() {
		g := pc.Scripts[name]
		if g == nil {
			continue
		}
		fn, err := p.function(g, varEntry)
		if err != nil {
			pc.cannot(err, g.Pointer)
			continue
		}
		ref, _ := pc.Vars.At(name).(string)
		pc.computed = append(pc.computed, computed{name, ref, fn})
	}
}

// computeVars calls the code of variables with the name of the variable, the
// prompt, the variables so far and, in JavaScript, the provider. A variable
// that has been replaced is not computed.
func (p *Plan) computeVars(ctx context.Context, pc *prepared, res *proviso.Result, own ownVars) error {
	for _, c := range pc.computed {
		if res.Vars.At(c.name) != c.ref {
			continue
		}
		args := []any{c.name, res.Prompt.Raw, own.over(res.Vars)}
		if check.LanguageOf(c.fn.File) == "javascript" {
			args = append(args, providerOf(res.Provider))
		}
		v, err := c.fn.call(ctx, args...)
		if err != nil {
			return proviso.Errorf(proviso.Undecided, "variable %q: %w", c.name, err)
		}
		o, _ := v.(*value.Object)
		if message := o.At("error"); value.Truthy(message) {
			return proviso.Errorf(proviso.Undecided, "variable %q: %s: %s", c.name, c.fn.name(), value.ToString(message))
		}
		val, ok := o.Get("output")
		if !ok || val == nil {
			return proviso.Errorf(proviso.Undecided, "variable %q: %s must return {output: …} or {error: …}, found %s", c.name, c.fn.name(), short(value.Stringify(v)))
		}
		if text, ok := val.(string); ok && check.LanguageOf(c.fn.File) != "javascript" {
			val = strings.TrimFunc(text, value.IsSpace)
		}
		vars := res.Vars.Clone()
		vars.Set(c.name, val)
		res.Vars = vars
	}
	return nil
}

// providerOf returns a provider as code sees it.
func providerOf(spec *proviso.ProviderSpec) *value.Object {
	o := value.ObjectOf("id", spec.ID)
	if spec.Label != "" {
		o.Set("label", spec.Label)
	}
	return o
}
