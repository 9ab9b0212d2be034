package label

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
)

// How much a label tells, from 0 to 1. The order matters, not the values: what a judge
// could not say comes before where it was of two minds, and that before what was close.
const (
	scoreCannotTell = 1.0
	scoreVotes      = 0.9 // times how evenly the votes are split
	scoreRepeats    = 0.8 // times how evenly the repeats are split
	scoreNear       = 0.7 // times how near the score is to the threshold
	scoreOneUnmet   = 0.5
	scoreUndecided  = 0.4
	scoreDiffer     = 0.3  // times how often judge and people differ, added
	scoreRare       = 0.25 // times how rare the verdict is
)

const nearScore = 0.15 // that differs from the threshold by less is near

// doubt says how much a label would tell of one verdict by itself, and why.
func doubt(v record.Verdict) (score float64, why string) {
	why = "not labelled yet"
	raise := func(to float64, format string, args ...any) {
		if to > score {
			score, why = to, fmt.Sprintf(format, args...)
		}
	}
	criteria := v.Criteria()
	unmet := 0
	for _, c := range criteria {
		if c.CannotTell {
			raise(scoreCannotTell, "the judge cannot tell")
		}
		if c.Status == proviso.Fail {
			unmet++
		}
		if n := c.Votes; n.Met+n.Unmet > 1 && n.Met > 0 && n.Unmet > 0 {
			raise(scoreVotes*evenly(n.Met, n.Unmet), "the judge's votes are split, %d to %d", max(n.Met, n.Unmet), min(n.Met, n.Unmet))
		}
	}
	if s, threshold, ok := v.Score(); ok && v.Judge != "" {
		if d := math.Abs(s - threshold); d < nearScore {
			raise(scoreNear*(1-d/nearScore), "the score %.2g is near the threshold %.2g", s, threshold)
		}
	}
	if v.Status == proviso.Fail && unmet == 1 && len(criteria) > 1 {
		raise(scoreOneUnmet, "one of %d criteria is not met", len(criteria))
	}
	if v.Status == proviso.Errored {
		raise(scoreUndecided, "the judge did not decide")
	}
	return score, why
}

// evenly is 1 if two counts are equal, and 0 if one of them is 0.
func evenly(a, b int) float64 {
	n := float64(a + b)
	return 4 * float64(a) * float64(b) / (n * n)
}

// raise adds what the other rows of the run tell of an item.
func (q *Order) raise(d *drawn) {
	if n := q.groups[d.of]; n[proviso.Pass] > 0 && n[proviso.Fail] > 0 {
		if s := scoreRepeats * evenly(n[proviso.Pass], n[proviso.Fail]); s > d.score {
			d.score, d.Why = s, "the repeats of the case have different verdicts"
		}
	}
	n := q.counts[d.Assertion]
	decided := n[proviso.Pass] + n[proviso.Fail]
	if (d.status == proviso.Pass || d.status == proviso.Fail) && decided > 0 {
		share := float64(n[d.status]) / float64(decided)
		if s := scoreRare * (1 - share); share <= 0.2 && s > d.score {
			d.score, d.Why = s, "one of few that "+d.status.String()
		}
	}
	if differ := q.o.Differ[d.Assertion]; differ > 0 {
		if d.score == 0 {
			d.Why = "judge and people often differ on this assertion"
		}
		d.score += scoreDiffer * differ
	}
}
