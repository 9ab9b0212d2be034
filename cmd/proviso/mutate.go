package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/mutate/show"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/trial"
)

// mutateFlags are the flags of mutate.
type mutateFlags struct {
	evalFlags  // suite, judge, models, trust and code; the rest has no flag here
	trials     trialFlags
	selected   string // file with the assertions of a selection
	candidates string
	prompt     string
	labels     string
	withJudge  bool
	model      string
	score      score.Options
	minScore   float64
	gates      bool // --min-score is given
	result     resultFlags
	reportTo   []string
	reports    []output // reports of the run, with a section about mutants
}

func newMutate(a *app) *cobra.Command {
	f := &mutateFlags{}
	cmd := &cobra.Command{
		Use:   "mutate",
		Short: "Break good outputs on purpose, and show what the assertions miss",
		Long: "mutate breaks outputs, one instruction of the prompt at a time, and runs the assertions on each\n" +
			"of these mutants. An assertion that fails kills a mutant, and what survives is a hole in the\n" +
			"assertions. No labels are needed, and no model unless --model or a judge is named.\n\n" +
			"Outputs come from a kept run (--run), a file (--outputs), or the suite itself if it holds\n" +
			"recorded outputs. One that already fails an assertion is not used.\n\n" +
			"Exit codes: 0 done, 1 the mutation score is below --min-score, 2 a mistake in the command line\n" +
			"or a file, 3 no mutant could be decided, undecided ones make the difference, or every\n" +
			"question to the model of --model failed, 130 interrupted.",
		Args:    noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.mutate(cmd.Context(), f) },
	}
	f.register(cmd)
	return cmd
}

func (f *mutateFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.configs, "config", "c", nil, "suite `FILE`; may be repeated, and the files are merged")
	f.trials.register(fs)
	fs.Lookup("examples").Usage = "the same as --outputs `FILE`"
	fs.StringVar(&f.trials.examples, "outputs", "", "`FILE` of outputs: CSV or JSON Lines; with -c, the id of each is that of a case, or its description")
	fs.StringVar(&f.selected, "assertions", "", "`FILE` of assertions, in place of a suite: an assertion set, or candidates")
	fs.StringVar(&f.candidates, "candidates", "", "with --assertions: `FILE` of candidates with the provenance of assertions of the same name")
	fs.StringVar(&f.prompt, "prompt", "", "with --assertions: `FILE` of the prompt, or folder of its versions, of which the last counts")
	fs.StringVar(&f.labels, "labels", "", "with --assertions: `FILE` of labels (id, label); outputs labelled bad are left out")
	countVar(fs, &f.score.Outputs, "outputs-max", "", score.DefaultOutputs, 1, "break `N` outputs at most, drawn by --seed")
	countVar(fs, &f.score.Mutants, "mutants", "", score.DefaultMutants, 1, "make `N` mutants at most of an output for each instruction")
	fs.Uint64Var(&f.score.Seed, "seed", 0, "`SEED` of what is drawn; another seed draws other outputs and makes other mutants")
	fs.StringVar(&f.model, "model", "", "provider `ID` of a model that also makes mutants, of the first --model-outputs outputs")
	countVar(fs, &f.score.Asked, "model-outputs", "", score.DefaultAsked, 1, "with --model: ask it about `N` outputs, one question for each")
	f.judge.registerJudge(fs)
	fs.Lookup("judge").Usage = "also run assertions that ask a model, with the judge model of provider `ID`"
	fs.BoolVar(&f.withJudge, "with-judge", false, "also run assertions that ask a model, with the judge of the suite, of "+engine.JudgeVariable+", or of the first key that is set")
	shareVar(fs, &f.minScore, "min-score", 0, "exit with 1 if the mutation score is below this `SHARE`: 0 to 1, or N%")
	f.result.register(fs, formatJSON, formatMarkdown, formatHTML)
	fs.StringArrayVar(&f.reportTo, "report", nil, "with --run: write the report of the run to `FILE`, as eval -o does, with a section on what its assertions would miss; may be repeated")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "`N` mutants at a time (default one for each processor, and at least 4 if a model is asked)")
	f.code.register(fs)
	f.models.register(fs)
	f.trust.register(fs)
}

func (f *mutateFlags) check(cmd *cobra.Command) error {
	f.result.find()
	f.selected, f.prompt = strings.TrimPrefix(f.selected, "file://"), strings.TrimPrefix(f.prompt, "file://")
	f.gates = cmd.Flags().Changed("min-score")
	see := seeHelp(cmd)
	if f.selected == "" {
		for name, text := range map[string]string{"prompt": f.prompt, "labels": f.labels, "candidates": f.candidates} {
			if text != "" {
				return usageError{fmt.Errorf("--%s is for --assertions; a suite names its own", name), see}
			}
		}
	}
	switch {
	case cmd.Flags().Changed("examples") && cmd.Flags().Changed("outputs"):
		return usageError{errors.New("--outputs and --examples are the same; give one of them"), see}
	case f.selected != "" && len(f.configs) > 0:
		return usageError{errors.New("-c and --assertions exclude each other"), see}
	case f.trials.examples != "" && f.trials.run != "":
		return usageError{errors.New("--outputs and --run exclude each other"), see}
	case f.selected != "" && f.prompt == "":
		return missingFlag(cmd, "prompt", "name the file of the prompt whose instructions are broken")
	case f.selected != "" && f.trials.examples == "" && f.trials.run == "":
		return missingFlag(cmd, "outputs", "name the file of outputs, CSV or JSON Lines, or a kept run with --run")
	case len(f.reportTo) > 0 && f.trials.run == "":
		return usageError{errors.New("--report is for --run: it is the report of a kept run"), see}
	case cmd.Flags().Changed("model-outputs") && f.model == "":
		return usageError{errors.New("--model-outputs goes with --model"), see}
	}
	f.score.Judge = f.withJudge || f.judge.judge != ""
	f.judge.off = !f.score.Judge
	return errors.Join(f.models.check(), f.code.check(), f.trust.check())
}

func (a *app) mutate(ctx context.Context, f *mutateFlags) error {
	var err error
	if f.reports, err = a.outputsOf(f.reportTo, nil); err != nil {
		return err
	}
	for _, name := range append(names(f.reports), f.result.out) {
		if err := notOver(name, append(f.configs, f.selected, f.prompt, f.trials.examples, f.labels, f.candidates)...); err != nil {
			return err
		}
	}
	var end closers
	defer end.close()
	outputs, err := a.mutated(ctx, &end, f)
	if err != nil {
		return err
	}
	o := f.score
	o.Rules = f.asked.Compiler(textOnly)
	if f.model != "" {
		spec := proviso.ProviderSpec{ID: f.model}
		p, err := f.asked.Provider(spec)
		if err != nil {
			return a.noModelAsked(err)
		}
		o.Model = &ask.Model{Provider: p, Spec: spec}
	}
	clear := func() {}
	if a.watchedByPerson() {
		o.Tick = func(n int) { fmt.Fprintf(a.err, "\r%s tried\x1b[K", plural.Of(n, "output")) }
		clear = func() { fmt.Fprint(a.err, "\r\x1b[K") }
	}
	r, err := score.Run(ctx, outputs, o)
	clear()
	a.sayModels(f.asked)
	if ctx.Err() != nil {
		return a.interrupted(ctx, "no report was written")
	}
	if err != nil {
		return a.mistaken(a.invalidCandidates(err, f.selected), nothingRun)
	}
	if err := errors.Join(a.showMutants(f, r), a.writeRunReports(ctx, f, r)); err != nil {
		return err
	}
	return a.mutateExit(f, r)
}

// mutated opens the outputs, the assertions that decide them, and the engine.
func (a *app) mutated(ctx context.Context, end *closers, f *mutateFlags) (iter.Seq2[score.Output, error], error) {
	if f.selected == "" {
		return a.mutatedSuite(ctx, end, f)
	}
	h, err := a.history(ctx, &spadeSource{}, []string{f.prompt})
	if err != nil {
		return nil, err
	}
	list, err := a.readSelected(f.selected, f.candidates)
	if err != nil {
		return nil, err
	}
	outputs, err := a.openTrials(ctx, end, &f.trials)
	if err != nil {
		return nil, err
	}
	if err := a.takeLabels(f.labels, outputs.entries); err != nil {
		return nil, err
	}
	code := candidateCode{sandbox: f.code.sandbox}
	if code.sandbox == sandboxAuto { // a model may have written the code
		code.sandbox = sandboxRequire
	}
	if f.score.Try, err = a.spadeEngine(ctx, end, &f.evalFlags, filepath.Dir(f.selected), &code); err != nil {
		return nil, err
	}
	set := &score.Set{Prompt: h.Changes[len(h.Changes)-1].Text, Assertions: list}
	return func(yield func(score.Output, error) bool) {
		for t, err := range trial.Labelled(outputs.all, outputs.entries) {
			if !yield(score.Output{Trial: t, Set: set}, err) {
				return
			}
		}
	}, nil
}

// showMutants writes the report.
func (a *app) showMutants(f *mutateFlags, r *score.Report) error {
	var data []byte
	var err error
	switch f.result.format {
	case formatJSON:
		data, err = r.JSON()
	case formatMarkdown:
		data = show.Markdown(r)
	case formatHTML:
		data = show.HTML(r)
	default:
		data = show.Text(r, f.result.screen(a))
	}
	if err != nil {
		return err
	}
	if err := a.result(f.result.out, data); err != nil {
		return err
	}
	if f.result.toFile() {
		fmt.Fprintf(a.err, "proviso: %s; %s\n", printable(show.Headline(r)), printable(filepath.ToSlash(f.result.out)))
	}
	return nil
}

func (a *app) mutateExit(f *mutateFlags, r *score.Report) error {
	if r.Decided() == 0 {
		return exitError{exitUndecided}
	}
	unasked := r.Questions > 0 && r.Unanswered == r.Questions
	if unasked && f.result.toFile() {
		fmt.Fprintln(a.err, "proviso: the model broke nothing: every question to it failed; the report says why")
	}
	code := exitOK
	if f.gates {
		code = verdictCode(proviso.Totals{Passed: r.Killed, Failed: r.Survived, Errors: r.Undecided}, f.minScore, exitFailed)
	}
	switch code {
	case exitOK:
		if unasked {
			return exitError{exitUndecided}
		}
		return nil
	case exitUndecided:
		fmt.Fprintf(a.err, "proviso: whether the mutation score is at least %s (--min-score) depends on %s\n", report.Percent(f.minScore), plural.Of(r.Undecided, "undecided mutant"))
		return exitError{code}
	default:
		fmt.Fprintf(a.err, "proviso: the mutation score is %s, less than %s (--min-score)\n", report.Percent(r.Share()), report.Percent(f.minScore))
		return exitError{code}
	}
}

// writeRunReports writes the reports of the run whose outputs were broken, with the section about
// what its assertions would miss.
func (a *app) writeRunReports(ctx context.Context, f *mutateFlags, r *score.Report) error {
	if len(f.reports) == 0 {
		return nil
	}
	kept, err := a.openRun(ctx, f.trials.dir, f.trials.run)
	if err != nil {
		return err
	}
	defer kept.Close()
	meta, sum, err := kept.report(a)
	if err != nil {
		return err
	}
	if meta.Missed, err = show.Section(r); err != nil {
		return err
	}
	return writeReports(ctx, f.reports, meta, sum, kept.Reader)
}

// mutateRun breaks the outputs of a run, and adds what its assertions would miss to the reports.
// Assertions that ask a model are not run.
func (a *app) mutateRun(ctx context.Context, f *evalFlags, s *loaded, plan *run.Plan, out *run.Outcome) error {
	if !f.mutate || out.Interrupted {
		return nil
	}
	cases, err := newSuiteCases(plan)
	if err != nil {
		return err
	}
	r, err := score.Run(ctx, func(yield func(score.Output, error) bool) { cases.outputs(trial.OfRun(out.Rows), yield) }, score.Options{
		Rules: f.asked.Compiler(textOnly), Try: s.tries(f.concurrency),
	})
	switch {
	case ctx.Err() != nil:
		return a.interrupted(ctx, "the run is kept; what its assertions would miss is not known")
	case err != nil:
		return a.mistaken(err, nothingRun)
	}
	out.Meta.Missed, err = show.Section(r)
	return err
}
