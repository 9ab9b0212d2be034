package script

import (
	"context"
	"sync"
)

// pool lends machines, each to one borrower at a time. It creates them as needed,
// never more than its size. It lends the most recently used one first, so that few
// VMs stay warm under low load.
type pool struct {
	limits limits
	open   func() (*machine, error)
	slots  chan struct{}

	mu     sync.Mutex
	idle   []*machine
	closed bool
}

func newPool(size int, l limits, open func() (*machine, error)) *pool {
	return &pool{limits: l, open: open, slots: make(chan struct{}, max(size, 1))}
}

// get waits for a machine until ctx is done. With fresh, the machine is unused.
func (p *pool) get(ctx context.Context, fresh bool) (*machine, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, p.limits.cancelled(ctx)
		}
	}
	m := p.pop()
	if m != nil && fresh {
		m.close()
		m = nil
	}
	if m != nil {
		return m, nil
	}
	m, err := p.open()
	if err != nil {
		<-p.slots
		return nil, err
	}
	return m, nil
}

func (p *pool) pop() *machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	m := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return m
}

// put returns a machine to the pool, or closes it if it is spent.
func (p *pool) put(m *machine) {
	p.mu.Lock()
	keep := !m.spent && !p.closed
	if keep {
		p.idle = append(p.idle, m)
	}
	p.mu.Unlock()
	if !keep {
		m.close()
	}
	<-p.slots
}

// close frees the idle machines; those on loan are freed when they are returned.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, m := range idle {
		m.close()
	}
}
