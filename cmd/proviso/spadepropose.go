package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/ask"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/propose"
	"github.com/proviso-eval/proviso/spade/rules"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
)

// spadePropose holds the flags of spade propose.
type spadePropose struct {
	spadeSource
	spadeAsking
	rules, dropped, all, fresh bool
	noRules                    bool // --rules=false
	examples, labels, uncaught string
	tau                        float64
	judge                      judgeFlags
	result                     resultFlags
}

func newSpadePropose(a *app) *cobra.Command {
	f := &spadePropose{}
	cmd := &cobra.Command{
		Use:   "propose [FOLDER|FILE]",
		Short: "Propose assertions for what each version of a prompt asked for",
		Long: "propose reads the versions of a prompt as `spade deltas` does and makes assertions of what\n" +
			"they added. Rules find quantities, formats, quoted phrases that an answer must or must not\n" +
			"have, how it begins and ends. A model is asked twice: what the sentences ask of an answer, and\n" +
			"which assertions decide that. Its proposals are compiled and tried on --examples; what cannot\n" +
			"be used, fails good outputs or catches nothing goes back to the model once. With --rules it\n" +
			"asks no model unless --model names one; with --rules=false only the model proposes.\n\n" +
			"With --uncaught and the matrix of `spade matrix`, the model is also asked what is wrong with\n" +
			"each bad output that no candidate catches.\n\n" +
			"The YAML that it writes is an assertion set: a suite can name it under assertions. The same\n" +
			"command again asks only about what is new.\n\n" +
			"Exit codes: 0 done, 2 a mistake in the command line or a file, 3 some sentences could not be\n" +
			"asked about (the rest is written), 130 interrupted (what was done is written).",
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE:    func(cmd *cobra.Command, args []string) error { return a.spadePropose(cmd.Context(), f, args) },
	}
	fs := cmd.Flags()
	f.spadeSource.register(fs)
	f.spadeAsking.register(fs, "proposes")
	fs.BoolVar(&f.rules, "rules", false, "propose by rules, without a model unless --model names one; --rules=false: without the rules")
	fs.StringVar(&f.examples, "examples", "", "`FILE` of outputs, CSV or JSON Lines: two good and two bad ones are shown to the model, and candidates are tried on them")
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels (id, label, note) that override those of the outputs")
	shareVar(fs, &f.tau, "tau", 0.25, "a candidate that fails more than this `SHARE` of the good outputs goes back to the model")
	fs.StringVar(&f.uncaught, "uncaught", "", "`FILE` of a matrix: also ask what is wrong with the bad outputs that no candidate within --tau catches")
	f.judge.registerJudge(fs)
	fs.Lookup("judge").Usage = "provider `ID` of a judge model that tries judged candidates on the outputs that are shown; without it they are not tried"
	droppedVar(fs, &f.dropped)
	fs.BoolVar(&f.fresh, "fresh", false, "propose again what is already in the file of -o")
	fs.BoolVar(&f.all, "all", false, "on the terminal, list every sentence without an assertion")
	f.result.register(fs, formatYAML, formatJSONL, formatJSON)
	fs.Lookup("output").Usage += "; keeps what is in it"
	return cmd
}

func droppedVar(fs *pflag.FlagSet, dropped *bool) {
	fs.BoolVar(dropped, "dropped", true, "also propose for sentences that the last version no longer has, marked as no longer asked; =false leaves them out")
}

// check rejects flags that exclude each other, and flags about outputs if there are none.
func (f *spadePropose) check(cmd *cobra.Command, args []string) error {
	f.result.find()
	if err := errors.Join(f.spadeSource.check(cmd, args), f.spadeAsking.check()); err != nil {
		return err
	}
	f.noRules = !f.rules && cmd.Flags().Changed("rules")
	for _, need := range []struct{ flag, value string }{{"labels", f.labels}, {"uncaught", f.uncaught}, {"judge", f.judge.judge}} {
		if need.value != "" && f.examples == "" {
			return usageError{fmt.Errorf("--%s needs outputs: --examples", need.flag), seeHelp(cmd)}
		}
	}
	if f.uncaught != "" && f.rules && f.model == "" {
		return usageError{errors.New("--uncaught asks a model, and --rules asks none"), seeHelp(cmd)}
	}
	if f.fresh && f.result.out == "" {
		return usageError{errors.New("--fresh is for -o: without it nothing is kept"), seeHelp(cmd)}
	}
	return nil
}

func (a *app) spadePropose(ctx context.Context, f *spadePropose, args []string) error {
	if err := notOver(f.result.out, append([]string{f.git, f.suite, f.examples, f.labels, f.uncaught}, args...)...); err != nil {
		return err
	}
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	o := propose.Options{Rules: !f.noRules, Dropped: f.dropped, Concurrency: f.concurrency, Tau: f.tau}
	if f.examples != "" {
		if o.Trials, err = a.labelledTrials(ctx, &trialFlags{examples: f.examples}, f.labels); err != nil {
			return err
		}
	}
	if f.uncaught != "" {
		if o.Uncaught, err = a.uncaughtIn(ctx, f.uncaught, f.tau); err != nil {
			return err
		}
	}
	if o.Earlier, err = a.earlier(f); err != nil {
		return err
	}
	var end closers
	defer end.close()
	if !f.rules || f.model != "" {
		if o.Model, err = a.spadeModel(ctx, &end, &f.spadeAsking, "; or propose without a model: --rules"); err != nil {
			return err
		}
	}
	judged := f.evalFlags
	judged.judge = f.judge
	cleared, err := a.openProposer(ctx, &end, &o, &judged, ".", &candidateCode{sandbox: sandboxRequire})
	if err != nil {
		return err
	}
	if f.result.toFile() {
		o.Save = func(p *propose.Proposal) error { return a.writeProposal(f, h, p) }
	}
	p, err := propose.Run(ctx, h, o)
	cleared()
	if p == nil {
		return a.orStopped(ctx, err)
	}
	return a.proposed(ctx, f, h, o.Model, p, err)
}

// openProposer opens what proposing needs besides its model: the judge that tries the proposals, if
// one is named, and the engine for templates. cleared removes the progress line.
func (a *app) openProposer(ctx context.Context, end *closers, o *propose.Options, judged *evalFlags, dir string, code *candidateCode) (cleared func(), err error) {
	if o.Model != nil && judged.judge.judge != "" {
		m, err := a.spadeEngine(ctx, end, judged, dir, code)
		if err != nil {
			return nil, err
		}
		o.Judged = m.Compiler
	}
	e, err := a.textEngine(ctx, end, nil, o.Concurrency)
	if err != nil {
		return nil, err
	}
	o.Compiler, o.Code = e.Compiler(textOnly), e.Code()
	o.Progress, cleared = a.counter()
	return cleared, nil
}

// proposed writes a proposal and prints the results. stopped is the reason why it is incomplete.
func (a *app) proposed(ctx context.Context, f *spadePropose, h *delta.History, m *ask.Model, p *propose.Proposal, stopped error) error {
	if stopped != nil && ctx.Err() == nil {
		return stopped // there is nothing to write
	}
	if err := a.writeProposal(f, h, p); err != nil {
		return err
	}
	if f.result.out != "" {
		rest := ""
		if n := len(p.Unproposed); n > 0 {
			rest = "; no check was made of " + plural.Of(n, "sentence")
		}
		fmt.Fprintf(a.err, "proviso: %s in %s%s\n", plural.Of(len(p.Candidates), "candidate"), printable(f.result.out), rest)
	}
	if m == nil {
		a.sayUnread(h)
		return a.orStopped(ctx, stopped)
	}
	a.sayNotes(p)
	if f.result.out != "" && f.result.format != formatTerminal {
		a.sayDropped(p, f.all)
	}
	if len(p.Versions) == 0 && stopped == nil {
		fmt.Fprintln(a.err, "proviso: nothing is new, and no model was asked; --fresh proposes again")
	}
	a.sayAsked(&f.spadeAsking, m, p.Spent())
	if stopped != nil {
		return a.interrupted(ctx, "what was proposed until then is kept")
	}
	if a.sayFailed(p); p.Failed() != nil {
		return exitError{exitUndecided}
	}
	return nil
}

// sayUnread prints what the rules cannot read in a prompt in another language.
func (a *app) sayUnread(h *delta.History) {
	if unread := rules.Unread(h.Changes[len(h.Changes)-1].Text); unread != "" {
		fmt.Fprintf(a.err, "proviso: %s\n", unread)
	}
}

// sayNotes prints what the user should know about the questions on each version.
func (a *app) sayNotes(p *propose.Proposal) {
	for i := range p.Versions {
		v := &p.Versions[i]
		for _, note := range v.Notes {
			fmt.Fprintf(a.err, "proviso: %s: %s\n", v.Name(), printable(note))
		}
	}
}

// shownDropped is how many dropped proposals are printed if the result is written to a file.
const shownDropped = 15

// sayDropped prints the proposals of a model that were dropped, and why, except those that are kept
// under another name.
func (a *app) sayDropped(p *propose.Proposal, all bool) {
	list := slices.DeleteFunc(slices.Clone(p.Dropped), func(d propose.Dropped) bool { return d.Same })
	for i, d := range list {
		if i == shownDropped && !all {
			fmt.Fprintf(a.err, "proviso: %d more were not kept; the file says why\n", len(list)-i)
			return
		}
		fmt.Fprintf(a.err, "proviso: not kept: %s: %s\n", report.Line(cmp.Or(d.Candidate, d.Criterion), 80), report.Line(d.Reason, 300))
	}
}

func (a *app) sayFailed(p *propose.Proposal) {
	if p.Failed() == nil {
		return
	}
	for _, v := range p.Versions {
		if v.Err != nil {
			fmt.Fprintf(a.err, "proviso: %s: not all sentences could be asked about: %s\n", v.Name(), shownError(v.Err))
		}
	}
	fmt.Fprintln(a.err, "proviso: the rest is done; the same command with -o asks again what is missing")
}

func (a *app) trialsOf(name string) ([]trial.Trial, error) {
	return readAs(a, name, holdsOutputs, trial.Read)
}

// maxProposeTrials is the maximum number of outputs per label that the proposer gets.
const maxProposeTrials = 100

// labelledTrials reads outputs for the proposer, with the labels of a file if one is named.
func (a *app) labelledTrials(ctx context.Context, f *trialFlags, labels string) ([]trial.Trial, error) {
	var end closers
	defer end.close()
	o, err := a.openTrials(ctx, &end, f)
	if err != nil {
		return nil, err
	}
	if err := a.takeLabels(labels, o.entries); err != nil {
		return nil, err
	}
	var list []trial.Trial
	of := map[string]int{}
	for t, err := range trial.Labelled(o.all, o.entries) {
		if err != nil {
			return nil, err
		}
		if of[t.Label]++; of[t.Label] <= maxProposeTrials {
			list = append(list, t)
		}
	}
	return list, nil
}

// uncaughtIn returns the ids of the bad outputs in a matrix that no candidate within tau catches.
func (a *app) uncaughtIn(ctx context.Context, file string, tau float64) ([]string, error) {
	m, err := a.readMatrix(file)
	if err != nil {
		return nil, err
	}
	s, err := selection.Select(ctx, m, nil, selection.Options{Method: "base", Tau: tau, Undecided: selection.Bound})
	if err != nil {
		return nil, err
	}
	if len(s.Uncaught) == 0 {
		fmt.Fprintf(a.err, "proviso: every bad output of %s is caught\n", printable(file))
	}
	return s.Uncaught, nil
}

// earlier reads the existing proposal in the output file; nil if there is none.
func (a *app) earlier(f *spadePropose) (*propose.Earlier, error) {
	if !f.result.toFile() || f.fresh || f.result.format == formatTerminal {
		return nil, nil
	}
	info, err := os.Stat(f.result.out)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, nil // writing creates the file or fails
	}
	e, err := readAs(a, f.result.out, holdsCandidates, propose.ReadEarlier)
	if errors.As(err, &exitError{}) {
		a.sayNotContinued(f.result.out)
	}
	return e, err
}

func (a *app) sayNotContinued(file string) {
	fmt.Fprintf(a.err, "proviso: %s cannot be continued; correct it, or replace it with --fresh\n", printable(file))
}

// writeProposal writes a proposal in the requested format.
func (a *app) writeProposal(f *spadePropose, h *delta.History, p *propose.Proposal) error {
	var data []byte
	var err error
	switch f.result.format {
	case formatYAML:
		data = p.YAML(p.About(h))
	case formatJSONL:
		data = candidate.JSONL(p.Candidates)
	case formatJSON:
		data, err = p.JSON()
	default:
		data = show.Proposal(p, f.result.screen(a), f.all)
	}
	if err != nil {
		return err
	}
	return a.result(f.result.out, data)
}
