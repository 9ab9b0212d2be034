package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso/store"
)

var errFull = errors.New("the disk of the test is full")

// leavingTests test processes that give runs back.
var leavingTests = []test{
	{name: "unfit", run: func(b *bench) {
		run, calls := b.newRun(), make(chan int, 10)
		var full atomic.Bool
		full.Store(true)
		b.Offer(store.Offer{Kind: "worker", Fit: func() string {
			if full.Load() {
				return errFull.Error()
			}
			return ""
		}})
		full.Store(false) // the process finds out with the run
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			calls <- job.Attempt
			if len(calls) == 1 && full.CompareAndSwap(false, true) {
				return fmt.Errorf("wrapped: %w", store.Unfit(errFull))
			}
			return nil
		}))
		b.until("it was called", func() bool { return len(calls) == 1 })
		r := b.status(run.ID, store.Unmet)
		b.equal("given back", []any{r.Attempts, r.Error, r.Waits}, []any{0, "", "waits for a worker: the one that can do this takes no runs: the disk of the test is full"})
		another := b.newRun()
		b.equal("no other is taken", b.waits(another.ID), r.Waits)
		b.equal("told", must(b.Processes(b.Context()))(b)[0].Unfit, errFull.Error())
		b.clock.add(2 * time.Minute) // it checks again, and the disk is full
		b.until("it waits for the same", func() bool { return must(b.Run(b.Context(), another.ID))(b).Waits == r.Waits })
		b.equal("calls", len(calls), 1)
		full.Store(false)
		b.status(run.ID, store.Done)
		b.status(another.ID, store.Done)
		b.until("it is fit", func() bool { return must(b.Processes(b.Context()))(b)[0].Unfit == "" })
	}},
	{name: "unfit beside a fit one", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("this store has one process")
		}
		run, tried := b.dividedRun(2), make(chan string, 10)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			if _, _, err := job.Take(ctx, 0); err != nil {
				return err
			}
			tried <- job.Process
			return store.Unfit(errFull)
		}))
		next(b, tried)
		fit := b.beside(0)
		b.ok(fit.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			_, err := takeAll(ctx, b, job)
			return err
		}))
		r := b.status(run.ID, store.Done)
		b.equal("done", []any{r.Totals.Passed, r.Attempts}, []any{2, 1})
	}},
	{name: "left too often", run: func(b *bench) {
		run := b.newRun()
		var calls atomic.Int32
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			n := calls.Add(1)
			if n == 3 { // what happened before this row does not count
				if _, err := b.AddResults(ctx, job.Run.ID, rowsOf(1, "a")); err != nil {
					return err
				}
			}
			return store.Unable(fmt.Sprintf("X%d", (n+1)/2)) // each reason twice
		}))
		b.until("the process is there", func() bool { return len(must(b.Processes(b.Context()))(b)) == 1 })
		process := must(b.Processes(b.Context()))(b)[0].ID
		var r store.Run
		for n := int32(1); r.Status != store.Failed; n++ {
			b.until(fmt.Sprintf("call %d has ended", n), func() bool {
				begun := calls.Load() == n // before the run is read, which may not have been started yet
				r = must(b.Run(b.Context(), run.ID))(b)
				return begun && (r.Status == store.Unmet || r.Status == store.Failed)
			})
			b.clock.add(2 * time.Minute)
		}
		for _, want := range []string{"5 times", "this process has no X2", "this process has no X6", process} {
			if !strings.Contains(r.Error, want) {
				b.Errorf("%q does not say %q", r.Error, want)
			}
		}
		if strings.Contains(r.Error, "X1") || calls.Load() != 11 {
			b.Errorf("after %d calls: %s", calls.Load(), r.Error)
		}
	}},
	{name: "the last one of a divided run is silent", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("this store has one process")
		}
		run := b.dividedRun(3)
		began, leave, left, took := make(chan string, 9), make(chan bool), false, make(chan []store.Part, 9)
		work := func(ctx context.Context, job store.Job) error {
			if left {
				all, err := takeAll(ctx, b, job)
				took <- all
				return err
			}
			if _, _, err := job.Take(ctx, 0); err != nil {
				return err
			}
			began <- job.Process
			<-leave
			left = true
			return store.Unfit(errFull)
		}
		b.ok(b.Start(b.Context(), work))
		next(b, began)
		other, killed := b.beside(0), make(chan bool)
		defer close(killed)
		b.ok(other.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			if _, _, err := job.Take(ctx, 0); err != nil {
				return err
			}
			began <- job.Process
			<-killed
			return ctx.Err()
		}))
		next(b, began)
		close(leave)
		b.until("it was left", func() bool {
			return slices.ContainsFunc(must(b.Processes(b.Context()))(b), func(p store.Process) bool { return p.Unfit != "" })
		})
		silent, cancel := context.WithTimeout(b.Context(), 50*time.Millisecond)
		defer cancel()
		if other.Stop(silent) == nil { // it renews no leases from now on, and keeps its part
			b.Fatal("the other one has stopped")
		}
		b.clock.add(2 * time.Minute)
		next(b, took)
		b.status(run.ID, store.Done)
	}},
	{name: "rows that do not come", run: func(b *bench) {
		run, began, more := b.newRun(), make(chan bool), make(chan bool)
		b.ok(b.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			began <- true
			<-more
			_, err := b.AddResults(ctx, job.Run.ID, rowsOf(1, "a"))
			began <- true
			<-more
			return err
		}))
		next(b, began)
		still := func() time.Time { return must(b.Waiting(b.Context()))(b)[0].Still }
		b.equal("begun", still(), start)
		b.clock.add(20 * time.Second)
		b.equal("nothing came", still(), start)
		more <- true
		next(b, began)
		b.equal("a row came", still(), start.Add(20*time.Second))
		more <- true
		b.status(run.ID, store.Done)
	}},
	{name: "overdue", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("this store has one process")
		}
		gone, began := b.beside(0), make(chan string, 1)
		b.newRun()
		b.ok(gone.Start(b.Context(), func(ctx context.Context, job store.Job) error {
			began <- job.Process
			return hang(ctx)
		}))
		next(b, began)
		b.equal("alive", must(b.Waiting(b.Context()))(b)[0].Overdue, 0)
		later := b.beside(time.Hour)
		b.equal("silent", must(later.Waiting(b.Context()))(b)[0].Overdue, 1)
	}},
}
