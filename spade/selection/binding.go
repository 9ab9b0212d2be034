package selection

import (
	"context"
	"slices"

	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/solve"
	"github.com/proviso-eval/proviso/stats"
)

// Binding says which thresholds affect a selection. Dropping a threshold that does not bind
// leaves the selection unchanged.
type Binding struct {
	Alpha, Tau bool
	// Cov is how many candidates the method cov selects within the same thresholds; 0 if
	// unknown.
	Cov int
}

// bindingWork bounds each search of [Selection.Bind], in steps.
const bindingWork = solve.DefaultWork / 50

// Bind finds which thresholds affect a selection of the method sub, and sets
// [Selection.Binding]. It runs three more short searches. It does nothing if the selection is
// not proven or one of the first two searches does not end.
func (s *Selection) Bind(ctx context.Context) error {
	if s.Options.Method != solve.Subsumption.String() || s.Answer.Status != solve.Optimal || !s.Answer.Tied {
		return nil
	}
	o := solve.Options{Work: bindingWork}
	if s.Options.Work > 0 {
		o.Work = min(o.Work, s.Options.Work)
	}
	search := func(method solve.Method, change func(*solve.Instance)) (*solve.Answer, error) {
		in := *s.Instance
		change(&in)
		a, err := solve.Solve(ctx, &in, method, o)
		if err != nil || a.Status != solve.Optimal || !a.Tied {
			return nil, err
		}
		return a, nil
	}
	anyway, err := search(solve.Subsumption, func(in *solve.Instance) { in.Need = 0 })
	if err != nil || anyway == nil {
		return err
	}
	free, err := search(solve.Subsumption, func(in *solve.Instance) { in.Allow = s.Good })
	if err != nil || free == nil {
		return err
	}
	few, err := search(solve.Coverage, func(*solve.Instance) {})
	if err != nil {
		return err
	}
	s.Binding = &Binding{Alpha: !slices.Equal(anyway.Selected, s.Answer.Selected), Tau: !slices.Equal(free.Selected, s.Answer.Selected)}
	if few != nil {
		s.Binding.Cov = len(few.Selected)
	}
	return nil
}

// fewFalse is up to how many false failures of a candidate suggest wrong labels.
const fewFalse = 3

// Almost returns the candidate that catches most of the uncaught bad outputs and fails few
// good outputs, with the ids of these bad and good outputs; "" if there is none.
func (s *Selection) Almost() (name string, caught, failed []string) {
	for j, fails := range s.Instance.Fails {
		var bad, good []string
		for _, i := range fails {
			switch id := s.Matrix.Examples[i].ID; {
			case s.Matrix.Cells[j][i] != matrix.Failed: // undecided or passed
			case s.Instance.Good[i]:
				good = append(good, id)
			case slices.Contains(s.Uncaught, id):
				bad = append(bad, id)
			}
		}
		if len(good) > 0 && len(good) <= fewFalse && (len(bad) > len(caught) || len(bad) == len(caught) && len(bad) > 0 && len(good) < len(failed)) {
			name, caught, failed = s.Matrix.Names[j], bad, good
		}
	}
	return name, caught, failed
}

// Wider is the false failure rate of a selection on all outputs, only some of which have
// labels.
type Wider struct {
	FFR                stats.Estimate
	Outputs, Unlabeled int // outputs that the selection decides
}

// Wider estimates the false failure rate on all outputs of the matrix, labelled or not, from
// the selection's verdict on each: the prediction-powered estimate for pass and fail
// ([stats.PartlyVerified]). The labels must be a random sample of the outputs that the
// selection passes, and another of those that it fails; the two sampling rates may differ.
// Wider returns false if everything is labelled or one kind of label is missing. It ignores
// outputs on which a selected candidate is undecided.
func (s *Selection) Wider(confidence float64) (Wider, bool) {
	if !s.Found() || len(s.Answer.Selected) == 0 || s.Good == 0 || s.Bad == 0 || s.Matrix.Unlabeled == 0 || len(s.Matrix.Rest) != len(s.Matrix.Names) {
		return Wider{}, false
	}
	verdict := func(cells [][]matrix.Cell, i int) matrix.Cell {
		now := matrix.Passed
		for _, j := range s.Answer.Selected {
			switch cells[j][i] {
			case matrix.Failed:
				return matrix.Failed
			case matrix.Undecided:
				now = matrix.Undecided
			}
		}
		return now
	}
	var labels stats.Confusion
	var judged stats.Count
	for i, e := range s.Matrix.Examples {
		switch v := verdict(s.Matrix.Cells, i); {
		case v == matrix.Passed && e.Good:
			labels.TP++
		case v == matrix.Passed:
			labels.FP++
		case v == matrix.Failed && e.Good:
			labels.FN++
		case v == matrix.Failed:
			labels.TN++
		}
	}
	judged.Pass, judged.N = labels.TP+labels.FP, labels.TP+labels.FP+labels.FN+labels.TN
	w := Wider{}
	for i := range s.Matrix.Unlabeled {
		switch verdict(s.Matrix.Rest, i) {
		case matrix.Passed:
			judged.Pass++
		case matrix.Undecided:
			continue
		}
		judged.N++
		w.Unlabeled++
	}
	w.Outputs = judged.N
	passed, failed := labels.Strata()
	rates, err := stats.PartlyVerified(judged, passed, failed, confidence)
	if err != nil || rates.TPR == nil || w.Unlabeled == 0 {
		return Wider{}, false
	}
	t := rates.TPR
	w.FFR = stats.Estimate{Value: 1 - t.Value, Interval: stats.Interval{Low: 1 - t.High, High: 1 - t.Low}}
	return w, true
}
