package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// Moderate returns the cached flags, or asks the provider.
func (p *cached) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	m, err := ability[proviso.Moderator](p.Provider, "moderate")
	if err != nil {
		return nil, err
	}
	kept, err := p.cache.value(ctx, blobs.KeyIn(ctx, "flags 1", p.identity, prompt, output), "flags", func() (any, *value.Object, error) {
		flags, err := m.Moderate(ctx, prompt, output)
		return storedFlags(flags), value.ObjectOf("provider", p.ID(), "prompt", prompt, "output", output), err
	})
	if err != nil {
		return nil, err
	}
	return restoredFlags(kept), nil
}

// value returns a member of a cache entry, or asks for it and caches it.
// Concurrent equal requests are made once.
func (c *Cache) value(ctx context.Context, key, name string, ask func() (val any, entry *value.Object, err error)) (any, error) {
	out, err := c.once(ctx, key, func() (proviso.Output, error) {
		if kept, ok := c.entry(key).Get(name); ok && kept != nil {
			return c.hit(proviso.Output{Value: kept}), nil
		}
		c.count(func(s *CacheStats) { s.Misses++ })
		value, entry, err := ask()
		if err != nil {
			return proviso.Output{}, err
		}
		entry.Set(name, value)
		c.keep(key, entry)
		return proviso.Output{Value: value}, nil
	})
	return out.Value, err
}
