package proviso

import "github.com/proviso-eval/proviso/value"

// Status is the result of an assertion.
type Status uint8

// The four statuses. Errored is never counted as pass or fail and never negated. It is
// the zero value, so that an unset verdict never passes.
const (
	Errored Status = iota // it could not be decided
	Pass                  // the output meets the assertion
	Fail                  // it does not
	Skip                  // the assertion did not apply
)

// String returns error, pass, fail or skip.
func (s Status) String() string { return [...]string{"error", "pass", "fail", "skip"}[s] }

// StatusNamed returns the status with the name s, and Errored for any other text.
func StatusNamed(s string) Status {
	for _, status := range [...]Status{Pass, Fail, Skip} {
		if status.String() == s {
			return status
		}
	}
	return Errored
}

// NamedScore is the score of one metric: a mean, with its total weight, so that Value
// × Weight can be summed.
type NamedScore struct {
	Name   string
	Value  float64
	Weight float64
}

// Evidence is a part of an output that supports a verdict.
type Evidence struct {
	Quote string // text from the output, or the name of a span in its trace
	Start int    // byte offset in the output, -1 if unknown
	Note  string
}

// Verdict is the decision on one assertion.
type Verdict struct {
	Assertion  *Assertion
	Status     Status
	Score      float64  // usually 0 to 1; scripts may give any number, NaN included
	Threshold  *float64 // what the score is compared with, from the suite or the type; nil if none
	Unscored   bool     // a set that certainly fails although a member is undecided: it has no score
	Reason     string
	Evidence   []Evidence
	Components []Verdict          // members of a set, or parts that a script reported
	Criteria   []CriterionVerdict // of a judged assertion, in order; its check comes first
	Named      []NamedScore       // scores that the assertion itself reported
	Rendered   string             // the value after templates are rendered, if that changed it
	HasValue   bool               // whether Rendered is set
	Usage      Usage
	Cost       float64 // US dollars spent on the decision
	Cached     bool
	Judge      string // identity of the judge, "" if none was asked
	Waived     bool   // the check failed, but its weight is 0, so it passes
	Threw      bool   // the script threw an exception or returned something that is not a verdict, which fails the assertion; not in reports
}

// Aggregate is the verdict on a whole row.
type Aggregate struct {
	Status   Status
	Score    float64
	Unscored bool // the row certainly fails although an assertion is undecided: it has no score
	Reason   string
	Named    []NamedScore

	// Evaluation is the assertion set's own result, nil if there is no set.
	Evaluation *Evaluation
}

// Evaluation is the result of an assertion set: passed / total, never weighted.
type Evaluation struct {
	// Status is fail as soon as the failed assertions decide the result, regardless of
	// the undecided ones, and skip if no assertion applied.
	Status                                 Status
	Score, WeightedScore                   *float64 // nil while an assertion is undecided
	Passed, Failed, Errors, Skipped, Total int
	Threshold                              float64
	PassedThreshold                        bool
}

// Result is one row: a prompt, a provider and a case with its output and
// verdicts.
type Result struct {
	Case       *Case
	Prompt     *Prompt
	PromptIdx  int // column: prompts × providers, from 0
	Provider   *ProviderSpec
	Rendered   string        // the prompt that was sent
	Vars       *value.Object // variables that the prompt was rendered with
	Written    *value.Object // variables as written in the suite, before files and other variables are inserted; nil if they equal Vars
	Output     Output
	Verdicts   []Verdict // on the case's own assertions
	SetVerdict []Verdict // on the assertion set
	Aggregate  Aggregate
	Error      string // why the row is undecided; "" if it is decided
}
