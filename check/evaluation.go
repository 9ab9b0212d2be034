package check

import (
	"math"
	"math/big"
	"strconv"

	"github.com/proviso-eval/proviso"
)

// Evaluate returns the result of an assertion set: passed / total over the
// assertions that applied, never weighted. An assertion of severity info is not
// counted. If one of severity must fails, the whole fails. While one is undecided
// there is no score, unless allowErrors computes it from the decided ones. If the
// set would miss the threshold even if all undecided assertions passed, it fails.
// An undecided assertion of weight 0 is counted as an error, but does not leave the
// whole undecided.
//
// The threshold is compared with the float64 nearest to the exact share. A
// threshold written as a decimal is parsed in the same way: 3 of 4 reach 0.75, and
// weights of 0.7 and 0.1 of 1 reach 0.8.
func Evaluate(verdicts []proviso.Verdict, threshold float64, allowErrors bool) proviso.Evaluation {
	e := proviso.Evaluation{Threshold: threshold}
	weighted, must, open := false, true, 0
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.Status == proviso.Skip:
			e.Skipped++
			continue
		case v.Assertion.Severity == proviso.Info:
			continue
		case v.Status == proviso.Pass:
			e.Passed++
		case v.Status == proviso.Fail:
			e.Failed++
			must = must && v.Assertion.Severity != proviso.Must
		case idle(v.Assertion):
			e.Errors++
		default:
			e.Errors++
			open++
		}
		weighted = weighted || weightOf(v.Assertion) != 1
	}
	e.Total = e.Passed + e.Failed + e.Errors
	decided := e.Passed + e.Failed
	switch {
	case e.Total == 0:
		e.PassedThreshold, e.Status = true, proviso.Skip
		return e
	case open == 0 && decided == 0: // the undecided ones would pass
		e.PassedThreshold, e.Status = true, proviso.Pass
		return e
	case open > 0 && !allowErrors || decided == 0:
		if !must || e.Failed > 0 && bestShare(verdicts, &e, weighted) < threshold {
			e.Status = proviso.Fail
		}
		return e
	}
	score := float64(e.Passed) / float64(decided)
	reached := score
	e.Score = &score
	if weighted {
		if share, ok := weightedShare(verdicts, false); ok {
			e.WeightedScore, reached = &share, share
		}
	}
	e.Status, e.PassedThreshold = proviso.Fail, must && reached >= threshold
	if e.PassedThreshold {
		e.Status = proviso.Pass
	}
	return e
}

// bestShare is the share to compare with the threshold if all undecided assertions
// passed. With a negative weight that is not the maximum, which is then unknown.
func bestShare(verdicts []proviso.Verdict, e *proviso.Evaluation, weighted bool) float64 {
	best := float64(e.Passed+e.Errors) / float64(e.Total)
	if !weighted {
		return best
	}
	for i := range verdicts {
		if weightOf(verdicts[i].Assertion) < 0 {
			return math.Inf(1)
		}
	}
	if share, ok := weightedShare(verdicts, true); ok {
		return share
	}
	return best
}

// weightedShare is the weight of the passed assertions divided by the weight of the
// decided ones. With open, undecided ones count as passed. Weights are summed as the
// decimals that the suite has.
func weightedShare(verdicts []proviso.Verdict, open bool) (float64, bool) {
	held, all := new(big.Rat), new(big.Rat)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status == proviso.Skip || v.Status == proviso.Errored && !open || v.Assertion.Severity == proviso.Info {
			continue
		}
		w, ok := new(big.Rat).SetString(strconv.FormatFloat(weightOf(v.Assertion), 'g', -1, 64))
		if !ok {
			return 0, false
		}
		all.Add(all, w)
		if v.Status != proviso.Fail {
			held.Add(held, w)
		}
	}
	if all.Sign() <= 0 {
		return 0, false
	}
	share, _ := held.Quo(held, all).Float64()
	return share, true
}
