package provider

import (
	_ "embed" // prices.json
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// prices.json holds US dollars for a million tokens, by vendor and model:
// input, output, cached (input read from the vendor's cache), written (input
// written to it), and long: other prices for prompts with more tokens than
// over.
//
//go:embed prices.json
var priceFile string

var priceTable = sync.OnceValue(func() *value.Object {
	v, err := value.ParseJSON(priceFile)
	if err != nil {
		panic("prices.json: " + err.Error()) // a mistake in this repository, which its test finds
	}
	return object(v)
})

// prices are the prices of a model, in US dollars for a token.
type prices struct {
	known                          bool
	input, output, cached, written float64
	long                           *prices // for prompts with more tokens than over
	over                           int64
}

// prices looks up a model's prices. The suite's own (config.cost for both directions, inputCost,
// outputCost; in dollars per token) take precedence over the file's.
func (s settings) prices(group, model string) prices {
	both, ok := s.number("cost")
	in, hasIn := s.number("inputCost")
	out, hasOut := s.number("outputCost")
	if !ok && !hasIn && !hasOut {
		return pricesOf(group, model)
	}
	p := pricesOf(group, model)
	p.known, p.long = p.known || ok || hasIn && hasOut, nil
	if ok {
		p.input, p.output = both, both
	}
	if hasIn {
		p.input = in
	}
	if hasOut {
		p.output = out
	}
	if ok || hasIn {
		p.cached, p.written = p.input, p.input
	}
	return p
}

// pricesOf finds the prices of a model by its name. If necessary it drops the
// vendor prefix and the date or tag at the end.
func pricesOf(group, model string) prices {
	if group == "" {
		return prices{}
	}
	if vendor, name, ok := strings.Cut(model, "/"); ok {
		if priceTable().Has(vendor) {
			group = vendor
		}
		model = name
	}
	models := object(priceTable().At(group))
	for name := model; ; {
		if o := object(models.At(name)); o != nil {
			return readPrices(o)
		}
		shorter, last, ok := cutLast(name)
		if !ok || !versionTag(last) {
			return prices{}
		}
		name = shorter
	}
}

func cutLast(name string) (before, last string, ok bool) {
	i := strings.LastIndexAny(name, "-:@")
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// versionTag reports whether a part of a name only distinguishes versions of a
// model that have the same price: a date, latest or preview.
func versionTag(s string) bool {
	switch s {
	case "latest", "preview", "exp", "beta":
		return true
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) == 2 || len(s) == 4 || len(s) == 8
}

func readPrices(o *value.Object) prices {
	million := func(key string, def float64) float64 {
		if f, ok := o.At(key).(float64); ok {
			return f / 1e6
		}
		return def
	}
	p := prices{known: true, input: million("input", 0), output: million("output", 0)}
	p.cached, p.written = million("cached", p.input), million("written", p.input)
	if l := o.Object("long"); l != nil {
		long := readPrices(l)
		p.long, p.over = &long, count(l, "over")
	}
	return p
}

// cost returns the cost of an answer; nil if unknown. A cost in the vendor's response takes
// precedence.
func (p prices) cost(answer *value.Object, u proviso.Usage) *float64 {
	usage := answer.Object("usage")
	switch c := usage.At("cost").(type) {
	case float64:
		return &c
	case *value.Object:
		if f, ok := c.At("total_cost").(float64); ok {
			return &f
		}
	}
	if !p.known || u.Prompt == 0 && u.Completion == 0 {
		return nil
	}
	if p.long != nil && u.Prompt > p.over {
		p = *p.long
	}
	written := count(usage, "cache_creation_input_tokens") + count(usage, "cacheWriteInputTokens")
	dollars := float64(u.Prompt-u.Cached-written)*p.input + float64(u.Cached)*p.cached +
		float64(written)*p.written + float64(u.Completion)*p.output
	return &dollars
}

// Tariff is what an answer costs, as known before the request.
type Tariff struct {
	Input, Output float64 // US dollars per token
	MaxTokens     int     // token limit of an answer; 0 if there is none
}

// TariffOf returns the tariff of a provider, decorated or not; false if its
// cost is unknown.
func TariffOf(p proviso.Provider) (Tariff, bool) {
	p = innermost(p)
	m, ok := p.(*model)
	if e, embeds := p.(*embedder); embeds {
		m, ok = e.model, true
	}
	if !ok || !m.prices.known {
		return Tariff{}, false
	}
	t := Tariff{Input: m.prices.input, Output: m.prices.output}
	if !m.reasoning {
		t.MaxTokens = int(m.maxTokens)
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"} {
		if n, ok := m.config.At(name).(float64); ok && n > 0 {
			t.MaxTokens = int(n)
		}
	}
	return t, true
}

// Free reports whether an answer at this tariff costs nothing.
func (t Tariff) Free() bool { return t.Input == 0 && t.Output == 0 }
