package provider

import (
	"context"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// scriptedPython is a Python file that may also embed and classify, with the
// functions call_embedding_api and call_classification_api.
type scriptedPython struct {
	*scripted
	embed, classify another
}

// withAbilities adds embedding and classification to a Python file.
func withAbilities(p *scripted, abilities bool) proviso.Provider {
	if abilities {
		return &scriptedPython{scripted: p}
	}
	return p
}

// another is a function of the file that is compiled on its first call.
type another struct {
	once sync.Once
	fn   proviso.Function
	name string
	err  error
}

// ask calls a function of the file and returns the member of its result that
// holds the answer.
func (p *scriptedPython) ask(ctx context.Context, a *another, entry, member, text string) (*value.Object, error) {
	a.once.Do(func() { a.fn, a.name, a.err = p.open(entry) })
	if a.err != nil {
		return nil, settings{spec: p.spec}.badScript(a.name, a.err)
	}
	v, err := p.call(ctx, a.fn, a.name, text, p.options(nil))
	if err != nil {
		return nil, err
	}
	o, _ := v.(*value.Object)
	if message := o.Text("error"); message != "" {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: %s", a.name, message)
	}
	if o.At(member) == nil {
		return nil, proviso.Errorf(proviso.Undecided, "%s must return {%s: …} or {error: …}, found %s", a.name, member, excerpt(value.AppendJSON(nil, v)))
	}
	return o, nil
}

// Embed implements [proviso.Embedder].
func (p *scriptedPython) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	var used proviso.Usage
	vectors := make([][]float64, len(texts))
	for i, text := range texts {
		o, err := p.ask(ctx, &p.embed, "call_embedding_api", "embedding", text)
		if err != nil {
			return nil, used, err
		}
		var ok bool
		if vectors[i], ok = numbers(o.At("embedding")); !ok {
			return nil, used, proviso.Errorf(proviso.Undecided, "%s: embedding must be a list of numbers", p.embed.name)
		}
		var one proviso.Usage
		if usage(&one, o.At("tokenUsage")) {
			used.Add(one)
		}
	}
	return vectors, used, nil
}

// Classify implements [proviso.Classifier].
func (p *scriptedPython) Classify(ctx context.Context, text string) (map[string]float64, error) {
	o, err := p.ask(ctx, &p.classify, "call_classification_api", "classification", text)
	if err != nil {
		return nil, err
	}
	scores, ok := o.At("classification").(*value.Object)
	classes := make(map[string]float64, scores.Len())
	for name, v := range scores.All() {
		if classes[name], ok = v.(float64); !ok {
			break
		}
	}
	if !ok {
		return nil, proviso.Errorf(proviso.Undecided, "%s: classification must be an object of numbers", p.classify.name)
	}
	return classes, nil
}
