package proviso

import "context"

// Grader asks a model about an output. Implementations are safe for concurrent
// use. A reply without a verdict is an error, never a pass.
type Grader interface {
	// Grade answers every question of q in order, or returns an error that says
	// why there is no verdict.
	Grade(ctx context.Context, q Question) (Grade, error)
}

// SetGrader is a [Grader] that answers several questions about one output
// together, which takes fewer calls than asking them one by one.
type SetGrader interface {
	Grader
	// GradeSet answers questions about the same input and output, in order. Each
	// has an answer or an error of its own.
	GradeSet(ctx context.Context, qs []Question) []Graded
}

// Preparer is a [Grader] that knows before a run why it could not answer.
type Preparer interface {
	Grader
	// Prepare opens what grading q takes, such as the provider that is asked and
	// the prompt that replaces the grader's own, and says what is wrong with it. Of
	// q it looks at Type, Assertion, Grader, Rubric and Case alone, and it asks
	// nobody. Several errors may be joined (errors.Join).
	Prepare(q Question) error
}

// Forecaster is a [Grader] that knows before a run about how much it is going to
// ask.
type Forecaster interface {
	Grader
	// Forecast returns what the answers to qs, which are about one output, are going
	// to take of each provider. It asks nobody.
	Forecast(qs []Question) []Forecast
}

// Forecast is what a [Grader] is going to ask of one provider.
type Forecast struct {
	Provider Provider
	Calls    int
	Bytes    int64 // of the prompts, about
}

// Chooser is a [Grader] that compares several outputs to the same case.
type Chooser interface {
	Grader
	// Choose returns the index of the best of q.Outputs, which are at least two,
	// with what it took to find out. Pass and Score of the grade mean nothing.
	Choose(ctx context.Context, q Question) (best int, g Grade, err error)
}

// Graded is the answer to one question of several.
type Graded struct {
	Grade Grade
	Err   error // why there is no verdict; Grade is then empty but for what was spent
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

	Instruction string      // judged assertions: the assertion's, with markers
	Criteria    []Criterion // judged assertions: those that a model has to decide, as texts with markers
	// Values are what the markers in Instruction and Criteria stand for: {{name}} for
	// the text under name. They are data, which a grader must not take for a part of
	// the question.
	Values *Object

	Threshold *float64 // of the assertion; nil if it has none
	Case      *Case    // nil outside a suite
	Context   []string // the passages that the answer was to rest on, for questions about them
	Turns     []Turn   // what was said so far, with the answer in question at the end, for questions about a conversation
	Outputs   []string // all that are compared, for a [Chooser]
}

// Turn is one exchange of a conversation.
type Turn struct{ Input, Output string }

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
	Status    Status // Skip if it was not asked because the assertion is decided without it
	Reasoning string // one sentence
	Evidence  []Evidence
	Note      string // what was wrong with the judge's evidence or reasoning, "" if nothing
	Votes     Votes

	// CannotTell says that the judge answered that it cannot tell. Status is then
	// Errored, and Reasoning is why.
	CannotTell bool
}

// Votes counts how often a criterion was found to be met. All are 0 where no
// model was asked.
type Votes struct{ Met, Unmet, CannotTell, Failed int }

// Total returns how many votes were asked for.
func (v Votes) Total() int { return v.Met + v.Unmet + v.CannotTell + v.Failed }

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
