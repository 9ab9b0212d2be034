package align

import (
	"crypto/sha256"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// HeldOut reports whether the labels of a case belong to the held-out half. A changed
// judge is evaluated on this half, not on the labels that people looked at while they
// changed it. The half is derived from a hash of the case, so that all outputs of a case
// are in the same half, and no case moves when labels are added. If caseID is empty,
// outputID is used instead.
func HeldOut(caseID, outputID string) bool {
	if caseID == "" {
		caseID = "output\n" + outputID
	}
	return sha256.Sum256([]byte("held out 1\n" + caseID))[0]&1 == 1
}

// decided reports whether a status is pass or fail.
func decided(s proviso.Status) bool { return s == proviso.Pass || s == proviso.Fail }

// Pair is a labelled output with a judge's verdicts before and after a change.
type Pair struct {
	Case          string // case id, or a substitute; outputs of one case are not independent
	Human         proviso.Status
	Before, After proviso.Status
}

// Compared reports whether both judges decided the output.
func (p Pair) Compared() bool { return decided(p.Before) && decided(p.After) }

// Flipped reports whether both judges decided the output, and differently.
func (p Pair) Flipped() bool { return p.Compared() && p.Before != p.After }

// Change describes how a change of a judge changed its agreement with people. An output
// that one of the judges did not decide is in neither rate: it is counted in Errors of
// that judge.
type Change struct {
	Labels int // outputs that people pass or fail
	Cases  int // distinct cases of these outputs
	Pairs  int // outputs that both judges decided; all rates are over these
	// NotApplied counts outputs to which the assertion did not apply for one of the
	// judges.
	NotApplied    int
	Before, After Agreement
	// Difference is after − before; see [stats.ChangeOfAgreement] for the intervals.
	Difference stats.AgreementChange
}

// ChangeOf compares a judge's verdicts before and after a change. It omits pairs whose
// label is neither pass nor fail.
func ChangeOf(pairs []Pair) Change {
	var c Change
	var items []stats.JudgedTwice
	cases := map[string]int{}
	for _, p := range pairs {
		if !decided(p.Human) {
			continue
		}
		c.Labels++
		number, ok := cases[p.Case]
		if !ok {
			number = len(cases)
			cases[p.Case] = number
		}
		if p.Before == proviso.Skip || p.After == proviso.Skip {
			c.NotApplied++
			continue
		}
		for _, side := range []struct {
			to     *Agreement
			status proviso.Status
		}{{&c.Before, p.Before}, {&c.After, p.After}} {
			if !decided(side.status) {
				side.to.Errors++
			}
		}
		if !p.Compared() {
			continue
		}
		c.Pairs++
		countIn(&c.Before.Confusion, p.Human, p.Before)
		countIn(&c.After.Confusion, p.Human, p.After)
		items = append(items, stats.JudgedTwice{Good: p.Human == proviso.Pass, First: p.Before == proviso.Pass, Second: p.After == proviso.Pass, Cluster: number})
	}
	c.Cases, c.Before.N, c.After.N = len(cases), c.Pairs, c.Pairs
	if c.Pairs > 0 {
		c.Before.rates()
		c.After.rates()
	}
	if d, err := stats.ChangeOfAgreement(items, confidence); err == nil {
		c.Difference = d
	}
	return c
}

// Finding is the effect of a change on a judge's agreement with people.
type Finding string

// The findings.
const (
	Better  Finding = "better"  // the interval for the difference of kappa is above 0
	Worse   Finding = "worse"   // the interval is below 0
	Unclear Finding = "unclear" // the interval contains 0
	Unknown Finding = "unknown" // kappa is undefined, or there are too few labels
)

// Finding returns what the labels show. It requires ten labels of good and ten of bad
// outputs, the same number that makes a judge measured: see [Agreement.NotMeasured].
func (c *Change) Finding() Finding {
	k := c.Difference.Kappa
	switch {
	case k == nil || !c.After.measured():
		return Unknown
	case k.Low > 0:
		return Better
	case k.High < 0:
		return Worse
	}
	return Unclear
}
