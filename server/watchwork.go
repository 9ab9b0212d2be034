package server

import (
	"sync"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// watchWork is what a server knows of the work of a watch since it was started. It is safe for
// concurrent use.
type watchWork struct {
	mu sync.Mutex
	watchState
}

type watchState struct {
	largest float64 // US dollars that one event cost at most
	paid    float64 // US dollars of all events
	events  int     // that were evaluated
	leased  int     // in this process
	trouble provider.Trouble
	why     string         // the trouble, for people
	until   time.Time      // when to try again after a trouble
	filled  string         // hash of the set whose new assertions were backfilled
	matched time.Time      // when the last matching event came
	planned string         // hash of the watch and hour of the last plan
	sampled time.Time      // when the last sampled event came
	charts  int            // that can raise an alarm
	states  map[string]int // of the charts, by name; nil if they are not known
	mixed   time.Time      // hour of mix
	days    []monitor.MixDay

	judging bool // anchors are being judged
	round   *store.AnchorRound
	results []monitor.AnchorResult // of round, which the charts do not know yet
	tried   time.Time              // when a round of anchors ended too early
}

// workOf returns the work of a watch.
func (m *monitoring) workOf(key watchKey) *watchWork {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.work[key]
	if w == nil {
		w = &watchWork{watchState: watchState{charts: 1}}
		m.work[key] = w
	}
	return w
}

// now is the work as it is.
func (w *watchWork) now() watchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watchState
}

// change changes what is known.
func (w *watchWork) change(f func(*watchState)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.watchState)
}

// mayLease reports whether one more event may be evaluated: not while the watch is in trouble,
// or while the price of the first event is not known.
func (w *watchState) mayLease(now time.Time) bool {
	return !now.Before(w.until) && (w.events > 0 || w.leased == 0)
}

// stuck records a trouble.
func (w *watchWork) stuck(t provider.Trouble, why string, now time.Time) {
	w.change(func(x *watchState) { x.trouble, x.why, x.until = t, why, now.Add(troublePause) })
}

// leave leaves the events for a while to other processes, which can evaluate them.
func (w *watchWork) leave(now time.Time) { w.stuck(provider.NoTrouble, "", now) }

// ended records that an event was evaluated.
func (w *watchWork) ended(cost float64, t provider.Trouble, why string, now time.Time) {
	w.change(func(x *watchState) {
		x.leased--
		x.events, x.paid, x.largest = x.events+1, x.paid+cost, max(x.largest, cost)
		x.trouble, x.why, x.until = t, why, time.Time{}
		if t != provider.NoTrouble {
			x.until = now.Add(troublePause)
		}
	})
}

// saw records that a matching event came, and whether it was sampled.
func (w *watchWork) saw(now time.Time, sampled bool) {
	w.change(func(x *watchState) {
		if x.matched = now; sampled {
			x.sampled = now
		}
	})
}

// plans reports whether a watch has no plan for an hour yet, and notes that it has.
func (w *watchWork) plans(hash string, hour time.Time) (due bool) {
	of := hash + hour.UTC().Format(time.RFC3339)
	w.change(func(x *watchState) { due, x.planned = x.planned != of, of })
	return due
}
