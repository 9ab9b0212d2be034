package provider

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
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

// around makes a request whose cost is unknown, unless the budget is exhausted.
func (p *budgeted) around(_ context.Context, _ result, _ *value.Object, ask func() (any, error)) (any, error) {
	if err := p.budget.enterUnpriced(); err != nil {
		return nil, err
	}
	return ask()
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
