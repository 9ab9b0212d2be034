package server

import (
	"context"
	"fmt"
	"sync"
	"time"
)

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
