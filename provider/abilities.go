package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// abilities are the abilities of a decorated provider, except embedding. Their results pass through
// the decorator as values.
type abilities struct {
	of     proviso.Provider
	around func(ctx context.Context, what result, about *value.Object, ask func() (any, error)) (any, error)
}

// result describes the result of an ability: its name in the cache, and the method of its exchange
// on a cassette.
type result struct{ name, method string }

var (
	classes = result{"classes", "CLASSIFY"}
	flags   = result{"flags", "MODERATE"}
)

// Classify returns the score of each class of a text.
func (a abilities) Classify(ctx context.Context, text string) (map[string]float64, error) {
	c, err := ability[proviso.Classifier](a.of, "classify")
	if err != nil {
		return nil, err
	}
	kept, err := a.around(ctx, classes, value.ObjectOf("text", text), func() (any, error) {
		scores, err := c.Classify(ctx, text)
		return storedClasses(scores), err
	})
	if err != nil {
		return nil, err
	}
	return restoredClasses(kept), nil
}

// Moderate returns the categories of harm in a text.
func (a abilities) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	m, err := ability[proviso.Moderator](a.of, "moderate")
	if err != nil {
		return nil, err
	}
	kept, err := a.around(ctx, flags, value.ObjectOf("prompt", prompt, "output", output), func() (any, error) {
		flags, err := m.Moderate(ctx, prompt, output)
		return storedFlags(flags), err
	})
	if err != nil {
		return nil, err
	}
	return restoredFlags(kept), nil
}

// ability returns a further interface of the decorated provider.
func ability[T any](p proviso.Provider, name string) (T, error) {
	t, ok := proviso.As[T](p)
	if !ok {
		return t, proviso.Errorf(proviso.Internal, "%s does not %s", p.ID(), name)
	}
	return t, nil
}
