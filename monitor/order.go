package monitor

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"time"

	"github.com/proviso-eval/proviso/ingest"
)

const (
	// lookAhead is the number of events that a replay reads ahead to detect an event with
	// a wrong clock.
	lookAhead = 20
	// maxIDs bounds the number of ids that a replay keeps to find duplicates.
	maxIDs = 1 << 20
)

// inOrder yields the events whose clock is not ahead. The clock of an event is ahead if
// the event is more than an hour after all previous ones and most of the following ones
// are more than an hour before it.
func inOrder(events iter.Seq2[ingest.Event, error], now time.Time, counts *ReplayCounts) iter.Seq2[*ingest.Event, error] {
	return func(yield func(*ingest.Event, error) bool) {
		var queue []ingest.Event
		var clock time.Time
		take := func() bool {
			e := queue[0]
			queue[0] = ingest.Event{}
			queue = queue[1:]
			if isAhead(&e, clock, now, queue) {
				counts.Future++
				return true
			}
			clock = latest(clock, e.Time)
			return yield(&e, nil)
		}
		for e, err := range events {
			if err != nil {
				yield(nil, err)
				return
			}
			counts.Events++
			if queue = append(queue, e); len(queue) > lookAhead && !take() {
				return
			}
		}
		for len(queue) > 0 {
			if !take() {
				return
			}
		}
	}
}

// Disorder reads events as [Replay] does. It counts all of them, and those that are more
// than an hour older than a previous one, or newer than most of the following ones. A
// file that is not in order of arrival has many of these. An error in events ends the
// count.
func Disorder(events iter.Seq2[ingest.Event, error]) (all, disordered int, err error) {
	var counts ReplayCounts
	var clock time.Time
	late := 0
	for e, err := range inOrder(events, time.Time{}, &counts) {
		if err != nil {
			return counts.Events, 0, err
		}
		if isLate(e, clock) {
			late++
		}
		clock = latest(clock, e.Time)
	}
	return counts.Events, late + counts.Future, nil
}

func isLate(e *ingest.Event, clock time.Time) bool { return e.Time.Before(clock.Add(-time.Hour)) }

func isAhead(e *ingest.Event, clock, now time.Time, next []ingest.Event) bool {
	if !now.IsZero() && e.Time.Sub(now) > ingest.MaxFuture {
		return true
	}
	if !clock.IsZero() && e.Time.Sub(clock) <= ingest.MaxFuture {
		return false
	}
	before := 0
	for i := range next {
		if e.Time.Sub(next[i].Time) > ingest.MaxFuture {
			before++
		}
	}
	return 2*before > len(next)
}

// recentIDs holds at least the last maxIDs/2 ids.
type recentIDs struct{ newer, older map[uint64]struct{} }

// add records an id, and reports whether it is new.
func (r *recentIDs) add(id string) bool {
	sum := sha256.Sum256([]byte(id))
	h := binary.LittleEndian.Uint64(sum[:])
	if _, ok := r.newer[h]; ok {
		return false
	}
	if _, ok := r.older[h]; ok {
		return false
	}
	if r.newer == nil || len(r.newer) >= maxIDs/2 {
		r.newer, r.older = map[uint64]struct{}{}, r.newer
	}
	r.newer[h] = struct{}{}
	return true
}
