package selection

import (
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/stats"
)

// Wider is the false failure rate of a selection on all outputs, of which people have
// labelled some.
type Wider struct {
	FFR                stats.Estimate
	Outputs, Unlabeled int // that the selection decides
}

// Wider estimates the false failure rate on all outputs of the matrix, labelled or not,
// from what the selection says of every one: the prediction-powered estimate for pass and
// fail ([stats.PartlyVerified]). The labels have to be a random sample of what the
// selection passes, and one of what it fails; their shares may differ. It returns false
// where nothing is unlabelled, or labels of a kind are missing. Outputs on which a selected
// candidate is undecided are left out.
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
