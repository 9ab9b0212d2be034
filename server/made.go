package server

import (
	"context"
	"sync"

	"github.com/proviso-eval/proviso/internal/recent"
)

// made keeps bodies of responses that take long to make and do not change, and makes each
// once at a time, however many clients ask for it. It is safe for concurrent use.
type made struct {
	bodies *recent.Cache[string, []byte]
	alone
}

// maxMade bounds the memory of all bodies that are kept.
const maxMade = 64 << 20

func newMade() *made {
	return &made{bodies: recent.New[string](recent.Options[[]byte]{Entries: 1000, Total: maxMade, Size: func(b []byte) int { return len(b) + 200 }})}
}

// get returns the body of a key, from make if it is not kept.
func (m *made) get(ctx context.Context, key string, make func() ([]byte, error)) ([]byte, error) {
	if body, ok := m.bodies.Get(key); ok {
		return body, nil
	}
	leave, err := m.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer leave()
	if body, ok := m.bodies.Get(key); ok {
		return body, nil
	}
	body, err := make()
	if err == nil && len(body) <= maxMade/4 {
		m.bodies.Add(key, body)
	}
	return body, err
}

// alone lets one caller at a time work on a key. It is safe for concurrent use.
type alone struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // closed when the work ends
}

// enter waits until nobody works on the key.
func (a *alone) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		a.mu.Lock()
		others := a.busy[key]
		if others == nil {
			ended := make(chan struct{})
			if a.busy == nil {
				a.busy = map[string]chan struct{}{}
			}
			a.busy[key] = ended
			a.mu.Unlock()
			return func() {
				a.mu.Lock()
				delete(a.busy, key)
				a.mu.Unlock()
				close(ended)
			}, nil
		}
		a.mu.Unlock()
		select {
		case <-others:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
