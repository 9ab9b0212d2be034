package run

import (
	"context"
	"maps"
	"slices"

	"github.com/proviso-eval/proviso"
)

// group holds the rows that are decided together: all outputs of a case with a comparison.
type group struct {
	pc   *prepared
	want int
	rows []*proviso.Result
	paid bool // at least one of the rows was paid
}

// hold adds a row to its group and settles the group once it is complete.
func (e *execution) hold(ctx context.Context, pc *prepared, res *proviso.Result, paid bool) error {
	if g := e.join(pc, res, paid); g != nil {
		return e.settle(ctx, g)
	}
	return nil
}

// join adds a row to its group. It returns the group once it is complete, otherwise nil.
func (e *execution) join(pc *prepared, res *proviso.Result, paid bool) *group {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := e.groups[pc.Index]
	if g == nil {
		g = &group{pc: pc, want: e.columnsOf(pc.Case)}
		e.groups[pc.Index] = g
	}
	g.rows, g.paid = append(g.rows, res), g.paid || paid
	if len(g.rows) < g.want {
		return nil
	}
	delete(e.groups, pc.Index)
	return g
}

func (e *execution) columnsOf(c *proviso.Case) int {
	n := 0
	for i := range e.p.columns {
		if e.p.selects(c, &e.p.columns[i]) {
			n++
		}
	}
	return n
}

// settle decides a group and stores its rows. An interrupted group runs again as a whole.
func (e *execution) settle(ctx context.Context, g *group) error {
	e.compare(ctx, g)
	if ctx.Err() != nil {
		return nil
	}
	return e.keep(ctx, g)
}

// compare decides a group within the remaining time of the run.
func (e *execution) compare(ctx context.Context, g *group) {
	if !e.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, e.deadline)
		defer cancel()
	}
	e.p.compare(ctx, g.pc, g.rows)
}

// flushGroups stores the rows of incomplete groups, with an undecided comparison.
func (e *execution) flushGroups(ctx context.Context) error {
	if e.over(ctx) {
		return nil // an interrupted group runs again as a whole
	}
	e.mu.Lock()
	left := slices.Collect(maps.Values(e.groups))
	clear(e.groups)
	e.mu.Unlock()
	for _, g := range left {
		if err := e.settle(ctx, g); err != nil {
			return err
		}
	}
	return nil
}
