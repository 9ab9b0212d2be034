package proviso

import (
	"context"

	"github.com/proviso-eval/proviso/value"
)

// Grader asks a model about an output. Implementations are safe for concurrent use. A
// reply without a verdict is an error, never a pass.
type Grader interface {
	// Grade answers q, its criteria in order, or returns an error with the reason why
	// there is no verdict.
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

// EachGrader is a [SetGrader] that tells of each answer as soon as it is known.
type EachGrader interface {
	SetGrader
	// GradeEach is GradeSet. It also calls known for questions as they are answered, with
	// the index of the question, at most once for each. The calls come from several
	// goroutines, maybe at the same time, and none comes after GradeEach has returned.
	GradeEach(ctx context.Context, qs []Question, known func(i int, g Graded)) []Graded
}

// Preparer is a [Grader] that can tell before a run why it could not answer.
type Preparer interface {
	Grader
	// Prepare opens what is needed to grade q, such as the provider and the prompt
	// that replaces the grader's own, and returns the mistakes in it. It reads only
	// Type, Assertion, Grader, Rubric and Case of q, and it makes no calls. Several
	// errors may be joined (errors.Join).
	Prepare(q Question) error
}

// Forecaster is a [Grader] that can estimate its calls before a run.
type Forecaster interface {
	Grader
	// Forecast returns an estimate, for each provider, of the calls that answer qs,
	// which are about one output. It makes no calls.
	Forecast(qs []Question) []Forecast
}

// Forecast is an estimate of the calls of a [Grader] to one provider.
type Forecast struct {
	Provider Provider
	Calls    int
	Bytes    int64 // approximate size of the prompts
}

// Chooser is a [Grader] that compares several outputs to the same case.
type Chooser interface {
	Grader
	// Choose returns the index of the best of q.Outputs, which are at least two, and
	// the usage. Pass and Score of the grade mean nothing.
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
	Value     any // the assertion's value after templates are rendered
	Input     string
	Output    string
	Vars      *value.Object
	Grader    any    // provider named by the assertion, the case or the suite; nil if none
	Rubric    any    // rubricPrompt that applies; nil if none
	Spans     []Span // for questions about a trace
	Sample    Sample

	Instruction string      // judged assertions: the instruction, with markers
	Criteria    []Criterion // judged assertions: the criteria that a model decides, as texts with markers
	// Values holds the text of each marker in Instruction and Criteria: {{name}}
	// stands for the text under name. They are data, and a grader must not treat them
	// as part of the question.
	Values *value.Object

	// Background is what a judge may look at beside input and output, such as the sources
	// that the output is based on; "" if there is none. Only judged assertions have it.
	Background string

	Threshold *float64 // of the assertion; nil if it has none
	Case      *Case    // nil outside a suite
	Context   []string // passages that the answer should be based on, for questions about them
	Turns     []Turn   // the conversation so far, ending with the answer in question
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
	Judge    string // identity: model, parameters, prompt hash, mode
}

// CriterionVerdict is the answer to one criterion.
type CriterionVerdict struct {
	Criterion Criterion
	Status    Status // Skip if it was not asked because the assertion was already decided
	Reasoning string // one sentence
	Evidence  []Evidence
	Note      string // problems with the judge's evidence or reasoning; "" if none
	Votes     Votes

	// CannotTell means that the judge answered that it cannot tell. Status is then
	// Errored, and Reasoning is why.
	CannotTell bool
}

// Votes counts the votes on a criterion. All are 0 if no model was asked.
type Votes struct {
	Met        int `json:"met"`
	Unmet      int `json:"unmet"`
	CannotTell int `json:"cannot_tell,omitempty"`
	Failed     int `json:"failed"`
}

// Total returns how many votes were requested.
func (v Votes) Total() int { return v.Met + v.Unmet + v.CannotTell + v.Failed }
