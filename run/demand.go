package run

import (
	"cmp"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// Demand is the number of requests that a plan is expected to make to one provider. The cache
// may answer some of them.
type Demand struct {
	Name     string // label or id of the provider
	Provider proviso.Provider
	Calls    int
	Bytes    int64 // approximate size of the prompts: the template with its variables
}

// Demands returns the expected requests to each provider, by name.
func (p *Plan) Demands() []*Demand {
	return slices.SortedFunc(maps.Values(p.demands), func(a, b *Demand) int { return cmp.Compare(a.Name, b.Name) })
}

// expect counts the request of a row.
func (p *Plan) expect(pc *prepared, col *column) {
	if pc.unsupported != nil || col.broken != nil {
		return
	}
	p.expectGrading(pc, col)
	if pc.HasOutput {
		return
	}
	name, asked := col.spec.Name(), col.provider
	if pc.provider != nil {
		name, asked = pc.provider.ID(), pc.provider
	}
	d := p.demand(name, asked)
	d.Calls++
	d.Bytes += int64(len(pc.Options.Prefix) + len(col.prompt.Raw) + len(pc.Options.Suffix))
	for _, name := range col.uses {
		if v, ok := pc.Vars.Get(name); ok {
			d.Bytes += int64(sizeOf(v))
		}
	}
}

// expectGrading counts the grader requests about the output of a row.
func (p *Plan) expectGrading(pc *prepared, col *column) {
	grader, ok := p.o.Grader.(proviso.Forecaster)
	if !ok {
		return
	}
	var qs []proviso.Question
	own := pc.set
	if set, ok := pc.byPrompt[col.prompt]; ok {
		own = set
	}
	for _, set := range []*check.Set{own, pc.criteria} {
		if set != nil {
			qs = append(qs, set.Questions(pc.Case)...)
		}
	}
	if len(qs) == 0 {
		return
	}
	for _, f := range grader.Forecast(qs) {
		d := p.demand(f.Provider.ID(), f.Provider)
		d.Calls += f.Calls
		d.Bytes += f.Bytes
	}
}

// demand returns the Demand of a provider, adding it if it is new.
func (p *Plan) demand(name string, asked proviso.Provider) *Demand {
	d := p.demands[name]
	if d == nil {
		if p.demands == nil {
			p.demands = map[string]*Demand{}
		}
		d = &Demand{Name: name, Provider: asked}
		p.demands[name] = d
	}
	return d
}

// sizeOf returns the size of a variable in a prompt, in bytes.
func sizeOf(v any) int {
	if text, ok := v.(string); ok {
		return len(text)
	}
	return len(value.AppendJSON(nil, v))
}
