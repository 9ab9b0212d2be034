package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// Embed requests vectors only for texts that are not in the cache, each text once.
func (p *cached) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	e, err := ability[proviso.Embedder](p.Provider, "embed")
	if err != nil {
		return nil, proviso.Usage{}, err
	}
	vectors := make([][]float64, len(texts))
	keys := make([]string, len(texts))
	at := map[string]int{} // index of a missing text in the request
	var ask []string
	for i, text := range texts {
		keys[i] = blobs.KeyIn(ctx, "embedding 1", p.identity, text)
		if vectors[i] = p.cache.vector(keys[i]); vectors[i] != nil {
			p.cache.count(func(s *CacheStats) { s.Hits++ })
			continue
		}
		if _, twice := at[keys[i]]; !twice {
			at[keys[i]] = len(ask)
			ask = append(ask, text)
		}
	}
	if len(ask) == 0 {
		return vectors, proviso.Usage{}, nil
	}
	p.cache.count(func(s *CacheStats) { s.Misses += len(ask) })
	got, usage, err := e.Embed(ctx, ask)
	if err != nil {
		return nil, usage, err
	}
	if len(got) != len(ask) {
		return nil, usage, proviso.Errorf(proviso.Unavailable, "%s: %d vectors for %d texts", p.ID(), len(got), len(ask))
	}
	for i := range texts {
		n, missing := at[keys[i]]
		if vectors[i] != nil || !missing {
			continue
		}
		vectors[i] = got[n]
		p.cache.keepVector(keys[i], p.ID(), texts[i], got[n])
	}
	return vectors, usage, nil
}

// vector returns the cached vector of a text; nil if there is none.
func (c *Cache) vector(key string) []float64 {
	list, ok := numbers(c.entry(key).At("vector"))
	if !ok || len(list) == 0 {
		return nil
	}
	return list
}

func (c *Cache) keepVector(key, id, text string, vector []float64) {
	c.keep(key, value.ObjectOf("provider", id, "text", text, "vector", value.Of(vector)))
}

// value returns an ability's cached result, or asks for it and caches it. Concurrent equal requests
// are made once.
func (p *cached) value(ctx context.Context, what result, about *value.Object, ask func() (any, error)) (any, error) {
	parts := []string{what.name + " 1", p.identity}
	for _, text := range about.All() {
		parts = append(parts, str(text))
	}
	key := blobs.KeyIn(ctx, parts...)
	out, err := p.cache.once(ctx, key, func() (proviso.Output, error) {
		if kept, ok := p.cache.entry(key).Get(what.name); ok && kept != nil {
			return p.cache.hit(proviso.Output{Value: kept}), nil
		}
		p.cache.count(func(s *CacheStats) { s.Misses++ })
		got, err := ask()
		if err != nil {
			return proviso.Output{}, err
		}
		entry := overlaid(value.ObjectOf("provider", p.ID()), about)
		entry.Set(what.name, got)
		p.cache.keep(key, entry)
		return proviso.Output{Value: got}, nil
	})
	return out.Value, err
}
