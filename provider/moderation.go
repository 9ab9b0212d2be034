package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// moderator is a model that finds categories of harm in a text.
type moderator struct{ *model }

var _ proviso.Moderator = (*moderator)(nil)

// defaultModeration is the model of openai:moderation without a name.
const defaultModeration = "omni-moderation-latest"

// newModerator opens a model behind POST /moderations, which OpenAI defined.
func newModerator(s settings, a api, name string) (proviso.Provider, error) {
	if name == "" {
		name = defaultModeration
	}
	m, err := newModel(s, a, wire{path: fixed("/moderations")}, name)
	if err != nil {
		return nil, err
	}
	return &moderator{m}, nil
}

// Answer returns an error: the model only moderates.
func (m *moderator) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{}, proviso.Errorf(proviso.Invalid, "%s finds categories of harm, it does not answer prompts", m.id)
}

// Moderate returns the categories that the model flags in output, in the
// model's order. The prompt is ignored.
func (m *moderator) Moderate(ctx context.Context, _, output string) ([]proviso.Flag, error) {
	body := value.ObjectOf("model", m.name, "input", output)
	passThrough(body, m.config, "passthrough", "extra_body")
	r, err := m.fetch(ctx, body)
	if err != nil {
		return nil, err
	}
	results := list(r.At("results"))
	if len(results) == 0 {
		return nil, m.malformed("the answer has no results", keep(r.Object, "error", "model"))
	}
	var flags []proviso.Flag
	for _, v := range results {
		categories := object(object(v).At("categories"))
		if categories == nil {
			return nil, m.malformed("the answer has a result without categories", keep(r.Object, "error", "model"))
		}
		scores := object(object(v).At("category_scores"))
		for code, flagged := range categories.All() {
			if flagged != true {
				continue
			}
			score, _ := scores.At(code).(float64)
			flags = append(flags, proviso.Flag{Code: code, Description: code, Confidence: score})
		}
	}
	return flags, nil
}
