package runs

import (
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/stats"
)

// JudgeErrors returns the measured errors of the judges in some runs, by assertion, for
// [gate.Options]. It omits an assertion that has several judges or criteria in these
// runs, because its errors differ between them.
func JudgeErrors(kept *align.Alignment, list ...*gate.Run) map[string]stats.Confusion {
	if len(kept.Entries()) == 0 {
		return nil
	}
	type decider struct{ judge, criterion string }
	deciders, several := map[string]decider{}, map[string]bool{}
	for _, run := range list {
		for i := range run.Rows {
			for j := range run.Rows[i].Verdicts {
				v := &run.Rows[i].Verdicts[j]
				if v.Judge == "" {
					continue
				}
				by := decider{v.Judge, v.Criterion}
				if known, ok := deciders[v.Assertion]; ok && known != by {
					several[v.Assertion] = true
				}
				deciders[v.Assertion] = by
			}
		}
	}
	out := map[string]stats.Confusion{}
	for assertion, by := range deciders {
		e, ok := kept.Find(by.judge, by.criterion)
		if !ok || several[assertion] {
			continue
		}
		if labels, ok := e.IndependentLabels(); ok {
			out[assertion] = labels
		}
	}
	return out
}
