package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// needing creates a run with needs.
func (b *bench) needing(needs ...string) store.Run {
	b.Helper()
	return must(b.CreateRun(b.Context(), store.NewRun{Suite: "s", Needs: needs}))(b)
}

// has returns an offer that meets some needs.
func has(kind string, abilities ...string) store.Offer {
	return store.Offer{Kind: kind, Version: "v1", Known: []string{"A", "B"}, Can: func(need string) bool { return slices.Contains(abilities, need) }}
}

// done executes a run at once and sends its id.
func done(to chan<- string) store.Work {
	return func(_ context.Context, job store.Job) error {
		to <- job.Run.ID
		return nil
	}
}

// waits waits until a run is unmet, and returns what it waits for.
func (b *bench) waits(id string) string { b.Helper(); return b.status(id, store.Unmet).Waits }

// ids lists the runs with a status, newest first.
func (b *bench) ids(status store.RunStatus) (list []string) {
	b.Helper()
	for _, r := range all(b, 10, pagesOf(b.ListRuns, store.RunFilter{Status: []store.RunStatus{status}})) {
		if r.Status != status {
			b.Errorf("the run %s is %s, and was listed as %s", r.ID, r.Status, status)
		}
		list = append(list, r.ID)
	}
	return list
}

var needTests = []test{
	{name: "taken only by who can", run: func(b *bench) {
		calls := make(chan string, 10)
		lacks, both, free, can := b.needing("X", "A"), b.needing("X", "Y", "Z"), b.newRun(), b.needing("A", "A")
		b.equal("needs", must(b.Run(b.Context(), lacks.ID))(b).Needs, []string{"A", "X"})
		b.Offer(has("worker", "A"))
		b.ok(b.Start(b.Context(), done(calls)))
		b.equal("first", next(b, calls), free.ID)
		b.equal("second", next(b, calls), can.ID)
		b.status(can.ID, store.Done)
		b.equal("reason", b.waits(lacks.ID), "waits for a worker with X")
		b.equal("another", b.waits(both.ID), "waits for a worker with X, Y and Z")
		b.equal("waiting", b.ids(store.Unmet), []string{both.ID, lacks.ID})
		b.equal("queued", len(b.ids(store.Queued)), 0)
		b.equal("counts", must(b.Waiting(b.Context()))(b), []store.Waiting{{Project: "default", Queued: 2, Unmet: 2, Oldest: start, Needs: [][]string{{"A", "X"}, {"X", "Y", "Z"}}}})
		b.equal("cancelled", must(b.CancelRun(b.Context(), both.ID))(b).Status, store.Cancelled)
		b.ok(b.Stop(b.Context()))
		b.Offer(has("worker", "A", "X"))
		b.ok(b.Start(b.Context(), done(calls)))
		b.equal("after a worker came that can", next(b, calls), lacks.ID)
		r := b.status(lacks.ID, store.Done)
		b.equal("done", []any{r.Attempts, r.Waits}, []any{1, ""})
	}},
	{name: "behind many that wait", run: func(b *bench) {
		for i := range 230 {
			b.needing(fmt.Sprint("X", i))
		}
		can, calls := b.newRun(), make(chan string, 10)
		b.Offer(has("worker"))
		b.ok(b.Start(b.Context(), done(calls)))
		b.equal("executed", next(b, calls), can.ID)
	}},
	{name: "more than fit", run: func(b *bench) {
		var most []string
		for i := range store.MaxNeeds - 1 {
			most = append(most, fmt.Sprintf("A%02d", i))
		}
		run := b.needing(most...)
		b.Offer(has("worker", most...))
		calls := make(chan int, 10)
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			calls <- job.Attempt
			return store.Unable("X", "Y")
		}))
		b.equal("attempt", next(b, calls), 1)
		b.equal("reason", b.waits(run.ID), "waits for a worker with X")
		b.equal("needs", must(b.Run(b.Context(), run.ID))(b).Needs, append(most, "X"))
	}},
	{name: "found out late", run: func(b *bench) {
		run, calls := b.newRun(), make(chan int, 10)
		b.Offer(has("worker", "X"))
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			calls <- job.Attempt
			if len(job.Run.Needs) == 0 {
				return fmt.Errorf("wrapped: %w", store.Unable("X"))
			}
			return nil
		}))
		b.equal("attempt", next(b, calls), 1)
		b.equal("reason", b.waits(run.ID), "waits for a worker with X")
		r := must(b.Run(b.Context(), run.ID))(b)
		b.equal("not counted", []any{r.Attempts, r.Error, r.Needs}, []any{0, "", []string{"X"}})
		free := b.newRun()
		b.equal("others go on", next(b, calls), 1)
		b.equal("the other needs the same", b.waits(free.ID), "waits for a worker with X")
		b.clock.add(2 * time.Minute) // the process tries again
		next(b, calls)
		next(b, calls)
		b.status(run.ID, store.Done)
		b.status(free.ID, store.Done)
	}},
	{name: "fixed by a plan", run: func(b *bench) {
		r := b.needing("A", "a colour")
		plan := func(need string, rows int) store.Run {
			return must(b.PlanRun(b.Context(), r.ID, store.RunPlan{Rows: rows, Fix: store.Fix{Need: need, Of: "the colour ", Place: "a colour"}}))(b)
		}
		open := plan("", 1)
		b.equal("nothing is fixed", []any{open.Needs, open.Rows}, []any{[]string{"A", "a colour"}, 1})
		red := plan("the colour red", 2)
		b.equal("the first", []any{red.Needs, red.Rows}, []any{[]string{"A", "the colour red"}, 2})
		blue := plan("the colour blue", 3)
		b.equal("another changes nothing", []any{blue.Needs, blue.Rows}, []any{[]string{"A", "the colour red"}, 2})
		b.equal("the same again", plan("the colour red", 4).Rows, 4)
		b.equal("stored", must(b.Run(b.Context(), r.ID))(b).Needs, []string{"A", "the colour red"})
		b.wants(proviso.Invalid, errorOf(b.PlanRun(b.Context(), r.ID, store.RunPlan{Rows: 9, Fix: store.Fix{Need: "the colour \x1b", Of: "the colour ", Place: "a colour"}})))
		b.equal("nothing of that plan is kept", must(b.Run(b.Context(), r.ID))(b).Rows, 4)
		var many []string
		for i := range store.MaxNeeds {
			many = append(many, fmt.Sprintf("X%02d", i))
		}
		r = b.needing(many...)
		b.equal("beside as many as a run can have", plan("the colour red", 1).Needs, append(many, "the colour red"))
		b.equal("which stays so", plan("the colour blue", 2).Needs, append(many, "the colour red"))
		r = b.needing("A")
		b.equal("what was not known to be open", plan("the colour red", 1).Needs, []string{"A", "the colour red"})
	}},
	{name: "only for some", run: func(b *bench) {
		calls := make(chan string, 10)
		free, other, own := b.newRun(), b.needing("A"), b.needing("A", "X")
		offer := has("worker", "A", "X")
		offer.Only = "X"
		b.Offer(offer)
		b.ok(b.Start(b.Context(), done(calls)))
		b.equal("executed", next(b, calls), own.ID)
		b.equal("others", []string{b.waits(free.ID), b.waits(other.ID)}, []string{"waits for a worker that asks models; all that are running use X", "waits for a worker that asks models; all that are running use X"})
		p := must(b.Processes(b.Context()))(b)[0]
		b.equal("told", []any{p.Only, p.Able(nil), p.Able([]string{"A"}), p.Able([]string{"A", "X"})}, []any{"X", false, false, true})
		b.equal("lacks more", b.waits(b.needing("B", "X").ID), "waits for a worker with B")
		b.equal("nothing else", len(calls), 0)
	}},
	{name: "processes", run: func(b *bench) {
		b.equal("none", len(must(b.Processes(b.Context()))(b)), 0)
		b.Offer(has("server", "B", "X"))
		b.ok(b.Start(b.Context(), func(ctx context.Context, _ store.Job) error { return hang(ctx) }))
		list := func() (text []string) {
			for _, p := range must(b.Processes(b.Context()))(b) {
				text = append(text, fmt.Sprint(p.Kind, p.Version, p.Jobs, p.Can, p.All, p.Started.Equal(start), p.ID != ""))
			}
			return text
		}
		b.until("the process is there", func() bool { return len(list()) == 1 })
		b.equal("process", list(), []string{"serverv11 [B] false true true"})
		b.newRun()
		b.needing("X", "Y")
		b.until("it tells what it can do of what is needed", func() bool { return list()[0] == "serverv11 [B X] false true true" })
		b.ok(b.Stop(b.Context()))
		b.equal("after the stop", len(must(b.Processes(b.Context()))(b)), 0)
	}},
	{name: "several processes", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("this store has one process")
		}
		first, second, calls := b.beside(0), b.beside(0), make(chan string, 10)
		work := func(name string) store.Work {
			return func(ctx context.Context, job store.Job) error {
				calls <- name + " " + job.Run.ID
				if job.Take != nil {
					_, err := takeAll(ctx, b, job)
					return err
				}
				return nil
			}
		}
		first.Offer(has("worker", "A"))
		second.Offer(has("worker", "B"))
		b.ok(first.Start(b.Context(), work("first")))
		b.ok(second.Start(b.Context(), work("second")))
		b.until("both are there", func() bool { return len(must(b.Processes(b.Context()))(b)) == 2 })
		x, y := b.needing("B"), b.needing("A")
		got := []string{next(b, calls), next(b, calls)}
		slices.Sort(got)
		b.equal("executed", got, []string{"first " + y.ID, "second " + x.ID})
		b.equal("nobody has both", b.waits(b.needing("A", "B").ID), "waits for one worker with A and B: none has all of it")
		divided := must(b.CreateRun(b.Context(), store.NewRun{Suite: "s", Rows: 30, Division: store.Division{Rows: 10, Parts: 3}, Needs: []string{"A"}}))(b)
		b.status(divided.ID, store.Done)
		b.equal("parts", next(b, calls), "first "+divided.ID)
		b.equal("others", len(calls), 0)
		b.ok(first.Stop(b.Context()))
		b.equal("who could has stopped", b.waits(b.needing("A").ID), "waits for a worker with A")
		b.ok(second.Stop(b.Context()))
		b.equal("nobody", b.waits(b.needing("B").ID), "waits for a worker: none is running")
	}},
	{name: "a process that is silent", run: func(b *bench) {
		if !b.target.Shared {
			b.Skip("this store has one process")
		}
		gone, calls := b.beside(0), make(chan string, 10)
		gone.Offer(has("worker", "A"))
		b.ok(gone.Start(b.Context(), done(calls)))
		b.until("it is there", func() bool { return len(must(b.Processes(b.Context()))(b)) == 1 })
		later := b.beside(time.Hour) // it reads after the lease of the first
		b.equal("after its lease", len(must(later.Processes(b.Context()))(b)), 0)
	}},
	{name: "checks", run: func(b *bench) {
		for what, needs := range map[string][]string{
			"empty": {""}, "control character": {"a\x1bb"}, "long": {strings.Repeat("x", store.MaxNeedText+1)}, "no UTF-8": {"\xff"}, "many": make([]string, store.MaxNeeds+1),
		} {
			if _, err := b.CreateRun(b.Context(), store.NewRun{Suite: "s", Needs: needs}); err == nil {
				b.Errorf("%s: stored", what)
			}
		}
		b.wants(proviso.Invalid, errorOf(b.CreateRun(b.Context(), store.NewRun{Suite: "s", Needs: []string{"a\nb"}})))
	}},
}
