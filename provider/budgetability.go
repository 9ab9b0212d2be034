package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// Embeddings, classifications and moderations have no cost in their answers, so
// they are rejected only when the budget is exhausted.

// Embed embeds the texts unless the budget is exhausted.
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

// Classify classifies the text unless the budget is exhausted.
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

// Moderate checks the texts unless the budget is exhausted.
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

// enterUnpriced admits a request whose cost is unknown, unless the budget is
// exhausted.
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
