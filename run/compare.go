package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
)

// compare decides the assertions that look at all outputs of a case.
func (p *Plan) compare(_ context.Context, pc *prepared, rows []*proviso.Result) {
	slices.SortFunc(rows, func(a, b *proviso.Result) int { return cmp.Compare(a.PromptIdx, b.PromptIdx) })
	for _, a := range pc.comparing {
		if a.Type == "max-score" {
			maxScore(a, rows)
		}
	}
}

// maxScore lets the row with the highest mean, or sum, of its other assertions
// win; the first of equals does.
func maxScore(a *proviso.Assertion, rows []*proviso.Result) {
	o, _ := a.Value.(*proviso.Object)
	if len(rows) < 2 {
		undecide(a, rows, "max-score requires at least two outputs (prompts × providers) of a case to choose between")
		return
	}
	scores := make([]float64, len(rows))
	best := 0
	for i, r := range rows {
		if r.Aggregate.Status == proviso.Errored {
			continue // no output to compare; it stays undecided
		}
		n := 0
		scores[i], n = combined(r.Verdicts, o)
		if n == 0 {
			undecide(a, rows, "max-score requires at least one other assertion (besides max-score or select-best) to aggregate scores from")
			return
		}
		if scores[i] > scores[best] {
			best = i
		}
	}
	threshold, limited := o.At("threshold").(float64)
	for i, r := range rows {
		if r.Aggregate.Status == proviso.Errored {
			continue
		}
		v := proviso.Verdict{Assertion: a, Status: proviso.Fail}
		switch {
		case i != best:
			v.Reason = fmt.Sprintf("Not selected (score: %.3f, max: %.3f)", scores[i], scores[best])
		case limited && scores[i] < threshold:
			v.Reason = fmt.Sprintf("Not selected (score: %.3f < threshold: %s)", scores[i], proviso.FormatNumber(threshold))
		default:
			v.Status, v.Score = proviso.Pass, 1
			v.Reason = fmt.Sprintf("Selected as highest scoring output (score: %.3f)", scores[i])
		}
		join(r, v)
	}
}

// combined is the mean or the sum of the scores of all other assertions, each
// weighted by what the comparison says of its type.
func combined(verdicts []proviso.Verdict, o *proviso.Object) (float64, int) {
	weights, _ := o.At("weights").(*proviso.Object)
	var total, weight float64
	for i := range verdicts {
		w := 1.0
		if f, ok := weights.At(verdicts[i].Assertion.Type).(float64); ok {
			w = f
		}
		total += verdicts[i].Score * w
		weight += w
	}
	if o.At("method") != "sum" && weight != 0 {
		total /= weight
	}
	return total, len(verdicts)
}

// join adds the verdict of a comparison to a row. Who loses fails with score 0;
// who failed before stays failed.
func join(r *proviso.Result, v proviso.Verdict) {
	r.Verdicts = append(r.Verdicts, v)
	if v.Status != proviso.Fail {
		return
	}
	a := &r.Aggregate
	if a.Status == proviso.Pass || a.Status == proviso.Skip {
		a.Reason = v.Reason
	}
	a.Status, a.Score = proviso.Fail, 0
}

func undecide(a *proviso.Assertion, rows []*proviso.Result, reason string) {
	for _, r := range rows {
		r.Verdicts = append(r.Verdicts, proviso.Verdict{Assertion: a, Reason: reason})
		r.Aggregate = proviso.Aggregate{Status: proviso.Errored, Reason: reason}
		r.Error = reason
	}
}
