package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// spadeRun holds the flags of spade run: all steps, with their files in one folder.
type spadeRun struct {
	spadeSource
	spadeAsking
	prompts string
	rules   bool
	fresh   bool
	judge   judgeFlags
	trials  trialFlags
	labels  string
	sandbox string
	choice  spadeSelect
	dir     string

	own       bool     // the method is from the command line
	undecided bool     // a step is incomplete
	bills     []string // usage of the steps that asked a model
}

// The files of spade run, in its folder.
const (
	runDeltas       = "deltas.json"
	runCandidates   = "candidates.yaml"
	runLabels       = "labels.jsonl"
	runMatrix       = "matrix.csv"
	runImplications = "implications.csv"
	runSelection    = "selection.json"
	runSuite        = "selected.yaml"
	runReport       = "report.md"
	runLast         = "last" // the input of the selection before
)

func newSpadeRun(a *app) *cobra.Command {
	f := &spadeRun{}
	cmd := &cobra.Command{
		Use:   "run [FOLDER|FILE]",
		Short: "Do every step, and say what changed since the last time",
		Long: "run reads the versions of a prompt as `spade deltas` does, proposes candidates, tries them on\n" +
			"outputs, finds which implies which, selects, and says what of the prompt is checked. What each\n" +
			"step makes is a file in the folder of -o, as the commands of the steps write it. The same\n" +
			"command again does only what a new version, label, output or candidate touches, and says which\n" +
			"of them changed the selection.\n\n" +
			"Without --model the rules propose; without --judge only what can be proven implies; without\n" +
			"labelled outputs the method is none. Labels are those of the outputs, and of labels.jsonl in\n" +
			"the folder, which `spade label` writes.\n\n" +
			"Exit codes: 0 done, 1 no selection is within the thresholds, 2 a mistake in the command line or\n" +
			"a file, 3 a step is incomplete, or undecided cells leave the selection open (the other steps\n" +
			"are done), 130 interrupted (finished work is kept).",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.prompts != "" {
				args = append(args, f.prompts)
			}
			if err := f.check(cmd, args); err != nil {
				return err
			}
			return a.spadeRun(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *spadeRun) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.prompts, "prompts", "", "`FOLDER` or file of the versions, as the argument")
	f.spadeSource.register(fs)
	f.spadeAsking.register(fs, "proposes")
	fs.Lookup("model").Usage = "provider `ID` of the model that proposes; without it the rules do"
	f.judge.registerJudge(fs)
	fs.Lookup("judge").Usage = "provider `ID` that is asked which candidate implies which, and what judged candidates ask"
	fs.BoolVar(&f.rules, "rules", false, "with --model: let the rules propose, too")
	fs.BoolVar(&f.fresh, "fresh", false, "propose anew what is proposed already")
	f.trials.register(fs)
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels that come before those of the outputs (default labels.jsonl of the folder, if it is there)")
	fs.StringVar(&f.sandbox, "sandbox", sandboxRequire, "`HOW` the Python of candidates is confined: require (by the kernel, or it is not run) or off")
	fs.StringVarP(&f.dir, "output", "o", "spade", "`FOLDER` for the files of the steps")
	f.trust.register(fs)
	f.choice.registerChoice(fs)
	fs.Lookup("method").Usage = "`METHOD`: all, base, cov, sub or none (default sub with labelled outputs, else none)"
	fs.Lookup("method").DefValue = ""
	fs.IntVar(&f.choice.judgeCost, "judge-cost", 0, "what selecting a candidate that asks a model costs, `N`")
}

func (f *spadeRun) check(cmd *cobra.Command, args []string) error {
	f.own = cmd.Flags().Changed("method")
	f.choice.matrix, f.choice.candidates = f.file(runMatrix), f.file(runCandidates)
	f.choice.implications, f.choice.set = []string{f.file(runImplications)}, "final"
	if err := errors.Join(f.spadeSource.check(cmd, args), f.spadeAsking.check(), f.judge.check(), f.trust.check(), f.choice.check(cmd)); err != nil {
		return err
	}
	see := seeHelp(cmd)
	switch {
	case f.trials.examples != "" && f.trials.run != "":
		return usageError{errors.New("--examples and --run exclude each other"), see}
	case f.labels != "" && !f.tries():
		return usageError{errors.New("--labels needs outputs: --examples or --run"), see}
	case f.dir == "":
		return usageError{errors.New("-o needs a folder"), see}
	}
	return oneOf("sandbox", f.sandbox, []string{sandboxRequire, sandboxOff})
}

func (f *spadeRun) file(name string) string { return filepath.Join(f.dir, name) }

// tries reports whether there are outputs to try candidates on.
func (f *spadeRun) tries() bool { return f.trials.examples != "" || f.trials.run != "" }

// eval returns the flags for the steps that ask a model.
func (f *spadeRun) eval() evalFlags {
	e := evalFlags{concurrency: f.concurrency, models: f.models}
	e.trust = f.trust
	return e
}

func (a *app) spadeRun(ctx context.Context, f *spadeRun, args []string) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return usageError{fmt.Errorf("make the folder %s: %w", f.dir, err), ""}
	}
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	data, err := h.JSON()
	if err != nil {
		return err
	}
	if err := a.result(f.file(runDeltas), append(data, '\n')); err != nil {
		return err
	}
	a.sayStep(f, "deltas", runDeltas, plural(len(h.Changes), "version")+" of the prompt")
	for _, step := range []func(context.Context, *spadeRun) error{a.runPropose, a.runTry, a.runImply} {
		if err := a.step(ctx, f, step); err != nil {
			return err
		}
	}
	return a.runSelect(ctx, f, h)
}

// step runs one step. An incomplete step is reported at the end.
func (a *app) step(ctx context.Context, f *spadeRun, do func(context.Context, *spadeRun) error) error {
	err := do(ctx, f)
	var exit exitError
	if errors.As(err, &exit) && exit.code == exitUndecided {
		f.undecided = true
		return nil
	}
	return err
}

func (a *app) runPropose(ctx context.Context, f *spadeRun) error {
	p := &spadePropose{
		spadeSource: spadeSource{}, spadeAsking: spadeAsking{evalFlags: f.eval(), model: f.model},
		rules: f.rules || f.model == "", fresh: f.fresh, examples: f.trials.examples,
		format: formatYAML, out: f.file(runCandidates),
	}
	p.then = func(made *propose.Proposal) {
		a.sayStep(f, "propose", runCandidates, show.ProposalLine(made, p.model != ""))
		f.take(a, "to propose", &p.evalFlags, made.Spent())
	}
	err := a.spadePropose(ctx, p, []string{f.file(runDeltas)})
	var exit exitError
	if err != nil && !(errors.As(err, &exit) && exit.code == exitUndecided) {
		return err
	}
	if _, none := a.candidatesNow(f); none != nil {
		if err != nil { // the problem is in the model's output, which is in that file
			return proviso.Errorf(proviso.Unavailable, "no assertion could be proposed, so there is nothing to select from")
		}
		return none
	}
	return err
}

func (a *app) runTry(ctx context.Context, f *spadeRun) error {
	if !f.tries() {
		list, err := a.candidatesNow(f)
		if err != nil {
			return err
		}
		g := &matrix.Grid{Names: list, Columns: make([]matrix.Column, len(list))}
		return a.writeMatrix(f.file(runMatrix), g)
	}
	m := &spadeMatrix{
		evalFlags: f.eval(), trials: f.trials, labels: f.labels, candidates: f.file(runCandidates),
		out: f.file(runMatrix), format: matrixFormats[0], sandbox: f.sandbox,
	}
	m.evalFlags.judge = f.judge
	if _, err := os.Stat(f.file(runLabels)); err == nil && m.labels == "" {
		m.labels = f.file(runLabels)
	}
	m.then = func(g *matrix.Grid) {
		a.sayStep(f, "matrix", runMatrix, show.GridLine(g))
		a.warnUnkept(g)
		a.sayTroubles(g)
		f.take(a, "to try them", &m.evalFlags, ask.Spent{Usage: g.Usage, Cost: g.Cost})
	}
	return a.spadeMatrix(ctx, m)
}

// candidatesNow returns the names of the current candidates.
func (a *app) candidatesNow(f *spadeRun) ([]string, error) {
	list, err := a.readCandidates(f.file(runCandidates))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, usageError{errors.New("no assertion could be proposed, so there is nothing to select from"),
			"name a model that proposes with --model, or write candidates into " + f.file(runCandidates)}
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names, nil
}

func (a *app) runImply(ctx context.Context, f *spadeRun) error {
	s := &spadeSubsume{
		spadeAsking: spadeAsking{evalFlags: f.eval(), model: f.judge.judge}, candidates: f.file(runCandidates),
		proofs: f.judge.judge == "", format: formatCSV, out: f.file(runImplications),
	}
	if f.tries() {
		m, err := a.readMatrix(f.file(runMatrix))
		if err != nil {
			return err
		}
		if good, _ := m.Count(); good > 0 {
			s.matrix, s.tau, s.hasTau = f.file(runMatrix), f.choice.Tau, true
		}
	}
	s.then = func(found *subsume.Subsumption) {
		a.sayStep(f, "subsume", runImplications, show.SubsumptionLine(found))
		f.take(a, "to find implications", &s.evalFlags, found.Spent)
	}
	return a.spadeSubsume(ctx, s)
}

// runSelect selects, and prints the coverage of the prompt and the changes.
func (a *app) runSelect(ctx context.Context, f *spadeRun, h *delta.History) error {
	m, err := a.readMatrix(f.file(runMatrix))
	if err != nil {
		return err
	}
	good, bad := m.Count()
	if !f.own {
		if f.choice.Method = "sub"; good == 0 || bad == 0 {
			f.choice.Method = "none"
		}
	}
	s, candidates, err := a.selection(ctx, &f.choice)
	if err != nil {
		return err
	}
	for _, out := range [][2]string{{runSelection, formatJSON}, {runSuite, formatSuite}, {runReport, formatMarkdown}} {
		f.choice.format = out[1]
		data, err := a.rendered(&f.choice, s, candidates)
		if err != nil {
			return err
		}
		if err := a.result(f.file(out[0]), data); err != nil {
			return err
		}
	}
	a.sayStep(f, "select", runSuite, show.SelectionLine(s))
	if err := a.sayCoverage(ctx, f, h); err != nil {
		return err
	}
	if err := a.sayShifts(ctx, f, s); err != nil {
		return err
	}
	a.sayNext(f, s, good, bad)
	if err := a.exitOf(ctx, s); err != nil {
		return err
	}
	if f.undecided {
		return exitError{exitUndecided}
	}
	return nil
}
