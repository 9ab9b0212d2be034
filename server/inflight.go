package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// made caches response bodies that take long to make and do not change. It makes each body
// once, even if several clients request it at the same time. It is safe for concurrent use.
type made struct {
	bodies *recent.Cache[string, []byte]
	alone
}

// maxMade limits the memory of all cached bodies.
const maxMade = 64 << 20

func newMade() *made {
	return &made{bodies: recent.New[string](recent.Options[[]byte]{Entries: 1000, Total: maxMade, Size: func(b []byte) int { return len(b) + 200 }})}
}

// get returns the body of a key, and calls make if it is not cached.
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

// enter waits until no caller works on the key.
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

// queue admits one caller per key at a time, and a few callers in total. So a key never makes
// another key wait for more than one piece of its work. It is safe for concurrent use.
type queue struct {
	slots chan struct{} // one for each admitted caller
	keys  alone

	mu     sync.Mutex
	queued map[string]int // callers that wait or work, by key
}

// maxQueued is the number of callers of one key that may wait or work. Further ones are
// refused.
const maxQueued = 20

func newQueue(slots int) *queue {
	return &queue{slots: make(chan struct{}, slots), queued: map[string]int{}}
}

// enter waits until the key has no other caller and a slot is free. Slots are given in the
// order of requests. what names the work in the problem that too many wait.
func (q *queue) enter(ctx context.Context, key, what string) (leave func(), err error) {
	if !q.count(key, 1) {
		return nil, problem(codeBusy, fmt.Sprintf("%d %s of this key wait already", maxQueued, what)).after(time.Second)
	}
	next, err := q.keys.enter(ctx, key)
	if err != nil {
		q.count(key, -1)
		return nil, err
	}
	out := func() {
		next()
		q.count(key, -1)
	}
	select {
	case q.slots <- struct{}{}:
		return func() {
			<-q.slots
			out()
		}, nil
	case <-ctx.Done():
		out()
		return nil, context.Cause(ctx)
	}
}

// count adds n to the callers of a key, and returns false if there are too many.
func (q *queue) count(key string, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queued[key]+n > maxQueued {
		return false
	}
	if q.queued[key] += n; q.queued[key] == 0 {
		delete(q.queued, key)
	}
	return true
}

// batches caches the latest batch results, which do not change once a run has ended. It is safe
// for concurrent use.
type batches struct {
	alone // by run
	kept  *recent.Cache[batchKey, *report.Batch]
}

// batchKey identifies an ended run. The file of a kept run may be replaced by another one.
type batchKey struct {
	run    string
	ended  int64
	totals proviso.Totals
}

func batchOf(r *store.Run) batchKey { return batchKey{r.ID, r.Ended.UnixNano(), r.Totals} }

// maxBatches limits the entries of the cache.
const maxBatches = 64
