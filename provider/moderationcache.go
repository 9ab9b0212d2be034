package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// cachedModerator is a provider that moderates behind a cache.
type cachedModerator struct {
	*cached
	moderator proviso.Moderator
}

// Moderate looks the texts up, or asks.
func (p *cachedModerator) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	kept, err := p.cache.value(ctx, blobs.Key("flags 1", p.identity, prompt, output), "flags", func() (any, *proviso.Object, error) {
		flags, err := p.moderator.Moderate(ctx, prompt, output)
		list := make([]any, len(flags))
		for i, f := range flags {
			list[i] = proviso.ObjectOf("code", f.Code, "description", f.Description, "confidence", f.Confidence)
		}
		return list, proviso.ObjectOf("provider", p.ID(), "prompt", prompt, "output", output), err
	})
	if err != nil {
		return nil, err
	}
	var flags []proviso.Flag
	for _, v := range list(kept) {
		f := proviso.Flag{Code: str(object(v).At("code")), Description: str(object(v).At("description"))}
		f.Confidence, _ = object(v).At("confidence").(float64)
		flags = append(flags, f)
	}
	return flags, nil
}

// value looks up what is kept under a name in an entry, or asks for it and keeps
// it, once for all who ask for it at the same time.
func (c *Cache) value(ctx context.Context, key, name string, ask func() (value any, entry *proviso.Object, err error)) (any, error) {
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

// budgetedModerator is a provider that moderates within a budget. Moderation does
// not say what it costs, so only that the budget is used up stops it.
type budgetedModerator struct {
	*budgeted
	moderator proviso.Moderator
}

// Moderate asks if the budget is not used up.
func (p *budgetedModerator) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, err
	}
	return p.moderator.Moderate(ctx, prompt, output)
}

var (
	_ proviso.Moderator = (*cachedModerator)(nil)
	_ proviso.Moderator = (*budgetedModerator)(nil)
)
