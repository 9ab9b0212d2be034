package run

import (
	"context"

	"github.com/proviso-eval/proviso"
)

// group holds the rows that are decided together: all outputs of a case that
// compares them.
type group struct {
	pc   *prepared
	want int
	rows []*proviso.Result
}

// hold adds a row to its group and settles the group once it is complete.
func (e *execution) hold(ctx context.Context, pc *prepared, res *proviso.Result) error {
	g := e.groups[pc.Index]
	if g == nil {
		g = &group{pc: pc, want: e.columnsOf(pc.Case)}
		e.groups[pc.Index] = g
	}
	g.rows = append(g.rows, res)
	if len(g.rows) < g.want {
		return nil
	}
	delete(e.groups, pc.Index)
	return e.settle(ctx, g)
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

// settle decides a group and keeps its rows.
func (e *execution) settle(ctx context.Context, g *group) error {
	e.p.compare(ctx, g.pc, g.rows)
	for _, res := range g.rows {
		if err := e.keep(res); err != nil {
			return err
		}
	}
	return nil
}

// flushGroups keeps the rows of groups that were cut off, undecided as a group.
func (e *execution) flushGroups(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil // an interrupted group is asked again as a whole
	}
	for key, g := range e.groups {
		delete(e.groups, key)
		if err := e.settle(ctx, g); err != nil {
			return err
		}
	}
	return nil
}
