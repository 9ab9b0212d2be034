package provider

import (
	"context"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Budget limits what all providers of a command may cost together. It is safe for concurrent use.
//
// A request is admitted if three amounts fit into the limit together: the money spent, the
// estimated cost of the requests in flight, and the estimated cost of the request itself. The
// estimate is the highest cost of an answer of its provider so far. The first request to a provider
// has no estimate, so it runs while no other request is in flight. Thus only an answer that costs
// more than every earlier one can exceed the budget.
type Budget struct {
	most float64

	mu       sync.Mutex
	spent    float64
	reserved float64 // estimated cost of the requests in flight
	inFlight int
	alone    bool // the request in flight is the first to its provider
	waiting  int  // first requests to providers, which wait to be alone
	unpriced int  // answers without a cost
	refused  int
	changed  chan struct{} // closed when a request in flight ends
}

// NewBudget returns a budget in US dollars.
func NewBudget(most float64) *Budget { return &Budget{most: most, changed: make(chan struct{})} }

// Spent returns the cost of all answers in US dollars.
func (b *Budget) Spent() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Refused returns the number of requests that the budget rejected.
func (b *Budget) Refused() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused
}

// Unpriced returns the number of answers without a cost, which the budget cannot count.
func (b *Budget) Unpriced() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unpriced
}

// Provider returns p limited by the budget. Requests beyond it fail with the code Limit. A provider
// that computes its answers locally is returned unchanged. The result has all abilities of p: see
// [proviso.As].
func (b *Budget) Provider(p proviso.Provider) proviso.Provider {
	if Computes(p) {
		return p
	}
	bp := &budgeted{Provider: p, budget: b}
	bp.abilities = abilities{p, bp.around}
	if t, known := TariffOf(p); known {
		bp.costs = !t.Free()
	}
	return bp
}

// budgeted is a provider with a budget. Its fields are guarded by the lock of
// the budget.
type budgeted struct {
	proviso.Provider
	abilities
	budget  *Budget
	costs   bool    // its price is known and not 0
	known   bool    // it has answered before
	largest float64 // highest cost of an answer
}

var (
	_ proviso.Wrapper    = (*budgeted)(nil)
	_ proviso.Embedder   = (*budgeted)(nil)
	_ proviso.Classifier = (*budgeted)(nil)
	_ proviso.Moderator  = (*budgeted)(nil)
)

// Unwrap returns the provider that the budget limits.
func (p *budgeted) Unwrap() proviso.Provider { return p.Provider }

// Answer asks the provider if the budget admits the request.
func (p *budgeted) Answer(ctx context.Context, ask proviso.Ask) (out proviso.Output, err error) {
	likely, err := p.enter(ctx)
	if err != nil {
		return proviso.Output{}, err
	}
	defer func() { p.leave(likely, out.Cost, err == nil) }()
	return p.Provider.Answer(ctx, ask)
}

// enter reserves the estimated cost of the next answer.
func (p *budgeted) enter(ctx context.Context) (float64, error) {
	b := p.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		likely := p.largest
		if p.costs && b.most == 0 {
			b.refused++
			return 0, proviso.Errorf(proviso.Limit, "--max-cost 0: nothing may be spent, and %s has a price", p.ID())
		}
		if b.usedUp() || b.spent+likely > b.most {
			b.refused++
			b.wake()
			return 0, b.exhausted(likely)
		}
		if p.admitted() {
			b.reserved += likely
			b.inFlight++
			b.alone = !p.known
			return likely, nil
		}
		if err := p.wait(ctx); err != nil {
			b.wake()
			return 0, err
		}
	}
}

// admitted reports whether a request may be made now.
func (p *budgeted) admitted() bool {
	b := p.budget
	if !p.known {
		return b.inFlight == 0
	}
	return !b.alone && b.waiting == 0 && b.spent+b.reserved+p.largest <= b.most
}

// wait releases the lock until something changes. The caller holds the lock, before and after.
func (p *budgeted) wait(ctx context.Context) error {
	b := p.budget
	first := !p.known
	if first {
		b.waiting++
	}
	changed := b.changed
	b.mu.Unlock()
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-changed:
	}
	b.mu.Lock()
	if first {
		b.waiting--
	}
	return err
}

// wake wakes all waiting requests, so that they check again.
func (b *Budget) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// usedUp reports whether the budget is exhausted. A budget of 0 still admits
// free requests.
func (b *Budget) usedUp() bool { return b.spent > b.most || b.spent == b.most && b.most > 0 }

// exhausted returns the error of a budget that cannot pay for a request.
func (b *Budget) exhausted(likely float64) error {
	err := proviso.Errorf(proviso.Limit, "--max-cost %s is reached: %s US dollars were spent", dollars(b.most), dollars(b.spent))
	if b.spent < b.most {
		err.Message += ", and one more answer may cost " + dollars(likely)
	}
	return err
}

func dollars(f float64) string {
	const digits = 1e6
	return value.FormatNumber(float64(int64(f*digits+0.5)) / digits)
}

// leave replaces the reserved amount with the actual cost of the answer.
func (p *budgeted) leave(likely float64, cost *float64, answered bool) {
	b := p.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= likely
	b.alone = false
	if b.inFlight--; b.inFlight == 0 {
		b.reserved = 0 // a rounding error must not keep a request waiting
	}
	switch {
	case cost != nil && *cost >= 0:
		b.spent += *cost
		p.largest = max(p.largest, *cost)
	case answered:
		b.unpriced++
	}
	p.known = true // after an error too: requests must not wait for a broken provider
	b.wake()
}
