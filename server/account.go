package server

import (
	"context"
	"errors"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// account records what one request, or one run, of a key spends. It is safe for
// concurrent use.
type account struct {
	key    store.Key
	budget *budget

	mu      sync.Mutex
	cost    float64 // of all answers
	settled float64 // amount that the store charged
	usage   proviso.Usage
	failure error // of the last call, nil if it succeeded
}

type accountKey struct{}

// withAccount returns a context in which a pays for calls to models. Answers
// and verdicts are cached for its project.
func withAccount(ctx context.Context, a *account) context.Context {
	if p := a.key.Project; p != store.DefaultProject {
		ctx = blobs.WithScope(ctx, string(p)) // a cached answer must not reveal requests of another project
	}
	return context.WithValue(ctx, accountKey{}, a)
}

// check rejects a request whose budget is exhausted before any work is done.
func (a *account) check() error {
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	if b := a.budget; b.limited && (b.spent() >= b.limit || b.spent()+b.largest > b.limit) {
		return problem(codeBudget, spentError(b.spent(), b.limit).Error())
	}
	return nil
}

// paid adds the cost of an answer.
func (a *account) paid(cost float64, usage proviso.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cost += cost
	a.usage.Add(usage)
}

// charged records what the store has already charged to the key.
func (a *account) charged(cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled += cost
}

// due returns the amount that was spent and not charged yet, and marks it as
// charged.
func (a *account) due() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.cost - a.settled
	a.settled = max(a.settled, a.cost)
	return d
}

// failed records how the last call ended.
func (a *account) failed(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failure = err
}

// trouble returns why no further call can succeed until somebody does something, and the
// words for it.
func (a *account) trouble() (provider.Trouble, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var e *proviso.Error
	switch {
	case a.failure == nil:
		return provider.NoTrouble, ""
	case errors.Is(a.failure, errKeyBudget):
		return provider.QuotaTrouble, a.failure.Error()
	case errors.As(a.failure, &e) && e.Code == proviso.Refused:
		return provider.KeyTrouble, e.Error()
	}
	t := provider.TroubleOf(a.failure)
	return t, a.failure.Error()
}

// total returns the total cost and usage.
func (a *account) total() (float64, proviso.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cost, a.usage
}
