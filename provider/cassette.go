package provider

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// withCassette returns p, which makes no HTTP requests, behind a cassette: its
// answers are recorded or replayed. It is the innermost decorator.
func withCassette(p proviso.Provider, spec proviso.ProviderSpec, c *transport.Cassette) proviso.Provider {
	if c == nil {
		return p
	}
	return &cassetted{p, spec.Config, c}
}

// cassetted is a provider behind a cassette.
type cassetted struct {
	proviso.Provider
	config   *value.Object
	cassette *transport.Cassette
}

var (
	_ proviso.Wrapper    = (*cassetted)(nil)
	_ proviso.Embedder   = (*cassetted)(nil)
	_ proviso.Classifier = (*cassetted)(nil)
	_ proviso.Moderator  = (*cassetted)(nil)
)

// Unwrap returns the provider behind the cassette.
func (p *cassetted) Unwrap() proviso.Provider { return p.Provider }

// Answer replays, or asks and records.
func (p *cassetted) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	asked := keyed(ask)
	body := value.ObjectOf("prompt", asked.Prompt, "config", sorted(overlaid(p.config, asked.Config)), "vars", sorted(asked.Vars))
	return p.exchange(ctx, "ASK", body, ask.Sample, func() (proviso.Output, error) { return p.Provider.Answer(ctx, ask) })
}

// Embed replays vectors, or asks for them and records them.
func (p *cassetted) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	e, err := ability[proviso.Embedder](p.Provider, "embed")
	if err != nil {
		return nil, proviso.Usage{}, err
	}
	out, err := p.exchange(ctx, "EMBED", p.about("texts", textlist.Values(texts)), proviso.Sample{}, func() (proviso.Output, error) {
		got, usage, err := e.Embed(ctx, texts)
		vectors := make([]any, len(got))
		for i, v := range got {
			vectors[i] = storedVector(v)
		}
		return proviso.Output{Value: vectors, Usage: usage}, err
	})
	if err != nil {
		return nil, out.Usage, err
	}
	var vectors [][]float64
	for _, v := range list(out.Value) {
		vector, _ := numbers(v)
		vectors = append(vectors, vector)
	}
	return vectors, out.Usage, nil
}

// Classify replays scores, or asks for them and records them.
func (p *cassetted) Classify(ctx context.Context, text string) (map[string]float64, error) {
	c, err := ability[proviso.Classifier](p.Provider, "classify")
	if err != nil {
		return nil, err
	}
	out, err := p.exchange(ctx, "CLASSIFY", p.about("text", text), proviso.Sample{}, func() (proviso.Output, error) {
		scores, err := c.Classify(ctx, text)
		return proviso.Output{Value: storedClasses(scores)}, err
	})
	if err != nil {
		return nil, err
	}
	return restoredClasses(out.Value), nil
}

// Moderate replays flags, or asks for them and records them.
func (p *cassetted) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	m, err := ability[proviso.Moderator](p.Provider, "moderate")
	if err != nil {
		return nil, err
	}
	out, err := p.exchange(ctx, "MODERATE", p.about("prompt", prompt, "output", output), proviso.Sample{}, func() (proviso.Output, error) {
		flags, err := m.Moderate(ctx, prompt, output)
		return proviso.Output{Value: storedFlags(flags)}, err
	})
	if err != nil {
		return nil, err
	}
	return restoredFlags(out.Value), nil
}

// about is the key of an exchange that has no prompt.
func (p *cassetted) about(pairs ...any) *value.Object {
	body := value.ObjectOf(pairs...)
	body.Set("config", sorted(p.config))
	return body
}

// exchange replays an exchange, or asks and records. An answer that cannot be
// recorded is an error, because the recording could not be replayed without it.
func (p *cassetted) exchange(ctx context.Context, method string, body *value.Object, sample proviso.Sample, ask func() (proviso.Output, error)) (proviso.Output, error) {
	q := transport.Request{Method: method, URL: p.ID()}
	q.JSON = value.AppendJSON(nil, body)
	if p.cassette.Replays() {
		return p.replay(ctx, q, sample)
	}
	if err := p.cassette.Err(); err != nil {
		return proviso.Output{}, err
	}
	start := time.Now()
	out, err := ask()
	if err != nil || !keepable(&out) {
		return out, err
	}
	var r transport.Response
	r.SetLatency(time.Since(start))
	if out.Latency != nil {
		r.SetLatency(*out.Latency)
	}
	latency := r.Latency()
	out.Latency = &latency
	r.JSON = value.AppendJSON(nil, stored(&out))
	return out, p.cassette.Save(q, sample, r)
}

func (p *cassetted) replay(ctx context.Context, q transport.Request, s proviso.Sample) (proviso.Output, error) {
	if err := ctx.Err(); err != nil {
		return proviso.Output{}, err
	}
	r, err := p.cassette.Load(q, s)
	if err != nil {
		return proviso.Output{}, err
	}
	v, _ := value.ParseJSON(string(r.JSON))
	o, _ := v.(*value.Object)
	out, ok := restored(o)
	if !ok {
		return proviso.Output{}, proviso.Errorf(proviso.Invalid, "replay: the exchange recorded for %s holds no output; record it again", p.ID())
	}
	latency := r.Latency()
	out.Latency = &latency
	return out, nil
}

// overlaid merges settings over others.
func overlaid(base, over *value.Object) *value.Object {
	if over.Len() == 0 {
		return base
	}
	all := base.Clone()
	for k, v := range over.All() {
		all.Set(k, v)
	}
	return all
}
