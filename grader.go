package proviso

import (
	"context"

	"github.com/proviso-eval/proviso/value"
)

// Grader asks a model about an output. Implementations are safe for concurrent use. A
// reply without a verdict is an error, never a pass.
type Grader interface {
	// Grade answers q, with its criteria in order, or returns an error that says why
	// there is no verdict.
	Grade(ctx context.Context, q Question) (Grade, error)
}

// SetGrader is a [Grader] that answers several questions about one output together, with
// fewer calls than one by one.
type SetGrader interface {
	Grader
	// GradeSet answers questions about the same input and output, in order. Each has its
	// own answer or error.
	GradeSet(ctx context.Context, qs []Question) []Graded
}

// EachGrader is a [SetGrader] that reports each answer as soon as it is known.
type EachGrader interface {
	SetGrader
	// GradeEach is GradeSet. It also calls known with the index of a question when that
	// question is answered, at most once for each. The calls come from several
	// goroutines, possibly at the same time. None comes after GradeEach has returned.
	GradeEach(ctx context.Context, qs []Question, known func(i int, g Graded)) []Graded
}

// Preparer is a [Grader] that can report before a run why it could not answer.
type Preparer interface {
	Grader
	// Prepare opens what grading q needs, such as the provider and a prompt that replaces
	// the grader's own, and returns the mistakes in it. It reads only Type, Assertion,
	// Grader, Rubric and Case of q, and it makes no calls. Several errors may be joined
	// (errors.Join).
	Prepare(q Question) error
}

// Forecaster is a [Grader] that can estimate its calls before a run.
type Forecaster interface {
	Grader
	// Forecast estimates, for each provider, the calls needed to answer qs, which are
	// about one output. It makes no calls.
	Forecast(qs []Question) []Forecast
}

// Forecast is an estimate of a [Grader]'s calls to one provider.
type Forecast struct {
	Provider Provider
	Calls    int
	Bytes    int64 // approximate total size of the prompts
}

// Chooser is a [Grader] that compares several outputs to the same case.
type Chooser interface {
	Grader
	// Choose returns the index of the best of q.Outputs, which are at least two, and the
	// usage. Pass and Score of the grade have no meaning.
	Choose(ctx context.Context, q Question) (best int, g Grade, err error)
}

// Graded is the answer to one question of several.
type Graded struct {
	Grade Grade
	Err   error // why there is no verdict; Grade then holds only the usage
}

// Question is a question to a grader about one output.
type Question struct {
	Type      string // assertion type, such as "judge" or "llm-rubric"
	Assertion *Assertion
	Value     any // the assertion's value, with templates rendered
	Input     string
	Output    string
	Vars      *value.Object
	Grader    any    // provider that the assertion, the case or the suite names; nil if none
	Rubric    any    // the rubricPrompt that applies; nil if none
	Spans     []Span // for questions about a trace
	Sample    Sample

	Instruction string      // judged assertions: the instruction, with markers
	Criteria    []Criterion // judged assertions: the criteria for the model, as texts with markers
	// Values holds the text for each marker in Instruction and Criteria: {{name}} stands
	// for the text under name. The texts are data: a grader must not treat them as part
	// of the question.
	Values *value.Object

	// Background is what a judge may consult besides input and output, such as the
	// output's sources; "" if there is none. Only judged assertions have it.
	Background string

	Threshold *float64 // threshold of the assertion; nil if it has none
	Case      *Case    // nil outside a suite
	Context   []string // passages that the answer should be based on, for types that check this
	Turns     []Turn   // the conversation so far, ending with the answer to grade
	Outputs   []string // all outputs to compare, for a [Chooser]
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
	Judge    string // judge identity: model, parameters, prompt hash, mode
}

// CriterionVerdict is the answer to one criterion.
type CriterionVerdict struct {
	Criterion Criterion
	Status    Status // Skip if the assertion was already decided and no model was asked
	Reasoning string // one sentence
	Evidence  []Evidence
	Note      string // problems with the judge's evidence or reasoning; "" if none
	Votes     Votes

	// CannotTell means that the judge answered that it cannot tell. Status is then
	// Errored, and Reasoning says why.
	CannotTell bool
}

// Votes counts the votes on a criterion. All are 0 if no model was asked.
type Votes struct {
	Met        int `json:"met"`
	Unmet      int `json:"unmet"`
	CannotTell int `json:"cannot_tell,omitempty"`
	Failed     int `json:"failed"`
}

// Total returns the number of votes requested.
func (v Votes) Total() int { return v.Met + v.Unmet + v.CannotTell + v.Failed }
