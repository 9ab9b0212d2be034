package server

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// Metered returns p with a check that the key of the request, or of the run, may use p and can
// pay. Without a key it behaves as p. It goes around the cache, because an answer from the
// cache is free. The result has all abilities of p: see [proviso.As].
func Metered(p proviso.Provider) proviso.Provider { return metered{p} }

type metered struct{ proviso.Provider }

// Unwrap returns the metered provider.
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

// meteredAs makes a call that needs an ability of the provider, on the account of the context.
func meteredAs[A, T any](ctx context.Context, m metered, do string, call func(A) (T, proviso.Usage, error)) (out T, usage proviso.Usage, err error) {
	able, ok := proviso.As[A](m.Provider)
	if !ok { // [proviso.As] prevents such calls
		return out, usage, proviso.Errorf(proviso.Internal, "%s does not %s", m.ID(), do)
	}
	err = m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		out, usage, err = call(able)
		return nil, usage, false, err
	})
	return out, usage, err
}

// Embed embeds the texts if the key may use the provider and can pay.
func (m metered) Embed(ctx context.Context, texts []string) (vectors [][]float64, usage proviso.Usage, err error) {
	return meteredAs(ctx, m, "embed", func(e proviso.Embedder) ([][]float64, proviso.Usage, error) { return e.Embed(ctx, texts) })
}

// Classify classifies the text if the key may use the provider and can pay.
func (m metered) Classify(ctx context.Context, text string) (map[string]float64, error) {
	scores, _, err := meteredAs(ctx, m, "classify", func(c proviso.Classifier) (map[string]float64, proviso.Usage, error) {
		scores, err := c.Classify(ctx, text)
		return scores, proviso.Usage{}, err
	})
	return scores, err
}

// Moderate checks the texts if the key may use the provider and can pay.
func (m metered) Moderate(ctx context.Context, prompt, output string) ([]proviso.Flag, error) {
	flags, _, err := meteredAs(ctx, m, "moderate", func(of proviso.Moderator) ([]proviso.Flag, proviso.Usage, error) {
		flags, err := of.Moderate(ctx, prompt, output)
		return flags, proviso.Usage{}, err
	})
	return flags, err
}

var (
	_ proviso.Wrapper    = metered{}
	_ proviso.Embedder   = metered{}
	_ proviso.Classifier = metered{}
	_ proviso.Moderator  = metered{}
)
