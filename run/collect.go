package run

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
)

// Remote is a run that another process executes and whose rows are kept here.
type Remote struct {
	ID   string // run id in its rows
	Hash string // hash of suite, prompts and judge in the other process
	// Judge is the identity of the other process's judge; "" if it uses none.
	Judge string
	On    string // where the run is executed, for a caller that continues the fetch
	// Fetch calls add with every finished row in missing, until the run has ended. It is called
	// once.
	Fetch func(ctx context.Context, missing *Missing, add func(index int, row []byte) error) error
}

// Collect keeps the rows of a run that another process executes. The outcome is as if
// [Plan.Run] had executed them here. With Resume it fetches the missing rows. Rows are not held
// in memory.
func (p *Plan) Collect(ctx context.Context, r Remote) (*Outcome, error) {
	return p.perform(ctx, &r)
}

// collect fetches the rows.
func (e *execution) collect(ctx context.Context) error {
	missing := &Missing{ranges: []Range{{To: e.p.Cases * len(e.p.columns)}}}
	for c, err := range e.p.Suite.Cases() {
		if err != nil {
			return err
		}
		for i := range e.p.columns {
			if index := c.Index*len(e.p.columns) + i; e.done[index] || !e.p.selects(c, &e.p.columns[i]) {
				missing.remove(index)
			}
		}
	}
	e.done = nil
	var own []byte
	err := e.remote.Fetch(ctx, missing, func(index int, row []byte) error {
		if !missing.remove(index) {
			return nil
		}
		var ok bool
		if own, ok = report.AppendRenamed(own[:0], row, e.remote.ID, e.meta.RunID); !ok {
			return proviso.Errorf(proviso.Unavailable, "row %d is not one of the run %s", index, e.remote.ID)
		}
		if err := e.file.Append(index, own); err != nil {
			return err
		}
		if err := e.countStored(index, own); err != nil {
			return err
		}
		if e.p.o.Tick != nil {
			e.p.o.Tick(e.summary.Totals())
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil // interrupted, as when rows run here
	}
	return err
}

// sameInput reports whether a run file was made from the plan's suite, with any judge.
func (p *Plan) sameInput(h runfile.Header) bool {
	_, was := report.OriginOf(h.Meta)
	is := p.hashes("")
	return was.Suite == is.Suite && was.Prompts == is.Prompts && was.Cases == is.Cases
}

// Range is a range of row indices; To is the first index after it.
type Range struct{ From, To int }

// Missing is a set of rows, stored as few ranges.
type Missing struct{ ranges []Range }

// First returns at most n ranges, from the first one on.
func (m *Missing) First(n int) []Range { return m.ranges[:min(n, len(m.ranges))] }

// Len returns the number of rows.
func (m *Missing) Len() (n int) {
	for _, r := range m.ranges {
		n += r.To - r.From
	}
	return n
}

// remove removes a row; false if it was not in the set.
func (m *Missing) remove(index int) bool {
	at, _ := slices.BinarySearchFunc(m.ranges, index, func(r Range, index int) int {
		if r.To <= index {
			return -1
		}
		return 1
	})
	if at == len(m.ranges) || index < m.ranges[at].From {
		return false
	}
	r := &m.ranges[at]
	switch {
	case r.To == r.From+1:
		m.ranges = slices.Delete(m.ranges, at, at+1)
	case index == r.From:
		r.From++
	case index == r.To-1:
		r.To--
	default:
		rest := Range{index + 1, r.To}
		r.To = index
		m.ranges = slices.Insert(m.ranges, at+1, rest)
	}
	return true
}
