// Package turns shares the processor between keys. Computing work takes a turn with
// [Enter] and gives it back before it waits; a [Task] measures the computing time
// of one request and ends the request at its budget. Start at [New] and
// [Scheduler.Begin]; a context without a task is not limited.
//
// Turns are not preempted: work gives them back between assertions, and is
// interrupted by its own time limit. To keep others from waiting that long, the
// keys that compute the most leave one processor to those that compute little.
package turns

import (
	"context"
	"math"
	"sync"
	"time"
)

const (
	// window is the time over which a key's computing counts.
	window = time.Second
	// recent is how long a key counts as one that shares the processor.
	recent = 5 * time.Second
	// maxShares is the number of keys that are remembered; beyond it those without work
	// are removed.
	maxShares = 10_000
)

// Scheduler gives turns to keys. It is safe for concurrent use.
type Scheduler struct {
	slots int // maximum number of ordinary turns; light ones come in addition

	mu              sync.Mutex
	shares          map[string]*share
	queue           []*share  // shares with waiters
	ordinary, light int       // turns held
	counted         time.Time // time at which active was counted
	active          int       // number of keys that share the processor
}

// share is a key's part of the processor.
type share struct {
	usage   float64   // computing seconds in the last window, with exponential decay
	at      time.Time // time of usage, and of the key's last request
	running int
	waiters []*waiter // first come, first served
}

// waiter is a caller without a turn.
type waiter struct {
	turn  chan class // receives the turn
	share *share
}

// class is the kind of a turn.
type class bool

const (
	ordinary class = false
	light    class = true // of a key that computes little, while another key computes much
)

// New returns a scheduler for this many processors.
func New(processors int) *Scheduler {
	return &Scheduler{slots: max(1, processors), shares: map[string]*share{}}
}

// take waits for a turn of key until ctx is done.
func (s *Scheduler) take(ctx context.Context, key string) (*share, class, error) {
	if ctx.Err() != nil {
		return nil, ordinary, context.Cause(ctx)
	}
	now := time.Now()
	s.mu.Lock()
	k := s.of(key, now)
	k.settle(now)
	if len(s.queue) == 0 {
		if c, ok := s.grant(k, now); ok {
			s.mu.Unlock()
			return k, c, nil
		}
	}
	w := &waiter{turn: make(chan class, 1), share: k}
	if len(k.waiters) == 0 {
		s.queue = append(s.queue, k)
	}
	k.waiters = append(k.waiters, w)
	s.dispatch(now)
	s.mu.Unlock()
	select {
	case c := <-w.turn:
		return k, c, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaveQueue(w) { // the turn was granted at the same time
		s.put(k, <-w.turn, time.Now())
	}
	return nil, ordinary, context.Cause(ctx)
}

// give gives a turn back.
func (s *Scheduler) give(k *share, c class) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k, c, time.Now())
}

// put gives a turn back; s.mu is held.
func (s *Scheduler) put(k *share, c class, now time.Time) {
	k.settle(now)
	k.running--
	if c == light {
		s.light--
	} else {
		s.ordinary--
	}
	s.dispatch(now)
}

// dispatch grants the available turns, first to the key that computed least.
func (s *Scheduler) dispatch(now time.Time) {
	for len(s.queue) > 0 {
		best := -1
		for i, k := range s.queue {
			k.settle(now)
			if best < 0 || k.usage < s.queue[best].usage {
				best = i
			}
		}
		k := s.queue[best]
		c, ok := s.grant(k, now)
		if !ok {
			return // a key that computed more has lower priority
		}
		w := k.waiters[0]
		k.waiters = k.waiters[1:]
		if len(k.waiters) == 0 {
			s.queue = append(s.queue[:best], s.queue[best+1:]...)
		}
		w.turn <- c
	}
}

// grant takes a turn for a key if one is available. While several keys compute, one
// processor is left to those with less than half of an equal share; their turns do
// not count among the others, because they are short.
func (s *Scheduler) grant(k *share, now time.Time) (class, bool) {
	active := s.sharing(now)
	most := s.slots
	if active > 1 {
		most = max(1, s.slots-1)
		equal := float64(s.slots) * window.Seconds() / float64(active)
		if k.usage < equal/2 && s.light < 2*s.slots {
			s.light++
			k.running++
			return light, true
		}
	}
	if s.ordinary >= most {
		return ordinary, false
	}
	s.ordinary++
	k.running++
	return ordinary, true
}

// sharing counts the keys that asked recently, at most a hundred times per second.
func (s *Scheduler) sharing(now time.Time) int {
	if now.Sub(s.counted) < window/100 && len(s.shares) > 1 {
		return s.active
	}
	s.counted, s.active = now, 0
	for _, k := range s.shares {
		if k.running > 0 || len(k.waiters) > 0 || now.Sub(k.at) < recent {
			s.active++
		}
	}
	return s.active
}

// of returns the share of a key; s.mu is held.
func (s *Scheduler) of(key string, now time.Time) *share {
	k := s.shares[key]
	if k != nil {
		return k
	}
	if len(s.shares) >= maxShares {
		for name, k := range s.shares {
			if k.running == 0 && len(k.waiters) == 0 && now.Sub(k.at) >= recent {
				delete(s.shares, name)
			}
		}
	}
	k = &share{at: now}
	s.shares[key], s.counted = k, time.Time{}
	return k
}

// settle updates the key's usage to now.
func (k *share) settle(now time.Time) {
	past := now.Sub(k.at).Seconds()
	if past <= 0 {
		return
	}
	fade := math.Exp(-past / window.Seconds())
	k.usage = k.usage*fade + float64(k.running)*window.Seconds()*(1-fade)
	k.at = now
}

// leaveQueue removes a waiter; it returns false if the waiter already has its turn.
// s.mu is held.
func (s *Scheduler) leaveQueue(w *waiter) bool {
	k := w.share
	for i, other := range k.waiters {
		if other != w {
			continue
		}
		k.waiters = append(k.waiters[:i], k.waiters[i+1:]...)
		if len(k.waiters) == 0 {
			for j, q := range s.queue {
				if q == k {
					s.queue = append(s.queue[:j], s.queue[j+1:]...)
					break
				}
			}
		}
		return true
	}
	return false
}
