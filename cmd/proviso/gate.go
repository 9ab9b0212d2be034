package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

var gateFormats = []string{formatTerminal, formatMarkdown, formatJSON, formatHTML}

func newGate(a *app) *cobra.Command {
	f := &gateFlags{}
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Decide whether a change may merge: run the suite and compare it with a baseline",
		Long: "gate runs a suite as eval does, compares the run case by case with a baseline, and decides:\n" +
			"pass, fail, or inconclusive if there are too few cases to tell. The rules are those of the\n" +
			"suite's key gate and of the flags. Without --baseline and --base-ref only the absolute rules\n" +
			"decide. docs/gate.md explains the rules and the statistics.\n\n" + sideNames + "\n\n" +
			"Exit codes: 0 pass or inconclusive, 1 fail, 2 the suite, a rule or the command line is wrong,\n" +
			"3 nothing could be compared, 4 inconclusive with --inconclusive-exit, 130 interrupted.",
		Args:    noArgs,
		PreRunE: func(*cobra.Command, []string) error { return f.check() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.changedSuites(cmd.Context(), f.changedSince, &f.evalFlags, func(ctx context.Context, e *evalFlags) error {
				once := *f
				once.evalFlags = *e
				return a.gate(ctx, &once)
			})
		},
	}
	f.register(cmd.Flags())
	groupFlags(cmd, gateGroups, "  proviso gate --base-ref origin/main                  what this branch changes\n"+
		"  proviso gate --baseline baseline.jsonl --comment     against a reviewed file; posts the result\n"+
		"  proviso gate --baseline last~1 --run last            two runs that are kept already\n"+
		"  proviso gate --min-score 90% --must-pass no-secrets  absolute rules, without a baseline")
	return cmd
}

// gating is one decision.
type gating struct {
	*app
	f          *gateFlags
	rules      proviso.GateRules
	base, head *side
	commit     *commitSuite // of --base-ref
	loaded     *loaded      // the suite of the head; nil with --run
	outcome    *run.Outcome // of the head; nil with --run
	places     *report.Places
	suite      string
	notes      []string // what the figures do not show, for the result
	flakes     []gate.Flake
	votes      int // votes of the judge; 0 if unknown
}

// gate decides on one suite.
func (a *app) gate(ctx context.Context, f *gateFlags) error {
	g := &gating{app: a, f: f}
	defer g.close()
	var err error
	if f.headRun != "" {
		err = g.openHead(ctx)
	} else {
		err = g.runHead(ctx)
	}
	if err != nil {
		return err
	}
	if f.flakiness {
		if err := g.runAgain(ctx); err != nil {
			return errors.Join(err, g.writeOutputs(ctx, nil))
		}
	}
	return g.decide(ctx)
}

func (g *gating) close() {
	g.base.close()
	g.head.close()
	g.commit.close()
	if g.places != nil {
		g.places.Close()
	}
	if g.loaded != nil {
		g.loaded.close()
	}
}

func (g *gating) openBase(ctx context.Context) (err error) {
	if g.f.baseline == "" {
		return nil
	}
	if g.base, err = g.openSide(ctx, g.runsOf(g.f), g.f.baseline, g.suite); err != nil {
		return g.mistaken(fmt.Errorf("--baseline: %w", err), nothingRun)
	}
	return nil
}

// runsOf returns the folder where runs are looked up.
func (a *app) runsOf(f *gateFlags) string { return cmp.Or(f.runDir, a.stateDir()) }

// openHead opens a kept run, with the rules of the suite that -c names, or otherwise the rules that
// applied when it was run.
func (g *gating) openHead(ctx context.Context) (err error) {
	if g.head, err = g.openSide(ctx, g.runsOf(g.f), g.f.headRun, ""); err != nil {
		return g.mistaken(fmt.Errorf("--run: %w", err), nothingRun)
	}
	g.suite = g.head.suite
	if err := g.openBase(ctx); err != nil {
		return err
	}
	if g.base != nil && g.base.kept != "" && g.base.kept == g.head.kept {
		return usageError{fmt.Errorf("--baseline and --run are the same run, %s", g.head.kept), "name the run before the change with --baseline, such as last~1"}
	}
	if len(g.f.configs) == 0 {
		rules, mistakes := suite.RulesOf(g.head.run.Name, g.head.config)
		if mistakes.Err() != nil {
			return g.mistakes(mistakes)
		}
		return g.setRules(rules)
	}
	s, err := g.read(ctx, &g.f.suiteFlags)
	if err != nil {
		return err
	}
	defer s.close()
	if s.mistakes.Err() != nil {
		return g.mistakes(s.mistakes)
	}
	return g.setRules(s.Gate)
}

// setRules merges the rules of the command line over those of a suite. The rules of an untrusted
// suite are ignored: a change must not weaken the rules that decide on it.
func (g *gating) setRules(own *proviso.GateRules) error {
	if own != nil && g.f.trust.untrusted {
		g.warn("the rules under gate are ignored with --untrusted; give them as flags")
		own = nil
	}
	g.rules = g.f.rules.over(own)
	if g.base != nil && g.base.config != nil && !g.f.trust.untrusted {
		if before, wrong := suite.RulesOf(g.base.run.Name, g.base.config); wrong.Err() == nil && !reflect.DeepEqual(before, own) {
			g.notes = append(g.notes, otherRules)
		}
	}
	if !g.compares() && g.rules.MinScore == nil && len(g.rules.MustPass)+len(g.rules.Assertions) == 0 && g.rules.Cost.Max == nil && g.rules.Latency.P95 == nil {
		return usageError{
			err:  errors.New("the gate has neither a baseline nor an absolute rule"),
			hint: "name a baseline with --baseline or --base-ref, or set --min-score, --min, --must-pass, --cost-limit or --latency-p95, or their keys under gate",
		}
	}
	return nil
}

// compares reports whether the flags name a base.
func (g *gating) compares() bool { return g.f.baseline != "" || g.f.baseRef != "" }

// runHead runs the suite, and before it that of --base-ref.
func (g *gating) runHead(ctx context.Context) error {
	outputs, err := g.outputsOf(g.f.outputs, nil)
	if err != nil {
		return err
	}
	s, out, err := g.runWhole(ctx, &g.f.evalFlags, outputs, func(s *loaded, plan *run.Plan) error {
		g.suite, g.votes = plan.Name(), max(1, g.f.judge.votes, s.Judge.Votes)
		if err := g.openBase(ctx); err != nil {
			return err
		}
		if err := g.setRules(s.Gate); err != nil {
			return err
		}
		if g.f.baseRef == "" {
			return g.foresee(ctx, s)
		}
		if _, err := commitAt(ctx, s.Dir, g.f.baseRef); err != nil { // report this mistake before foreseeable problems of the rules
			return fmt.Errorf("--base-ref: %w", err)
		}
		if err := g.foresee(ctx, s); err != nil {
			return err
		}
		return g.runBase(ctx, s)
	})
	g.loaded = s
	if err != nil {
		return err
	}
	g.outcome, g.places = out, g.app.places(s)
	out.Meta.Place = g.places.Of
	name := "head"
	if out.Meta.RunFile != "" {
		name = out.ID
	}
	g.head, err = sideOfOutcome(out, name)
	return err
}

// foresee finds rules that name no assertion, and prints which rules cannot decide with the
// existing cases, before anything is spent.
func (g *gating) foresee(ctx context.Context, s *loaded) error {
	var names suite.AssertionNames
	cases, repeats, open := 0, 1, s.Unseen > 0
	for c, err := range s.Cases() {
		if ctx.Err() != nil {
			return g.stopped()
		}
		if err != nil {
			continue // planning has reported it
		}
		names.Add(c)
		open = open || c.Generator != nil
		repeats = max(repeats, c.Repeats)
		if c.Repeat == 0 {
			cases++
		}
	}
	var wrong proviso.Mistakes
	for _, name := range named(&g.rules) {
		if !open && !names.Has(name) {
			wrong = append(wrong, proviso.Mistake{Code: proviso.Invalid, Message: fmt.Sprintf("the gate has a rule for %q, and no assertion of the suite has this id or metric; give it to one", name), Nearest: names.Nearest(name)})
		}
	}
	if err := g.mistakes(wrong); err != nil {
		return err
	}
	if !g.compares() || open {
		return nil
	}
	return g.sayPlan(gate.Size{Cases: cases, Repeats: repeats, Assertions: names.Len()})
}

// casesIn counts the different cases of a run.
func casesIn(r *gate.Run) int {
	seen := map[[3]string]bool{}
	for i := range r.Rows {
		c := &r.Rows[i].Case
		seen[[3]string{c.ID, c.Vars, c.Name}] = true
	}
	return len(seen)
}

// sayPlan prints which rules cannot decide with this many cases, before anything is spent.
func (g *gating) sayPlan(size gate.Size) error {
	if g.base != nil {
		size.Cases = min(size.Cases, casesIn(g.base.run))
	}
	p, err := gate.NewPlan(&g.rules, size)
	if err != nil {
		return err
	}
	for _, w := range p.Warnings {
		fmt.Fprintln(g.err, "proviso: "+printable(w.Message))
	}
	return nil
}

// decide compares the runs, decides, prints the result and returns the exit code.
func (g *gating) decide(ctx context.Context) error {
	texts := show.Texts{Head: g.head.texts}
	c, d, err := g.compareAndDecide()
	if errors.Is(err, gate.ErrNothing) {
		g.explain(err)
		nothing := &gate.Decision{Reasons: []gate.Reason{{Message: "There is no decision: " + err.Error() + "."}}}
		written := g.writeOutputs(ctx, &report.Decision{Reasons: []report.Reason{{Rule: "note", Text: "Nothing of the run can be compared with the base.", Met: true, Note: true}}})
		return errors.Join(written, g.report(ctx, nil, nothing, texts, g.options()), exitError{exitUndecided})
	}
	if err != nil {
		return errors.Join(err, g.writeOutputs(ctx, nil))
	}
	if g.base != nil {
		texts.Base = g.base.texts
	}
	if err := g.writeOutputs(ctx, show.Decided(g.head.run, c, &d)); err != nil {
		return err
	}
	if err := g.print(ctx, c, &d, texts); err != nil {
		return err
	}
	if d.Outcome != gate.Pass && g.outcome != nil && g.f.format == formatTerminal {
		if err := g.annotate(ctx, g.outcome, brokenRows(c)); err != nil {
			return err
		}
	}
	switch {
	case d.Outcome == gate.Fail:
		return exitError{exitFailed}
	case d.Outcome == gate.Inconclusive && g.f.inconclusiveExit:
		return exitError{exitInconclusive}
	}
	return nil
}

func (g *gating) compareAndDecide() (*gate.Comparison, gate.Decision, error) {
	if g.base == nil {
		d, err := gate.DecideAlone(g.head.run, &g.rules)
		g.limit(&d)
		return nil, d, err
	}
	c, o, err := g.compareSides(g.base, g.head, g.flakes)
	if err != nil {
		return nil, gate.Decision{}, err
	}
	g.noteVotes()
	c.Warnings = slices.Concat(g.notes, c.Warnings)
	d, err := gate.Decide(c, &g.rules, o)
	g.limit(&d)
	return c, d, err
}

// noteVotes notes which assertions must pass but depend on one answer of a judge.
func (g *gating) noteVotes() {
	if g.votes != 1 {
		return
	}
	judged := map[string]bool{}
	for i := range g.head.run.Rows {
		for _, v := range g.head.run.Rows[i].Verdicts {
			judged[v.Assertion] = judged[v.Assertion] || v.Judge != ""
		}
	}
	for _, name := range g.rules.MustPass {
		if judged[name] {
			g.notes = append(g.notes, fmt.Sprintf("Assertion %q must pass and depends on one answer of the judge; set judge.votes: 3, so that the majority decides.", name))
		}
	}
}
