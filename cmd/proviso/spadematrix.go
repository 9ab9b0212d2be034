package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/show"
	"github.com/proviso-eval/proviso/spade/trial"
)

// spadeMatrix holds the flags of spade matrix.
type spadeMatrix struct {
	evalFlags  // models, judge and trust; the other fields have no flag here
	trials     trialFlags
	labels     string
	candidates string
	out        string
	costs      string
	format     string
	code       candidateCode
}

// matrixFormats are the formats of the report on the candidates.
var matrixFormats = []string{"terminal", formatJSON}

func newSpadeMatrix(a *app) *cobra.Command {
	f := &spadeMatrix{}
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Try candidates on labelled outputs",
		Long: "matrix decides every candidate on every output and writes CSV that `spade select` reads: id,\n" +
			"label and a column for each candidate: 1 for pass, 0 for fail, empty for undecided. With -o\n" +
			"it prints how often each candidate passed, failed, threw and was undecided.\n\n" +
			"Outputs are JSON Lines or CSV: output (or response), and if known id, label (1 or good, 0 or\n" +
			"bad), prompt, and vars; in CSV every other column is a variable. --run takes those of a kept\n" +
			"run. Candidates that ask a model take the flags of `proviso judge`. What is decided is kept:\n" +
			"the same command again continues where it stopped, and tries only what is new.\n\n" +
			"Exit codes: 0 done, 2 a mistake in the command line or a file, 3 a candidate could not be\n" +
			"decided on any output, 130 interrupted.",
		Args:    atMost(0),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.spadeMatrix(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.candidates, "candidates", "", "`FILE` of the candidates: YAML, JSON, JSON Lines or Python")
	f.trials.register(fs)
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels (id, label) that override those of the outputs")
	fs.StringVarP(&f.out, "output", "o", "", "write the matrix to `FILE`, and a summary to standard output")
	fs.StringVar(&f.costs, "costs", "", "write to `FILE` what each candidate took; what was not measured this time stays")
	choiceVar(fs, &f.format, "format", "", matrixFormats, "with -o: `FORMAT` of the summary: terminal or json")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 0, 1, "decide `N` cells at a time (default one for each processor, and at least 4 if a model is asked)")
	f.code.register(fs)
	f.judge.registerJudge(fs)
	f.models.register(fs)
	f.evalFlags.trust.register(fs)
	return cmd
}

// check rejects flags that exclude each other.
func (f *spadeMatrix) check(cmd *cobra.Command) error {
	if f.candidates == "" {
		return missingFlag(cmd, "candidates", "name the file that `spade propose` wrote")
	}
	if err := f.trials.check(cmd); err != nil {
		return err
	}
	switch {
	case f.format != "" && f.out == "":
		return usageError{errors.New("--format needs -o: without it the matrix goes to standard output"), seeHelp(cmd)}
	case f.format == "":
		f.format = matrixFormats[0]
	}
	if err := f.code.check(); err != nil {
		return err
	}
	return errors.Join(f.models.check(), f.evalFlags.trust.check())
}

func (a *app) spadeMatrix(ctx context.Context, f *spadeMatrix) error {
	for _, out := range []string{f.out, f.costs} {
		if err := notOver(out, f.candidates, f.trials.examples, f.labels); err != nil {
			return err
		}
	}
	list, err := a.readCandidates(f.candidates)
	if err != nil {
		return err
	}
	earlier, err := a.earlierCosts(f.costs)
	if err != nil {
		return err
	}
	var end closers
	defer end.close()
	outputs, err := a.openTrials(ctx, &end, &f.trials)
	if err != nil {
		return err
	}
	if err := a.takeLabels(f.labels, outputs.entries); err != nil {
		return err
	}
	o, err := a.spadeEngine(ctx, &end, &f.evalFlags, filepath.Dir(f.candidates), &f.code)
	if err != nil {
		return err
	}
	done := 0
	var clear func()
	o.Tick, clear = a.ticker(len(outputs.entries), &done)
	g, err := matrix.Try(ctx, list, trial.Labelled(outputs.all, outputs.entries), o)
	clear()
	if ctx.Err() != nil {
		return a.matrixStopped(ctx, &f.models, done, len(outputs.entries))
	}
	if err != nil {
		return a.invalidCandidates(err, f.candidates)
	}
	if err := a.resultBy(f.out, g.CSV); err != nil {
		return err
	}
	if err := a.writeCosts(f, list, g, earlier); err != nil {
		return err
	}
	a.sayModels(f.asked)
	return a.sayRates(f, g)
}

// earlierCosts reads the costs of candidates that were measured before; nil if the file does not
// exist yet.
func (a *app) earlierCosts(file string) (matrix.Costs, error) {
	info, err := os.Stat(file)
	if file == "" || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, nil
	}
	return readAs(a, file, holdsCosts, matrix.ReadCosts)
}

// writeCosts writes the measured costs of the candidates.
func (a *app) writeCosts(f *spadeMatrix, list []proviso.Candidate, g *matrix.Grid, earlier matrix.Costs) error {
	if f.costs == "" {
		return nil
	}
	data, err := g.Costs(list, earlier).JSON()
	if err != nil {
		return err
	}
	return a.result(f.costs, data)
}

// matrixStopped explains how to continue an interrupted matrix.
func (a *app) matrixStopped(ctx context.Context, f *modelFlags, done, of int) error {
	rest := "what was decided is kept, and the same command continues with the rest"
	switch {
	case f.record != "": // recording bypasses the cache
		rest = "what models answered is in " + f.record + ", and the same command asks them again"
	case f.noCache:
		rest = "nothing is kept (--no-cache)"
	}
	return a.interrupted(ctx, fmt.Sprintf("%d of %s decided; no matrix was written; %s", done, plural.Of(of, "output"), rest))
}

// sayRates prints the number of examples, and which candidates were undecided or threw an
// exception, how often and why.
func (a *app) sayRates(f *spadeMatrix, g *matrix.Grid) error {
	n := trial.CountLabels(g.Entries)
	fmt.Fprintf(a.err, "proviso: %s on %s: %d good, %d bad, %d without a label\n", plural.Of(len(g.Names), "candidate"), plural.Of(len(g.Entries), "output"), n.Good, n.Bad, n.Left)
	if kept := g.Kept(); kept > 0 {
		fmt.Fprintf(a.err, "proviso: %s decided before; --no-cache decides them again\n", plural.Of(kept, "cell"))
	}
	a.warnUnkept(g)
	if text := n.OneSided(); text != "" {
		a.warn(text)
	}
	a.warnContradictions(g.Entries)
	if f.out == "" {
		a.sayTroubles(g)
		return neverDecided(g)
	}
	data := show.Grid(g, g.Rates(), a.terminal(true))
	if f.format == formatJSON {
		var err error
		if data, err = g.JSON(); err != nil {
			return err
		}
		data = append(data, '\n')
	}
	if err := a.result("", data); err != nil {
		return err
	}
	return neverDecided(g)
}

func (a *app) warnUnkept(g *matrix.Grid) {
	if g.Unkept != nil {
		a.warn(fmt.Sprintf("what was decided is not kept for the next time: %v", g.Unkept))
	}
}

// sayTroubles prints which candidates were undecided or threw an exception.
func (a *app) sayTroubles(g *matrix.Grid) {
	for _, line := range show.Troubles(g, g.Rates()) {
		fmt.Fprintln(a.err, "proviso: "+line)
	}
}

// neverDecided returns exit code 3 if a candidate is undecided on all outputs.
func neverDecided(g *matrix.Grid) error {
	if g.NeverDecided() {
		return exitError{exitUndecided}
	}
	return nil
}

// ticker shows how many outputs were tried, and counts them in done. end removes the line.
func (a *app) ticker(of int, done *int) (tick func(int), end func()) {
	shown := a.newProgress(of, false)
	return func(n int) {
		if *done = n; shown != nil {
			shown.tick(proviso.Totals{Passed: n})
		}
	}, sync.OnceFunc(shown.end)
}

// spadeEngine opens the engine for candidates. Code gets no grants but packages, because a model
// may have written it. Each change function may modify the options.
func (a *app) spadeEngine(ctx context.Context, end *closers, f *evalFlags, dir string, code *candidateCode, change ...func(*engine.Options)) (matrix.Options, error) {
	e, err := a.openEngine(ctx, end, f, dir, func(o *engine.Options) (err error) {
		o.Policy.Sandbox, err = sandbox.ParsePolicy(code.sandbox)
		o.Policy.Grants.Packages = code.packages()
		o.Policy.Synthesised, o.Limits.Workers = true, f.concurrency
		for _, c := range change {
			c(o)
		}
		return err
	})
	if err != nil {
		return matrix.Options{}, err
	}
	granted := matrix.Synthesised(e.Code())
	o := matrix.Options{
		Concurrency: f.concurrency, Code: granted, Packages: code.packages(), Untimed: f.models.replay != "",
		Compiler: e.Compiler(func(c *check.Options) { c.Code = granted }),
	}
	if !f.models.noCache {
		o.Keep = &matrix.Keep{Store: blobs.Open(a.cacheDir(keptCells)), Engine: strings.Join(append([]string{engineName(), code.sandbox}, code.grants...), " ")}
	}
	return o, nil
}

// engineName identifies the engine: by the version, or by the executable if the build has no
// version.
func engineName() string {
	name := versionName()
	if name != "devel" && !strings.Contains(name, "dirty") {
		return name
	}
	file, err := os.Executable()
	if err != nil {
		return name
	}
	info, err := os.Stat(file)
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s %d %d", name, info.Size(), info.ModTime().UnixNano())
}
