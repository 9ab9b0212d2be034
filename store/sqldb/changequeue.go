package sqldb

import (
	"slices"
	"sync"
)

// changeQueue has the changes that wait for a writer. The changes of one project go to one
// writer at a time: others would only wait for it, and what comes meanwhile shares the next
// transaction. It is safe for concurrent use.
type changeQueue struct {
	mu      sync.Mutex
	waiting []*change       // first come, first served
	busy    map[string]bool // projects that a writer changes
	wake    chan struct{}   // a writer looks again
}

func newChangeQueue(writers int) *changeQueue {
	return &changeQueue{busy: map[string]bool{}, wake: make(chan struct{}, writers)}
}

// news lets a writer look. If there is no room for that, every writer will.
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

// remove takes a change back; false if a writer has it.
func (q *changeQueue) remove(c *change) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// take takes the first changes of projects that no writer changes, for a writer that ends with
// [changeQueue.done]. It waits for one; nil once closing is closed.
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

// done says that the changes are written.
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
