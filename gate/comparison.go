package gate

import (
	"cmp"

	"github.com/proviso-eval/proviso/stats"
)

// Comparison is what [Compare] found. Every interval is a 95 % interval.
type Comparison struct {
	Base, Head Side

	// Suite compares the mean over cases of the mean over a case's assertions.
	Suite      Effect
	Assertions []AssertionEffect // the worst first
	Cases      Cases
	Columns    []ColumnPair

	// Paired differences of medians, head minus base. nil if unknown.
	Cost, Tokens, Latency *Effect

	Pairs   int // that entered Suite
	LeftOut int // pairs with an undecided side, or without an assertion that both sides have

	// SuiteCorrected is Suite, corrected for the measured errors of the judges; nil if no
	// judged assertion has a measured judge.
	SuiteCorrected *Effect

	// Columns that only one side has. Their rows are not listed in Cases.
	OnlyBase, OnlyHead []Column

	Warnings []string // full sentences, without what a model wrote

	base, head    *Run
	suite         series // of the score of the suite
	correction    correction
	cost, latency series // as means over the repeats of a case
	repeats       repeats
}

// Side names a run and gives its identity.
type Side struct {
	Name     string
	Identity Identity
}

// Effect is a figure of both runs and the difference, head minus base.
type Effect struct {
	Base, Head Figure
	Difference stats.Estimate
	Pairs      int
	Units      float64 // independent clusters among the pairs; Pairs if no case has a cluster
}

// Figure is an estimate from N cases. Its value is NaN if N is 0.
type Figure struct {
	stats.Estimate
	N int
}

// AssertionEffect is how one assertion changed.
type AssertionEffect struct {
	Assertion string
	Effect
	Broke, Fixed int     // pairs that went from pass to fail, and back
	P            float64 // exact, two-sided
	PAdjusted    float64 // P after Holm over all assertions; it decides nothing
	Worse        float64 // one-sided mid-p of "head is worse than base", by which Decide decides
	Judged       bool
	Corrected    *Effect // for the measured errors of the judge; nil if it was not measured
	OnlyBase     int     // verdicts without a partner
	OnlyHead     int
	LeftOut      int     // pairs with an undecided verdict
	Flips        float64 // chance that a repeat of base and one of head disagree on a case

	series series
}

// Cases sorts the paired cases by how they changed. The worst come first.
type Cases struct {
	Broke, Fixed, StillFailing, Flaky []CasePair
	Same                              int
	OnlyBase, OnlyHead, Undecided     []CasePair
}

// CasePair is a case in a pair of columns.
type CasePair struct {
	Name       string
	Title      string   // for people, of a case without an id; see [Case.Title]
	Column     int      // index in [Comparison.Columns]
	Base, Head []int    // [Row.Index] of each repeat; nil on the side that lacks it
	Change     float64  // of the score, head minus base; NaN if a side is undecided
	Broke      []string // assertions that went from pass to fail
	Fixed      []string
}

// Label returns what people call the case: its title, else its name.
func (p *CasePair) Label() string { return cmp.Or(p.Title, p.Name) }

// ColumnPair names the two columns that were paired.
type ColumnPair struct {
	Base Column `json:"base"`
	Head Column `json:"head"`
}
