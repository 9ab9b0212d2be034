package provider

import "github.com/proviso-eval/proviso"

// Tariff is the known cost of an answer before the request.
type Tariff struct {
	Input, Output float64 // US dollars for a token
	MaxTokens     int     // limit of an answer; 0 if there is none
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
