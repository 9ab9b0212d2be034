package report

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// grading appends the verdicts on the row's assertions, and the result of the
// assertion set.
func (e *encoder) grading(r *proviso.Result) {
	a := &r.Aggregate
	if a.Evaluation != nil {
		e.evaluation(a.Evaluation)
	}
	if a.Status == proviso.Errored && len(r.Verdicts) == 0 && len(r.SetVerdict) == 0 {
		e.b = append(e.b, `,"gradingResult":null`...)
		return
	}
	e.b = append(e.b, `,"gradingResult":{"pass":`...)
	e.bool(succeeded(a.Status))
	e.scoreUnless(a.Unscored, scoreOf(a.Status, a.Score))
	e.text(`,"reason":`, a.Reason)
	e.named(`,"namedScores":`, a.Named)
	usage, incurred, cost := gradingCost(r)
	e.b = append(e.b, `,"tokensUsed":`...)
	e.usage(usage, incurred, usage != incurred)
	if cost != 0 {
		e.b = append(e.b, `,"cost":`...)
		e.number(cost)
	}
	e.b = append(e.b, `,"componentResults":[`...)
	first := e.components(r.Verdicts, true)
	e.components(r.SetVerdict, first)
	e.b = append(e.b, "]}"...)
}

// gradingCost sums the usage and cost of deciding, and what was incurred. Members are
// included in the numbers of their set.
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

// components appends verdicts as one flat list: each is followed by its own
// components.
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

// members returns the number of components in the flat list for these verdicts.
func members(list []proviso.Verdict) int {
	n := len(list)
	for i := range list {
		n += members(list[i].Components)
	}
	return n
}

func (e *encoder) component(v *proviso.Verdict) {
	e.b = append(e.b, `{"pass":`...)
	e.bool(succeeded(v.Status))
	e.scoreUnless(v.Unscored, scoreOf(v.Status, v.Score))
	e.text(`,"reason":`, v.Reason)
	e.b = append(e.b, `,"status":"`...)
	e.b = append(append(e.b, v.Status.String()...), '"')
	if v.Threshold != nil {
		e.b = append(e.b, `,"threshold":`...)
		e.number(*v.Threshold)
	}
	if v.Waived {
		e.b = append(e.b, `,"waived":true`...)
	}
	e.b = append(e.b, `,"assertion":`...)
	e.assertion(v.Assertion)
	if len(v.Components) > 0 {
		e.b = append(e.b, `,"members":`...)
		e.int(members(v.Components))
	}
	if len(v.Named) > 0 {
		e.named(`,"namedScores":`, v.Named)
	}
	if v.HasValue {
		e.text(`,"metadata":{"renderedAssertionValue":`, v.Rendered)
		e.b = append(e.b, '}')
	}
	if v.Usage != (proviso.Usage{}) {
		e.b = append(e.b, `,"tokensUsed":`...)
		e.b = appendUsage(e.b, v.Usage)
	}
	if v.Cost != 0 {
		e.b = append(e.b, `,"cost":`...)
		e.number(v.Cost)
	}
	if v.Judge != "" {
		e.text(`,"judge":`, v.Judge)
	}
	if v.Cached {
		e.b = append(e.b, `,"cached":true`...)
	}
	e.evidence(v.Evidence)
	e.criteria(v.Criteria)
	e.b = append(e.b, '}')
}

// criteria appends the verdicts on the criteria of a judged assertion under the
// names of the judge's contract.
func (e *encoder) criteria(list []proviso.CriterionVerdict) {
	if len(list) == 0 {
		return
	}
	e.b = append(e.b, `,"criteria":[`...)
	for i := range list {
		c := &list[i]
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.text(`{"criterion":`, c.Criterion.Text)
		e.b = append(e.b, `,"pass":`...)
		e.bool(c.Status == proviso.Pass)
		e.text(`,"reasoning":`, c.Reasoning)
		e.text(`,"status":`, c.Status.String())
		if c.CannotTell {
			e.b = append(e.b, `,"cannot_tell":true`...)
		}
		e.evidence(c.Evidence)
		if c.Note != "" {
			e.text(`,"note":`, c.Note)
		}
		if c.Votes.Total() > 1 {
			e.b = append(e.b, `,"votes":{"met":`...)
			e.int(c.Votes.Met)
			e.b = append(e.b, `,"unmet":`...)
			e.int(c.Votes.Unmet)
			if c.Votes.CannotTell > 0 {
				e.b = append(e.b, `,"cannot_tell":`...)
				e.int(c.Votes.CannotTell)
			}
			e.b = append(e.b, `,"failed":`...)
			e.int(c.Votes.Failed)
			e.b = append(e.b, '}')
		}
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}

// assertion appends an assertion as written in the suite. A set is written without
// its members, whose own components follow.
func (e *encoder) assertion(a *proviso.Assertion) {
	switch {
	case a == nil:
		e.b = append(e.b, "null"...)
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
	e.b = append(e.b, `{"type":`...)
	e.b = value.AppendQuoted(e.b, a.Type)
	if a.ID != "" {
		e.text(`,"id":`, a.ID)
	}
	if _, undefined := a.Value.(value.Undefined); !undefined && a.Value != nil {
		e.b = append(e.b, `,"value":`...)
		e.b = value.AppendJSON(e.b, a.Value)
	}
	if _, undefined := a.Threshold.(value.Undefined); !undefined && a.Threshold != nil {
		e.b = append(e.b, `,"threshold":`...)
		e.b = value.AppendJSON(e.b, a.Threshold)
	}
	if a.Weight != nil {
		e.b = append(e.b, `,"weight":`...)
		e.number(*a.Weight)
	}
	if a.Metric != "" {
		e.text(`,"metric":`, a.Metric)
	}
	e.b = append(e.b, '}')
}

func (e *encoder) evidence(list []proviso.Evidence) {
	if len(list) == 0 {
		return
	}
	e.b = append(e.b, `,"evidence":[`...)
	for i, v := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, `{"quote":`...)
		e.b = value.AppendQuoted(e.b, v.Quote)
		e.b = append(e.b, `,"start":`...)
		e.int(v.Start)
		if v.Note != "" {
			e.text(`,"note":`, v.Note)
		}
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}

// evaluation appends the assertion set's result under the names of the judge's
// contract.
func (e *encoder) evaluation(v *proviso.Evaluation) {
	e.b = append(e.b, `,"evaluation":{"score":`...)
	e.optional(v.Score)
	if v.WeightedScore != nil {
		e.b = append(e.b, `,"weighted_score":`...)
		e.number(*v.WeightedScore)
	}
	e.b = append(e.b, `,"passed":`...)
	e.int(v.Passed)
	e.b = append(e.b, `,"failed":`...)
	e.int(v.Failed)
	e.b = append(e.b, `,"errors":`...)
	e.int(v.Errors)
	e.b = append(e.b, `,"skipped":`...)
	e.int(v.Skipped)
	e.b = append(e.b, `,"total":`...)
	e.int(v.Total)
	e.b = append(e.b, `,"threshold":`...)
	e.number(v.Threshold)
	e.b = append(e.b, `,"passed_threshold":`...)
	e.bool(v.PassedThreshold)
	e.text(`,"status":`, v.Status.String())
	e.b = append(e.b, '}')
}

func (e *encoder) optional(f *float64) {
	if f == nil {
		e.b = append(e.b, "null"...)
		return
	}
	e.number(*f)
}
