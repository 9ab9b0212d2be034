package provider

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// taped returns p, which makes no HTTP requests, behind a cassette: its answers
// are recorded, or come from there. It is the innermost decorator.
func taped(p proviso.Provider, spec proviso.ProviderSpec, c *transport.Cassette) proviso.Provider {
	if c == nil {
		return p
	}
	return &onTape{p, spec.Config, c}
}

// onTape is a provider behind a cassette.
type onTape struct {
	proviso.Provider
	config   *proviso.Object
	cassette *transport.Cassette
}

var _ proviso.Provider = (*onTape)(nil)

// cacheKey passes on what the cache in front asks.
func (p *onTape) cacheKey(ctx context.Context, ask proviso.Ask) (string, error) {
	if k, ok := p.Provider.(keyer); ok {
		return k.cacheKey(ctx, ask)
	}
	return "", nil
}

// Answer replays, or asks and records. An answer that cannot be recorded is an
// error: a recording that lacks it could not be replayed.
func (p *onTape) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	body := proviso.ObjectOf("prompt", ask.Prompt, "config", sorted(overlaid(p.config, ask.Config)), "vars", sorted(ask.Vars))
	q := transport.Request{Method: "ASK", URL: p.ID()}
	q.JSON = proviso.AppendJSON(nil, body)
	if p.cassette.Replays() {
		return p.replay(ctx, q, ask.Sample)
	}
	if err := p.cassette.Err(); err != nil {
		return proviso.Output{}, err
	}
	start := time.Now()
	out, err := p.Provider.Answer(ctx, ask)
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
	r.JSON = proviso.AppendJSON(nil, stored(&out))
	return out, p.cassette.Save(q, ask.Sample, r)
}

func (p *onTape) replay(ctx context.Context, q transport.Request, s proviso.Sample) (proviso.Output, error) {
	if err := ctx.Err(); err != nil {
		return proviso.Output{}, err
	}
	r, err := p.cassette.Load(q, s)
	if err != nil {
		return proviso.Output{}, err
	}
	v, _ := proviso.ParseJSON(string(r.JSON))
	o, _ := v.(*proviso.Object)
	out, ok := restored(o)
	if !ok {
		return proviso.Output{}, proviso.Errorf(proviso.Invalid, "replay: the exchange recorded for %s holds no output; record it again", p.ID())
	}
	latency := r.Latency()
	out.Latency = &latency
	return out, nil
}

// overlaid lays settings over others.
func overlaid(base, over *proviso.Object) *proviso.Object {
	if over.Len() == 0 {
		return base
	}
	all := base.Clone()
	for k, v := range over.All() {
		all.Set(k, v)
	}
	return all
}
