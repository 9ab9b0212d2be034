package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// Embeddings, classes and moderation do not say what they cost, so only that the
// budget is used up stops them.

// Embed asks if the budget is not used up.
func (p *budgeted) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	e, err := ability[proviso.Embedder](p.Provider, "embed")
	if err != nil {
		return nil, proviso.Usage{}, err
	}
	if p.costs && p.budget.most == 0 {
		_, err := p.enter(ctx)
		return nil, proviso.Usage{}, err
	}
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, proviso.Usage{}, err
	}
	return e.Embed(ctx, texts)
}

// Classify asks if the budget is not used up.
func (p *budgeted) Classify(ctx context.Context, text string) (map[string]float64, error) {
	c, err := ability[proviso.Classifier](p.Provider, "classify")
	if err != nil {
		return nil, err
	}
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, err
	}
	return c.Classify(ctx, text)
}

// Moderate asks if the budget is not used up.
func (p *budgeted) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	m, err := ability[proviso.Moderator](p.Provider, "moderate")
	if err != nil {
		return nil, err
	}
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, err
	}
	return m.Moderate(ctx, prompt, output)
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
