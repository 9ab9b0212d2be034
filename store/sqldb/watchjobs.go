package sqldb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/store"
)

// eventJobs enqueues the evaluation of new events for the watches that sampled them, in the
// transaction that stores the events. It skips deleted watches. A watch with too many pending
// jobs gets no more; it counts the dropped events.
type eventJobs struct {
	*tx
	project store.Project
	now     time.Time
	watches map[string]*filling
	rows    [][]any
}

// filling is a watch that gets jobs.
type filling struct {
	seq              int64 // 0 if there is no such watch
	pending, dropped int
}

func (x *eventJobs) add(event string, jobs []store.EventJob) error {
	for _, job := range jobs {
		w := x.watches[job.Watch]
		if w == nil {
			w = &filling{}
			var err error
			if w.seq, w.pending, err = x.watchToFill(x.project, job.Watch); ignoreNone(err) != nil {
				return err
			}
			if x.watches == nil {
				x.watches = map[string]*filling{}
			}
			x.watches[job.Watch] = w
		}
		switch {
		case w.seq == 0:
		case w.pending >= store.MaxPending:
			w.dropped++
		default:
			w.pending++
			x.rows = append(x.rows, []any{w.seq, event, job.Probability, 0, micros(x.now), micros(x.now)})
		}
	}
	return nil
}

func (x *eventJobs) finish() error {
	if err := x.insert("INSERT INTO watch_job (watch, event, probability, backfill, enqueued, due)", " ON CONFLICT (watch, event) DO NOTHING", x.rows, nil); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(x.watches)) {
		if n := x.watches[name].dropped; n > 0 {
			if err := x.addSpend(x.project, name, dayOf(x.now), spending{dropped: n}); err != nil {
				return err
			}
		}
	}
	return nil
}

// watchToFill returns the number of a watch and its number of pending jobs; sql.ErrNoRows if
// there is no such watch.
func (t *tx) watchToFill(p store.Project, name string) (seq int64, pending int, err error) {
	err = t.queryRow("SELECT seq, pending FROM watch WHERE project = ? AND name = ? AND removed = 0", string(p), name).Scan(&seq, &pending)
	return seq, pending, err
}

// addEventJob enqueues one event, unless it is already enqueued.
func (t *tx) addEventJob(watch int64, event string, probability float64, backfill bool, now time.Time) (added int, err error) {
	return t.changed("INSERT INTO watch_job (watch, event, probability, backfill, enqueued, due) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (watch, event) DO NOTHING",
		watch, event, probability, backfill, micros(now), micros(now))
}

// spending is a change to the spend of a day.
type spending struct {
	reserved, spent, uncertain float64
	calls, lost, dropped       int
}

// addSpend adds to the spend of a watch on a day.
func (t *tx) addSpend(p store.Project, watch string, day int64, s spending) error {
	_, err := t.exec(`INSERT INTO watch_spend (project, name, day, reserved, spent, uncertain, calls, lost, dropped) VALUES (?1, ?2, ?3, greatest(0.0, ?4), ?5, greatest(0.0, ?6), ?7, ?8, ?9)
		ON CONFLICT (project, name, day) DO UPDATE SET reserved = greatest(0.0, watch_spend.reserved + ?4), spent = watch_spend.spent + ?5, uncertain = greatest(0.0, watch_spend.uncertain + ?6),
		calls = watch_spend.calls + ?7, lost = watch_spend.lost + ?8, dropped = watch_spend.dropped + ?9`,
		string(p), watch, day, s.reserved, s.spent, s.uncertain, s.calls, s.lost, s.dropped)
	return err
}

// dayOf returns the number of a day (UTC) since 1970.
func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// EnqueueEvents implements [store.EventJobs].
func (d project) EnqueueEvents(ctx context.Context, watch string, jobs []store.Backfill, assertions ...string) (added int, err error) {
	for _, job := range jobs {
		if err := (store.EventJob{Watch: watch, Probability: job.Probability}).Check(); err != nil {
			return 0, err
		}
	}
	err = d.change(ctx, "enqueue events in", func(t *tx) error {
		added = 0
		seq, pending, err := t.watchToFill(d.name, watch)
		err = noRow(err, "watch", watch)
		for _, job := range jobs {
			if err != nil || pending+added >= store.MaxPending {
				return err
			}
			var has bool
			args, texts := textList(assertions)
			if err = t.queryRow(`SELECT EXISTS (SELECT 1 FROM watch_verdict WHERE watch = ? AND event = ? AND assertion IN (SELECT id FROM watch_term WHERE text IN `+texts+`))`,
				append([]any{seq, job.Event}, args...)...).Scan(&has); err != nil {
				return err
			}
			if has {
				continue
			}
			var n int
			n, err = t.addEventJob(seq, job.Event, job.Probability, true, d.now())
			added += n
		}
		return err
	})
	return added, err
}

// LeaseEvents implements [store.EventJobs].
func (d project) LeaseEvents(ctx context.Context, r store.LeaseEvents) (leases []store.EventLease, err error) {
	if err := errors.Join(checkLease(&r), d.textsAccepted()); err != nil {
		return nil, err
	}
	seq, err := d.watchNumber(ctx, r.Watch)
	if err != nil {
		return nil, err
	}
	var due bool
	// Most of the time there is no work, so read before writing.
	if err := d.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM watch_job WHERE watch = ? AND backfill IN (0, 1) AND due <= ?)", seq, micros(d.now())).Scan(&due); err != nil || !due {
		return nil, d.failed("read", err)
	}
	err = d.change(ctx, "lease events in", func(t *tx) error {
		leases = nil
		x := leasingEvents{tx: t, d: d, r: &r, now: d.now()}
		x.watch, err = t.watch(d, r.Watch)
		if err == nil {
			err = t.endLeases(d.name, r.Watch, x.watch, x.now, false)
		}
		if err == nil {
			leases, err = x.lease()
		}
		return err
	})
	return leases, err
}

func checkLease(r *store.LeaseEvents) error {
	if r.Lease <= 0 || r.Limit < 0 || !(r.Reserve >= 0) || !(r.Budget >= 0) {
		return proviso.Errorf(proviso.Invalid, "a lease needs a duration, and amounts of at least 0")
	}
	return nil
}

// endLeases ends the expired leases of a watch, or all of them: the holder was killed or is too
// slow. Reserved money may have been spent.
func (t *tx) endLeases(p store.Project, name string, watch int64, now time.Time, all bool) error {
	type lease struct {
		seq, day int64
		reserved float64
		attempt  int
	}
	ended, err := collect(t.db, func(row scanner) (l lease, err error) {
		return l, row.Scan(&l.seq, &l.day, &l.reserved, &l.attempt)
	})(t.query("SELECT seq, day, reserved, attempt FROM watch_job WHERE watch = ? AND token <> 0 AND (due <= ? OR ? = 1)", watch, micros(now), all))
	if err != nil {
		return err
	}
	for _, l := range ended {
		if err := t.addSpend(p, name, l.day, spending{reserved: -l.reserved, uncertain: l.reserved, lost: 1}); err != nil {
			return err
		}
		if l.attempt < store.MaxAttempts {
			_, err = t.exec("UPDATE watch_job SET token = 0, reserved = 0, due = ? WHERE seq = ?", micros(now), l.seq)
		} else if _, err = t.exec("DELETE FROM watch_job WHERE seq = ?", l.seq); err == nil {
			err = t.noteEventError(watch, fmt.Sprintf("the process ended %d times while evaluating an event", store.MaxAttempts), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endAllLeases ends the leases of all watches: their holders were killed.
func (t *tx) endAllLeases(now time.Time) error {
	type of struct {
		seq           int64
		project, name string
	}
	list, err := collect(t.db, func(row scanner) (w of, err error) { return w, row.Scan(&w.seq, &w.project, &w.name) })(t.query("SELECT DISTINCT w.seq, w.project, w.name FROM watch_job j JOIN watch w ON w.seq = j.watch WHERE j.token <> 0"))
	for _, w := range list {
		if err == nil {
			err = t.endLeases(store.Project(w.project), w.name, w.seq, now, true)
		}
	}
	if err == nil {
		_, err = t.exec("UPDATE watch_notice SET token = 0, due = ? WHERE token <> 0 AND sent IS NULL AND dropped IS NULL", micros(now))
	}
	return err
}

// noteEventError stores why the latest failed event could not be evaluated.
func (t *tx) noteEventError(watch int64, why string, now time.Time) error {
	text, err := t.db.contents.sealError(watch, strings.ToValidUTF8(excerpt.Bytes(why, store.MaxExcerpt), "\uFFFD"), dayOf(now))
	if err != nil {
		return err
	}
	t.texts = true
	_, err = t.exec("UPDATE watch SET last_error = ?, error = ? WHERE seq = ?", micros(now), text, watch)
	return err
}

// leasingEvents is one request for jobs.
type leasingEvents struct {
	*tx
	d     project
	r     *store.LeaseEvents
	watch int64
	now   time.Time
}

// room returns how many jobs the budget of the day allows.
func (x *leasingEvents) room() (int, error) {
	if x.r.Budget == 0 {
		return x.r.Limit, nil
	}
	var spent float64
	if err := ignoreNone(x.queryRow("SELECT reserved + spent + uncertain FROM watch_spend WHERE project = ? AND name = ? AND day = ?", string(x.d.name), x.r.Watch, dayOf(x.now)).Scan(&spent)); err != nil {
		return 0, err
	}
	left := x.r.Budget - spent
	switch {
	case left <= 0:
		return 0, nil
	case x.r.Reserve == 0:
		return x.r.Limit, nil
	}
	return int(min(float64(x.r.Limit), math.Floor(left/x.r.Reserve))), nil
}

func (x *leasingEvents) lease() ([]store.EventLease, error) {
	n, err := x.room()
	if err != nil || n == 0 {
		return nil, err
	}
	var leases []store.EventLease
	for _, backfill := range [...]int{1, 0} {
		some, err := collect(x.db, func(row scanner) (l store.EventLease, err error) {
			err = row.Scan(&l.Job, &l.Event, &l.Probability, &l.Backfill, &l.Attempt, at(&l.Enqueued))
			l.Token = rand.Int64N(math.MaxInt64) + 1
			return l, err
		})(x.query("SELECT seq, event, probability, backfill, attempt + 1, enqueued FROM watch_job WHERE watch = ? AND backfill = ? AND due <= ? ORDER BY due, seq LIMIT ?",
			x.watch, backfill, micros(x.now), n-len(leases)))
		if err != nil {
			return nil, err
		}
		leases = append(leases, some...)
	}
	for _, l := range leases {
		if _, err := x.exec("UPDATE watch_job SET token = ?, due = ?, attempt = ?, reserved = ?, day = ? WHERE seq = ?",
			l.Token, micros(x.now.Add(x.r.Lease)), l.Attempt, x.r.Reserve, dayOf(x.now), l.Job); err != nil {
			return nil, err
		}
	}
	if len(leases) == 0 || x.r.Reserve == 0 {
		return leases, nil
	}
	return leases, x.addSpend(x.d.name, x.r.Watch, dayOf(x.now), spending{reserved: x.r.Reserve * float64(len(leases))})
}

// ReleaseEvents implements [store.EventJobs].
func (d project) ReleaseEvents(ctx context.Context, watch string, leases []store.EventLease) error {
	if len(leases) == 0 {
		return nil
	}
	return d.change(ctx, "release events in", func(t *tx) error {
		seq, err := t.watch(d, watch)
		if err != nil {
			return err
		}
		for _, l := range leases {
			day, reserved, held, err := t.heldJob(seq, l)
			if err != nil {
				return err
			}
			if !held {
				continue
			}
			if _, err := t.exec("UPDATE watch_job SET token = 0, reserved = 0, attempt = attempt - 1, due = enqueued WHERE seq = ?", l.Job); err != nil {
				return err
			}
			if err := t.addSpend(d.name, watch, day, spending{reserved: -reserved}); err != nil {
				return err
			}
		}
		return nil
	})
}

// heldJob returns the amount reserved for a lease; held is false if the lease has ended.
func (t *tx) heldJob(watch int64, l store.EventLease) (day int64, reserved float64, held bool, err error) {
	err = t.queryRow("SELECT day, reserved FROM watch_job WHERE seq = ? AND token = ? AND watch = ?", l.Job, l.Token, watch).Scan(&day, &reserved)
	return day, reserved, err == nil, ignoreNone(err)
}

// SettleEvents implements [store.EventJobs].
func (d project) SettleEvents(ctx context.Context, watch string, done []store.EventResult) (added int, err error) {
	for i := range done {
		if err := done[i].Check(); err != nil {
			return 0, err
		}
	}
	err = d.change(ctx, "keep verdicts in", func(t *tx) error {
		seq, err := t.watch(d, watch)
		if err != nil {
			return err
		}
		x := adding{tx: t, watch: seq, now: d.now(), terms: map[string]int64{}}
		for i := range done {
			if err := x.settle(d, watch, &done[i]); err != nil {
				return err
			}
		}
		added = x.added
		return x.finish()
	})
	return added, err
}

// settle ends a job or requeues it.
func (x *adding) settle(d project, watch string, r *store.EventResult) error {
	for i := range r.Verdicts {
		if err := x.verdict(&r.Verdicts[i]); err != nil {
			return err
		}
	}
	if r.Error != "" {
		x.failed = r.Error
	}
	day, reserved, held, err := x.heldJob(x.watch, r.EventLease)
	if err != nil {
		return err
	}
	if !held { // another worker has the job, or it has ended; its reservation is counted as uncertain
		return x.addSpend(d.name, watch, dayOf(x.now), spending{spent: r.Cost, uncertain: -r.Cost})
	}
	if r.Again.IsZero() {
		_, err = x.exec("DELETE FROM watch_job WHERE seq = ?", r.Job)
	} else {
		_, err = x.exec("UPDATE watch_job SET token = 0, reserved = 0, due = ? WHERE seq = ?", micros(r.Again), r.Job)
	}
	if err != nil {
		return err
	}
	return x.addSpend(d.name, watch, day, spending{reserved: -reserved, spent: r.Cost, calls: 1})
}
