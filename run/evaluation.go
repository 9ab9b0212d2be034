package run

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// prepareCriteria compiles the suite's assertion set. An assertion with a
// deterministic check and no criteria is that check under its own id.
func (p *Plan) prepareCriteria(pc *prepared) *check.Set {
	list := make([]*proviso.Assertion, len(pc.Set))
	for i, a := range pc.Set {
		list[i] = counted(a)
	}
	set, mistakes := p.compiler.Compile(list)
	pc.mistakes = append(pc.mistakes, mistakes...)
	return set
}

// counted returns the check of a, with what a says about it; a itself if only a
// judge can decide it.
func counted(a *proviso.Assertion) *proviso.Assertion {
	if a.Check == nil || len(a.Criteria) > 0 {
		return a
	}
	c := *a.Check
	c.ID, c.Instruction, c.Raw, c.Pointer = a.ID, a.Instruction, a.Raw, a.Pointer
	if a.Weight != nil {
		c.Weight = a.Weight
	}
	if a.When != "" {
		c.When = a.When
	}
	if a.Severity != proviso.Unset {
		c.Severity = a.Severity
	}
	return &c
}

// evaluate decides the assertion set and joins its result with the case's own: a
// case that has both passes if both pass.
func (p *Plan) evaluate(ctx context.Context, pc *prepared, row *check.Row, res *proviso.Result) {
	res.SetVerdict = pc.criteria.Eval(ctx, row)
	e := score(res.SetVerdict, p.Suite.Threshold)
	a := &res.Aggregate
	own := a.Status
	if len(pc.Assert) == 0 {
		a.Score = 0
		if e.Score != nil {
			a.Score = *e.Score
		}
	}
	a.Evaluation = &e
	switch {
	case e.Errors > 0 && own != proviso.Errored:
		a.Status, a.Reason = proviso.Errored, reasonOf(res.SetVerdict, proviso.Errored)
	case own == proviso.Errored || own == proviso.Fail:
	case !e.PassedThreshold:
		a.Status, a.Reason = proviso.Fail, reasonOf(res.SetVerdict, proviso.Fail)
	case len(pc.Assert) == 0:
		a.Status, a.Reason = proviso.Pass, "All assertions passed"
	}
}

func reasonOf(verdicts []proviso.Verdict, s proviso.Status) string {
	for i := range verdicts {
		if verdicts[i].Status == s {
			return verdicts[i].Reason
		}
	}
	return ""
}

// score is passed / total over an assertion set; it is not known while a verdict
// is missing.
func score(verdicts []proviso.Verdict, threshold float64) proviso.Evaluation {
	e := proviso.Evaluation{Threshold: threshold}
	var held, weight float64
	weighted := false
	must := true
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status == proviso.Skip {
			e.Skipped++
			continue
		}
		if v.Assertion.Severity == proviso.Info {
			continue
		}
		w := 1.0
		if v.Assertion.Weight != nil {
			w = *v.Assertion.Weight
			weighted = weighted || w != 1
		}
		weight += w
		e.Total++
		switch v.Status {
		case proviso.Pass:
			e.Passed++
			held += w
		case proviso.Fail:
			e.Failed++
			must = must && v.Assertion.Severity != proviso.Must
		default:
			e.Errors++
		}
	}
	settle(&e, held, weight, weighted, must)
	return e
}

func settle(e *proviso.Evaluation, held, weight float64, weighted, must bool) {
	if e.Total == 0 {
		e.PassedThreshold = true
		return
	}
	if e.Errors > 0 {
		return
	}
	share := float64(e.Passed) / float64(e.Total)
	e.Score = &share
	reached := share
	if weighted && weight > 0 {
		reached = held / weight
		e.WeightedScore = &reached
	}
	e.PassedThreshold = must && reached >= e.Threshold
}
