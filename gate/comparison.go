package gate

import (
	"cmp"

	"github.com/proviso-eval/proviso/stats"
)

// Comparison is the result of [Compare]. Every interval is a 95 % interval.
type Comparison struct {
	Base, Head Side

	// Suite compares the mean over cases of each case's mean over its assertions.
	Suite      Effect
	Assertions []AssertionEffect // the worst first
	Cases      Cases
	Columns    []ColumnPair

	// Paired differences of medians, head minus base; nil if unknown.
	Cost, Tokens, Latency *Effect

	Pairs   int // pairs in Suite
	LeftOut int // pairs with an undecided side, or without a common assertion

	// SuiteCorrected is Suite, corrected for the measured errors of the judges; nil if no
	// judged assertion has a measured judge.
	SuiteCorrected *Effect

	// Columns that only one side has. Their rows are not in Cases.
	OnlyBase, OnlyHead []Column

	Warnings []string // full sentences, without text from a model

	base, head    *Run
	suite         series // suite scores
	correction    correction
	cost, latency series // means over the repeats of a case
	repeats       repeats
}

// Side is the name and the identity of a run.
type Side struct {
	Name     string
	Identity Identity
}

// Effect is a figure for both runs and their difference, head minus base.
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
	Broke, Fixed int     // pairs that changed from pass to fail, and from fail to pass
	P            float64 // exact two-sided p-value
	PAdjusted    float64 // P after Holm's correction over all assertions; it decides nothing
	Worse        float64 // one-sided mid-p of "head is worse than base", used by Decide
	Judged       bool
	Corrected    *Effect // corrected for the judge's measured errors; nil if these are unknown
	OnlyBase     int     // verdicts without a counterpart
	OnlyHead     int
	LeftOut      int     // pairs with an undecided verdict
	Flips        float64 // probability that a repeat of base and one of head disagree on a case

	series series
}

// Cases holds the paired cases by how they changed. The worst come first.
type Cases struct {
	Broke, Fixed, StillFailing, Flaky []CasePair
	Same                              int
	OnlyBase, OnlyHead, Undecided     []CasePair
}

// CasePair is a case in a pair of columns.
type CasePair struct {
	Name       string
	Title      string   // display title of a case without an id; see [Case.Title]
	Column     int      // index in [Comparison.Columns]
	Base, Head []int    // [Row.Index] of each repeat; nil on the side that lacks the case
	Change     float64  // change of the score, head minus base; NaN if a side is undecided
	Broke      []string // assertions that changed from pass to fail
	Fixed      []string
}

// Label returns the display name of the case: its title, otherwise its name.
func (p *CasePair) Label() string { return cmp.Or(p.Title, p.Name) }

// ColumnPair is a pair of columns, by label.
type ColumnPair struct {
	Base Column `json:"base"`
	Head Column `json:"head"`
}
