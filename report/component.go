package report

import (
	"math"

	"github.com/proviso-eval/proviso"
)

// grading appends the verdicts on the row's assertions and the result of the assertion set.
func (e *encoder) grading(r *proviso.Result) {
	a := &r.Aggregate
	if a.Evaluation != nil {
		e.evaluation(a.Evaluation)
	}
	if a.Status == proviso.Errored && len(r.Verdicts) == 0 && len(r.SetVerdict) == 0 {
		e.raw(`,"gradingResult":null`)
		return
	}
	e.bool(`,"gradingResult":{"pass":`, succeeded(a.Status))
	e.scoreUnless(a.Unscored, scoreOf(a.Status, a.Score))
	e.text(`,"reason":`, a.Reason)
	e.named(`,"namedScores":`, a.Named)
	usage, incurred, cost := gradingCost(r)
	e.raw(`,"tokensUsed":`)
	e.usage(usage, incurred, usage != incurred)
	if cost != 0 {
		e.number(`,"cost":`, cost)
	}
	e.raw(`,"componentResults":[`)
	first := e.components(r.Verdicts, true)
	e.components(r.SetVerdict, first)
	e.raw("]}")
}

// gradingCost sums the usage, incurred usage and cost of deciding. The numbers of a set
// include its members.
func gradingCost(r *proviso.Result) (usage, incurred proviso.Usage, cost float64) {
	var kept proviso.Usage
	for _, list := range [...][]proviso.Verdict{r.Verdicts, r.SetVerdict} {
		for i := range list {
			usage.Add(list[i].Usage)
			cost += list[i].Cost
		}
		kept.Add(keptUsage(list))
	}
	return usage, without(usage, kept), cost
}

// components appends verdicts as one flat list, in which each verdict is followed by its
// own components.
func (e *encoder) components(list []proviso.Verdict, first bool) bool {
	for i := range list {
		if !first {
			e.b = append(e.b, ',')
		}
		first = false
		e.component(&list[i])
		e.components(list[i].Components, false)
	}
	return first
}

// members returns the number of components in the flat list of these verdicts.
func members(list []proviso.Verdict) int {
	n := len(list)
	for i := range list {
		n += members(list[i].Components)
	}
	return n
}

func (e *encoder) component(v *proviso.Verdict) {
	e.bool(`{"pass":`, succeeded(v.Status))
	e.scoreUnless(v.Unscored, scoreOf(v.Status, v.Score))
	e.text(`,"reason":`, v.Reason)
	e.text(`,"status":`, v.Status.String())
	if v.Threshold != nil {
		e.number(`,"threshold":`, *v.Threshold)
	}
	e.when(v.Waived, `,"waived":true`)
	e.raw(`,"assertion":`)
	e.assertion(v.Assertion)
	e.counted(`,"members":`, members(v.Components))
	if len(v.Named) > 0 {
		e.named(`,"namedScores":`, v.Named)
	}
	if v.HasValue {
		e.text(`,"metadata":{"renderedAssertionValue":`, v.Rendered)
		e.b = append(e.b, '}')
	}
	if v.Usage != (proviso.Usage{}) {
		e.raw(`,"tokensUsed":`)
		e.b = appendUsage(e.b, v.Usage)
	}
	if v.Cost != 0 {
		e.number(`,"cost":`, v.Cost)
	}
	e.filled(`,"judge":`, v.Judge)
	e.when(v.Cached, `,"cached":true`)
	e.evidence(v.Evidence)
	e.criteria(v.Criteria)
	e.b = append(e.b, '}')
}

// criteria appends the verdicts on a judged assertion's criteria under the names of the
// judge's contract.
func (e *encoder) criteria(list []proviso.CriterionVerdict) {
	e.list(`,"criteria":`, len(list), func(i int) {
		c := &list[i]
		e.text(`{"criterion":`, c.Criterion.Text)
		e.bool(`,"pass":`, c.Status == proviso.Pass)
		e.text(`,"reasoning":`, c.Reasoning)
		e.text(`,"status":`, c.Status.String())
		e.when(c.CannotTell, `,"cannot_tell":true`)
		e.evidence(c.Evidence)
		e.filled(`,"note":`, c.Note)
		if c.Votes.Total() > 1 {
			e.int(`,"votes":{"met":`, c.Votes.Met)
			e.int(`,"unmet":`, c.Votes.Unmet)
			e.counted(`,"cannot_tell":`, c.Votes.CannotTell)
			e.int(`,"failed":`, c.Votes.Failed)
			e.b = append(e.b, '}')
		}
		e.b = append(e.b, '}')
	})
}

// assertion appends an assertion as written in the suite. A set is written without its
// members, because their own components follow.
func (e *encoder) assertion(a *proviso.Assertion) {
	switch {
	case a == nil:
		e.raw("null")
		return
	case a.Raw != nil && len(a.Assert) == 0 && a.Raw.Has("type"):
		e.object(a.Raw)
		return
	case a.Raw != nil && len(a.Assert) == 0: // a judged assertion, which needs no type in a suite
		e.text(`{"type":`, a.Type)
		e.members(a.Raw, nil, false)
		e.b = append(e.b, '}')
		return
	}
	e.text(`{"type":`, a.Type)
	e.filled(`,"id":`, a.ID)
	if v := defined(a.Value); v != nil {
		e.value(`,"value":`, v)
	}
	if v := defined(a.Threshold); v != nil {
		e.value(`,"threshold":`, v)
	}
	if a.Weight != nil {
		e.number(`,"weight":`, *a.Weight)
	}
	e.filled(`,"metric":`, a.Metric)
	e.b = append(e.b, '}')
}

func (e *encoder) evidence(list []proviso.Evidence) {
	e.list(`,"evidence":`, len(list), func(i int) {
		e.text(`{"quote":`, list[i].Quote)
		e.int(`,"start":`, list[i].Start)
		e.filled(`,"note":`, list[i].Note)
		e.b = append(e.b, '}')
	})
}

// evaluation appends the result of the assertion set under the names of the judge's
// contract.
func (e *encoder) evaluation(v *proviso.Evaluation) {
	score := math.NaN()
	if v.Score != nil {
		score = *v.Score
	}
	e.number(`,"evaluation":{"score":`, score)
	if v.WeightedScore != nil {
		e.number(`,"weighted_score":`, *v.WeightedScore)
	}
	e.int(`,"passed":`, v.Passed)
	e.int(`,"failed":`, v.Failed)
	e.int(`,"errors":`, v.Errors)
	e.int(`,"skipped":`, v.Skipped)
	e.int(`,"total":`, v.Total)
	e.number(`,"threshold":`, v.Threshold)
	e.bool(`,"passed_threshold":`, v.PassedThreshold)
	e.text(`,"status":`, v.Status.String())
	e.b = append(e.b, '}')
}
