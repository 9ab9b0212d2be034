package run

import (
	"cmp"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
)

// Demand is what a plan is going to ask of one provider, as far as that is known
// before: the cache may have some of it.
type Demand struct {
	Name     string // label or id of the provider
	Provider proviso.Provider
	Calls    int
	Bytes    int64 // of the prompts, about: the template, and the variables in it
}

// Demands returns what is going to be asked of each provider, by name.
func (p *Plan) Demands() []*Demand {
	return slices.SortedFunc(maps.Values(p.demands), func(a, b *Demand) int { return cmp.Compare(a.Name, b.Name) })
}

// expect counts a row among what is going to be asked.
func (p *Plan) expect(pc *prepared, col *column) {
	if pc.HasOutput || pc.unsupported != nil || col.broken != nil {
		return
	}
	name, asked := col.spec.Name(), col.provider
	if pc.provider != nil {
		name, asked = pc.provider.ID(), pc.provider
	}
	d := p.demands[name]
	if d == nil {
		if p.demands == nil {
			p.demands = map[string]*Demand{}
		}
		d = &Demand{Name: name, Provider: asked}
		p.demands[name] = d
	}
	d.Calls++
	d.Bytes += int64(len(pc.Options.Prefix) + len(col.prompt.Raw) + len(pc.Options.Suffix))
	for _, name := range col.uses {
		if v, ok := pc.Vars.Get(name); ok {
			d.Bytes += int64(sizeOf(v))
		}
	}
}

// sizeOf is how many bytes a variable takes in a prompt.
func sizeOf(v any) int {
	if text, ok := v.(string); ok {
		return len(text)
	}
	return len(proviso.AppendJSON(nil, v))
}
