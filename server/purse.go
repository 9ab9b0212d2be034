package server

import (
	"context"
	"fmt"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/store"
)

// purses hold what keys may spend. They are safe for concurrent use.
type purses struct {
	mu    sync.Mutex
	byKey map[string]*purse
}

func newPurses() *purses { return &purses{byKey: map[string]*purse{}} }

// open returns an account for one request or run of a key. Requests of one key
// share its purse.
func (p *purses) open(key store.Key) *account {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.byKey[key.ID]
	if own == nil {
		own = &purse{changed: make(chan struct{})}
		p.byKey[key.ID] = own
	}
	own.update(key)
	return &account{key: key, purse: own}
}

// purse is what one key may spend. An ask is let through if what was spent, what
// the asks under way are likely to cost, and what it is likely to cost itself,
// fit into the budget. Likely is the most that an answer took so far; before
// that is known, one asks while the others wait.
type purse struct {
	mu       sync.Mutex
	limited  bool
	budget   float64
	spent    float64
	reserved float64
	inFlight int
	known    bool
	largest  float64
	changed  chan struct{} // closed when an ask under way ends
}

// update takes over what the store knows of the key. What was spent here and is
// not in the store yet counts.
func (p *purse) update(key store.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limited = key.Budget != nil
	if p.limited {
		p.budget = *key.Budget
	}
	p.spent = max(p.spent, key.Spent)
}

// enter reserves what the next answer is likely to cost.
func (p *purse) enter(ctx context.Context) (float64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.limited {
		if p.spent >= p.budget || p.spent+p.largest > p.budget {
			return 0, spentError(p.spent, p.budget)
		}
		if p.known && p.spent+p.reserved+p.largest <= p.budget || !p.known && p.inFlight == 0 {
			break
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			p.mu.Lock()
			return 0, ctx.Err()
		case <-changed:
		}
		p.mu.Lock()
	}
	likely := p.largest
	p.reserved += likely
	p.inFlight++
	return likely, nil
}

// leave puts what an answer cost in place of what was reserved for it. What came
// from a cache says nothing of what the next one costs.
func (p *purse) leave(likely, cost float64, cached bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= likely
	if p.inFlight--; p.inFlight == 0 {
		p.reserved = 0 // what rounding left
	}
	p.spent += cost
	p.largest = max(p.largest, cost)
	p.known = p.known || !cached
	close(p.changed)
	p.changed = make(chan struct{})
}

// spentError says that a budget is used up.
func spentError(spent, budget float64) error {
	return proviso.Errorf(proviso.Limit, "the budget of the key is spent: %s of %s US dollars", dollars(spent), dollars(budget))
}

func dollars(f float64) string { return fmt.Sprintf("%.6g", f) }

// account is what one request, or one run, of a key spends. It is safe for
// concurrent use.
type account struct {
	key   store.Key
	purse *purse

	mu      sync.Mutex
	cost    float64 // of all answers
	settled float64 // what the store charged
	usage   proviso.Usage
}

type accountKey struct{}

// withAccount returns a context whose calls to models are paid by a, and whose
// answers and verdicts are kept for its project.
func withAccount(ctx context.Context, a *account) context.Context {
	if p := a.key.Project; p != store.DefaultProject {
		ctx = blobs.WithScope(ctx, string(p)) // nobody learns from an answer that is kept what another project asked
	}
	return context.WithValue(ctx, accountKey{}, a)
}

// check refuses a request whose budget is used up, before anything is done.
func (a *account) check() error {
	a.purse.mu.Lock()
	defer a.purse.mu.Unlock()
	if p := a.purse; p.limited && (p.spent >= p.budget || p.spent+p.largest > p.budget) {
		return problem(codeBudget, spentError(p.spent, p.budget).Error())
	}
	return nil
}

// paid counts an answer.
func (a *account) paid(cost float64, usage proviso.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cost += cost
	a.usage.Add(usage)
}

// charged notes what the store charged the key by itself.
func (a *account) charged(cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled += cost
}

// due returns what was spent and is not charged yet, once.
func (a *account) due() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.cost - a.settled
	a.settled = max(a.settled, a.cost)
	return d
}

// total returns what was spent.
func (a *account) total() (float64, proviso.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cost, a.usage
}

// Metered returns p so that it answers only what the key of the request, or of
// the run, may ask of it and can pay; without either it is p. It belongs around
// the cache: an answer from the cache is free. What else p can do the result can,
// too: see [proviso.As].
func Metered(p proviso.Provider) proviso.Provider { return metered{p} }

type metered struct{ proviso.Provider }

// Unwrap returns the provider that is paid for.
func (m metered) Unwrap() proviso.Provider { return m.Provider }

// Answer asks if the key may and can pay.
func (m metered) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	var out proviso.Output
	err := m.with(ctx, func() (*float64, proviso.Usage, bool, error) {
		var err error
		out, err = m.Provider.Answer(ctx, ask)
		return out.Cost, out.Usage, out.Cached, err
	})
	return out, err
}

// with asks on the account of the context.
func (m metered) with(ctx context.Context, ask func() (cost *float64, usage proviso.Usage, cached bool, err error)) error {
	a, _ := ctx.Value(accountKey{}).(*account)
	if a == nil {
		_, _, _, err := ask()
		return err
	}
	if id := m.ID(); !a.key.MayAsk(id) {
		return proviso.Errorf(proviso.Refused, "the key may not ask %s", id)
	}
	likely, err := a.purse.enter(ctx)
	if err != nil {
		return err
	}
	var spent float64
	cached := false
	defer func() { a.purse.leave(likely, spent, cached) }()
	cost, usage, cached, err := ask()
	if cost != nil && !cached && *cost > 0 {
		spent = *cost
	}
	if cached {
		usage = proviso.Usage{}
	}
	a.paid(spent, usage)
	return err
}

// Embed asks if the key may and can pay.
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

// Classify asks if the key may and can pay.
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

// Moderate asks if the key may and can pay.
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

// cannot is the error of a call that [proviso.As] lets nobody make.
func (m metered) cannot(do string) error {
	return proviso.Errorf(proviso.Internal, "%s does not %s", m.ID(), do)
}

var (
	_ proviso.Wrapper    = metered{}
	_ proviso.Embedder   = metered{}
	_ proviso.Classifier = metered{}
	_ proviso.Moderator  = metered{}
)
