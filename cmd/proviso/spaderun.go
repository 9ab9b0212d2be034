package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// spadeRun holds the flags of spade run: all steps, with their files in one folder.
type spadeRun struct {
	spadeSource
	spadeAsking
	prompts string
	own     string // file of candidates
	rules   bool
	noRules bool // --rules=false
	fresh   bool
	dropped bool
	judge   judgeFlags
	trials  trialFlags
	labels  string
	code    candidateCode
	choice  spadeSelect
	dir     string

	chosen bool     // the command line sets the method
	bills  []string // usage of the steps that asked a model
}

// Files in the folder of spade run that the pipeline itself does not write: people's labels, and
// the report.
const (
	runLabels = "labels.jsonl"
	runReport = "report.md"
)

func newSpadeRun(a *app) *cobra.Command {
	f := &spadeRun{}
	cmd := &cobra.Command{
		Use:   "run [FOLDER|FILE]",
		Short: "Run every step, and show what changed since the last time",
		Long: "run reads the versions of a prompt as `spade deltas` does, proposes candidates, tries them on\n" +
			"outputs, finds implications, selects, and reports which parts of the prompt are checked. What each\n" +
			"step makes is a file in the folder of -o, as the commands of the steps write it. The same\n" +
			"command again does only what a new version, label, output or candidate affects, and shows which\n" +
			"of them changed the selection.\n\n" +
			"Without --model, rules propose; without --judge, implications are only proven; without\n" +
			"labelled outputs, the method is none. Labels come from the outputs, and from labels.jsonl in\n" +
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
	fs.StringVar(&f.prompts, "prompts", "", "`FOLDER` or file of the versions, like the argument")
	f.spadeSource.register(fs)
	f.spadeAsking.register(fs, "proposes")
	fs.Lookup("model").Usage = "provider `ID` of the model that proposes in addition to the rules; without it only they do"
	f.judge.registerJudge(fs)
	fs.Lookup("judge").Usage = "provider `ID` of the judge model for implications and for judged candidates"
	fs.StringVar(&f.own, "candidates", "", "`FILE` of candidates that you have: YAML, JSON, JSON Lines or Python; they are added to those of the folder")
	fs.BoolVar(&f.rules, "rules", true, "propose by rules; --rules=false with --model: without them")
	fs.BoolVar(&f.fresh, "fresh", false, "propose again what is already proposed")
	droppedVar(fs, &f.dropped)
	f.trials.register(fs)
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels that override those of the outputs (default labels.jsonl of the folder, if it exists)")
	f.code.register(fs)
	fs.StringVarP(&f.dir, "output", "o", "spade", "`FOLDER` for the files of the steps")
	f.trust.register(fs)
	f.choice.registerChoice(fs)
	fs.Lookup("method").Usage = "`METHOD`: all, base, cov, sub or none (default sub with good and bad outputs, base with good ones, else none)"
	fs.Lookup("method").DefValue = ""
	fs.IntVar(&f.choice.judgeCost, "judge-cost", 0, "cost `N` of selecting a candidate that asks a model")
}

func (f *spadeRun) check(cmd *cobra.Command, args []string) error {
	f.chosen = cmd.Flags().Changed("method")
	f.noRules = !f.rules
	f.choice.matrix, f.choice.candidates = f.file(spade.MatrixFile), f.file(spade.CandidatesFile)
	f.choice.implications, f.choice.set = []string{f.file(spade.ImplicationsFile)}, "final"
	if err := errors.Join(f.spadeSource.check(cmd, args), f.spadeAsking.check(), f.trust.check(), f.choice.check(cmd)); err != nil {
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
	return f.code.check()
}

func (f *spadeRun) file(name string) string { return filepath.Join(f.dir, name) }

// labelsIn returns the file of labels that a flag names, or else the file in a folder; "" if there
// is none.
func labelsIn(dir, given string) string {
	own := filepath.Join(dir, runLabels)
	if _, err := os.Stat(own); err == nil {
		return cmp.Or(given, own)
	}
	return given
}

// tries reports whether there are outputs to try candidates on.
func (f *spadeRun) tries() bool { return f.trials.examples != "" || f.trials.run != "" }

// eval returns the flags for a step that asks a model.
func (f *spadeRun) eval() evalFlags {
	e := evalFlags{concurrency: f.concurrency, models: f.models}
	e.trust = f.trust
	return e
}

func (a *app) spadeRun(ctx context.Context, f *spadeRun, args []string) error {
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	var own []proviso.Candidate
	if f.own != "" {
		if own, err = a.readCandidates(f.own); err != nil {
			return err
		}
		if err := notOver(f.file(spade.CandidatesFile), f.own); err != nil {
			return err
		}
	}
	p := &pipeline{app: a, f: f, clear: func() {}}
	defer p.end.close()
	if err := p.readOutputs(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return usageError{fmt.Errorf("make the folder %s: %w", f.dir, err), ""}
	}
	s := spade.Steps{History: h, Folder: f.dir, Fresh: f.fresh, Own: own, Select: f.choice.Options, JudgeCost: f.choice.judgeCost,
		Price: f.choice.price.each, JudgePrice: f.choice.price.judge}
	if !f.chosen {
		s.Select.Method = ""
	}
	s.Open, s.Done = p.open, p.done
	r, err := spade.Run(ctx, s)
	if err != nil {
		return p.failed(ctx, r, err)
	}
	if err := a.exitOf(ctx, shownSelection(r)); err != nil {
		return err
	}
	if len(r.Incomplete()) > 0 {
		return exitError{exitUndecided}
	}
	return nil
}

// pipeline opens what the steps of spade run need, and prints their results.
type pipeline struct {
	*app
	f     *spadeRun
	at    spade.Step
	asked *evalFlags // flags of the current step
	also  *evalFlags // flags of the judge that tries proposals; nil for none
	model *ask.Model // the model that proposes; nil for none
	clear func()     // removes the progress line
	tried int        // number of outputs
	of    int

	outputs *openedTrials // outputs with their labels; nil without outputs
	end     closers       // close the outputs
}

// readOutputs reads the outputs and their labels, so that a mistake in them is found before a model
// is asked or a file is written.
func (p *pipeline) readOutputs(ctx context.Context) error {
	if !p.f.tries() {
		return nil
	}
	labels := labelsIn(p.f.dir, p.f.labels)
	if read, err := os.Stat(p.f.trials.examples); err == nil {
		if matrix, err := os.Stat(p.f.file(spade.MatrixFile)); err == nil && os.SameFile(read, matrix) {
			return usageError{fmt.Errorf("%s is the matrix that run writes: it holds verdicts, and no outputs", p.f.trials.examples), "name the file of the outputs"}
		}
	}
	if err := notOver(p.f.file(spade.MatrixFile), p.f.file(spade.CandidatesFile), p.f.trials.examples, labels); err != nil {
		return err
	}
	var err error
	if p.outputs, err = p.openTrials(ctx, &p.end, &p.f.trials); err != nil {
		return err
	}
	if err := p.addUpdated(ctx); err != nil {
		return err
	}
	if err := p.takeLabels(labels, p.outputs.entries); err != nil {
		return err
	}
	p.warnContradictions(p.outputs.entries)
	return nil
}

// addUpdated adds the outputs that `spade update` stored in the folder.
func (p *pipeline) addUpdated(ctx context.Context) error {
	file := p.f.file(spade.OutputsFile)
	kept, err := os.Stat(file)
	if given, e := os.Stat(p.f.trials.examples); err != nil || e == nil && os.SameFile(kept, given) {
		return nil
	}
	more, err := p.openTrials(ctx, &p.end, &trialFlags{examples: file})
	if err != nil {
		return err
	}
	n := len(p.outputs.entries)
	p.outputs.add(more)
	fmt.Fprintf(p.err, "proviso: %s of %s are tried as well, which spade update added\n", plural.Of(len(p.outputs.entries)-n, "output"), printable(file))
	return nil
}

// open opens what a step needs. The budget of a step is what the earlier steps left.
func (p *pipeline) open(ctx context.Context, step spade.Step, s *spade.Steps, r *spade.Result) (func(), error) {
	eval := p.f.eval()
	p.at, p.asked = step, &eval
	var end closers
	var err error
	switch step {
	case spade.Propose:
		err = p.openPropose(ctx, &end, s)
	case spade.Try:
		err = p.openTry(ctx, &end, s, r)
	case spade.Imply:
		err = p.openImply(ctx, &end, s, r)
	case spade.Cover:
		var e *engine.Engine
		if e, err = p.textEngine(ctx, &end, nil, 0); err == nil {
			s.Compiler = e.Compiler(textOnly)
		}
	}
	if err != nil {
		end.close()
		return nil, err
	}
	end.add(func() { p.clear() })
	return end.close, nil
}

func (p *pipeline) openPropose(ctx context.Context, end *closers, s *spade.Steps) (err error) {
	if err := notOver(p.f.file(spade.CandidatesFile), p.f.trials.examples); err != nil {
		return err
	}
	o := &s.Propose
	o.Rules, o.Dropped, o.Concurrency, o.Tau = !p.f.noRules, p.f.dropped, p.f.concurrency, p.f.choice.Tau
	if p.f.tries() && p.f.model != "" {
		if o.Trials, err = p.labelledTrials(ctx, &p.f.trials, labelsIn(p.f.dir, p.f.labels)); err != nil {
			return err
		}
	}
	if p.f.model != "" {
		asking := spadeAsking{evalFlags: *p.asked, model: p.f.model}
		if o.Model, err = p.spadeModel(ctx, end, &asking, ""); err != nil {
			return err
		}
		p.asked, p.model = &asking.evalFlags, o.Model
	}
	judged := p.f.eval()
	if p.f.tries() {
		judged.judge = p.f.judge
	}
	clear, err := p.openProposer(ctx, end, o, &judged, p.f.dir, &p.f.code)
	if err != nil {
		return err
	}
	if p.clear = clear; o.Judged != nil {
		p.also = &judged
	}
	return nil
}

func (p *pipeline) openTry(ctx context.Context, end *closers, s *spade.Steps, r *spade.Result) error {
	if len(r.Candidates) == 0 || !p.f.tries() {
		return nil
	}
	p.asked.judge = p.f.judge
	if p.f.judge.judge == "" {
		p.sayUndecided(r.Candidates)
	}
	o, err := p.spadeEngine(ctx, end, p.asked, p.f.dir, &p.f.code, func(o *engine.Options) {
		o.Judge.Off = p.f.judge.judge == "" // without the flag, no key and no variable makes run send outputs to a model
	})
	if err != nil {
		return err
	}
	o.Tick, p.clear = p.ticker(len(p.outputs.entries), &p.tried)
	p.of = len(p.outputs.entries)
	s.Trials, s.Try = trial.Labelled(p.outputs.all, p.outputs.entries), o
	return nil
}

// sayUndecided prints that there is no judge for the candidates that need one.
func (p *pipeline) sayUndecided(list []proviso.Candidate) {
	n := 0
	for i := range list {
		if matrix.AsksModel(&list[i]) {
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(p.err, "proviso: %s undecided: no judge model is named (--judge)\n", plural.Of(n, "candidate"))
	}
}

func (p *pipeline) openImply(ctx context.Context, end *closers, s *spade.Steps, r *spade.Result) (err error) {
	o := &s.Subsume
	o.Concurrency = p.f.concurrency
	if good, _ := r.Matrix.Count(); good > 0 {
		p.warnUnlabelled(r.Matrix)
	}
	if name := p.f.judge.judge; name != "" {
		asking := spadeAsking{evalFlags: *p.asked, model: name}
		if o.Judge, err = p.spadeModel(ctx, end, &asking, ""); err != nil {
			return err
		}
		p.asked = &asking.evalFlags
	}
	if err := p.proofEngine(ctx, end, p.f.file(spade.CandidatesFile), &p.f.trust, o); err != nil {
		return err
	}
	o.Progress, p.clear = p.counter()
	return nil
}

// failed returns the error of a run that did not finish.
func (p *pipeline) failed(ctx context.Context, r *spade.Result, err error) error {
	var earlier *spade.EarlierError
	var mistakes proviso.Mistakes
	switch {
	case ctx.Err() != nil && p.at == spade.Propose && r.Proposal != nil && p.model != nil:
		return p.interrupted(ctx, "what was proposed until then is kept")
	case ctx.Err() != nil && p.at == spade.Try && p.of > 0:
		return p.matrixStopped(ctx, &p.f.models, p.tried, p.of)
	case ctx.Err() != nil:
		return p.orStopped(ctx, err)
	case errors.Is(err, spade.ErrNoCandidates) && r.Proposal.Failed() != nil:
		return proviso.Errorf(proviso.Unavailable, "%w", err) // the model's answers are in the file of candidates
	case errors.Is(err, spade.ErrNoCandidates):
		return usageError{err, "name a model that proposes with --model, or write candidates into " + p.f.file(spade.CandidatesFile)}
	case errors.As(err, &earlier):
		err := p.mistakes(inOrder(earlier.Mistakes))
		p.sayNotContinued(earlier.File)
		return err
	case errors.As(err, &mistakes):
		return p.mistakes(inOrder(mistakes))
	}
	return err
}
