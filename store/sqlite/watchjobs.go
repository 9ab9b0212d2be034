package sqlite

import (
	"database/sql"
	"errors"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// addEventJobs enqueues the evaluation of a new event for the watches that sampled it, in
// the transaction that stores it. Watches that are gone are left out; a watch for which too
// many events wait does not get one more, and counts it.
func (t *tx) addEventJobs(p store.Project, event string, jobs []store.EventJob, now time.Time) error {
	for _, job := range jobs {
		w, pending, err := t.watchToFill(p, job.Watch)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		if pending >= store.MaxPending {
			err = t.addSpend(p, job.Watch, dayOf(now), spending{dropped: 1})
		} else {
			_, err = t.addEventJob(w, event, job.Probability, false, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// watchToFill returns the number of a watch and of the jobs that it has; sql.ErrNoRows if
// there is no such watch.
func (t *tx) watchToFill(p store.Project, name string) (seq int64, pending int, err error) {
	err = t.queryRow("SELECT seq, pending FROM watch WHERE project = ? AND name = ? AND removed = 0", string(p), name).Scan(&seq, &pending)
	return seq, pending, err
}

// addEventJob enqueues one event, unless it waits already.
func (t *tx) addEventJob(watch int64, event string, probability float64, backfill bool, now time.Time) (added int, err error) {
	return t.changed("INSERT INTO watch_job (watch, event, probability, backfill, enqueued, due) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (watch, event) DO NOTHING",
		watch, event, probability, backfill, micros(now), micros(now))
}

// spending is what is added to the spend of a day.
type spending struct {
	reserved, spent, uncertain float64
	calls, lost, dropped       int
}

// addSpend adds to what a watch spent on a day.
func (t *tx) addSpend(p store.Project, watch string, day int64, s spending) error {
	_, err := t.exec(`INSERT INTO watch_spend (project, name, day, reserved, spent, uncertain, calls, lost, dropped) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (project, name, day) DO UPDATE SET reserved = max(0, reserved + excluded.reserved), spent = spent + excluded.spent, uncertain = uncertain + excluded.uncertain,
		calls = calls + excluded.calls, lost = lost + excluded.lost, dropped = dropped + excluded.dropped`,
		string(p), watch, day, s.reserved, s.spent, s.uncertain, s.calls, s.lost, s.dropped)
	return err
}

// dayOf is the number of a day (UTC) since 1970.
func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }
