package run

import "context"

// Part is a part of the rows of a plan that this process runs.
type Part struct {
	From, To int // row indices; To is the first after the part, 0 if there is no end
	// Earlier passes the finished rows of the part to take. They do not run again. It may be
	// nil.
	Earlier func(take func(index int, row []byte) error) error
}

// Divide returns the number of rows per part, and the number of parts, if several processes run
// the plan. It returns 0 if one process has to run all rows, because they depend on each other
// or are too few. A part has at least 2 × Concurrency rows, and there are at most 256 parts, so
// that taking one is rare compared with the requests of its rows.
func (p *Plan) Divide() (rows, parts int) {
	const most = 256
	columns := len(p.columns)
	all := p.Cases * columns
	if p.inOrder || p.serial || p.o.Delay > 0 || p.o.Replay != nil || len(p.hooks) > 0 || columns == 0 {
		return 0, 0
	}
	rows = max(2*p.o.Concurrency, (all+most-1)/most)
	rows = (rows + columns - 1) / columns * columns // whole cases: their rows may be compared with each other
	if all < 2*rows {
		return 0, 0
	}
	return rows, (all + rows - 1) / rows
}

// shares are the rows that this process runs.
type shares struct {
	take func(ctx context.Context, from int) (Part, bool, error) // nil if it runs all rows
	part Part
	has  bool // part holds the current part
	none bool // no parts are left
}

// mine reports whether this process runs the rows of the case whose first row has the given
// index. It must be called for cases in order.
func (e *execution) mine(ctx context.Context, first int) (bool, error) {
	s := &e.shares
	if s.take == nil {
		return true, nil
	}
	for !s.none && (!s.has || s.part.To != 0 && first >= s.part.To) {
		p, ok, err := s.take(ctx, first)
		if err != nil {
			return false, err
		}
		s.part, s.has, s.none = p, ok, !ok
		if !ok {
			break
		}
		if err := e.takeFinished(p); err != nil {
			return false, err
		}
	}
	return !s.none && first >= s.part.From, nil
}

// takeFinished counts the finished rows of a part.
func (e *execution) takeFinished(p Part) error {
	clear(e.done) // from the previous part
	if p.Earlier == nil {
		return nil
	}
	return p.Earlier(func(index int, row []byte) error {
		if !e.again(row) {
			e.done[index] = true
		}
		return nil
	})
}
