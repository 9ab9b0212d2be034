package gate

// Outcome is the answer of the gate.
type Outcome string

// The three answers.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive"
)

// Decision is the answer of the gate with its reasons.
type Decision struct {
	Outcome Outcome
	Reasons []Reason
	Decided int     // number of reasons that decided; the others are notes
	Needed  *Needed // set if more cases or repeats would decide
}

// Reason is one rule that decided or contributed. The rules that decided come first.
type Reason struct {
	Rule      string `json:"rule"`                // as in docs/gate.md: must-pass, min-score, assertion-min, cost, latency, left-out, assertions, min-cases, margin, suite; "note" for a note
	Assertion string `json:"assertion,omitempty"` // "" if the reason concerns the suite
	Message   string `json:"message"`             // a sentence with the figures; names from the suite are quoted
}

// Needed is what would turn "inconclusive" into a decision in 8 of 10 runs, if the
// difference stays the same: this many cases with the same repeats, or this many repeats
// of the same cases. Repeats is 0 if no number of repeats is enough, or if the runs have
// no repeats to estimate from.
type Needed struct{ Cases, Repeats int }
