package provider

import (
	"context"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// classifier is a model that scores a text for each class.
type classifier struct{ *model }

var _ proviso.Classifier = (*classifier)(nil)

// newClassifier opens a model at Hugging Face, or at a configured endpoint.
func newClassifier(s settings, name string) (proviso.Provider, error) {
	a := api{
		base: "https://router.huggingface.co/hf-inference", keyVars: []string{"HF_TOKEN", "HF_API_TOKEN"}, prefix: "HF",
	}
	path := func(model string) string { return "/models/" + model }
	if endpoint := s.text("apiEndpoint"); endpoint != "" { // the URL of the model itself, as in promptfoo
		s.spec.Config = s.spec.Config.Clone()
		s.spec.Config.Set("apiBaseUrl", endpoint)
		path = fixed("")
	}
	m, err := newModel(s, a, wire{path: path}, name)
	if err != nil {
		return nil, err
	}
	m.lists = true
	return &classifier{m}, nil
}

// Answer returns an error: the model only classifies.
func (c *classifier) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	return proviso.Output{}, proviso.Errorf(proviso.Invalid, "%s gives classes, it does not answer prompts", c.id)
}

// Classify returns the score of each class that the model knows, or of the best
// top_k of them.
func (c *classifier) Classify(ctx context.Context, text string) (map[string]float64, error) {
	body := value.ObjectOf("inputs", text)
	parameters := value.NewObject(2)
	copySettings(parameters, c.config, "top_k", "function_to_apply")
	if parameters.Len() > 0 {
		body.Set("parameters", parameters)
	}
	passThrough(body, c.config, "passthrough", "extra_body")
	r, err := c.fetch(ctx, body)
	if err != nil {
		return nil, err
	}
	found := list(r.At(listKey))
	if len(found) == 1 { // one list for each text
		if inner, ok := found[0].([]any); ok {
			found = inner
		}
	}
	scores := make(map[string]float64, len(found))
	for _, v := range found {
		label, score := object(v).Text("label"), object(v).At("score")
		f, ok := score.(float64)
		if label == "" || !ok || math.IsNaN(f) {
			return nil, c.malformed("the answer has a class without a label or a score", object(v))
		}
		scores[label] = f
	}
	if len(scores) == 0 {
		return nil, c.malformed("the answer has no classes", r.Object)
	}
	return scores, nil
}

// fetch makes a request that has no prompt.
func (m *model) fetch(ctx context.Context, body *value.Object) (reply, error) {
	r, err := m.ask(ctx, m.api.path(m.name), body)
	return r, worded(m.endpoint, err)
}

// listKey is the member that holds a response that is a JSON list.
const listKey = "list"

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
		categories := object(v).Object("categories")
		if categories == nil {
			return nil, m.malformed("the answer has a result without categories", keep(r.Object, "error", "model"))
		}
		scores := object(v).Object("category_scores")
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
