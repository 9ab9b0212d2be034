package run

import (
	"context"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
)

// prepareCriteria compiles the suite's assertion set.
func (p *Plan) prepareCriteria(ctx context.Context, pc *prepared) *check.Set {
	set, mistakes := p.compiler.CompileContext(ctx, pc.Set)
	pc.mistakes = append(pc.mistakes, mistakes...)
	return set
}

// evaluate combines the result of the assertion set with the case's own. A case
// that has both passes if both pass, and fails if either fails. A result in
// which every assertion was skipped is ignored; if that is true of both,
// nothing was checked.
func (p *Plan) evaluate(pc *prepared, res *proviso.Result) {
	e := check.Evaluate(res.SetVerdict, p.Suite.Threshold, false)
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
	case own == proviso.Fail:
	case e.Status == proviso.Fail:
		a.Status, a.Reason = proviso.Fail, reasonOf(res.SetVerdict, proviso.Fail)
	case own == proviso.Errored:
	case e.Status == proviso.Errored:
		a.Status, a.Reason = proviso.Errored, reasonOf(res.SetVerdict, proviso.Errored)
	case e.Status == proviso.Skip && (own == proviso.Skip || len(pc.Assert) == 0):
		a.Status, a.Reason = proviso.Skip, "Nothing was checked: every assertion was skipped"
	case own == proviso.Skip || len(pc.Assert) == 0:
		a.Status, a.Reason = proviso.Pass, "All assertions passed"
	}
	if a.Unscored = a.Status == proviso.Fail && (a.Unscored || own == proviso.Errored || e.Errors > 0 && e.Score == nil); a.Unscored {
		a.Score = 0
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
