package run

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
)

// job is one row to do.
type job struct {
	c   *lazyCase
	col *column
}

// lazyCase is prepared by the first worker that needs it.
type lazyCase struct {
	once sync.Once
	c    *proviso.Case
	pc   *prepared
}

// rows does every row: first, one at a time, those of cases that ask for it, then
// the others, several at a time.
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

// pass goes over the cases and feeds those that are selected to the workers.
func (e *execution) pass(ctx context.Context, stop func(), most int, selected func(*proviso.Case) bool) {
	f := &feed{batches: make(chan []job, most), size: 1}
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

// batchSize is how many rows are handed to a worker at once where rows only
// compute: handing over a row takes as long as deciding one. Rows that wait for
// an answer are handed over one by one, so that they wait side by side.
const batchSize = 16

// share is how many batches a worker gets at least, so that slow rows that stand
// together do not leave the other workers without any.
const share = 4

// feed hands rows to the workers.
type feed struct {
	batches chan []job
	next    []job
	size    int
}

// add hands a row over; false if the run has ended.
func (f *feed) add(ctx context.Context, j job) bool {
	f.next = append(f.next, j)
	return len(f.next) < f.size || f.flush(ctx)
}

// flush hands over what has been collected.
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
	}
}

func (e *execution) feed(ctx context.Context, f *feed, selected func(*proviso.Case) bool) {
	for c, err := range e.p.Suite.Cases() {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if e.known(err) {
				continue
			}
			e.fail(err)
			return
		}
		if selected(c) && !e.feedCase(ctx, f, c) {
			return
		}
	}
}

// known reports whether a mistake was reported when the plan was made and does
// not keep the suite from running. Only a file that changed since then brings new
// ones.
func (e *execution) known(err error) bool {
	var mistake *proviso.Error
	return errors.As(err, &mistake) && (mistake.Warning || e.p.o.SkipUnsupported)
}

// feedCase feeds the rows of a case; false if the run has ended.
func (e *execution) feedCase(ctx context.Context, f *feed, c *proviso.Case) bool {
	lazy := &lazyCase{c: c}
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

// work does rows until there are none left or the run cannot be kept.
func (e *execution) work(ctx context.Context, stop func(), batches <-chan []job) {
	buf := make([]byte, 0, 16<<10)
	for batch := range batches {
		for _, j := range batch {
			if ctx.Err() == nil {
				buf = e.do(ctx, stop, j, buf)
			}
		}
	}
}

// do does one row and keeps it. It returns buf, which it uses, for the next.
func (e *execution) do(ctx context.Context, stop func(), j job, buf []byte) []byte {
	j.c.once.Do(func() { j.c.pc = e.p.prepare(j.c.c) })
	res := e.row(ctx, j)
	if ctx.Err() != nil {
		return buf // cut off in the middle: the row will be asked again
	}
	var err error
	if buf, err = e.finish(ctx, j.c.pc, res, buf); err != nil {
		stop()
	}
	if delay := e.delay(j.col, res); delay > 0 {
		sleep(ctx, delay)
	}
	return buf
}

// waits reports whether deciding a case may take waiting, rather than computing.
func waits(pc *prepared) bool {
	return pc.provider != nil && !provider.Computes(pc.provider) || anyWaits(pc.Assert) || anyWaits(pc.Set)
}

func anyWaits(list []*proviso.Assertion) bool {
	const waiting = check.NeedsJudge | check.NeedsTrace | check.NeedsNetwork | check.NeedsEmbedder | check.NeedsClassifier | check.NeedsModerator
	for _, a := range list {
		kind, known := check.Lookup(strings.TrimPrefix(a.Type, "not-"))
		if !known || kind.Needs&waiting != 0 || anyWaits(a.Assert) {
			return true
		}
	}
	return false
}
