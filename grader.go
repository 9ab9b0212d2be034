package proviso

import "context"

// Grader asks a model about an output. Implementations are safe for concurrent
// use. A reply without a verdict is an error, never a pass.
type Grader interface {
	// Grade answers every question of q in order, or returns an error that says
	// why there is no verdict.
	Grade(ctx context.Context, q Question) (Grade, error)
}

// Question is what a grader is asked about one output.
type Question struct {
	Type      string // assertion type, such as "judge" or "llm-rubric"
	Assertion *Assertion
	Value     any // the assertion's value after templates
	Input     string
	Output    string
	Vars      *Object
	Grader    any    // provider named by the assertion, the case or the suite; nil if none
	Rubric    any    // rubricPrompt in force; nil if none
	Spans     []Span // for questions about a trace
	Sample    Sample
}

// Grade is a grader's answer.
type Grade struct {
	Pass     bool
	Score    float64
	Reason   string
	Criteria []CriterionVerdict
	Evidence []Evidence
	Usage    Usage
	Cost     float64
	Cached   bool
	Judge    string // identity: model, parameters, prompt hash, mode
}

// CriterionVerdict is the answer to one criterion.
type CriterionVerdict struct {
	Criterion Criterion
	Status    Status
	Reasoning string
}

// Judge is the identity of a provider that grades.
type Judge struct {
	Provider   ProviderSpec
	PromptHash string
	Mode       string
}

// Label is what a person said of an output or of a verdict on it.
type Label struct {
	Case      string
	Assertion string // "" if the label is on the output as a whole
	Good      bool
	Author    string
	Note      string
}
