package server

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// Metered returns p with a check that the key of the request, or of the run,
// may use p and can pay. Without a key it behaves as p. It belongs around the
// cache: an answer from the cache is free. The result has all abilities of p:
// see [proviso.As].
func Metered(p proviso.Provider) proviso.Provider { return metered{p} }

type metered struct{ proviso.Provider }

// Unwrap returns the provider that is metered.
func (m metered) Unwrap() proviso.Provider { return m.Provider }

// Answer asks the provider if the key may use it and can pay.
func (m metered) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	var out proviso.Output
	err := m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		out, err = m.Provider.Answer(ctx, ask)
		return out.Cost, out.Usage, out.Cached, err
	})
	return out, err
}

// with makes a call on the account of the context.
func (m metered) with(ctx context.Context, ask func() (cost *float64, usage proviso.Usage, cached bool, err error)) error {
	a, _ := ctx.Value(accountKey{}).(*account)
	if a == nil {
		_, _, _, err := ask()
		return err
	}
	if id := m.ID(); !a.key.MayAsk(id) {
		err := proviso.Errorf(proviso.Refused, "the key may not ask %s", id)
		a.failed(err)
		return err
	}
	likely, err := a.budget.enter(ctx)
	if err != nil {
		a.failed(err)
		return err
	}
	var spent float64
	cached := false
	defer func() { a.budget.leave(likely, spent, cached) }()
	cost, usage, cached, err := ask()
	if !cached {
		err = leavingOf(ctx).answered(ctx, m.ID(), err)
	}
	if cost != nil && !cached && *cost > 0 {
		spent = *cost
	}
	if cached {
		usage = proviso.Usage{}
	}
	a.paid(spent, usage)
	a.failed(err)
	return err
}

// Embed embeds the texts if the key may use the provider and can pay.
func (m metered) Embed(ctx context.Context, texts []string) (vectors [][]float64, usage proviso.Usage, err error) {
	e, ok := proviso.As[proviso.Embedder](m.Provider)
	if !ok {
		return nil, proviso.Usage{}, m.cannot("embed")
	}
	err = m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		vectors, usage, err = e.Embed(ctx, texts)
		return nil, usage, false, err
	})
	return vectors, usage, err
}

// Classify classifies the text if the key may use the provider and can pay.
func (m metered) Classify(ctx context.Context, text string) (scores map[string]float64, err error) {
	c, ok := proviso.As[proviso.Classifier](m.Provider)
	if !ok {
		return nil, m.cannot("classify")
	}
	err = m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		scores, err = c.Classify(ctx, text)
		return nil, proviso.Usage{}, false, err
	})
	return scores, err
}

// Moderate checks the texts if the key may use the provider and can pay.
func (m metered) Moderate(ctx context.Context, prompt, output string) (flags []proviso.Flag, err error) {
	inner, ok := proviso.As[proviso.Moderator](m.Provider)
	if !ok {
		return nil, m.cannot("moderate")
	}
	err = m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		flags, err = inner.Moderate(ctx, prompt, output)
		return nil, proviso.Usage{}, false, err
	})
	return flags, err
}

// cannot is the error of a call that the provider does not support.
// [proviso.As] prevents such calls.
func (m metered) cannot(do string) error {
	return proviso.Errorf(proviso.Internal, "%s does not %s", m.ID(), do)
}

var (
	_ proviso.Wrapper    = metered{}
	_ proviso.Embedder   = metered{}
	_ proviso.Classifier = metered{}
	_ proviso.Moderator  = metered{}
)
