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
	Decided int     // how many of the reasons decided; the others are to be known besides
	Needed  *Needed // set if more cases or repeats would decide
}

// Reason is one rule that decided or took part. The rules that decided come first.
type Reason struct {
	Rule      string `json:"rule"`                // as in docs/gate.md: must-pass, min-score, assertion-min, cost, latency, left-out, assertions, min-cases, margin, suite; note for what is to be known besides
	Assertion string `json:"assertion,omitempty"` // "" if the reason is about the suite
	Message   string `json:"message"`             // a sentence with the figures; names from the suite are quoted
}

// Needed is what would turn "inconclusive" into a decision in 8 of 10 runs, if the
// difference stays as it is: so many cases with the same repeats, or so many repeats of
// the same cases. Repeats is 0 if no number of them would do, or if the runs have no
// repeats to tell from.
type Needed struct{ Cases, Repeats int }
