package provider

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// withCassette returns p, which makes no HTTP requests, behind a cassette that records or replays
// its answers. It is the innermost decorator.
func withCassette(p proviso.Provider, spec proviso.ProviderSpec, c *transport.Cassette) proviso.Provider {
	if c == nil {
		return p
	}
	cp := &cassetted{Provider: p, config: spec.Config, cassette: c}
	cp.abilities = abilities{p, cp.around}
	return cp
}

// cassetted is a provider behind a cassette.
type cassetted struct {
	proviso.Provider
	abilities
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
	body := value.ObjectOf("prompt", asked.Prompt, "config", value.Sorted(overlaid(p.config, asked.Config)), "vars", value.Sorted(asked.Vars))
	return p.exchange(ctx, "ASK", body, ask.Sample, func() (proviso.Output, error) { return p.Provider.Answer(ctx, ask) })
}

// Embed replays vectors, or asks for them and records them.
func (p *cassetted) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	e, err := ability[proviso.Embedder](p.Provider, "embed")
	if err != nil {
		return nil, proviso.Usage{}, err
	}
	out, err := p.exchange(ctx, "EMBED", p.about(value.ObjectOf("texts", texts)), proviso.Sample{}, func() (proviso.Output, error) {
		got, usage, err := e.Embed(ctx, texts)
		return proviso.Output{Value: value.Of(got), Usage: usage}, err
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

// around replays an ability's result, or asks for it and records it.
func (p *cassetted) around(ctx context.Context, what result, about *value.Object, ask func() (any, error)) (any, error) {
	out, err := p.exchange(ctx, what.method, p.about(about), proviso.Sample{}, func() (proviso.Output, error) {
		got, err := ask()
		return proviso.Output{Value: got}, err
	})
	return out.Value, err
}

// about is the key of an exchange that has no prompt.
func (p *cassetted) about(body *value.Object) *value.Object {
	return overlaid(body, value.ObjectOf("config", value.Sorted(p.config)))
}

// exchange replays an exchange, or asks and records. If an answer cannot be recorded, it returns an
// error, because a replay would lack the answer.
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

// overlaid merges over into base. Members of over win.
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
