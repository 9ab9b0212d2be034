package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/value"
)

// Classify returns the cached scores, or asks the provider.
func (p *cached) Classify(ctx context.Context, text string) (map[string]float64, error) {
	c, err := ability[proviso.Classifier](p.Provider, "classify")
	if err != nil {
		return nil, err
	}
	kept, err := p.cache.value(ctx, blobs.KeyIn(ctx, "classes 1", p.identity, text), "classes", func() (any, *value.Object, error) {
		scores, err := c.Classify(ctx, text)
		return storedClasses(scores), value.ObjectOf("provider", p.ID(), "text", text), err
	})
	if err != nil {
		return nil, err
	}
	return restoredClasses(kept), nil
}
