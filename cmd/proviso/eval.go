package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/watch"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
)

func newEval(a *app) *cobra.Command {
	f := &evalFlags{}
	var since string
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Run a suite: prompts × providers × cases, decide every assertion, report",
		Long: "eval runs a suite and decides every assertion. Without -c it takes proviso.yaml, or\n" +
			"else promptfooconfig.yaml, .yml or .json, of the working folder.\n\n" +
			"Exit codes: 0 all rows pass, or at least the share that --fail-under sets, 1 too many rows\n" +
			"fail, 2 the suite or the command line is wrong and nothing was run, 3 the result depends on\n" +
			"rows that errors left undecided, 130 interrupted.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since != "" && (f.watch || f.resume != "" || f.retryErrors) {
				return usageError{errors.New("--changed-since begins a run, or none"), "leave out --watch, --resume and --retry-errors"}
			}
			return a.changedSuites(cmd.Context(), since, f, a.evalOrWatch)
		},
	}
	f.register(cmd.Flags())
	f.registerRemote(cmd.Flags())
	cmd.Flags().BoolVar(&f.mutate, "mutate", false, "then break the outputs on purpose, and show in the reports what the assertions would miss; asks no model")
	registerChanged(cmd.Flags(), &since)
	groupFlags(cmd, evalGroups, "  proviso eval                                    the suite of this folder\n"+
		"  proviso eval -c suite.yaml -o report.html       a suite by name, and a report\n"+
		"  proviso eval --filter-pattern refund -j 8       some of its cases, 8 rows at a time\n"+
		"  proviso eval --fail-under 95% --max-cost 2      in CI: 95% must pass, for at most 2 US dollars\n"+
		"  proviso eval --resume                           the rest of an interrupted run")
	return cmd
}

// noArgs rejects arguments and suggests the flag that was probably meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if f := cmd.Flags().Lookup("resume"); f != nil && f.Changed && f.Value.String() == lastRun {
		return usageError{
			err:  fmt.Errorf("unexpected argument %q", args[0]),
			hint: "a run is named with an equals sign: --resume=" + args[0],
		}
	}
	hint := seeHelp(cmd)
	if cmd.Flags().Lookup("config") != nil {
		hint = fmt.Sprintf("a suite is named with -c: %s -c %s", cmd.CommandPath(), args[0])
	} else if cmd.Flags().Lookup("suite") != nil {
		hint = fmt.Sprintf("a suite is named with --suite: %s --suite %s", cmd.CommandPath(), args[0])
	}
	return usageError{err: fmt.Errorf("unexpected argument %q", args[0]), hint: hint}
}

// evalOrWatch runs a suite once, or again whenever a file changes.
func (a *app) evalOrWatch(ctx context.Context, f *evalFlags) error {
	f.trust.untrusted = f.trust.untrusted || f.on != ""
	if err := f.check(); err != nil {
		return err
	}
	outputs, err := a.outputsOf(f.outputs, nil)
	if err != nil {
		return err
	}
	if f.remote, err = a.remoteOf(f); err != nil {
		return err
	}
	if f.remote != nil {
		return a.eval(ctx, f, outputs)
	}
	for {
		once, seen := *f, watch.New()
		once.seen = seen.Add
		err := a.eval(ctx, &once, outputs)
		f.watch = f.watch || once.watch
		if !f.watch || ctx.Err() != nil || seen.Count() == 0 {
			return err
		}
		var exit exitError
		if err != nil && !errors.As(err, &exit) {
			a.explain(err)
		}
		seen.Ignore(append(a.foldersOf(&once), names(once.written)...))
		if !a.awaitChange(ctx, seen) {
			return nil
		}
	}
}

// foldersOf returns the folders that a run writes to, besides its reports.
func (a *app) foldersOf(f *evalFlags) []string {
	list := []string{a.cacheDir(keptAnswers)}
	for _, dir := range []string{a.runDir(f), f.models.record} {
		if dir != "" {
			list = append(list, dir)
		}
	}
	return list
}

// awaitChange waits until a file changes and prints its name. It returns false if the user has
// ended the command.
func (a *app) awaitChange(ctx context.Context, seen *watch.Files) bool {
	fmt.Fprintf(a.err, "proviso: watching %s; Ctrl-C ends\n", plural.Of(seen.Count(), "file"))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := seen.Wait(ctx)
	if len(changed) == 0 {
		return false
	}
	fmt.Fprintf(a.err, "\nproviso: changed: %s\n\n", printable(wording(changed)))
	return true
}

// wording names the changed files, relative to the working folder if they are below it.
func wording(changed []string) string {
	const most = 3
	var names []string
	for _, path := range changed[:min(len(changed), most)] {
		names = append(names, filepath.ToSlash(shortPath(path)))
	}
	return listed(names, len(changed))
}

// prepare reads a suite and makes its plan: everything that eval does before its first call, and
// all that validate does. outputs are the report files that flags name.
func (a *app) prepare(ctx context.Context, f *evalFlags, outputs []output) (*loaded, *run.Plan, error) {
	if _, err := a.resumed(f); err != nil { // without that run, the suite does not matter
		return nil, nil, err
	}
	s, err := a.read(ctx, &f.suiteFlags)
	if err != nil {
		return nil, nil, err
	}
	f.merge(s.Suite, a.watchedByPerson())
	if len(outputs) == 0 {
		if outputs, err = a.outputsOf(nil, s.Outputs); err != nil {
			m := proviso.Mistake{Place: s.Place("/outputPath"), Code: proviso.Invalid, Message: err.Error(), Warning: s.Lenient}
			if m.Warning { // promptfoo notices only after all calls are paid for
				m.Message = "no report is written for outputPath: " + m.Message
			}
			s.mistakes = append(s.mistakes, m)
		}
	}
	f.written = outputs
	if f.passRate, err = a.passRateOf(f, s); err != nil {
		s.close()
		return nil, nil, err
	}
	plan, err := a.plan(ctx, s, f)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, plan, nil
}

// eval reads, plans, runs and reports.
func (a *app) eval(ctx context.Context, f *evalFlags, outputs []output) error {
	var plan *run.Plan
	s, out, err := a.run(ctx, f, outputs, func(_ *loaded, p *run.Plan) error { plan = p; return nil })
	if s != nil {
		defer s.close()
	}
	if out != nil {
		defer out.Close()
	}
	if err != nil {
		return err
	}
	unknown := a.mutateRun(ctx, f, s, plan, out) // a failure does not prevent the report of the run
	if err := errors.Join(a.report(ctx, f, s, out, f.written), unknown); err != nil {
		return err
	}
	return a.exit(f, s, out)
}

// run reads, plans and runs a suite. The caller closes the suite and the outcome if they are not
// nil, even after an error. first is called before the first request, and its error ends the
// command; it may be nil.
func (a *app) run(ctx context.Context, f *evalFlags, outputs []output, first func(*loaded, *run.Plan) error) (*loaded, *run.Outcome, error) {
	f.online = f
	s, plan, err := a.prepare(ctx, f, outputs)
	if err != nil {
		return nil, nil, err
	}
	if first != nil {
		if err := first(s, plan); err != nil {
			return s, nil, err
		}
	}
	if line := f.models.estimate(f.asked, plan.Demands()); line != "" && f.resume == "" && !f.retryErrors && f.remote == nil {
		fmt.Fprintln(a.err, "proviso: "+printable(line))
	}
	if err := f.traced.start(ctx, a, plan); err != nil {
		f.traced.close(a)
		return s, nil, err
	}
	f.progress = a.newProgress(plan.Rows, f.noProgress)
	execute := plan.Run
	if f.remote != nil {
		execute = func(ctx context.Context) (*run.Outcome, error) { return f.remote.collect(ctx, f, s, plan) }
	}
	out, err := execute(ctx)
	f.progress.end()
	f.traced.close(a)
	a.sayModels(f.asked)
	if out != nil {
		if out.Warning != "" {
			a.warn(out.Warning)
		}
		for _, problem := range out.Problems {
			a.warn(problem)
		}
	}
	if err != nil {
		return s, out, a.cutShort(out, proviso.WithCode(proviso.Unavailable, err))
	}
	if !f.trust.untrusted {
		out.Meta.Trust = a.trustOf(s.Dir)
	}
	return s, out, nil
}

// runWhole is run for a command that needs a complete outcome. If the run does not finish, it
// returns an error and closes the outcome. The caller closes the suite and the outcome.
func (a *app) runWhole(ctx context.Context, f *evalFlags, outputs []output, first func(*loaded, *run.Plan) error) (*loaded, *run.Outcome, error) {
	s, out, err := a.run(ctx, f, outputs, first)
	if err == nil && out.Interrupted {
		err = a.interruptedRun(out, false)
	}
	if err != nil && out != nil {
		err = errors.Join(err, out.Close())
	}
	return s, out, err
}

// cutShort prints why a run ended early, and how to resume it if something is kept.
func (a *app) cutShort(out *run.Outcome, err error) error {
	if out == nil || out.Meta.RunFile == "" || out.Totals.Rows() == 0 {
		return err
	}
	a.explain(err)
	fmt.Fprintf(a.err, "proviso: rows that were finished before are kept in %s; --resume=%s does the others\n", out.Meta.RunFile, out.ID)
	return exitError{codeOf(err)}
}

// report writes the report files and then the text for a person, even if a file cannot be written.
func (a *app) report(ctx context.Context, f *evalFlags, s *loaded, out *run.Outcome, outputs []output) error {
	ctx = context.WithoutCancel(ctx) // an interrupted run is still reported
	places := a.places(s)
	defer places.Close()
	out.Meta.Place = places.Of
	if f.failUnder != nil || f.passRate != 1 { // by default all rows must pass, which the counts already show
		out.Meta.Decision = report.PassRateDecision(out.Summary, f.passRate, verdictCode(out.Totals, f.passRate, exitFailed) == exitFailed)
	}
	failed := writeReports(ctx, outputs, out.Meta, out.Summary, out.Rows)
	return proviso.WithCode(proviso.Unavailable, errors.Join(failed, report.Terminal(a.out, a.terminal(!f.noTable), out.Meta, out.Summary, out.Rows), a.annotate(ctx, out, nil)))
}

// exit prints how the run ended, unless the report does so.
func (a *app) exit(f *evalFlags, s *loaded, out *run.Outcome) error {
	if out.Interrupted {
		return a.interruptedRun(out, out.Totals.Rows() < out.Meta.Planned)
	}
	failed := a.failedCode(s.env)
	code := verdictCode(out.Totals, f.passRate, failed)
	if code == exitOK && f.passRate > 0 && !s.Lenient && checkedNothing(out.Summary.Columns()) {
		fmt.Fprintln(a.err, "proviso: exit code 3: no assertion was decided, because each was skipped: look at the conditions (when)")
		return exitError{exitUndecided}
	}
	if code == exitOK {
		return nil
	}
	if _, set := s.env.Lookup("PROMPTFOO_FAILED_TEST_EXIT_CODE"); code == exitFailed && promptfooFile(s.File) && !set {
		fmt.Fprintln(a.err, "proviso: exit code 1; promptfoo exits with 100 (PROMPTFOO_FAILED_TEST_EXIT_CODE=100 does the same)")
	}
	return exitError{code}
}

// interruptedRun prints what is kept of a run that the user ended, and how to resume it, unless the
// report has already done so.
func (a *app) interruptedRun(out *run.Outcome, told bool) error {
	how := ""
	if !told {
		how = fmt.Sprintf(" in %s; to resume, run the same command with --resume=%s", out.Meta.RunFile, out.ID)
	}
	switch {
	case out.Meta.RunFile == "":
		fmt.Fprintln(a.err, "proviso: interrupted; nothing is kept")
	case out.Meta.On != "":
		fmt.Fprintln(a.err, printable(fmt.Sprintf("proviso: interrupted; the run continues at %s, and the rows that arrived are kept%s", out.Meta.On, how)))
	default:
		fmt.Fprintf(a.err, "proviso: interrupted; the finished rows are kept%s\n", how)
	}
	return exitError{exitInterrupted}
}

// checkedNothing reports whether a run has assertions but skipped all of them.
func checkedNothing(columns []report.ColumnSummary) bool {
	skipped := 0
	for _, c := range columns {
		skipped += c.Assertions.Skipped
		if c.Assertions.Passed+c.Assertions.Failed+c.Assertions.Errors > 0 {
			return false
		}
	}
	return skipped > 0
}

// promptfooFile reports whether a suite has the file name of a promptfoo configuration.
func promptfooFile(name string) bool {
	return strings.HasPrefix(filepath.Base(name), "promptfooconfig")
}

// failedCode returns the exit code of a run that misses its threshold. A value that is not a
// failure code must not turn it into a success.
func (a *app) failedCode(env proviso.Env) int {
	const name = "PROMPTFOO_FAILED_TEST_EXIT_CODE"
	text, set := env.Lookup(name)
	if !set || text == "" {
		return exitFailed
	}
	code, err := strconv.Atoi(text)
	if err != nil || code < 0 || code > 255 {
		a.warn(name + " is not an exit code: " + text + "; it is " + strconv.Itoa(exitFailed))
		return exitFailed
	}
	return code
}
