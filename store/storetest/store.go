package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

var storeTests = []test{
	{name: "reopen", reopens: true, run: func(b *bench) {
		k, secret := b.key()
		doc := b.put(suiteOf("s", "one"), true)
		run := b.newRun()
		must(b.AddResults(b.Context(), run.ID, rowsOf(3, "a")))(b)
		e := must(b.AddEvaluation(b.Context(), store.NewEvaluation{CreatedBy: k.ID, Cost: 1}))(b)
		c := claimOf("one", "request")
		b.claimed(c)
		b.ok(b.Reply(b.Context(), b.replyTo(c, "done")))
		b.reopen()
		b.equal("key", must(b.Authenticate(b.Context(), secret))(b).Spent, 1.0)
		b.equal("document", must(b.Document(b.Context(), store.SuiteKind, "s", ""))(b), doc)
		b.equal("rows", must(b.FinishedRows(b.Context(), run.ID))(b), []int{0, 1, 2})
		b.equal("evaluation", must(b.Evaluation(b.Context(), e.ID))(b), e)
		b.answered(c, "done")
		calls := make(chan string, 10)
		b.ok(b.Start(b.Context(), func(_ context.Context, job store.Job) error {
			calls <- job.Run.ID
			return nil
		}))
		b.equal("the run that waited", next(b, calls), run.ID)
		b.status(run.ID, store.Done)
	}},
	{name: "prune", run: func(b *bench) {
		old, waiting := b.newRun(), b.newRun()
		must(b.AddResults(b.Context(), old.ID, rowsOf(5, "a")))(b)
		must(b.CancelRun(b.Context(), old.ID))(b)
		for range 600 {
			must(b.AddEvaluation(b.Context(), store.NewEvaluation{}))(b)
		}
		c := claimOf("one", "request")
		b.claimed(c)
		b.clock.add(time.Hour)
		young := must(b.CancelRun(b.Context(), b.newRun().ID))(b)
		must(b.AddEvaluation(b.Context(), store.NewEvaluation{ID: "eval_young"}))(b)

		b.equal("nothing but what expired", must(b.Prune(b.Context(), store.Retention{}))(b), store.Pruned{Replies: 1})
		r := store.Retention{Runs: 30 * time.Minute, Evaluations: 30 * time.Minute}
		b.equal("pruned", must(b.Prune(b.Context(), r))(b), store.Pruned{Runs: 1, Evaluations: 600})
		b.equal("pruned again", must(b.Prune(b.Context(), r))(b), store.Pruned{})
		b.wants(proviso.NotFound, errorOf(b.Run(b.Context(), old.ID)))
		for _, id := range []string{waiting.ID, young.ID} {
			must(b.Run(b.Context(), id))(b)
		}
		must(b.Evaluation(b.Context(), "eval_young"))(b)
		r.Now = b.clock.Now().Add(time.Hour)
		b.equal("pruned later", must(b.Prune(b.Context(), r))(b), store.Pruned{Runs: 1, Evaluations: 1})
	}},
	{name: "contexts", run: func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		for what, err := range map[string]error{
			"read":  errorOf(b.Run(ctx, "run_1")),
			"list":  errorOf(b.ListRuns(ctx, store.RunFilter{}, store.Page{})),
			"write": errorOf(b.CreateRun(ctx, store.NewRun{ID: "run_1"})),
			"claim": errorOf(b.Claim(ctx, claimOf("one", "x"))),
		} {
			if !errors.Is(err, context.Canceled) {
				b.Errorf("%s: %v", what, err)
			}
		}
		b.wants(proviso.NotFound, errorOf(b.Run(b.Context(), "run_1")))
	}},
	{name: "close", run: func(b *bench) {
		b.ok(b.Ping(b.Context()))
		run := b.newRun()
		b.ok(b.Start(b.Context(), func(ctx context.Context, _ store.Job) error { return hang(ctx) }))
		b.status(run.ID, store.Running)
		b.ok(b.Close())
		b.ok(b.Close())
		for what, err := range map[string]error{
			"ping":  b.Ping(b.Context()),
			"read":  errorOf(b.Run(b.Context(), run.ID)),
			"list":  errorOf(b.ListRuns(b.Context(), store.RunFilter{}, store.Page{})),
			"write": errorOf(b.CreateRun(b.Context(), store.NewRun{})),
			"start": b.Start(b.Context(), nil),
		} {
			var e *proviso.Error
			if !errors.As(err, &e) || e.Code != proviso.Unavailable {
				b.Errorf("%s: %v", what, err)
			}
		}
	}},
}

// errorOf returns the error of a call, which is its last result.
func errorOf(results ...any) error {
	err, _ := results[len(results)-1].(error)
	return err
}
