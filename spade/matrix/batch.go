package matrix

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// Trials are decided in batches, and within a batch one candidate after another. Each
// candidate's code has its own process, which then decides many outputs in a row. Deciding
// output by output would keep every process alive, or restart it for every output if there are
// more candidates than processes.
const (
	firstBatch    = 64 // trials
	maxBatch      = 1024
	maxBatchBytes = 16 << 20 // bytes of outputs, prompts and variables, not counting a batch's last trial

	// A batch is larger than the previous one if that took less than quickBatch, and smaller
	// if it took more than slowBatch, so that progress is shown and saved.
	quickBatch = 2 * time.Second
	slowBatch  = 10 * time.Second

	// worthHelp is how much work a candidate must have left for a second lane to help, because
	// starting a process for that lane takes some milliseconds.
	worthHelp = 100 * time.Millisecond
	lookAgain = 20 * time.Millisecond // poll interval of an idle lane

	maxSeries = 64 // rows that a lane takes at a time
)

// batches decides all trials, with lanes cells in flight.
func (p *trying) batches(ctx context.Context, trials iter.Seq2[trial.Trial, error], lanes int) error {
	size, b := firstBatch, &batch{}
	flush := func() {
		took := p.decide(ctx, b, lanes)
		switch {
		case took < quickBatch:
			size = min(2*size, maxBatch)
		case took > slowBatch:
			size = max(size/2, 2*lanes)
		}
		b = &batch{backward: !b.backward}
	}
	for t, err := range trials {
		if err != nil {
			flush()
			return err
		}
		cells := slices.Repeat([]Cell{Undecided}, len(p.alone))
		p.g.Entries, p.g.Cells = append(p.g.Entries, t.Entry()), append(p.g.Cells, cells)
		if ctx.Err() != nil {
			continue // the rest is undecided
		}
		b.add(t, cells)
		if len(b.rows) >= size || b.bytes >= maxBatchBytes {
			flush()
		}
	}
	flush()
	return nil
}

// batch is a group of trials that are decided together.
type batch struct {
	rows     []batchRow
	columns  []*batchColumn
	bytes    int
	backward bool // tries the columns last to first, because the processes of the last ones still exist
}

// batchRow is a trial with its results so far.
type batchRow struct {
	trial trial.Trial
	row   *check.Row
	mu    sync.Mutex // held while an assertion uses row, which assertions share
	cells []Cell
	pack  *cellPack
	said  []said
}

func (b *batch) add(t trial.Trial, cells []Cell) {
	row := &check.Row{Output: &proviso.Output{Value: t.Output}, Prompt: t.Prompt, HasPrompt: t.HasPrompt, Vars: t.Vars, Case: t.Case}
	list := make([]said, len(cells))
	for j := range list {
		list[j].cell = Undecided
	}
	b.rows = append(b.rows, batchRow{trial: t, row: row, cells: cells, said: list})
	b.bytes += len(t.Prompt) + len(t.Text()) + len(value.Stringify(t.Vars))
}

// batchColumn is a candidate that needs no model, with its progress in a batch.
type batchColumn struct {
	index   int          // index of the candidate
	next    atomic.Int64 // next row
	started atomic.Int64 // start time, in nanoseconds since the epoch
}

// left estimates how long one lane needs for the rest of the column. It is 0 for a column that
// is not started or is finished.
func (c *batchColumn) left(rows int) time.Duration {
	done, started := c.next.Load(), c.started.Load()
	if started == 0 || done >= int64(rows) {
		return 0
	}
	return time.Since(time.Unix(0, started)) / time.Duration(max(done, 1)) * time.Duration(int64(rows)-done)
}

// several returns how many rows a lane takes at a time: about worthHelp of work, so that lanes
// can share the last rows.
func (c *batchColumn) several() int64 {
	done := c.next.Load()
	if done == 0 {
		return 1
	}
	each := time.Since(time.Unix(0, c.started.Load())) / time.Duration(done)
	return min(max(int64(worthHelp/max(each, 1)), 1), maxSeries)
}

// decide decides a batch: first the kept cells and the candidates that need no model, then,
// trial by trial, the candidates that ask a model. It returns how long the first part took.
func (p *trying) decide(ctx context.Context, b *batch, lanes int) time.Duration {
	began := time.Now()
	var row atomic.Int64
	share(lanes, func() {
		for i := row.Add(1) - 1; i < int64(len(b.rows)); i = row.Add(1) - 1 {
			b.rows[i].pack = p.keys.load(&b.rows[i].trial)
		}
	})
	for j, t := range p.alone {
		if t != nil && !p.g.Columns[j].AsksModel {
			b.columns = append(b.columns, &batchColumn{index: j})
		}
	}
	if b.backward {
		slices.Reverse(b.columns)
	}
	var column, busy atomic.Int64
	busy.Store(int64(len(b.columns)))
	share(lanes, func() {
		for i := column.Add(1) - 1; i < int64(len(b.columns)); i = column.Add(1) - 1 {
			b.columns[i].started.Store(time.Now().UnixNano())
			p.column(ctx, b, b.columns[i])
			busy.Add(-1)
		}
		for busy.Load() > 0 && ctx.Err() == nil {
			c := slices.MaxFunc(b.columns, func(x, y *batchColumn) int { return int(x.left(len(b.rows)) - y.left(len(b.rows))) })
			if c.left(len(b.rows)) < worthHelp {
				time.Sleep(lookAgain)
				continue
			}
			p.column(ctx, b, c)
		}
	})
	took := time.Since(began)
	row.Store(0)
	share(lanes, func() {
		for i := row.Add(1) - 1; i < int64(len(b.rows)); i = row.Add(1) - 1 {
			p.finish(ctx, &b.rows[i])
		}
	})
	return took
}

// share runs work in lanes goroutines, and waits for all of them.
func share(lanes int, work func()) {
	var wait sync.WaitGroup
	for range lanes {
		wait.Go(work)
	}
	wait.Wait()
}

// column decides a candidate on the rows that no other lane has claimed.
func (p *trying) column(ctx context.Context, b *batch, c *batchColumn) {
	for ctx.Err() == nil {
		n := c.several()
		end := c.next.Add(n)
		if end-n >= int64(len(b.rows)) {
			return
		}
		p.part(ctx, b.rows[end-n:min(end, int64(len(b.rows)))], c.index)
	}
}

// part decides a candidate on some rows, except where a result is kept.
func (p *trying) part(ctx context.Context, rows []batchRow, j int) {
	s, ok := p.alone[j].(seriesTryer)
	if !ok || len(rows) == 1 {
		for i := range rows {
			p.cell(ctx, &rows[i], j)
		}
		return
	}
	open := make([]*batchRow, 0, len(rows))
	for i := range rows {
		if !rows[i].takeKept(j) {
			open = append(open, &rows[i])
		}
	}
	began := time.Now()
	s.trySeries(ctx, open, func(i int, s said) {
		now := time.Now()
		open[i].take(ctx, j, s, now.Sub(began))
		began = now
	})
}

// cell decides a candidate on a trial, unless a result is kept.
func (p *trying) cell(ctx context.Context, r *batchRow, j int) {
	if r.takeKept(j) || ctx.Err() != nil {
		return
	}
	if _, ok := p.alone[j].(setTryer); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
	}
	began := time.Now()
	s := p.alone[j].try(ctx, &r.trial, r.row)
	r.take(ctx, j, s, time.Since(began))
}

// takeKept uses the kept result of a candidate, if there is one.
func (r *batchRow) takeKept(j int) bool {
	kept, ok := r.pack.get(j)
	if ok {
		r.said[j] = kept
	}
	return ok
}

// take records the result of a candidate and how long it took.
func (r *batchRow) take(ctx context.Context, j int, s said, took time.Duration) {
	if ctx.Err() != nil {
		return // the end of ctx may have caused the result
	}
	s.took = max(took, 1)
	r.said[j] = s
	r.pack.put(j, s, took)
}

// finish saves the results of a trial, decides the candidates that ask a model, and counts the
// results.
func (p *trying) finish(ctx context.Context, r *batchRow) {
	r.pack.save()
	for j, t := range p.alone {
		if t != nil && p.g.Columns[j].AsksModel && ctx.Err() == nil {
			p.cell(ctx, r, j)
		}
	}
	r.pack.save()
	var asked []proviso.Verdict
	if p.together != nil && ctx.Err() == nil {
		began := time.Now()
		asked = p.together.Eval(ctx, r.row)
		took := time.Since(began) // for all questions, which are sent together
		for k, v := range asked {
			if ctx.Err() == nil || v.Status != proviso.Errored {
				s := saidBy(&v)
				if !v.Cached {
					s.took = max(took, 1)
				}
				r.said[p.asking[k]] = s
			}
		}
	}
	for j := range r.said {
		r.cells[j] = r.said[j].cell
	}
	p.note(ctx, r.said, asked)
}
