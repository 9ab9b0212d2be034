package proviso

// GateRules are the rules of a suite for its gate, from its key "gate". A nil field
// means that the suite does not set it; docs/gate.md has the defaults.
type GateRules struct {
	Margin   *float64 // by how much the score of the suite may fall, as a share
	Alpha    *float64 // chance of a false "fail", as a share
	MustPass []string // assertions that must pass in every case
	MinCases *int     // pairs of cases that a "pass" needs
	MinScore *float64 // of the suite, whatever the baseline is

	Assertions map[string]AssertionRule // by the name of the assertion
	Cost       CostRule
	Latency    LatencyRule
}

// AssertionRule is a rule about one assertion.
type AssertionRule struct {
	Min    *float64 // pass rate, as a share
	Margin *float64 // the least drop of the pass rate that fails, as a share; twice that of the suite if nil
}

// CostRule limits the cost of a run.
type CostRule struct {
	Max    *float64 // US dollars for each row, on average
	Margin *float64 // by which share the median may rise
}

// LatencyRule limits the latency of a run.
type LatencyRule struct {
	P95    *float64 // milliseconds that 95 % of the rows stay under
	Margin *float64 // by which share the median may rise
}
