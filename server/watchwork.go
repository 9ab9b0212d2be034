package server

import (
	"sync"
	"time"

	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/store"
)

// watchWork is what a server knows of the work of a watch since it was started.
type watchWork struct {
	mu      sync.Mutex
	largest float64 // US dollars that one event cost at most
	paid    float64 // US dollars of all events
	events  int     // that were evaluated
	leased  int     // in this process
	trouble provider.Trouble
	why     string    // the trouble, for people
	until   time.Time // when to try again after a trouble
	filled  string    // hash of the set whose new assertions were backfilled
	matched time.Time // when the last matching event came
	planned string    // hash of the watch and hour of the last plan
	sampled time.Time // when the last sampled event came
	charts  int       // that can raise an alarm
	states  map[string]int
	mixed   time.Time // hour of mix
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
		w = &watchWork{charts: 1}
		m.work[key] = w
	}
	return w
}

// mayLease returns what one more event is expected to cost; ok is false while the watch is
// in trouble, or while the price of the first event is not known.
func (w *watchWork) mayLease(now time.Time) (reserve float64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Before(w.until) || w.events == 0 && w.leased > 0 {
		return 0, false
	}
	return w.largest, true
}

func (w *watchWork) lease(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leased += n
}

// stuck records a trouble.
func (w *watchWork) stuck(t provider.Trouble, why string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble, w.why, w.until = t, why, now.Add(troublePause)
}

// leave leaves the events to other processes for a while, which can evaluate them.
func (w *watchWork) leave(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble, w.why, w.until = provider.NoTrouble, "", now.Add(troublePause)
}

// ended records that an event was evaluated.
func (w *watchWork) ended(cost float64, t provider.Trouble, why string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leased--
	w.events, w.paid, w.largest = w.events+1, w.paid+cost, max(w.largest, cost)
	w.trouble, w.why, w.until = t, why, time.Time{}
	if t != provider.NoTrouble {
		w.until = now.Add(troublePause)
	}
}

// troubled returns the trouble of a watch and why.
func (w *watchWork) troubled() (provider.Trouble, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble, w.why
}

// price is what an event is expected to cost at most.
func (w *watchWork) price() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.largest
}

// average is what an event cost on average, 0 if none was evaluated.
func (w *watchWork) average() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paid / float64(max(w.events, 1))
}

// saw records that a matching event came, and whether it was sampled.
func (w *watchWork) saw(now time.Time, sampled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.matched = now; sampled {
		w.sampled = now
	}
}

func (w *watchWork) lastSampled() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sampled
}

func (w *watchWork) lastMatch() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.matched
}

// plans reports whether a watch has no plan for an hour yet, and notes that it has.
func (w *watchWork) plans(hash string, hour time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := hash + hour.UTC().Format(time.RFC3339)
	if w.planned == of {
		return false
	}
	w.planned = of
	return true
}

func (w *watchWork) chartCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.charts
}

func (w *watchWork) keepCharts(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.charts = n
}

func (w *watchWork) chartStates() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.states
}

func (w *watchWork) keepStates(states map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.states = states
}

func (w *watchWork) mixAt(hour time.Time) ([]monitor.MixDay, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.days, w.mixed.Equal(hour)
}

func (w *watchWork) keepMix(hour time.Time, days []monitor.MixDay) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mixed, w.days = hour, days
}
