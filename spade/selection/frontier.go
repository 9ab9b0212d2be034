package selection

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
)

// Point is the best selection under one pair of thresholds.
type Point struct {
	Alpha, Tau  float64
	Need, Allow int // the thresholds as counts
	Answer      *solve.Answer
	Status      solve.Status // the answer's status, adjusted for undecided cells
}

// Found reports whether there is a selection within the thresholds.
func (p Point) Found() bool {
	return p.Answer.Status == solve.Optimal || p.Answer.Status == solve.Feasible
}

// maxFrontier bounds the points of a frontier.
const maxFrontier = 400

// Frontier selects again for every pair of an alpha and a tau, ordered by alpha and
// then tau. The options are those of [Select]; the points share the work limit equally.
// Only cov and sub have a frontier.
func Frontier(ctx context.Context, m *matrix.Matrix, implications []candidate.Implication, o Options, alphas, taus []float64) ([]Point, error) {
	if o.Method != solve.Coverage.String() && o.Method != solve.Subsumption.String() {
		return nil, proviso.Errorf(proviso.Invalid, "the method %s has no thresholds to vary; cov and sub have", o.Method)
	}
	if n := len(alphas) * len(taus); n == 0 || n > maxFrontier {
		return nil, proviso.Errorf(proviso.Limit, "a frontier of %d points; 1 to %d are possible", n, maxFrontier)
	}
	method, _ := solve.MethodOf(o.Method)
	s, err := prepare(m, implications, o, method)
	if err != nil {
		return nil, err
	}
	var list []Point
	for _, alpha := range alphas {
		for _, tau := range taus {
			at := o
			at.Alpha, at.Tau = alpha, tau
			if err := at.Valid(); err != nil {
				return nil, err
			}
			p := Point{Alpha: alpha, Tau: tau}
			p.Need, p.Allow = at.counts(s.Good, s.Bad)
			list = append(list, p)
		}
	}
	return list, s.solvePoints(ctx, method, o.Work, list)
}

// solvePoints solves every point; points with the same counts share an answer.
func (s *Selection) solvePoints(ctx context.Context, method solve.Method, work int64, list []Point) error {
	type known struct {
		answer *solve.Answer
		status solve.Status
	}
	answers := map[[2]int]known{}
	for _, p := range list {
		answers[[2]int{p.Need, p.Allow}] = known{}
	}
	if work <= 0 {
		work = solve.DefaultWork
	}
	share := max(1, work/int64(len(answers)))
	for i := range list {
		p := &list[i]
		key := [2]int{p.Need, p.Allow}
		if answers[key].answer == nil {
			at := *s.Instance
			at.Need, at.Allow = p.Need, p.Allow
			a, err := solve.Solve(ctx, &at, method, solve.Options{Work: share})
			if err != nil {
				return err
			}
			d, err := s.settle(ctx, &at, a, method, share)
			if err != nil {
				return err
			}
			answers[key] = known{a, statusOf(a, d, s.bounds())}
		}
		p.Answer, p.Status = answers[key].answer, answers[key].status
	}
	return ctx.Err()
}
