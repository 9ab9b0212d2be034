package selection

import (
	"context"

	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// Values of [Options.Undecided].
const (
	Bound     = "bound"  // the worst case: a bad output is not caught, a good one is failed
	CountFail = "fail"   // a fail, on good and bad outputs
	Ignore    = "ignore" // a pass
)

// Doubt describes how undecided cells affect a selection.
type Doubt struct {
	Cells     int // undecided cells of the selected candidates
	Elsewhere int // undecided cells of the other candidates

	// Bad and Good count the outputs that fail only if an undecided cell is a fail. They are 0
	// unless undecided cells count as [Bound]: then the answer's false failures include Good,
	// and its coverage excludes Bad.
	Bad, Good int
	// LowerBound is a lower bound of the objective, however the undecided cells are
	// decided.
	LowerBound int
	// Possible means that there is no selection, but some decision of the undecided cells
	// would allow one.
	Possible bool
}

// Proven reports whether the selection is proven to be the best. It is not proven while a
// selected candidate has undecided cells, unless the options define how they count.
func (s *Selection) Proven() bool { return s.Status() == solve.Optimal }

// Status is the result of the search, adjusted for undecided cells.
func (s *Selection) Status() solve.Status { return statusOf(s.Answer, s.Doubt, s.bounds()) }

// Open reports whether the result depends on undecided cells.
func (s *Selection) Open() bool {
	return s.bounds() && (s.Found() && s.Doubt.Cells > 0 || !s.Found() && s.Doubt.Possible)
}

func statusOf(a *solve.Answer, d Doubt, bounds bool) solve.Status {
	switch {
	case !bounds:
	case a.Status == solve.Optimal && d.Cells > 0:
		return solve.Feasible
	case a.Status == solve.Infeasible && d.Possible:
		return solve.Unknown
	}
	return a.Status
}

// bounds reports whether undecided cells bound the worth of the selection. The method none
// uses no examples, so they do not.
func (s *Selection) bounds() bool {
	return s.Options.undecided() == Bound && s.Options.Method != solve.None.String()
}

// undecided returns how undecided cells count.
func (o Options) undecided() string {
	if o.Undecided == "" {
		return Bound
	}
	return o.Undecided
}

// fails reports whether a cell counts as a fail of an example.
func (o Options) fails(cell matrix.Cell, good bool) bool {
	switch o.undecided() {
	case Bound:
		return cell == matrix.Failed || cell == matrix.Undecided && good
	case CountFail:
		return cell != matrix.Passed
	}
	return cell == matrix.Failed
}

// doubt counts the uncertainty from undecided cells in an answer. [Selection.settle] adds the
// bounds that need a search.
func (s *Selection) doubt(a *solve.Answer) Doubt {
	d := Doubt{LowerBound: a.LowerBound}
	picked := make([]bool, len(s.Matrix.Names))
	for _, j := range a.Selected {
		picked[j] = true
	}
	certain := make([]bool, len(s.Matrix.Examples))
	perhaps := make([]bool, len(s.Matrix.Examples))
	for j, column := range s.Matrix.Cells {
		for i, cell := range column {
			switch {
			case cell == matrix.Undecided && picked[j]:
				d.Cells++
				perhaps[i] = true
			case cell == matrix.Undecided:
				d.Elsewhere++
			case cell == matrix.Failed && picked[j]:
				certain[i] = true
			}
		}
	}
	if !s.bounds() {
		return d
	}
	for i, e := range s.Matrix.Examples {
		switch {
		case certain[i] || !perhaps[i]:
		case e.Good:
			d.Good++
		default:
			d.Bad++
		}
	}
	return d
}

// settle finds the uncertainty from undecided cells in the answer to in. It searches once more
// with every undecided cell decided favourably. No other decision of the cells has a lower
// objective, or a selection if this one has none.
func (s *Selection) settle(ctx context.Context, in *solve.Instance, a *solve.Answer, method solve.Method, work int64) (Doubt, error) {
	d := s.doubt(a)
	chosen := method == solve.Coverage || method == solve.Subsumption
	if !s.bounds() || !chosen || d.Cells+d.Elsewhere == 0 || a.Status == solve.Unknown {
		return d, nil
	}
	best := *in
	best.Fails = s.failures(func(cell matrix.Cell, good bool) bool {
		return cell == matrix.Failed || cell == matrix.Undecided && !good
	})
	favour, err := solve.Solve(ctx, &best, method, solve.Options{Work: work})
	switch {
	case ctx.Err() != nil:
		d.LowerBound = 0 // interrupted: the selection stays, its bound is unknown
	case err != nil:
		return d, err
	case a.Status == solve.Infeasible:
		d.Possible = favour.Status != solve.Infeasible
	default:
		d.LowerBound = min(a.LowerBound, favour.LowerBound)
	}
	return d, nil
}

// failures lists, for each candidate, the examples whose cells count as fails.
func (s *Selection) failures(counts func(cell matrix.Cell, good bool) bool) [][]int {
	fails := make([][]int, len(s.Matrix.Names))
	for j, column := range s.Matrix.Cells {
		for i, cell := range column {
			if counts(cell, s.Matrix.Examples[i].Good) {
				fails[j] = append(fails[j], i)
			}
		}
	}
	return fails
}

// contradicted returns the implications that an example contradicts. If undecided cells bound
// the selection, an undecided cell contradicts nothing.
func (s *Selection) contradicted() [][2]int {
	if s.Options.undecided() != Bound {
		return solve.Contradicted(s.Instance)
	}
	var out [][2]int
	for _, p := range s.Instance.Implies {
		for i, cell := range s.Matrix.Cells[p[0]] {
			if cell == matrix.Passed && s.Matrix.Cells[p[1]][i] == matrix.Failed {
				out = append(out, p)
				break
			}
		}
	}
	return out
}
