package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// dividedRun creates a run with parts of ten rows.
func (b *bench) dividedRun(parts int) store.Run {
	b.Helper()
	return must(b.CreateRun(b.Context(), store.NewRun{Suite: "s", Rows: 10 * parts, Division: store.Division{Rows: 10, Parts: parts}}))(b)
}

// takeAll takes parts until there are none, and adds one new row of each.
func takeAll(ctx context.Context, s store.ProjectStore, job store.Job) (took []store.Part, err error) {
	for from := 0; ; {
		p, ok, err := job.Take(ctx, from)
		if err != nil || !ok {
			return took, err
		}
		took = append(took, p)
		if _, err := s.AddResults(ctx, job.Run.ID, []store.Result{{Index: p.From, Status: proviso.Pass}}); err != nil {
			return took, err
		}
		if p.To == 0 {
			return took, nil
		}
		from = p.To
	}
}

var partTests = []test{
	{name: "one process", run: func(b *bench) {
		run, whole := b.dividedRun(3), b.newRun()
		b.equal("division", must(b.Run(b.Context(), run.ID))(b).Division, store.Division{Rows: 10, Parts: 3})
		took, wholes := make(chan []store.Part, 9), make(chan bool, 9)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			if job.Run.ID == whole.ID {
				wholes <- job.Take == nil
				return nil
			}
			all, err := takeAll(ctx, b, job)
			took <- all
			return err
		}))
		b.equal("taken", next(b, took), []store.Part{{RowRange: store.RowRange{From: 0, To: 10}}, {RowRange: store.RowRange{From: 10, To: 20}}, {RowRange: store.RowRange{From: 20}}})
		b.equal("a run that is not divided", next(b, wholes), true)
		r := b.status(run.ID, store.Done)
		b.equal("done", []any{r.Totals.Passed, r.Attempts}, []any{3, 1})
		b.status(whole.ID, store.Done)
	}},
	{name: "no room in a part", run: func(b *bench) {
		run := b.dividedRun(3)
		full := true
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			if full { // the first part is taken, and its rows cannot be stored
				full = false
				if _, _, err := job.Take(ctx, 0); err != nil {
					return err
				}
				return proviso.Because(store.ErrNoRoom, proviso.Unavailable, "write: %v", store.ErrNoRoom)
			}
			_, err := takeAll(ctx, b, job)
			return err
		}))
		b.equal("rows of all parts", b.status(run.ID, store.Done).Totals.Passed, 3)
	}},
	{name: "stopped in a part", run: func(b *bench) {
		run := b.dividedRun(3)
		begun, took := make(chan store.Part, 9), make(chan []store.Part, 9)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			for from := range 2 {
				p, _, err := job.Take(ctx, 10*from)
				if err != nil {
					return err
				}
				begun <- p
			}
			return hang(ctx)
		}))
		next(b, begun)
		next(b, begun)
		b.ok(b.Stop(b.Context()))
		r := must(b.Run(b.Context(), run.ID))(b)
		b.equal("stopped", []any{r.Status, r.Attempts, r.Error}, []any{store.Unmet, 0, ""})
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			all, err := takeAll(ctx, b, job)
			took <- all
			return err
		}))
		b.equal("taken", next(b, took), []store.Part{{RowRange: store.RowRange{From: 0, To: 10}, Begun: true}, {RowRange: store.RowRange{From: 10, To: 20}, Begun: true}, {RowRange: store.RowRange{From: 20}}})
		b.status(run.ID, store.Done)
	}},
	{name: "try again", run: func(b *bench) {
		run, hopeless, permanent := b.dividedRun(2), b.dividedRun(2), b.dividedRun(2)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			if _, err := takeAll(ctx, b, job); err != nil {
				return err
			}
			switch {
			case job.Run.ID == permanent.ID:
				return store.Permanent(errors.New("for good"))
			case job.Run.ID == hopeless.ID || job.Attempt == 1:
				return errors.New("for now")
			}
			return nil
		}))
		r := b.status(run.ID, store.Done)
		b.equal("done", []any{r.Attempts, r.Error, r.Totals.Passed}, []any{2, "", 2})
		r = b.status(hopeless.ID, store.Failed)
		b.equal("failed", []any{r.Attempts, r.Error}, []any{store.MaxAttempts, "for now"})
		r = b.status(permanent.ID, store.Failed)
		b.equal("failed", []any{r.Attempts, r.Error}, []any{1, "for good"})
	}},
	{name: "cancelled in a part", run: func(b *bench) {
		run := b.dividedRun(2)
		begun, later := make(chan bool, 9), make(chan bool, 9)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			_, ok, err := job.Take(ctx, 0)
			begun <- ok
			if err != nil {
				return err
			}
			err = hang(ctx)
			_, ok, failed := job.Take(context.WithoutCancel(ctx), 10)
			later <- ok
			return errors.Join(err, failed)
		}))
		b.equal("taken", next(b, begun), true)
		must(b.CancelRun(b.Context(), run.ID))(b)
		b.equal("taken after it was cancelled", next(b, later), false)
		b.ok(b.Stop(b.Context()))
		b.equal("in the end", must(b.Run(b.Context(), run.ID))(b).Status, store.Cancelled)
		b.ok(b.DeleteRun(b.Context(), run.ID))
	}},
	{name: "mistakes", run: func(b *bench) {
		for _, d := range []store.Division{{Rows: 1}, {Parts: 1}, {Rows: -1, Parts: 1}, {Rows: 1, Parts: store.MaxParts + 1}} {
			b.wants(proviso.Invalid, errorOf(b.CreateRun(b.Context(), store.NewRun{Suite: "s", Division: d})))
		}
	}},
	{name: "two processes", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("one process executes the runs of this store")
		}
		// Both have a part at the same time, and no part is taken twice.
		run := b.dividedRun(20)
		other := b.beside(0)
		took := make(chan []store.Part, 2)
		both := make(chan bool, 2)
		work := func(ctx context.Context, job store.Job) error {
			p, ok, err := job.Take(ctx, 0)
			if err != nil || !ok {
				return errors.Join(err, errors.New("took nothing"))
			}
			both <- true
			for len(both) < 2 && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			all, err := takeAll(ctx, b, job)
			took <- append(all, p)
			return err
		}
		b.ok(b.Start(b.Context(), work))
		b.ok(other.Start(b.Context(), work))
		all := append(next(b, took), next(b, took)...)
		slices.SortFunc(all, func(x, y store.Part) int { return x.From - y.From })
		for i, p := range all {
			b.equal(fmt.Sprint("part ", i), []any{p.From, p.Begun}, []any{10 * i, false})
		}
		b.equal("parts", len(all), 20)
		b.status(run.ID, store.Done)
		b.ok(other.Stop(b.Context()))
	}},
	{name: "a silent process", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("one process executes the runs of this store")
		}
		// The first process takes a part and is silent for longer than its lease. The second
		// process takes the part, and the end of the first has no effect.
		run := b.dividedRun(2)
		other := b.beside(time.Hour)
		begun, took, lost := make(chan bool, 9), make(chan []store.Part, 9), make(chan error, 9)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			_, ok, err := job.Take(ctx, 0)
			if err != nil || !ok {
				return err
			}
			begun <- ok
			err = hang(ctx)
			lost <- err
			return err
		}))
		b.equal("taken", next(b, begun), true)
		b.ok(other.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			all, err := takeAll(ctx, b, job)
			took <- all
			return err
		}))
		next(b, lost)
		b.ok(b.Stop(b.Context()))
		r := b.status(run.ID, store.Done)
		b.equal("rows", r.Totals.Passed, 2)
		var all []store.Part
		for len(all) < 2 {
			all = append(all, next(b, took)...)
		}
		slices.SortFunc(all, func(x, y store.Part) int { return x.From - y.From })
		b.equal("taken over", all[0], store.Part{RowRange: store.RowRange{From: 0, To: 10}, Begun: true})
		b.ok(other.Stop(b.Context()))
	}},
}
