package run

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
)

// job is one row to run.
type job struct {
	c   *lazyCase
	col *column
}

// lazyCase is a case that the first worker that needs it prepares, unless the plan kept it.
type lazyCase struct {
	once sync.Once
	c    *proviso.Case
	pc   *prepared
}

// rows runs the rows of cases that must run serially, then the others concurrently.
func (e *execution) rows(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	most := e.p.o.Concurrency
	if e.p.inOrder || e.p.o.Delay > 0 || e.p.o.Replay != nil {
		most = 1
	}
	if e.p.serial {
		e.pass(ctx, stop, 1, func(c *proviso.Case) bool { return c.Options.RunSerially })
	}
	e.pass(ctx, stop, most, func(c *proviso.Case) bool { return !c.Options.RunSerially })
	if e.failure() == nil {
		if err := e.flushGroups(ctx); err != nil {
			e.fail(err)
		}
	}
	return e.failure()
}

// pass iterates over the cases and passes the selected ones to the workers.
func (e *execution) pass(ctx context.Context, stop func(), most int, selected func(*proviso.Case) bool) {
	f := &feed{batches: make(chan []job, most), size: 1, drain: e.p.o.Drain}
	if most == 1 || !e.p.waits {
		f.size = max(1, min(batchSize, e.p.Rows/(share*most)))
	}
	var workers sync.WaitGroup
	for range min(most, max(1, e.p.Rows)) {
		workers.Go(func() { e.work(ctx, stop, f.batches) })
	}
	e.feed(ctx, f, selected)
	f.flush(ctx)
	close(f.batches)
	workers.Wait()
}

// batchSize is the number of rows handed to a worker at once if rows only compute: handing over
// a row takes as long as deciding one. Rows that wait for an answer are handed over singly, so
// that they wait concurrently.
const batchSize = 16

// share is the minimum number of batches per worker, so that consecutive slow rows do not leave
// the other workers idle.
const share = 4

// feed passes rows to the workers.
type feed struct {
	batches chan []job
	next    []job
	size    int
	drain   <-chan struct{}
}

// add queues a row; false if the run has ended.
func (f *feed) add(ctx context.Context, j job) bool {
	f.next = append(f.next, j)
	return len(f.next) < f.size || f.flush(ctx)
}

// flush passes the collected rows to a worker.
func (f *feed) flush(ctx context.Context) bool {
	if len(f.next) == 0 {
		return true
	}
	select {
	case f.batches <- f.next:
		f.next = make([]job, 0, f.size)
		return true
	case <-ctx.Done():
		return false
	case <-f.drain:
		return false
	}
}

func (e *execution) feed(ctx context.Context, f *feed, selected func(*proviso.Case) bool) {
	for lazy, err := range e.lazyCases() {
		if e.over(ctx) {
			return
		}
		if err != nil {
			if e.known(err) {
				continue
			}
			e.fail(err)
			return
		}
		mine, err := e.mine(ctx, lazy.c.Index*len(e.p.columns))
		if err != nil {
			e.fail(err)
			return
		}
		if e.shares.none {
			return
		}
		if mine && selected(lazy.c) && !e.feedCase(ctx, f, lazy) {
			return
		}
	}
}

// over reports whether no further row starts.
func (e *execution) over(ctx context.Context) bool {
	select {
	case <-e.p.o.Drain:
		return true
	default:
		return ctx.Err() != nil
	}
}

// known reports whether a mistake was already reported with the plan and does not keep the
// suite from running. Only a file that has changed since then has new mistakes.
func (e *execution) known(err error) bool {
	var mistake *proviso.Error
	return errors.As(err, &mistake) && (mistake.Warning || e.p.o.SkipUnsupported)
}

// feedCase passes the rows of a case to the workers; false if the run has ended.
func (e *execution) feedCase(ctx context.Context, f *feed, lazy *lazyCase) bool {
	c := lazy.c
	for i := range e.p.columns {
		col := &e.p.columns[i]
		if !e.p.selects(c, col) || e.done[c.Index*len(e.p.columns)+col.index] {
			continue
		}
		if !f.add(ctx, job{lazy, col}) {
			return false
		}
	}
	return true
}

// work runs rows until there are no more or the run cannot be stored.
func (e *execution) work(ctx context.Context, stop func(), batches <-chan []job) {
	buf := make([]byte, 0, 16<<10)
	for batch := range batches {
		for _, j := range batch {
			if !e.over(ctx) {
				buf = e.do(ctx, stop, j, buf)
			}
		}
	}
}

// do runs one row and stores it. It uses buf and returns it for the next row.
func (e *execution) do(ctx context.Context, stop func(), j job, buf []byte) []byte {
	j.c.once.Do(func() {
		if j.c.pc == nil {
			j.c.pc = e.p.prepare(ctx, j.c.c)
		}
	})
	res := e.row(ctx, j)
	if ctx.Err() != nil {
		return buf // interrupted: the row runs again later
	}
	if e.unrecorded() {
		stop()
		return buf // its requests may not be recorded: it runs again later
	}
	var err error
	if buf, err = e.finish(ctx, j, res, buf); err != nil {
		stop()
	}
	if delay := e.delay(j.col, res); delay > 0 {
		_ = transport.Wait(ctx, delay) // the caller checks ctx
	}
	return buf
}

// unrecorded reports whether requests can no longer be recorded; that ends the run.
func (e *execution) unrecorded() bool {
	if e.p.o.Unrecorded == nil {
		return false
	}
	err := e.p.o.Unrecorded()
	if err != nil {
		e.fail(err)
	}
	return err != nil
}

// waits reports whether deciding a case may require waiting for something
// outside this process.
func waits(pc *prepared) bool {
	return pc.provider != nil && !provider.Computes(pc.provider) || anyWaits(pc.Assert) || anyWaits(pc.Set)
}

func anyWaits(list []*proviso.Assertion) bool {
	for _, a := range list {
		if asks(a) || anyWaits(a.Assert) {
			return true
		}
	}
	return false
}

// asks reports whether an assertion itself needs a model, an endpoint or spans. An assertion of
// unknown type may.
func asks(a *proviso.Assertion) bool {
	const asking = check.NeedsJudge | check.NeedsTrace | check.NeedsNetwork | check.NeedsEmbedder | check.NeedsClassifier | check.NeedsModerator
	kind, known := check.Lookup(strings.TrimPrefix(a.Type, "not-"))
	return !known || kind.Needs&asking != 0
}

// paid reports whether running a row again would cost more than computing time: it sent
// requests to a model or an endpoint, or ran a command, for its prompt, its answer or a
// verdict. Answers from the cache, a recording or the suite cost nothing.
func (p *Plan) paid(j job, res *proviso.Result) bool {
	if p.o.Replay != nil {
		return false
	}
	target := j.col.provider
	if j.c.pc.provider != nil {
		target = j.c.pc.provider
	}
	answered := !j.c.pc.HasOutput && target != nil && !provider.Computes(target)
	return answered && !res.Output.Cached || j.col.code != nil || anyPaid(res.Verdicts) || anyPaid(res.SetVerdict)
}

func anyPaid(list []proviso.Verdict) bool {
	for i := range list {
		v := &list[i]
		if v.Assertion != nil && !v.Cached && asks(v.Assertion) || anyPaid(v.Components) {
			return true
		}
	}
	return false
}
