package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
)

// cachedClassifier is a provider of classes behind a cache.
type cachedClassifier struct {
	*cached
	classifier proviso.Classifier
}

// Classify looks the text up, or asks.
func (p *cachedClassifier) Classify(ctx context.Context, text string) (map[string]float64, error) {
	kept, err := p.cache.value(ctx, blobs.Key("classes 1", p.identity, text), "classes", func() (any, *proviso.Object, error) {
		scores, err := p.classifier.Classify(ctx, text)
		classes := proviso.NewObject(len(scores))
		for _, label := range slices.Sorted(maps.Keys(scores)) {
			classes.Set(label, scores[label])
		}
		return classes, proviso.ObjectOf("provider", p.ID(), "text", text), err
	})
	if err != nil {
		return nil, err
	}
	scores := map[string]float64{}
	for label, v := range object(kept).All() {
		scores[label], _ = v.(float64)
	}
	return scores, nil
}

// budgetedClassifier is a provider of classes within a budget. They do not say
// what they cost, so only that the budget is used up stops them.
type budgetedClassifier struct {
	*budgeted
	classifier proviso.Classifier
}

// Classify asks if the budget is not used up.
func (p *budgetedClassifier) Classify(ctx context.Context, text string) (map[string]float64, error) {
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, err
	}
	return p.classifier.Classify(ctx, text)
}

// enterUnpriced lets an ask through whose price nobody tells, unless the budget
// is used up.
func (b *Budget) enterUnpriced() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.usedUp() {
		b.refused++
		return b.exhausted(0)
	}
	b.unpriced++
	return nil
}

var (
	_ proviso.Classifier = (*cachedClassifier)(nil)
	_ proviso.Classifier = (*budgetedClassifier)(nil)
)
