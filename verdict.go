package proviso

// Status is what became of an assertion.
type Status uint8

// The four statuses. Error is never counted as pass or fail and never negated;
// it is the zero value, so that a verdict nobody reached never passes.
const (
	Errored Status = iota // it could not be decided
	Pass                  // the output keeps the promise
	Fail                  // it does not
	Skip                  // the assertion did not apply
)

// String returns error, pass, fail or skip.
func (s Status) String() string { return [...]string{"error", "pass", "fail", "skip"}[s] }

// NamedScore is the score of one metric: a mean, with the weight it was taken
// over, so that Value × Weight can be summed.
type NamedScore struct {
	Name   string
	Value  float64
	Weight float64
}

// Evidence is a part of an output that a verdict rests on.
type Evidence struct {
	Quote string // text that occurs in the output, or the name of a span of its trace
	Start int    // byte offset in the output, -1 if unknown
	Note  string
}

// Verdict is the decision on one assertion.
type Verdict struct {
	Assertion  *Assertion
	Status     Status
	Score      float64  // usually 0 to 1; scripts may give any number, NaN included
	Threshold  *float64 // what the type compares with, the suite's or its own; nil if none
	Unscored   bool     // a set that failed for certain while a member is undecided: it has no score
	Reason     string
	Evidence   []Evidence
	Components []Verdict          // members of a set, or parts that a script reported
	Criteria   []CriterionVerdict // of a judged assertion, in its order; its check comes first
	Named      []NamedScore       // scores that the assertion itself reported
	Rendered   string             // the value after templates, if they changed it
	HasValue   bool               // whether Rendered is set
	Usage      Usage
	Cost       float64 // US dollars spent on deciding
	Cached     bool
	Judge      string // identity of the judge, "" if none was asked
	Waived     bool   // it does not hold, and passes because its weight is 0
	Threw      bool   // a script failed it by an exception, or by a result that is no verdict; no report has it
}

// Aggregate is the verdict on a row as a whole.
type Aggregate struct {
	Status   Status
	Score    float64
	Unscored bool // it failed for certain while an assertion is undecided: it has no score
	Reason   string
	Named    []NamedScore

	// Evaluation is the assertion set's own result, nil if there is no set.
	Evaluation *Evaluation
}

// Evaluation is the result of an assertion set: passed / total, never weighted.
type Evaluation struct {
	// Status is fail as soon as the failed assertions decide the result, whatever the
	// undecided ones are, and skip if nothing applied.
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
	Rendered   string  // the prompt that was sent
	Vars       *Object // the variables it was made with
	Written    *Object // the variables as the suite has them, before files and other variables are put in; nil if they are Vars
	Output     Output
	Verdicts   []Verdict // of the case's own assertions
	SetVerdict []Verdict // of the assertion set
	Aggregate  Aggregate
	Error      string // why the row is undecided, "" if it is not
}
