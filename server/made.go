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

// queue lets in one caller of each key at a time, and a few callers of all keys. So a key
// never makes another one wait longer than for the work that it was let in for. It is safe
// for concurrent use.
type queue struct {
	slots chan struct{} // one for each caller that is let in
	keys  alone

	mu     sync.Mutex
	queued map[string]int // callers that wait or work, by key
}

// maxQueued is how many callers of one key wait or work; others are refused.
const maxQueued = 20

func newQueue(slots int) *queue {
	return &queue{slots: make(chan struct{}, slots), queued: map[string]int{}}
}

// enter waits until the key has no other caller and there is a slot, which come in the
// order of the requests for them. what is the work, for the problem that too many wait.
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

// count adds to the callers of a key; false if that are too many.
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

// batches keeps the latest batch results, which do not change once a run has ended. It is
// safe for concurrent use.
type batches struct {
	alone // by run
	kept  *recent.Cache[batchKey, *report.Batch]
}

// batchKey is a run as it ended. The file of a kept run may be replaced by another one.
type batchKey struct {
	run    string
	ended  int64
	totals proviso.Totals
}

func batchOf(r *store.Run) batchKey { return batchKey{r.ID, r.Ended.UnixNano(), r.Totals} }

// maxBatches bounds the size of the cache.
const maxBatches = 64
