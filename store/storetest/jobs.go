package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// status waits for a run to have a status, and returns it.
func (b *bench) status(id string, want store.RunStatus) store.Run {
	b.Helper()
	var r store.Run
	b.until(fmt.Sprintf("the run is %s", want), func() bool {
		r = must(b.Run(b.Context(), id))(b)
		return r.Status == want
	})
	return r
}

// next receives what another goroutine sends.
func next[T any](b *bench, from <-chan T) T {
	b.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		b.Fatal("waited in vain for the store to call")
	}
	panic("not reached")
}

// hang waits for the end of a context.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

var jobTests = []test{
	{name: "waiting", run: func(b *bench) {
		b.equal("nothing", must(b.Waiting(b.Context()))(b), []store.Waiting{})
		first := b.newRun()
		b.clock.add(time.Minute)
		b.newRun()
		must(b.In("team").CreateRun(b.Context(), store.NewRun{Suite: "s"}))(b)
		later := start.Add(time.Minute)
		b.equal("queued", must(b.Waiting(b.Context()))(b), []store.Waiting{{Project: "default", Queued: 2, Unmet: 2, Oldest: start, Needs: [][]string{nil}}, {Project: "team", Queued: 1, Unmet: 1, Oldest: later, Needs: [][]string{nil}}})
		calls := make(chan store.Job, 3)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			calls <- job
			return hang(ctx)
		}))
		b.equal("executed", next(b, calls).Run.ID, first.ID)
		b.equal("one is running", must(b.Waiting(b.Context()))(b), []store.Waiting{{Project: "default", Queued: 1, Oldest: later, Running: 1, Still: later, Needs: [][]string{nil}}, {Project: "team", Queued: 1, Oldest: later, Needs: [][]string{nil}}})
		b.ok(b.Stop(b.Context()))
	}},
	{name: "execute", run: func(b *bench) {
		first, second := b.newRun(), b.newRun()
		calls := make(chan store.Job, 10)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			calls <- job
			_, err := b.AddResults(ctx, job.Run.ID, rowsOf(2, "a"))
			return err
		}))
		for i, want := range []store.Run{first, second, b.newRun()} {
			job := next(b, calls)
			b.equal(fmt.Sprint("call ", i), []any{job.Run.ID, job.Attempt, job.Run.Status, job.Run.Started}, []any{want.ID, 1, store.Running, start})
			r := b.status(want.ID, store.Done)
			b.equal("done", []any{r.Totals.Passed, r.Attempts, r.Error, r.Ended}, []any{2, 1, "", start})
		}
		b.wants(proviso.Conflict, errorOf(b.AddResults(b.Context(), first.ID, rowsOf(3, "a"))))
		b.wants(proviso.Conflict, errorOf(b.CancelRun(b.Context(), first.ID)))
		b.wants(proviso.Conflict, b.Start(b.Context(), nil))
		b.ok(b.Stop(b.Context()))
		b.equal("further calls", len(calls), 0)
	}},
	{name: "try again", run: func(b *bench) {
		run := b.newRun()
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			if job.Attempt == 1 {
				return errors.New("first")
			}
			if job.Attempt == 2 {
				panic("second")
			}
			if !strings.Contains(job.Run.Error, "second") {
				return store.Permanent(fmt.Errorf("the run says %q", job.Run.Error))
			}
			return nil
		}))
		r := b.status(run.ID, store.Done)
		b.equal("done", []any{r.Attempts, r.Error}, []any{3, ""})
	}},
	{name: "give up", run: func(b *bench) {
		tries, permanent := b.newRun(), b.newRun()
		var calls atomic.Int32
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			if job.Run.ID == permanent.ID {
				return fmt.Errorf("wrapped: %w", store.Permanent(errors.New("for good")))
			}
			calls.Add(1)
			return errors.New(strings.Repeat("long ", 10_000))
		}))
		r := b.status(permanent.ID, store.Failed)
		b.equal("for good", []any{r.Error, r.Attempts, r.Ended}, []any{"wrapped: for good", 1, start})
		r = b.status(tries.ID, store.Failed)
		b.equal("calls", calls.Load(), store.MaxAttempts)
		if r.Attempts != store.MaxAttempts || !strings.HasPrefix(r.Error, "long") || len(r.Error) > 10_000 {
			b.Errorf("%d attempts, an error of %d bytes", r.Attempts, len(r.Error))
		}
	}},
	{name: "cancel", run: func(b *bench) {
		running, queued, last := b.newRun(), b.newRun(), b.newRun()
		calls, ended := make(chan string, 10), make(chan error, 10)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			calls <- job.Run.ID
			if job.Run.ID != running.ID {
				return nil
			}
			err := hang(ctx)
			_, adding := b.AddResults(context.WithoutCancel(ctx), job.Run.ID, rowsOf(1, "a"))
			ended <- adding
			return err
		}))
		b.equal("first call", next(b, calls), running.ID)
		b.equal("cancelled", must(b.CancelRun(b.Context(), queued.ID))(b).Status, store.Cancelled)
		b.equal("cancelled", must(b.CancelRun(b.Context(), running.ID))(b).Status, store.Cancelled)
		b.wants(proviso.Conflict, errorOf(b.CancelRun(b.Context(), running.ID)))
		b.ok(next(b, ended))
		b.equal("next call", next(b, calls), last.ID)
		b.status(last.ID, store.Done)
		b.ok(b.Stop(b.Context()))
		r := must(b.Run(b.Context(), running.ID))(b)
		b.equal("in the end", []any{r.Status, r.Error, r.Totals.Passed}, []any{store.Cancelled, "", 1})
		b.equal("further calls", len(calls), 0)
	}},
	{name: "stop and start", run: func(b *bench) {
		run := b.newRun()
		begun := make(chan store.Job, 10)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			begun <- job
			if _, err := b.AddResults(ctx, job.Run.ID, rowsOf(3, "a")); err != nil {
				return err
			}
			return hang(ctx)
		}))
		next(b, begun)
		b.until("rows are kept", func() bool { return len(must(b.FinishedRows(b.Context(), run.ID))(b)) == 3 })
		b.ok(b.Stop(b.Context()))
		b.ok(b.Stop(b.Context()))
		r := must(b.Run(b.Context(), run.ID))(b)
		b.equal("stopped", []any{r.Status, r.Attempts, r.Error, r.Ended.IsZero()}, []any{store.Unmet, 0, "", true})

		var found []int
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			begun <- job
			var err error
			found, err = b.FinishedRows(ctx, job.Run.ID)
			return err
		}))
		b.equal("attempt", next(b, begun).Attempt, 1)
		b.status(run.ID, store.Done)
		b.ok(b.Stop(b.Context()))
		b.equal("found", found, []int{0, 1, 2})
	}},
	{name: "drain", run: func(b *bench) {
		run := b.newRun()
		begun := make(chan store.Job, 10)
		work := func(ctx context.Context, job store.Job) error {
			begun <- job
			select {
			case <-job.Drain:
			case <-ctx.Done():
				return ctx.Err()
			}
			if _, err := b.AddResults(ctx, job.Run.ID, rowsOf(2, "a")); err != nil {
				return err
			}
			return store.ErrDrained
		}
		b.ok(b.Start(b.Context(), work))
		next(b, begun)
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		b.ok(b.Stop(ctx)) // the row in flight is stored
		r := must(b.Run(b.Context(), run.ID))(b)
		b.equal("drained", []any{r.Attempts, r.Error, r.Totals.Passed, r.Ended.IsZero()}, []any{0, "", 2, true})

		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error { begun <- job; return hang(ctx) }))
		next(b, begun)
		short, cancel := context.WithTimeout(b.Context(), 500*time.Millisecond)
		defer cancel()
		b.ok(b.Stop(short)) // work that does not end is cancelled
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error { begun <- job; return nil }))
		b.equal("attempt", next(b, begun).Attempt, 1)
		b.status(run.ID, store.Done)
		b.ok(b.Stop(b.Context()))
	}},
	{name: "at a time", run: func(b *bench) {
		if !b.target.Forgets {
			b.ok(b.Close())
			b.open(3)
		}
		const runs = 8
		var now, most atomic.Int32
		gate := make(chan struct{})
		for range runs {
			b.newRun()
		}
		b.ok(b.Start(b.Context(), func(ctx context.Context, _ store.Job) error {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			select {
			case gate <- struct{}{}:
			case <-ctx.Done():
			}
			return nil
		}))
		limit := int32(3)
		if b.target.Forgets {
			limit = 1
		}
		b.until("all workers are busy", func() bool { return now.Load() == limit })
		for range runs {
			next(b, gate)
		}
		b.ok(b.Stop(b.Context()))
		b.equal("at a time", most.Load(), limit)
	}},
	{name: "claims of before", run: func(b *bench) {
		c, answered := claimOf("one", "request"), claimOf("two", "request")
		b.claimed(c)
		b.claimed(answered)
		b.ok(b.Reply(b.Context(), b.replyTo(answered, "done")))
		b.ok(b.Start(b.Context(), func(context.Context, store.Job) error { return nil }))
		if b.target.Shared {
			b.clock.add(store.ClaimLease)
		}
		b.claimed(c)
		b.answered(answered, "done")
	}},
	{name: "many", run: func(b *bench) {
		const runs = 60
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			_, err := b.AddResults(ctx, job.Run.ID, rowsOf(3, "a"))
			return err
		}))
		for range runs {
			b.newRun()
		}
		b.until("all are done", func() bool {
			l := must(b.ListRuns(b.Context(), store.RunFilter{Status: []store.RunStatus{store.Done}}, store.Page{Limit: runs + 1}))(b)
			return len(l.Items) == runs
		})
		for _, r := range all(b, 100, pagesOf(b.ListRuns, store.RunFilter{})) {
			b.equal("run", []any{r.Attempts, r.Totals.Passed}, []any{1, 3})
		}
	}},
}
