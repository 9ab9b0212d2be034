package sqldb

import (
	"slices"
	"sync"
)

// changeQueue holds the changes that wait for a writer. Only one writer at a time gets changes
// of a project: another would only wait for it, and changes that arrive meanwhile share the
// next transaction. It is safe for concurrent use.
type changeQueue struct {
	mu      sync.Mutex
	waiting []*change       // in order of arrival
	busy    map[string]bool // projects that a writer is changing
	wake    chan struct{}   // makes a writer check the queue
}

func newChangeQueue(writers int) *changeQueue {
	return &changeQueue{busy: map[string]bool{}, wake: make(chan struct{}, writers)}
}

// news wakes a writer. If the channel is full, all writers are already due to wake.
func (q *changeQueue) news() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// add adds a change.
func (q *changeQueue) add(c *change) {
	q.mu.Lock()
	q.waiting = append(q.waiting, c)
	q.mu.Unlock()
	q.news()
}

// remove removes a waiting change; false if a writer has it.
func (q *changeQueue) remove(c *change) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// take removes and returns the first changes of projects that no writer is changing. The writer
// must call [changeQueue.done] afterwards. take waits for a change; it returns nil once closing
// is closed.
func (q *changeQueue) take(closing <-chan struct{}) []*change {
	for {
		select {
		case <-closing:
			return nil
		default:
		}
		if batch := q.ready(); len(batch) > 0 {
			return batch
		}
		select {
		case <-q.wake:
		case <-closing:
			return nil
		}
	}
}

func (q *changeQueue) ready() (batch []*change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(c *change) bool {
		if q.busy[c.project] || len(batch) == maxBatch {
			return false
		}
		batch = append(batch, c)
		return true
	})
	for _, c := range batch {
		q.busy[c.project] = true
	}
	return batch
}

// done marks the changes as written.
func (q *changeQueue) done(batch []*change) {
	q.mu.Lock()
	for _, c := range batch {
		delete(q.busy, c.project)
	}
	more := len(q.waiting) > 0
	q.mu.Unlock()
	if more {
		q.news()
	}
}
