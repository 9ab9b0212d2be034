// Package score tries mutants of outputs on assertions: for each assertion which mutants
// it kills, for each instruction of the prompt which survive. No labels are needed. Start
// at [Run].
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
	Prompt     string // template
	Assertions []proviso.Candidate
}

// Output is an output with what decides it. Outputs that are decided by the same
// assertions share their Set.
type Output struct {
	trial.Trial
	Set *Set
}

// Options configure [Run].
type Options struct {
	// Try compiles and decides the assertions.
	Try matrix.Options
	// Rules compiles the checks that rules make of instructions. It must reach no files
	// and no network.
	Rules *check.Compiler
	// Judge includes assertions that ask a model. They are asked about the unchanged
	// outputs, and about the mutants that nothing else kills.
	Judge bool
	Seed  uint64
	// Outputs is how many outputs are broken at most, drawn by Seed among those that pass
	// the assertions; Mutants is how many
	// mutants are made of an output for each instruction. 0 means the defaults.
	Outputs, Mutants int
	// Model also makes mutants, of at most Asked outputs (0 means the default); nil makes
	// none.
	Model *ask.Model
	Asked int
	// Tick is called with the number of mutants that were tried, one call at a time; it
	// may be nil.
	Tick func(tried int)
}

// The defaults of [Options].
const (
	DefaultOutputs = 20
	DefaultMutants = 3
	DefaultAsked   = 5
)

// spare is how many outputs are drawn for each that is broken, since some do not pass.
const spare = 5

// confidence is that of the intervals.
const confidence = 0.95

// Counts are the results of mutants. Undecided are those that nothing kills while an
// assertion could not be decided on them: they are neither killed nor survived.
type Counts struct{ Killed, Survived, Undecided int }

// Decided returns killed and survived mutants together.
func (c Counts) Decided() int { return c.Killed + c.Survived }

// Made returns all mutants.
func (c Counts) Made() int { return c.Killed + c.Survived + c.Undecided }

// Share returns the mutation score: killed / decided; 0 if none is decided.
func (c Counts) Share() float64 {
	if c.Decided() == 0 {
		return 0
	}
	return float64(c.Killed) / float64(c.Decided())
}

// Interval is the interval (Wilson) around the score. It takes the mutants as
// independent.
func (c Counts) Interval() stats.Interval { return stats.Wilson(c.Killed, c.Decided(), confidence) }

func (c *Counts) add(o Counts) {
	c.Killed += o.Killed
	c.Survived += o.Survived
	c.Undecided += o.Undecided
}

// Outputs counts the outputs by how far they are usable.
type Outputs struct {
	Given     int
	Bad       int // labelled bad, and left out
	Unfit     int // empty, or too long to be broken
	Failing   int // failed by an assertion before anything is broken
	Undecided int // no assertion could be decided
	Usable    int // broken
}

// Over counts the outputs beyond the bound of [Options], which were not needed.
func (o Outputs) Over() int { return o.Given - o.Bad - o.Unfit - o.Failing - o.Undecided - o.Usable }

// Assertion says which mutants an assertion kills.
type Assertion struct {
	Name, Type string
	Judged     bool   // it asks a model
	NotRun     string // why it was not run at all; "" if it was
	Failing    int    // unchanged outputs that it fails, which are not used
	Counts            // of the mutants it was run on, of outputs that it passes
	// Kills counts the mutants that it kills, by instruction of [Report.Instructions];
	// AnyAnswer is under -1.
	Kills map[int]int
	// Why is a reason for what could not be decided; "" if there is none.
	Why string
}

// Change is what a mutant changes, with what is around it. All are short, on one line.
type Change struct {
	Before  string `json:"before"`
	Removed string `json:"removed"`
	Added   string `json:"added"`
	After   string `json:"after"`
}

// Example is a mutant that survives.
type Example struct {
	Output   string       `json:"output"` // its id
	Operator string       `json:"operator"`
	Basis    mutate.Basis `json:"basis"`
	Change   `json:"change"`
}

// Instruction says which mutants of an instruction survive.
type Instruction struct {
	Text     string
	Line     int // in the first prompt that has it
	Category string
	// Assertions are the names of those that were made from it.
	Assertions []string
	Counts
	By map[mutate.Basis]Counts
	// Also counts the mutants that break other instructions too.
	Also int
	// Broken counts unchanged outputs that break it, by the check that rules make of it.
	Broken int
	// Killers are the names of the assertions that kill its mutants, best first.
	Killers []string
	// Survivors are a few mutants that survive.
	Survivors []Example
	// Add is a check by rules that is missing; nil if the rules make none.
	Add *proviso.Candidate
	// Judged counts assertions made from it that ask a model and were not run.
	Judged int
}

// Report is the result of [Run].
type Report struct {
	Outputs      Outputs
	Assertions   []Assertion
	Instructions []Instruction // of the prompts, in their order
	AnyAnswer    Instruction
	Counts       // of the instructions, without AnyAnswer
	By           map[mutate.Basis]Counts
	NotRun       int // assertions that were not run because they ask a model

	Model     string // that made mutants; "" for none
	Spent     ask.Spent
	Refuted   int      // mutants that the model claimed and a check of the rules refutes
	ModelErrs []string // why an answer of the model could not be used; each reason once

	Questions  int // to that model
	Unanswered int // of them without an answer that can be used
	// Usage and Cost are those of judged assertions; Cost is in US dollars.
	Usage proviso.Usage
	Cost  float64
}

// Run draws outputs that pass all assertions, breaks them one instruction at
// a time, and tries the assertions on the mutants. It compiles each set of assertions
// once, breaks and decides in parallel, and holds the drawn outputs but not the mutants.
// The same outputs, options and verdicts give the same report. If ctx ends, the error is
// that of ctx. An error from outputs also ends it.
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
	tried   int // texts
	// decides says which assertions pass an unchanged output somewhere, by their place in
	// the report, and unrunnable which cannot be run on this machine.
	decides, unrunnable map[int]bool
}

// subject is a drawn output.
type subject struct {
	Output
	order  int // among the given
	key    uint64
	prompt *prompt
	cells  []matrix.Cell // of the unchanged output, by assertion of the set
	failed bool          // by an assertion
	usable bool
	model  []made // mutants by the model
}

// group is the outputs of one set.
type group struct {
	set      *Set
	at       []int // in Report.Assertions, by assertion of the set
	code     []int // positions in the set of the assertions that need no model
	judged   []int // of those that do, and are run
	subjects []*subject
}

// instruction returns an instruction of the report; -1 is AnyAnswer.
func (s *scoring) instruction(i int) *Instruction { return s.r.Instruction(i) }

// Instruction returns one of Instructions; -1 is AnyAnswer.
func (r *Report) Instruction(i int) *Instruction {
	if i < 0 {
		return &r.AnyAnswer
	}
	return &r.Instructions[i]
}
