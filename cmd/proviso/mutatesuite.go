package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/rowscan"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/value"
)

// mutatedSuite opens a suite and the outputs of its cases: from a kept run, from a file, or
// recorded in the suite itself.
func (a *app) mutatedSuite(ctx context.Context, end *closers, f *mutateFlags) (iter.Seq2[score.Output, error], error) {
	given := f.trials.run != "" || f.trials.examples != ""
	f.noWrite, f.noKeys = true, !f.score.Judge || given
	s, plan, err := a.prepare(ctx, &f.evalFlags, nil)
	if err != nil {
		return nil, err
	}
	end.add(s.close)
	cases, err := newSuiteCases(plan)
	if err != nil {
		return nil, err
	}
	f.score.Try = s.tries(f.concurrency)
	var outputs iter.Seq2[trial.Trial, error]
	if given {
		opened, err := a.openTrials(ctx, end, &f.trials)
		if err != nil {
			return nil, err
		}
		outputs = opened.all
	} else {
		rows, err := a.recordedRows(ctx, end, f, plan, cases)
		if err != nil {
			return nil, err
		}
		outputs = trial.OfRun(rows)
	}
	return func(yield func(score.Output, error) bool) {
		cases.outputs(outputs, yield)
		if cases.unknown > 0 {
			a.warn(fmt.Sprintf("%s left out: of no case of the suite", plural.Of(cases.unknown, "output")))
			cases.unknown = 0
		}
	}, nil
}

// tries returns how the assertions of a suite are tried on mutants.
func (s *loaded) tries(concurrency int) matrix.Options {
	return matrix.Options{
		Concurrency: concurrency, Code: s.engine.Code(),
		Compiler: s.engine.Compiler(func(o *check.Options) { o.Lenient = s.Lenient }),
	}
}

// recordedRows runs a suite that asks no model, to get its outputs. They are judged later, so a
// plan with a judge is made again without one.
func (a *app) recordedRows(ctx context.Context, end *closers, f *mutateFlags, plan *run.Plan, cases *suiteCases) (record.Run, error) {
	if len(cases.asked) > 0 {
		return nil, usageError{
			fmt.Errorf("the outputs of this suite come from %s, and mutate does not ask for them", printable(strings.Join(cases.asked, ", "))),
			"run `proviso eval` first, then add --run last; or give recorded outputs with --outputs FILE",
		}
	}
	if f.score.Judge {
		unjudged := f.evalFlags
		unjudged.judge.off = true
		s, again, err := a.prepare(ctx, &unjudged, nil)
		if err != nil {
			return nil, err
		}
		defer s.close() // the rows are in their own file
		plan = again
	}
	out, err := plan.Run(ctx)
	if out != nil {
		end.add(func() { _ = out.Close() })
	}
	if out == nil || err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, errors.Join(err, ctx.Err()))
	}
	return out.Rows, nil
}

// suiteCases finds the case, the prompt and the assertions of an output.
type suiteCases struct {
	suite   *proviso.Suite
	byID    map[string]*proviso.Case
	prompts []string // texts of the instructions, by prompt of the suite
	sets    map[string]*score.Set
	asked   []string // providers that would be asked for outputs
	unknown int      // outputs that belong to no case
}

func newSuiteCases(plan *run.Plan) (*suiteCases, error) {
	s := &suiteCases{suite: plan.Suite, byID: map[string]*proviso.Case{}, sets: map[string]*score.Set{}}
	for i := range plan.Suite.Prompts {
		text := ""
		if list, _ := delta.OfSuite(&proviso.Suite{Prompts: plan.Suite.Prompts[i : i+1]}); len(list) == 1 {
			text = list[0].Text
		}
		s.prompts = append(s.prompts, text)
	}
	for c, err := range plan.Suite.Cases() {
		var warning *proviso.Error
		if errors.As(err, &warning) && warning.Warning {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.noteAsked(c)
		for _, key := range []string{c.ID, c.Description} {
			if _, known := s.byID[key]; !known && key != "" {
				s.byID[key] = c
			}
		}
	}
	return s, nil
}

// noteAsked records which providers would be asked for a case's output.
func (s *suiteCases) noteAsked(c *proviso.Case) {
	if c.HasOutput {
		return
	}
	var ids []string
	for _, spec := range s.suite.Providers {
		ids = append(ids, spec.ID)
	}
	switch own := c.Provider.(type) {
	case string:
		ids = []string{own}
		for _, spec := range s.suite.Providers {
			if spec.Label == own {
				ids = []string{spec.ID}
			}
		}
	case *value.Object:
		ids = []string{own.Text("id")}
	}
	for _, id := range ids {
		if facts, _ := engine.Facts().Providers.Of(id); (facts == nil || !facts.Local) && !slices.Contains(s.asked, id) {
			s.asked = append(s.asked, id)
		}
	}
}

func (s *suiteCases) outputs(trials iter.Seq2[trial.Trial, error], yield func(score.Output, error) bool) {
	for t, err := range trials {
		if err != nil {
			yield(score.Output{}, err)
			return
		}
		c := s.byID[t.CaseID]
		if c == nil {
			s.unknown++
			continue
		}
		if t.Case = c; t.Vars.Len() == 0 && c.Vars != nil {
			t.Vars = c.Vars
		}
		if c.Description != "" { // an id may be a hash
			t.ID = c.Description + strings.TrimPrefix(t.ID, t.CaseID)
		}
		if !yield(score.Output{Trial: t, Set: s.set(c, s.promptOf(&t))}, nil) {
			return
		}
	}
}

// promptOf returns the index of an output's prompt: by its label, or else the first prompt of the
// suite.
func (s *suiteCases) promptOf(t *trial.Trial) int {
	for i := range s.suite.Prompts {
		if t.PromptLabel != "" && s.suite.Prompts[i].Label == t.PromptLabel {
			return i
		}
	}
	return 0
}

// set returns the assertions for an answer to a prompt in a case. Equal assertions share one set.
func (s *suiteCases) set(c *proviso.Case, prompt int) *score.Set {
	list := append([]*proviso.Assertion{}, c.Assert...)
	text := ""
	if prompt < len(s.suite.Prompts) {
		list, text = append(list, s.suite.Prompts[prompt].Assert...), s.prompts[prompt]
	}
	list = append(list, c.Set...)
	set := &score.Set{Prompt: text}
	key := strconv.Itoa(prompt)
	for _, a := range list {
		one := candidate.Of(a)
		one.Name = rowscan.NameOf(a.Raw)
		set.Assertions = append(set.Assertions, one)
		key += "\x00" + one.Name + "\x00" + candidate.Check(&one)
	}
	if known := s.sets[key]; known != nil {
		return known
	}
	s.sets[key] = set
	return set
}
