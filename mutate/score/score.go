// Package score tries mutants of outputs on assertions: for each assertion which mutants it
// kills, for each instruction of the prompt which survive. It needs no labels. Start at
// [Run].
package score

import (
	"context"
	"iter"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/stats"
)

// Set is a prompt with the assertions that decide its outputs.
type Set struct {
	Prompt     string // prompt template
	Assertions []proviso.Candidate
}

// Output is an output with the assertions that decide it. Outputs with the same assertions
// share their Set.
type Output struct {
	trial.Trial
	Set *Set
}

// Options configure [Run].
type Options struct {
	// Try configures how assertions are compiled and decided.
	Try matrix.Options
	// Rules compiles the checks that rules derive from instructions. It must not access
	// files or the network.
	Rules *check.Compiler
	// Judge includes assertions that ask a model. They decide the unchanged outputs, and
	// the mutants that nothing else kills.
	Judge bool
	Seed  uint64
	// Outputs is the maximum number of outputs to break, drawn with Seed from those that
	// pass the assertions. Mutants is the maximum number of mutants for each output and
	// instruction. 0 means the defaults.
	Outputs, Mutants int
	// Model, if not nil, also makes mutants, of at most Asked outputs (0 means the
	// default).
	Model *ask.Model
	Asked int
	// Tick, if not nil, is called with the number of mutants tried so far. Calls are
	// serialized.
	Tick func(tried int)
}

// Defaults of [Options].
const (
	DefaultOutputs = 20
	DefaultMutants = 3
	DefaultAsked   = 5
)

// spare is how many outputs are drawn per output to break, because some outputs do not
// pass.
const spare = 5

// confidence is the confidence of the intervals.
const confidence = 0.95

// Counts are the results of mutants. A mutant is undecided if nothing kills it and an
// assertion could not be decided on it. It then counts neither as killed nor as survived.
type Counts struct{ Killed, Survived, Undecided int }

// Decided returns the number of killed and survived mutants.
func (c Counts) Decided() int { return c.Killed + c.Survived }

// Made returns the number of all mutants.
func (c Counts) Made() int { return c.Killed + c.Survived + c.Undecided }

// Share returns the mutation score: killed / decided; 0 if none is decided.
func (c Counts) Share() float64 {
	if c.Decided() == 0 {
		return 0
	}
	return float64(c.Killed) / float64(c.Decided())
}

// Interval returns the Wilson interval of the score. It treats mutants as independent.
func (c Counts) Interval() stats.Interval { return stats.Wilson(c.Killed, c.Decided(), confidence) }

func (c *Counts) add(o Counts) {
	c.Killed += o.Killed
	c.Survived += o.Survived
	c.Undecided += o.Undecided
}

// Outputs counts the outputs by usability.
type Outputs struct {
	Given     int
	Bad       int // labelled bad and left out
	Unfit     int // empty or too long
	Failing   int // fail an assertion unchanged
	Undecided int // no assertion could be decided
	Usable    int // broken
}

// Over returns the number of outputs beyond the limit of [Options], which were not needed.
func (o Outputs) Over() int { return o.Given - o.Bad - o.Unfit - o.Failing - o.Undecided - o.Usable }

// Assertion is which mutants an assertion kills.
type Assertion struct {
	Name, Type string
	Judged     bool   // it asks a model
	NotRun     string // why it was not run at all; "" if it was
	Failing    int    // unchanged outputs that it fails, which are not used
	Counts            // of the mutants it was run on, made from outputs that it passes
	// Kills counts the mutants that it kills, by index in [Report.Instructions]; -1 is
	// AnyAnswer.
	Kills map[int]int
	// Why is one reason why verdicts were undecided; "" if there is none.
	Why string
}

// Change is what a mutant changes, with its surroundings. All texts are short and on one
// line.
type Change struct {
	Before  string `json:"before"`
	Removed string `json:"removed"`
	Added   string `json:"added"`
	After   string `json:"after"`
}

// Example is a surviving mutant.
type Example struct {
	Output   string       `json:"output"` // id of the output
	Operator string       `json:"operator"`
	Basis    mutate.Basis `json:"basis"`
	Change   `json:"change"`
}

// Instruction is which mutants of an instruction survive.
type Instruction struct {
	Text     string
	Line     int // line of the first prompt that contains it
	Category string
	// Assertions are the names of the assertions made from it.
	Assertions []string
	Counts
	By map[mutate.Basis]Counts
	// Also counts the mutants that also break other instructions.
	Also int
	// Broken counts the unchanged outputs that break it, according to the rules' check.
	Broken int
	// Killers are the names of the assertions that kill its mutants, the best first.
	Killers []string
	// Survivors are a few surviving mutants.
	Survivors []Example
	// Add is a missing check derived by rules; nil if the rules derive none.
	Add *proviso.Candidate
	// Judged counts the assertions made from it that ask a model and were not run.
	Judged int
}

// Report is the result of [Run].
type Report struct {
	Outputs      Outputs
	Assertions   []Assertion
	Instructions []Instruction // instructions of the prompts, in their order
	AnyAnswer    Instruction
	Counts       // sums over the instructions without AnyAnswer
	By           map[mutate.Basis]Counts
	NotRun       int // assertions not run because they ask a model

	Model     string // that made mutants; "" for none
	Spent     ask.Spent
	Refuted   int      // mutants claimed by the model that a rules' check refutes
	ModelErrs []string // why answers of the model were unusable; each reason once

	Questions  int // questions to that model
	Unanswered int // questions without a usable answer
	// Usage and Cost are those of judged assertions; Cost is in US dollars.
	Usage proviso.Usage
	Cost  float64
}

// Run draws outputs that pass all assertions, breaks them one instruction at a time, and
// tries the assertions on the mutants. It compiles each set of assertions once, and breaks
// and decides in parallel. It keeps the drawn outputs in memory, but not the mutants. The
// same outputs, options and verdicts give the same report. If ctx ends, Run returns its
// error. An error from outputs also ends Run.
func Run(ctx context.Context, outputs iter.Seq2[Output, error], o Options) (*Report, error) {
	if o.Outputs <= 0 {
		o.Outputs = DefaultOutputs
	}
	if o.Mutants <= 0 {
		o.Mutants = DefaultMutants
	}
	if o.Asked <= 0 {
		o.Asked = DefaultAsked
	}
	s := &scoring{o: o, r: &Report{By: map[mutate.Basis]Counts{}}, decides: map[int]bool{}, unrunnable: map[int]bool{}}
	s.r.AnyAnswer.Text = mutate.AnyAnswer.Text
	if err := s.draw(outputs); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if err := s.baseline(ctx); err != nil {
		return nil, err
	}
	if err := s.askModel(ctx); err != nil {
		return nil, err
	}
	for _, g := range s.groups {
		if err := s.try(ctx, g); err != nil {
			return nil, err
		}
	}
	s.finish(ctx)
	return s.r, nil
}

// scoring is the state of [Run].
type scoring struct {
	o       Options
	r       *Report
	drawn   []*subject
	prompts map[string]*prompt
	groups  []*group
	tried   int // number of texts tried
	// decides has the assertions that pass some unchanged output, by index in the report.
	// unrunnable has those that cannot run on this machine.
	decides, unrunnable map[int]bool
}

// subject is a drawn output.
type subject struct {
	Output
	order  int // position among the given outputs
	key    uint64
	prompt *prompt
	cells  []matrix.Cell // verdicts on the unchanged output, by assertion of the set
	failed bool          // an assertion fails the unchanged output
	usable bool
	model  []made // mutants made by the model
}

// group has the outputs of one set.
type group struct {
	set      *Set
	at       []int // index in Report.Assertions, by assertion of the set
	code     []int // positions in the set of the assertions that need no model
	judged   []int // positions of those that ask a model and are run
	subjects []*subject
}

// instruction returns an instruction of the report; -1 is AnyAnswer.
func (s *scoring) instruction(i int) *Instruction { return s.r.Instruction(i) }

// Instruction returns one of r.Instructions; -1 is AnyAnswer.
func (r *Report) Instruction(i int) *Instruction {
	if i < 0 {
		return &r.AnyAnswer
	}
	return &r.Instructions[i]
}
