package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// compare decides the assertions that compare all outputs of a case.
func (p *Plan) compare(ctx context.Context, pc *prepared, rows []*proviso.Result) {
	slices.SortFunc(rows, func(a, b *proviso.Result) int { return cmp.Compare(a.PromptIdx, b.PromptIdx) })
	for _, a := range pc.comparing {
		if kind, ok := check.Lookup(a.Type); ok && kind.Needs&check.NeedsJudge != 0 {
			p.selectBest(ctx, pc, a, rows)
		} else {
			maxScore(a, rows)
		}
	}
}

// selectBest lets a judge model choose among the outputs of the rows; the others fail.
// Undecided rows have no output to choose and stay undecided. A row with a failed assertion has
// an output and takes part.
func (p *Plan) selectBest(ctx context.Context, pc *prepared, a *proviso.Assertion, rows []*proviso.Result) {
	if p.o.RowTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.o.RowTimeout)
		defer cancel()
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *proviso.Result) bool { return r.Aggregate.Status == proviso.Errored })
	if len(rows) == 0 {
		return
	}
	outputs := make([]string, len(rows))
	for i, r := range rows {
		outputs[i] = r.Output.Text()
	}
	best, took, err := p.compiler.Choose(ctx, a, p.subject(pc, rows[0]), outputs)
	if err != nil {
		undecide(a, rows, p.explain(err))
	}
	for i, r := range rows {
		v := proviso.Verdict{Assertion: a, Status: proviso.Fail, Reason: "Output not selected: " + took.Reason, Cached: took.Cached, Judge: took.Judge}
		if i == best {
			v.Status, v.Score, v.Reason = proviso.Pass, 1, "Output selected as the best: "+took.Reason
		}
		if err == nil {
			join(r, v)
		}
		if i == 0 { // the usage counts once, whichever row wins
			spent := &r.Verdicts[len(r.Verdicts)-1]
			spent.Usage, spent.Cost, spent.Judge = took.Usage, took.Cost, took.Judge
		}
	}
}

// maxScore selects the row with the highest mean, or sum, of its other assertions. On a tie the
// first row wins. A row with an undecided assertion has no mean, takes no part and keeps its
// verdict.
func maxScore(a *proviso.Assertion, rows []*proviso.Result) {
	o, _ := a.Value.(*value.Object)
	if len(rows) < 2 {
		undecide(a, rows, "max-score requires at least two outputs (prompts × providers) of a case to choose between")
		return
	}
	scores := make([]float64, len(rows))
	best := -1
	for i, r := range rows {
		if !scored(r) {
			continue
		}
		n := 0
		scores[i], n = combined(r.Verdicts, o)
		if n == 0 {
			undecide(a, rows, "max-score requires at least one other assertion (besides max-score or select-best) to aggregate scores from")
			return
		}
		if best < 0 || scores[i] > scores[best] {
			best = i
		}
	}
	threshold, limited := o.At("threshold").(float64)
	for i, r := range rows {
		if !scored(r) {
			continue
		}
		v := proviso.Verdict{Assertion: a, Status: proviso.Fail}
		switch {
		case i != best:
			v.Reason = fmt.Sprintf("Not selected (score: %.3f, max: %.3f)", scores[i], scores[best])
		case limited && scores[i] < threshold:
			v.Reason = fmt.Sprintf("Not selected (score: %.3f < threshold: %s)", scores[i], value.FormatNumber(threshold))
		default:
			v.Status, v.Score = proviso.Pass, 1
			v.Reason = fmt.Sprintf("Selected as highest scoring output (score: %.3f)", scores[i])
		}
		join(r, v)
	}
}

// scored reports whether every assertion of a row has a verdict.
func scored(r *proviso.Result) bool {
	return r.Aggregate.Status != proviso.Errored && !r.Aggregate.Unscored
}

// combined returns the mean or the sum of the scores of all other assertions, with the
// comparison's weights by type.
func combined(verdicts []proviso.Verdict, o *value.Object) (float64, int) {
	weights, _ := o.At("weights").(*value.Object)
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

// join adds the verdict of a comparison to a row. A row that was not chosen
// fails with score 0; a row that failed before stays failed.
func join(r *proviso.Result, v proviso.Verdict) {
	r.Verdicts = append(r.Verdicts, v)
	a := &r.Aggregate
	if v.Status != proviso.Fail {
		if len(r.Verdicts) == 1 {
			a.Score = v.Score // the row had no other assertion
		}
		return
	}
	if a.Status == proviso.Pass || a.Status == proviso.Skip {
		a.Reason = v.Reason
	}
	a.Status, a.Score = proviso.Fail, 0
}

// undecide marks rows whose comparison has no verdict. Rows that failed before
// stay failed.
func undecide(a *proviso.Assertion, rows []*proviso.Result, reason string) {
	for _, r := range rows {
		r.Verdicts = append(r.Verdicts, proviso.Verdict{Assertion: a, Reason: reason})
		if g := &r.Aggregate; g.Status == proviso.Fail {
			g.Unscored, g.Score = true, 0
			continue
		}
		r.Aggregate = proviso.Aggregate{Status: proviso.Errored, Reason: reason}
		r.Error = reason
	}
}
