// Package spade goes from the history of a prompt to the smallest set of assertions that
// catches its failures. [Run] is the pipeline; start there. Each step is a package that reads
// and writes plain values: spade/delta compares the versions of the prompt, spade/propose
// makes candidates from the changes, spade/label asks people which outputs are good,
// spade/matrix tries the candidates on the outputs, spade/subsume finds which candidate
// implies which, spade/selection picks from them, and spade/coverage reports which parts of
// the prompt are checked. With new outputs, spade/update continues from the results of a run.
//
// The method is that of Shankar et al., "SPADE: Synthesizing Data Quality Assertions for Large
// Language Model Pipelines", VLDB 2024.
package spade

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Step is a step of the pipeline.
type Step string

// The steps, in order.
const (
	Deltas  Step = "deltas"
	Propose Step = "propose"
	Try     Step = "matrix"
	Imply   Step = "subsume"
	Select  Step = "select"
	Cover   Step = "coverage"
)

// Steps configure [Run]. A history and a compiler are enough: then the rules propose, and the
// selection takes one candidate of each group that no other candidate implies.
type Steps struct {
	// History is the prompt with its changes.
	History *delta.History
	// Compiler compiles assertions that need no model, no code and no files.
	Compiler *check.Compiler

	// Folder keeps the files of the steps in the form that the steps' commands write, and the
	// next run continues from them; "" keeps none.
	Folder string
	// Fresh proposes again what the folder already has.
	Fresh bool

	// Own are candidates that people wrote, in addition to proposed ones and those of the
	// folder, where they are kept.
	Own []proviso.Candidate
	// Propose configures the proposing. [Run] sets Earlier and Save, and Compiler if it is
	// nil. Without a model the rules propose.
	Propose propose.Options
	// Trials are labelled outputs; nil tries nothing.
	Trials iter.Seq2[trial.Trial, error]
	// Try configures how candidates are tried. A nil compiler means [Steps.Compiler].
	Try matrix.Options
	// Reject names candidates that are tried, but never selected.
	Reject []string
	// Subsume configures the search for implications. [Run] sets Matrix and Tau, and Compiler
	// if it is nil. Without a judge, only provable implications are found.
	Subsume subsume.Options
	// Select configures the selection. An empty method means sub with good and bad outputs,
	// base with only good ones, else none.
	Select selection.Options
	// JudgeCost is the cost of selecting a candidate that asks a model; 0 means 1, the cost of
	// other candidates.
	JudgeCost int
	// Price is the price of candidates per output in US dollars, by name, and replaces
	// measured prices. JudgePrice, if not nil, is the price of other candidates that ask a
	// model. Prices matter only for a budget.
	Price      map[string]float64
	JudgePrice *float64

	// Open is called before each step. It may change the steps, for instance to open a model
	// that only this step needs; the returned function is called when the step has ended. Open
	// may be nil.
	Open func(ctx context.Context, step Step, s *Steps, r *Result) (end func(), err error)
	// Done is called after each step, with the result so far; an error ends the run. It
	// may be nil.
	Done func(ctx context.Context, step Step, r *Result) error
}

// Result is the result of [Run]; the fields of a step that was not reached are empty.
type Result struct {
	History    *delta.History
	Proposal   *propose.Proposal
	Candidates []proviso.Candidate
	SetAside   []string       // candidates of text that the prompt no longer has, which a selection without labels omits
	Grid       *matrix.Grid   // all outputs
	Costs      matrix.Costs   // costs of the candidates, measured now or earlier
	Matrix     *matrix.Matrix // labelled outputs, and the candidates that are not rejected
	Implied    *subsume.Subsumption
	Selection  *selection.Selection
	Took       time.Duration // duration of the selection
	Suite      []byte        // selected candidates as part of a suite; if there are none, the file keeps those of the previous run
	Cover      *coverage.Cover

	// Contradictions are pairs of candidates that no output can both pass. They are only
	// computed without labels; neither candidate is selected.
	Contradictions []Contradiction

	// Shifts are the differences from the previous selection; Compared means that the folder
	// has one. Unkept is why the next run cannot compare, or nil.
	Shifts   []selection.Shift
	Compared bool
	Unkept   error
}

// Contradiction names two candidates that no output can both pass.
type Contradiction [2]string

// ErrNoCandidates is the error of [Run] if nothing was proposed, so that there is nothing to
// select.
var ErrNoCandidates = errors.New("no assertion could be proposed, so there is nothing to select from")

// ErrAllRejected is the error of [Run] if every candidate is rejected.
var ErrAllRejected = errors.New("every candidate is rejected, so there is nothing to select from")

// Incomplete returns the steps that left something undecided: unanswered questions to a model,
// or a candidate that was decided on no output.
func (r *Result) Incomplete() []Step {
	var list []Step
	if r.Proposal != nil && r.Proposal.Failed() != nil {
		list = append(list, Propose)
	}
	if r.Grid != nil && r.Grid.NeverDecided() {
		list = append(list, Try)
	}
	if r.Implied != nil && len(r.Implied.Unanswered) > 0 {
		list = append(list, Imply)
	}
	return list
}

// Run goes from the history of a prompt to a selection of assertions: it proposes candidates,
// tries them on outputs, finds which implies which, selects, and reports which parts of the
// prompt are checked. An unanswered question to a model does not end the run;
// [Result.Incomplete] names its step. With an error, the result holds what was done before it.
func Run(ctx context.Context, s Steps) (*Result, error) {
	r := &Result{History: s.History}
	w := &work{Steps: s, result: r, folder: folder(s.Folder)}
	for _, step := range []struct {
		name Step
		do   func(context.Context) error
	}{{Deltas, w.deltas}, {Propose, w.propose}, {Try, w.try}, {Imply, w.imply}, {Select, w.pick}, {Cover, w.cover}} {
		if err := w.step(ctx, step.name, step.do); err != nil {
			return r, err
		}
	}
	return r, nil
}
