package sqldb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// For a while a process may be unable to execute any run: its disk is full, or it lacks the
// content key. Then it takes no runs and reports the reason to other processes.

// unfitEvery is how often a process that takes no runs logs the reason.
const unfitEvery = 30 * time.Second

// ailment is why a process takes no runs. offering.mu guards the fields.
type ailment struct {
	why   string
	until time.Time // not checked again before
	told  time.Time // time of the last log line
}

// ails records that a run could not be executed because of this process.
func (o *offering) ails(why string, until time.Time) {
	if why == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ailment.why, o.ailment.until = why, until
}

// fit reports whether this process takes runs now. It logs changes, and repeats the log line
// while the process takes none.
func (d *DB) fit(ctx context.Context) bool {
	o, now := &d.offering, d.now()
	o.mu.Lock()
	before, ask := o.ailment, o.offer.Fit
	o.mu.Unlock()
	why := ""
	switch err := d.Texts(ctx); {
	case errors.Is(err, store.ErrSealed):
		why = store.ErrSealed.Error()
	case now.Before(before.until):
		why = before.why
	case ask != nil:
		why = ask()
	}
	tell := why != before.why || why != "" && (before.told.IsZero() || now.Sub(before.told) >= unfitEvery)
	o.mu.Lock()
	o.ailment.why = why
	switch {
	case why == "":
		o.ailment = ailment{}
	case tell:
		o.ailment.told = now
	}
	o.mu.Unlock()
	switch {
	case !tell:
	case why == "":
		d.options.Logger.InfoContext(ctx, "this process takes runs again")
	default:
		d.options.Logger.WarnContext(ctx, "this process takes no runs", "why", why)
	}
	return why == ""
}

// leavesRun reports whether a work error is one with which the process leaves the run to
// others. It does not count as an attempt.
func leavesRun(failure error) bool {
	return store.UnableTo(failure) != nil || store.UnfitFor(failure) != ""
}

// givenBackKind is the kind of the shared items, named by run id, that record which processes
// gave a run back.
const givenBackKind = "given-back"

// givenBackLife is how long these items are kept.
const givenBackLife = 24 * time.Hour

// givenBack lists which processes gave a run back since it last made progress, and why, without
// duplicates.
type givenBack struct {
	Rows int // rows finished at the time
	By   []leaving
}

type leaving struct{ Process, Why string }

// giveBack records that this process gives a run back. over is true if that happened too often;
// the run has then failed.
func (t *tx) giveBack(run *runRow, failure error) (over bool, err error) {
	d := t.db
	now, err := t.anyRun(run.ID)
	if err != nil || now.Status.Ended() {
		return false, ignoreNone(err)
	}
	var known givenBack
	item, err := d.readShared(t.queryRow(selectShared+" WHERE kind = ? AND name = ? AND expires > ?", givenBackKind, run.ID, micros(d.now())))
	if err == nil {
		err = json.Unmarshal(item.Content, &known)
	}
	if ignoreNone(err) != nil {
		return false, err
	}
	if rows := now.Totals.Rows(); rows > known.Rows {
		known = givenBack{Rows: rows}
	}
	one := leaving{d.runner.owner, reason(failure)}
	if slices.Contains(known.By, one) {
		return false, nil
	}
	known.By = append(known.By, one)
	if len(known.By) >= store.MaxGivenBack {
		return true, t.endRun(run.ID, store.Failed, known.inWords())
	}
	return false, t.putShared(store.SharedItem{Kind: givenBackKind, Name: run.ID, Life: givenBackLife}, known, d.now().Add(givenBackLife))
}

// inWords describes which processes gave the run back, and why.
func (g *givenBack) inWords() string {
	var by []string
	for _, one := range g.By {
		by = append(by, one.Process+": "+one.Why)
	}
	return fmt.Sprintf("processes left the run to others %d times, and it made no progress; they are named as in GET /v1/workers: %s", len(by), strings.Join(by, "; "))
}

// noteContinued logs that this process continues another process's run.
func (d *DB) noteContinued(ctx context.Context, run *runRow, former string, finished int) {
	if former == "" {
		return
	}
	d.options.Logger.InfoContext(ctx, "a run is continued", "run", run.ID, "from", former, "worker", d.runner.owner, "rows", finished)
}
