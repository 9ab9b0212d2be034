package proviso

// GateRules are a suite's gate rules, from its key "gate". A nil field means that the
// suite does not set it; docs/gate.md has the defaults.
type GateRules struct {
	Margin   *float64 // allowed drop of the suite's score, as a share
	Alpha    *float64 // chance of a false "fail", as a share
	MustPass []string // assertions that must pass in every case
	MinCases *int     // pairs of cases required for a "pass"
	MinScore *float64 // minimum score of the suite, whatever the baseline is

	Assertions map[string]AssertionRule // by assertion name
	Cost       CostRule
	Latency    LatencyRule
}

// AssertionRule is a rule about one assertion.
type AssertionRule struct {
	Min    *float64 // minimum pass rate, as a share
	Margin *float64 // smallest drop of the pass rate that fails, as a share; nil means twice the suite's margin
}

// CostRule limits the cost of a run.
type CostRule struct {
	Max    *float64 // US dollars for each row, on average
	Margin *float64 // allowed rise of the median, as a share
}

// LatencyRule limits the latency of a run.
type LatencyRule struct {
	P95    *float64 // upper limit of the 95th percentile, in milliseconds
	Margin *float64 // allowed rise of the median, as a share
}
