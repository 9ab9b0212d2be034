package gate

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// Decide applies the rules of a suite to a comparison. The rules run in the order of
// docs/gate.md, and the first that gives an answer decides:
//
//  1. Absolute rules on head alone: must-pass, min-score, assertion-min, cost, latency.
//     Missing one of them is a fail.
//  2. left-out: more than 5 % of the pairs are left out: inconclusive.
//  3. assertions: an assertion got worse by at least twice the margin (or its own
//     margin), and significantly so by the one-sided mid-p of [stats.SignFlip] with
//     Holm's correction at half of alpha: fail. With up to about 400 cases the second
//     condition implies the first; with thousands, a drop far below the margin would
//     fail without the first. Assertions with too few flips to reject take no share of
//     alpha ([stats.Testable]).
//  4. min-cases: too few independent cases for a pass: inconclusive.
//  5. margin: the lower limit of the suite's difference, one-sided at alpha, is above
//     −margin: pass. It is the limit of what cases gained less what they lost, so that
//     what all cases share does not count ([stats.PairedSummary.Difference]). It is never
//     closer to zero than Wilson's limit for cases without a flip, so that breakage of
//     whole cases that is too rare to be observed does not pass.
//  6. suite: the suite got worse, by the same test at half of alpha: fail.
//
// Otherwise the answer is inconclusive, with the cases or repeats that would decide.
// docs/gate-simulations.md compares this order with others. With measured judge errors,
// rule 5 uses the corrected difference. An assertion that an A/A comparison found unfit
// is left out of rule 3.
//
// Mistakes in the rules are [proviso.Mistakes] without a place.
func Decide(c *Comparison, r *proviso.GateRules, o Options) (Decision, error) {
	s, err := newSettings(r, c.base, c.head)
	if err != nil {
		return Decision{}, err
	}
	j := &judgement{settings: s, run: c.head, c: c, flakes: o.Flakes}
	d := j.decide(steps)
	if d.Outcome == Inconclusive {
		d.Needed = j.needed()
	}
	return d, nil
}

// DecideAlone applies the absolute rules to a run without a baseline. If there are no
// such rules, the answer is inconclusive.
func DecideAlone(run *Run, r *proviso.GateRules) (Decision, error) {
	s, err := newSettings(r, run)
	if err != nil {
		return Decision{}, err
	}
	j := &judgement{settings: s, run: run}
	return j.decide(stepsAlone), nil
}

// step is one rule in the order of the decision. It returns an outcome, or "" if it does
// not decide. It may record reasons, or prevent a pass.
type step struct {
	decide func(*judgement) Outcome
	// joined steps run together with the previous one, so that all missed rules are
	// reported.
	joined bool
}

var (
	steps = []step{
		{(*judgement).mustPass, false},
		{(*judgement).minScore, true},
		{(*judgement).assertionMin, true},
		{(*judgement).costMax, true},
		{(*judgement).costMargin, true},
		{(*judgement).latencyP95, true},
		{(*judgement).latencyMargin, true},
		{(*judgement).leftOut, false},
		{(*judgement).assertions, false},
		{(*judgement).minCases, false},
		{(*judgement).margin, false},
		{(*judgement).suite, false},
	}
	stepsAlone = []step{
		{(*judgement).mustPass, false},
		{(*judgement).minScore, true},
		{(*judgement).assertionMin, true},
		{(*judgement).costMax, true},
		{(*judgement).latencyP95, true},
		{(*judgement).undecidedRows, false},
		{(*judgement).absolutePass, false},
	}
)

// judgement is a decision in progress.
type judgement struct {
	settings
	run    *Run
	c      *Comparison // nil without a baseline
	flakes []Flake

	ignoreUnseen bool // for simulations

	reasons []Reason // reasons for the outcome
	notes   []Reason // notes added to any outcome
	held    []Reason // reasons that prevent a pass
}

func (j *judgement) decide(steps []step) Decision {
	outcome := Outcome("")
	for _, s := range steps {
		if outcome != "" && !s.joined {
			break
		}
		if got := s.decide(j); got != "" {
			outcome = got
		}
	}
	switch {
	case outcome == "":
		outcome = Inconclusive
		j.because("margin", "", "%s The margin of %s is not excluded, and a drop is not shown.", j.changed(), points(j.settings.margin))
	case outcome == Pass && len(j.held) > 0:
		outcome, j.reasons = Inconclusive, nil
	}
	if outcome == Inconclusive {
		j.reasons = append(j.held, j.reasons...)
	}
	return Decision{Outcome: outcome, Reasons: append(j.reasons, j.notes...), Decided: len(j.reasons)}
}

func (j *judgement) because(rule, assertion, format string, args ...any) {
	j.reasons = append(j.reasons, Reason{rule, assertion, fmt.Sprintf(format, args...)})
}

func (j *judgement) note(rule, assertion, format string, args ...any) {
	j.notes = append(j.notes, Reason{rule, assertion, fmt.Sprintf(format, args...)})
}

func (j *judgement) hold(rule, assertion, format string, args ...any) {
	j.held = append(j.held, Reason{rule, assertion, fmt.Sprintf(format, args...)})
}

// summary returns the suite's summary. Verdicts are treated as scores: method 10 reduces
// a positive correlation so much that a run compared with itself may not pass if nearly
// all cases pass.
func (j *judgement) summary() (stats.PairedSummary, error) {
	s, err := j.c.suite.summary()
	s.Scores = true
	return s, err
}

// difference returns the suite's difference, corrected if the judges were measured, with
// an interval whose limits are one-sided at alpha.
func (j *judgement) difference() stats.Estimate {
	summary, err := j.summary()
	if err != nil {
		return j.c.Suite.Difference
	}
	level := 1 - 2*j.alpha
	e, err := summary.Difference(level)
	if err != nil { // cannot happen: alpha was checked, so the level is valid
		return j.c.Suite.Difference
	}
	if !j.ignoreUnseen {
		e.Low = max(-1, min(e.Low, e.Value-unseen(j.c.Suite.Units, j.alpha)))
	}
	if j.c.SuiteCorrected != nil {
		return j.c.correction.difference(e, level)
	}
	return e
}

// unseen returns the share of cases that may have broken although none of n did: Wilson's
// upper limit for 0 of n, one-sided at alpha.
func unseen(n, alpha float64) float64 {
	z := quantile(alpha)
	return z * z / (n + z*z)
}

func (j *judgement) leftOut() Outcome {
	all := j.c.Pairs + j.c.LeftOut
	if float64(j.c.LeftOut) <= maxLeftOut*float64(all) {
		return ""
	}
	j.because("left-out", "", "%s of %s could not be compared, more than %s: see the cases with errors and run them again.", count(j.c.LeftOut, "pair"), count(all, "pair"), percent(maxLeftOut))
	return Inconclusive
}

func (j *judgement) assertions() Outcome { return j.worse(2*j.settings.margin, true) }

// worse fails if an assertion got worse by at least drop, or by its own margin. With
// leaveOut, tests that cannot reject take no share of alpha.
func (j *judgement) worse(drop float64, leaveOut bool) Outcome {
	tested := j.tested(leaveOut)
	p := make([]float64, len(tested))
	for i, a := range tested {
		p[i] = a.Worse
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return ""
	}
	outcome := Outcome("")
	for i, a := range tested {
		if adjusted[i] > j.alpha/2 {
			continue
		}
		text := fmt.Sprintf("Assertion %s got worse: %s to %s, %s broke and %d fixed (adjusted p of a drop = %.2g)", named(a.Assertion), percent(a.Base.Value), percent(a.Head.Value), count(a.Broke, "case"), a.Fixed, adjusted[i])
		least := drop
		if own := j.rules.Assertions[a.Assertion].Margin; own != nil {
			least = *own
		}
		if below(a.change(), least) {
			j.note("assertions", a.Assertion, "%s, but by less than %s.", text, points(least))
			continue
		}
		outcome = Fail
		j.because("assertions", a.Assertion, "%s.", text)
	}
	return outcome
}

// tested returns the assertions to test.
func (j *judgement) tested(leaveOut bool) []*AssertionEffect {
	var list []*AssertionEffect
	var least []float64
	for i := range j.c.Assertions {
		a := &j.c.Assertions[i]
		switch {
		case a.Units < minUnits:
		case j.unfit(a.Assertion):
			j.note("assertions", a.Assertion, "Assertion %s is too flaky for a gate: it flips in more than %s of the cases without a change. The tests ignore it.", named(a.Assertion), percent(unfitRate))
		default:
			list, least = append(list, a), append(least, stats.SignFlipLeast(a.series.worse(), true))
		}
	}
	if !leaveOut {
		return list
	}
	var able []*AssertionEffect
	for _, i := range stats.Testable(least, j.alpha/2) {
		able = append(able, list[i])
	}
	return able
}

// change returns how much worse an assertion got, corrected if its judge was measured.
func (x *AssertionEffect) change() float64 {
	if x.Corrected != nil {
		return -x.Corrected.Difference.Value
	}
	return -x.Difference.Value
}

func (j *judgement) unfit(assertion string) bool {
	for _, f := range j.flakes {
		if f.Assertion == assertion {
			return f.Unfit
		}
	}
	return false
}

func (j *judgement) minCases() Outcome {
	if j.c.Suite.Units >= float64(j.settings.minCases) {
		return ""
	}
	j.because("min-cases", "", "A pass needs %s; there are %d.", count(j.settings.minCases, "independent case"), int(j.c.Suite.Units))
	return Inconclusive
}

func (j *judgement) margin() Outcome {
	d := j.difference()
	if d.Low <= -j.settings.margin {
		return ""
	}
	j.because("margin", "", "%s That excludes a drop of %s.", j.changed(), points(j.settings.margin))
	if d.High < 0 {
		j.note("margin", "", "The suite got worse, but by less than the margin.")
	}
	return Pass
}

func (j *judgement) suite() Outcome {
	p, err := stats.SignFlip(j.c.suite.worse(), stats.FirstMore, true)
	if err != nil || p > j.alpha/2 {
		return ""
	}
	j.because("suite", "", "%s A drop is shown (p of a drop = %.2g).", j.changed(), p)
	return Fail
}

// percent formats a share.
func percent(share float64) string { return fmt.Sprintf("%.4g %%", 100*share) }

// points formats a difference of shares.
func points(d float64) string { return fmt.Sprintf("%.3g points", 100*d) }

// changed describes how much the suite changed, with the limit that decides. This limit
// differs from that of the 95 % interval shown with the figures.
func (j *judgement) changed() string {
	d := j.difference()
	return fmt.Sprintf("The suite changed by %+.1f points; the lower limit at %s, with room for unseen breakage, is %+.1f points.", 100*d.Value+0, percent(1-j.alpha), 100*d.Low)
}
