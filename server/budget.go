package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// budgets holds the budget of each key. It is safe for concurrent use.
type budgets struct {
	// store is shared with other servers; nil if there are none. Amounts read from it are valid
	// for age.
	store store.Store
	age   time.Duration

	mu    sync.Mutex
	byKey map[string]*budget
}

// newBudgets returns the budgets of a store's keys. Amounts read from the store are valid for
// age.
func newBudgets(s store.Store, age time.Duration) *budgets {
	b := &budgets{age: age, byKey: map[string]*budget{}}
	if s.Several() {
		b.store = s
	}
	return b
}

// open returns an account for one request or run of a key. Requests of one key
// share its budget.
func (b *budgets) open(key store.Key) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.byKey[key.ID]
	if own == nil {
		own = &budget{age: b.age, changed: make(chan struct{})}
		if b.store != nil {
			own.read = func(ctx context.Context) (store.Key, error) { return b.store.Key(ctx, key.ID) }
		}
		b.byKey[key.ID] = own
	}
	own.update(key)
	return &account{key: key, budget: own}
}

// charging announces that the store is about to charge a key. The caller then reports whether
// it did.
func (b *budgets) charging(key string, cost float64) (done func(charged bool)) {
	b.mu.Lock()
	own := b.byKey[key]
	b.mu.Unlock()
	if own == nil {
		return func(bool) {}
	}
	return own.charging(cost)
}

// budget is the budget of one key. A call is admitted if three amounts fit together: the money
// spent, the estimated cost of the calls in flight, and the estimated cost of the call itself.
// The estimate is the highest cost of an answer so far. Before it is known, one call is made
// while the others wait.
//
// The money spent is the amount in the store, which other servers charge, too, plus the amount
// spent here that is not charged yet.
type budget struct {
	read func(context.Context) (store.Key, error) // nil if no other server charges
	age  time.Duration                            // how long a read amount is valid

	mu       sync.Mutex
	limited  bool
	limit    float64
	stored   float64   // in the store, as far as known
	pending  float64   // spent here, and not charged yet
	charges  float64   // part of pending that is being charged; stored may already include it
	updated  time.Time // when the key was read
	reserved float64
	inFlight int
	known    bool
	largest  float64
	changed  chan struct{} // closed when a call in flight ends
}

// spent is the amount that the key has spent; the caller holds b.mu.
func (b *budget) spent() float64 { return b.stored + b.pending }

// update takes the key's state from the store. Amounts that were spent here and are not in the
// store yet still count.
func (b *budget) update(key store.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limited = key.Budget != nil
	if b.limited {
		b.limit = *key.Budget
	}
	b.stored = max(b.stored, key.Spent-b.charges)
	b.updated = time.Now()
}

// refresh rereads the key if others may have charged it and the last read is older than age.
// The caller holds b.mu, which is released during the read. If the store fails, the known state
// remains.
func (b *budget) refresh(ctx context.Context) {
	if b.read == nil || !b.limited || time.Since(b.updated) < b.age {
		return
	}
	b.updated = time.Now() // so that only one caller reads
	b.mu.Unlock()
	key, err := b.read(ctx)
	if err == nil {
		b.update(key)
	}
	b.mu.Lock()
}

// charging implements [budgets.charging].
func (b *budget) charging(cost float64) (done func(charged bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.charges += cost
	return func(charged bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.charges = withoutRounding(b.charges - cost)
		if charged {
			b.stored += cost
			b.pending = withoutRounding(b.pending - cost)
		}
	}
}

// withoutRounding removes rounding errors from a difference of amounts: anything below 1e-12 is
// 0.
func withoutRounding(amount float64) float64 {
	if amount < 1e-12 {
		return 0
	}
	return amount
}

// enter reserves the estimated cost of the next answer.
func (b *budget) enter(ctx context.Context) (float64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		b.refresh(ctx)
		if !b.limited {
			break
		}
		spent := b.spent()
		if spent >= b.limit || spent+b.largest > b.limit {
			return 0, spentError(spent, b.limit)
		}
		if b.known && spent+b.reserved+b.largest <= b.limit || !b.known && b.inFlight == 0 {
			break
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			b.mu.Lock()
			return 0, ctx.Err()
		case <-changed:
		}
		b.mu.Lock()
	}
	likely := b.largest
	b.reserved += likely
	b.inFlight++
	return likely, nil
}

// leave replaces the reserved amount with the actual cost of an answer. A cached answer does
// not make the estimate known.
func (b *budget) leave(likely, cost float64, cached bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= likely
	if b.inFlight--; b.inFlight == 0 {
		b.reserved = 0 // drop rounding errors
	}
	b.pending += cost
	b.largest = max(b.largest, cost)
	b.known = b.known || !cached
	close(b.changed)
	b.changed = make(chan struct{})
}

// spentError returns the error of an exhausted budget.
func spentError(spent, limit float64) error {
	return proviso.Because(errKeyBudget, proviso.Limit, "the budget of the key is spent: %s of %s", usd.Cents(spent), usd.Cents(limit))
}

// errKeyBudget means that the key's budget is spent.
var errKeyBudget = errors.New("the budget of the key is spent")

// account records what one request or run of a key spends. It is safe for concurrent use.
type account struct {
	key    store.Key
	budget *budget

	mu      sync.Mutex
	cost    float64 // cost of all answers
	settled float64 // amount that the store charged
	usage   proviso.Usage
	failure error // error of the last call; nil if it succeeded
}

type accountKey struct{}

// withAccount returns a context in which a pays for model calls. Answers and verdicts are
// cached for its project.
func withAccount(ctx context.Context, a *account) context.Context {
	if p := a.key.Project; p != store.DefaultProject {
		ctx = blobs.WithScope(ctx, string(p)) // a cached answer must not reveal requests of another project
	}
	return context.WithValue(ctx, accountKey{}, a)
}

// check rejects a request with an exhausted budget before any work is done.
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

// due returns the amount that was spent but not charged yet, and marks it as charged.
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

// trouble returns the reason why no further call can succeed until somebody acts, and its text.
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
