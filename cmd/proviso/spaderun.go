package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/spade"
)

// spadeRun is what spade run is asked for: all steps, with their files in one
// folder.
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

	own       bool // somebody named the method
	undecided bool // a step was not done in full
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
	runLast         = "last" // the problem that the selection before was made of
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
			"a file, 3 a step could not be done in full (the rest is), 130 interrupted (what was done is kept).",
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
	f.choice.registerChoice(fs)
	fs.Lookup("method").Usage = "`METHOD`: all, base, cov, sub or none (default sub with labelled outputs, else none)"
	fs.Lookup("method").DefValue = ""
	fs.IntVar(&f.choice.judgeCost, "judge-cost", 0, "what selecting a candidate that asks a model costs, `N`")
}

func (f *spadeRun) check(cmd *cobra.Command, args []string) error {
	f.own = cmd.Flags().Changed("method")
	f.choice.matrix, f.choice.candidates = f.file(runMatrix), f.file(runCandidates)
	f.choice.implications, f.choice.set = []string{f.file(runImplications)}, "final"
	if err := errors.Join(f.spadeSource.check(cmd, args), f.spadeAsking.check(), f.judge.check(), f.choice.check(cmd)); err != nil {
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

// eval is what the steps that ask a model take of the flags.
func (f *spadeRun) eval() evalFlags {
	return evalFlags{concurrency: f.concurrency, models: f.models}
}

// spent takes what a step has spent from what the others may spend.
func (f *spadeRun) spent(step *evalFlags) {
	if m := step.asked; m != nil && m.budget != nil {
		f.models.maxCost.usd = max(0, f.models.maxCost.usd-m.budget.Spent())
	}
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
	a.sayStep("deltas", f.file(runDeltas), fmt.Sprintf("%s of the prompt", plural(len(h.Changes), "version")))
	for _, step := range []func(context.Context, *spadeRun) error{a.runPropose, a.runTry, a.runImply} {
		if err := a.step(ctx, f, step); err != nil {
			return err
		}
	}
	return a.runSelect(ctx, f, h)
}

// step does one step. One that is done in part is said at the end.
func (a *app) step(ctx context.Context, f *spadeRun, do func(context.Context, *spadeRun) error) error {
	err := do(ctx, f)
	var exit exitError
	if errors.As(err, &exit) && exit.code == exitUndecided {
		f.undecided = true
		return nil
	}
	return err
}

// sayStep says what a step made, and where it is.
func (a *app) sayStep(step, file, made string) {
	fmt.Fprintf(a.out, "%-9s %s  %s\n", step, made, printable(file))
}

// quiet is the app without what a step prints for its own sake.
func (a *app) quiet() *app {
	b := *a
	b.out = io.Discard
	return &b
}

func (a *app) runPropose(ctx context.Context, f *spadeRun) error {
	p := &spadePropose{
		spadeSource: spadeSource{}, spadeAsking: spadeAsking{evalFlags: f.eval(), model: f.model},
		rules: f.rules || f.model == "", fresh: f.fresh, examples: f.trials.examples,
		format: formatYAML, out: f.file(runCandidates),
	}
	err := a.spadePropose(ctx, p, []string{f.file(runDeltas)})
	f.spent(&p.evalFlags)
	list, readErr := a.candidatesNow(f)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	a.sayStep("propose", p.out, plural(len(list), "candidate"))
	return err
}

func (a *app) runTry(ctx context.Context, f *spadeRun) error {
	if !f.tries() {
		list, err := a.candidatesNow(f)
		if err != nil {
			return err
		}
		g := &spade.Grid{Names: list, Columns: make([]spade.Column, len(list))}
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
	err := a.quiet().spadeMatrix(ctx, m)
	f.spent(&m.evalFlags)
	if _, statErr := os.Stat(m.out); statErr == nil && ctx.Err() == nil {
		a.sayStep("matrix", m.out, "tried on outputs")
	}
	return err
}

// candidatesNow returns the names of the candidates that there are now.
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
	err := a.spadeSubsume(ctx, s)
	f.spent(&s.evalFlags)
	if _, statErr := os.Stat(s.out); statErr == nil && ctx.Err() == nil {
		a.sayStep("subsume", s.out, "which candidate implies which")
	}
	return err
}

// runSelect selects, says what of the prompt is checked, and what changed.
func (a *app) runSelect(ctx context.Context, f *spadeRun, h *spade.History) error {
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
		data, err := s.render(&f.choice, candidates, a)
		if err != nil {
			return err
		}
		if err := a.result(f.file(out[0]), data); err != nil {
			return err
		}
	}
	a.sayStep("select", f.file(runSuite), selectionLine(s))
	if err := a.sayCoverage(ctx, f, h); err != nil {
		return err
	}
	if err := a.sayShifts(ctx, f, s); err != nil {
		return err
	}
	a.sayNext(f, s, good, bad)
	if err := s.exit(ctx, a); err != nil {
		return err
	}
	if f.undecided {
		return exitError{exitUndecided}
	}
	return nil
}

// selectionLine is a selection in a line.
func selectionLine(s selected) string {
	if !s.Found() {
		return fmt.Sprintf("nothing of %s, method %s", plural(len(s.Matrix.Names), "candidate"), s.Options.Method)
	}
	text := fmt.Sprintf("%d of %s, method %s", len(s.Answer.Selected), plural(len(s.Matrix.Names), "candidate"), s.Options.Method)
	if s.Bad > 0 && s.Good > 0 {
		text += fmt.Sprintf(": %d of %d bad outputs caught, %d of %d good ones failed", s.Answer.Covered, s.Bad, s.Answer.False, s.Good)
	}
	return text
}

// sayCoverage says how much of the prompt the selection checks.
func (a *app) sayCoverage(ctx context.Context, f *spadeRun, h *spade.History) error {
	list, err := a.readCandidates(f.file(runSuite))
	if err != nil {
		return err
	}
	others, err := a.readCandidates(f.file(runCandidates))
	if err != nil {
		return err
	}
	spade.From(list, others)
	templates := template.New(template.Options{})
	defer templates.Close()
	c, err := spade.CoverOf(ctx, h.Changes[len(h.Changes)-1].Text, list, check.New(check.Options{Templates: templates}))
	if err != nil {
		return a.orStopped(ctx, err)
	}
	a.sayStep("coverage", f.file(runReport), coverHeadline(c))
	file, err := os.ReadFile(f.file(runReport))
	if err != nil {
		return err
	}
	return a.result(f.file(runReport), bytes.Join([][]byte{bytes.TrimRight(file, "\n"), coverMarkdown(c)}, []byte("\n\n")))
}

// sayNext says what would make the selection better.
func (a *app) sayNext(f *spadeRun, s selected, good, bad int) {
	label := "proviso spade label --labels " + f.file(runLabels) + " --matrix " + f.file(runMatrix)
	switch {
	case !f.tries():
		fmt.Fprintln(a.err, "proviso: nothing was tried; give outputs with --examples FILE or --run last to select by what candidates catch")
	case good == 0 || bad == 0:
		fmt.Fprintf(a.err, "proviso: select by what candidates catch takes good and bad outputs; label some: %s %s\n", label, f.trials.words())
	case len(s.Uncaught) > 0:
		fmt.Fprintf(a.err, "proviso: no candidate catches %s; %s\n", plural(len(s.Uncaught), "bad output"),
			"propose with --model, or write one into "+f.file(runCandidates))
	}
}

// words are the flags that name the outputs.
func (f *trialFlags) words() string {
	if f.run != "" {
		return "--run " + f.run
	}
	return "--examples " + f.examples
}
