package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/suite"
)

// spadeMatrix is what spade matrix is asked for.
type spadeMatrix struct {
	evalFlags                    // models, judge and trust; the rest has no flag here
	candidates, examples, labels string
	out                          string
}

func newSpadeMatrix(a *app) *cobra.Command {
	f := &spadeMatrix{}
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Try candidates on labelled outputs",
		Long: "matrix decides every candidate on every output and writes CSV that `spade select` reads: id,\n" +
			"label and a column for each candidate, 1 for pass, 0 for fail, nothing for undecided.\n\n" +
			"Outputs are JSON Lines or CSV: output (or response), and if known id, label (1 or good, 0 or\n" +
			"bad), prompt, and vars; in CSV every other column is a variable. Candidates that ask a model\n" +
			"take the flags of `proviso judge`.\n\n" +
			"Exit codes: 0 done, 2 a mistake in the command line or a file, 3 a candidate could not be\n" +
			"decided on any output, 130 interrupted.",
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.candidates == "":
				return missingFlag(cmd, "candidates", "name the file that `spade propose` wrote")
			case f.examples == "":
				return missingFlag(cmd, "examples", "name the file of outputs: CSV or JSON Lines")
			}
			for _, check := range []func() error{f.judge.check, f.models.check, f.trust.check} {
				if err := check(); err != nil {
					return err
				}
			}
			return a.spadeMatrix(cmd.Context(), f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.candidates, "candidates", "", "`FILE` of the candidates: YAML, JSON or JSON Lines")
	fs.StringVar(&f.examples, "examples", "", "`FILE` of the outputs: CSV or JSON Lines")
	fs.StringVar(&f.labels, "labels", "", "`FILE` of labels, id and label, that come before those of the outputs")
	fs.StringVarP(&f.out, "output", "o", "", "write to `FILE`, not to standard output")
	fs.IntVarP(&f.concurrency, "max-concurrency", "j", 0, "`N` outputs at a time (default one for each processor)")
	f.judge.registerJudge(fs)
	f.models.register(fs)
	f.trust.register(fs)
	return cmd
}

func (a *app) spadeMatrix(ctx context.Context, f *spadeMatrix) error {
	list, err := a.readCandidates(f.candidates)
	if err != nil {
		return err
	}
	trials, err := a.readTrials(f.examples, f.labels)
	if err != nil {
		return err
	}
	compiler, end, err := a.spadeCompiler(ctx, &f.evalFlags, dirOf(f.candidates))
	if err != nil {
		return err
	}
	defer end()
	g, err := spade.TryAll(ctx, list, trials, spade.TryOptions{Compiler: compiler, Concurrency: f.concurrency})
	if ctx.Err() != nil {
		return a.orStopped(ctx, ctx.Err())
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := g.CSV(&b); err != nil {
		return err
	}
	if err := a.result(f.out, b.Bytes()); err != nil {
		return err
	}
	for _, line := range f.asked.summary() {
		fmt.Fprintln(a.err, "proviso: "+printable(line))
	}
	return a.sayRates(g)
}

// readTrials reads outputs and the labels beside them.
func (a *app) readTrials(examples, labels string) ([]spade.Trial, error) {
	data, err := a.spadeFile(examples)
	if err != nil {
		return nil, err
	}
	trials, mistakes := spade.ReadTrials(shownName(examples), data)
	if err := a.mistakes(mistakes); err != nil || labels == "" {
		return trials, err
	}
	if data, err = a.spadeFile(labels); err != nil {
		return nil, err
	}
	return trials, a.mistakes(spade.ReadLabels(shownName(labels), data, trials))
}

// sayRates says how many examples there are, and which candidates were undecided
// how often and why; one that always was is exit code 3.
func (a *app) sayRates(g *spade.Grid) error {
	counts := map[string]int{}
	for _, t := range g.Trials {
		counts[t.Label]++
	}
	fmt.Fprintf(a.err, "proviso: %s on %s: %d good, %d bad, %d without a label\n", plural(len(g.Names), "candidate"), plural(len(g.Trials), "output"), counts["1"], counts["0"], counts[""])
	never := 0
	for j, r := range g.Rates() {
		if r.Undecided == 0 {
			continue
		}
		fmt.Fprintf(a.err, "proviso: %s: %d of %d undecided: %s\n", report.Line(g.Names[j], 80), r.Undecided, len(g.Trials), report.Line(strings.Join(g.Why[j], "; "), 300))
		if r.Undecided == len(g.Trials) {
			never++
		}
	}
	if never > 0 {
		return exitError{exitUndecided}
	}
	return nil
}

// spadeCompiler prepares everything that candidates may need, and what ends it. A
// judge is made when the first candidate asks for one.
func (a *app) spadeCompiler(ctx context.Context, f *evalFlags, dir string) (*check.Compiler, func(), error) {
	around, envFiles, err := f.trust.around(a.env, nil)
	if err != nil {
		return nil, nil, err
	}
	env, err := suite.WithEnvFiles(around, "", envFiles)
	if err != nil {
		return nil, nil, err
	}
	cassette := f.models.cassette()
	if _, err := f.models.replayed(ctx, cassette); err != nil {
		return nil, nil, err
	}
	code := script.New(script.Options{})
	templates := template.New(template.Options{})
	end := func() {
		for _, c := range []io.Closer{code, templates} {
			_ = c.Close() // engines only free memory
		}
	}
	files := suite.NewFiles(dir, f.trust.files())
	guarded, client := f.trust.code(code), f.client(env, cassette)
	f.asked = a.newModels(f, provider.Options{
		Files: files, Env: env, Client: client, Code: guarded, Templates: templates, Dir: dir, Untrusted: f.trust.untrusted,
	}, cassette)
	g := &judging{flags: f.judge, open: f.asked.open, provider: f.asked.options, store: a.verdicts(f.asked), concurrency: f.concurrency}
	var grader proviso.Grader = g.lazy()
	return check.New(check.Options{
		Code: guarded, Files: files, Templates: templates, Client: client, Env: env, Grader: grader, Expand: judge.Expand,
	}), end, nil
}
