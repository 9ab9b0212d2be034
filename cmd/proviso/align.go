package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// alignFlags are the flags of align.
type alignFlags struct {
	run, dir string
	by       string
	format   string
	all      bool
	save     string
	least    []floor // in the order of the help

	template     string
	perAssertion int
	sample       string
	assertions   []string
	verdicts     bool
	seed         uint64
}

// floor is the minimum value of one measure.
type floor struct {
	flag    string
	measure align.Measure
	least   float64
	set     bool
}

func newAlign(a *app) *cobra.Command {
	f := &alignFlags{}
	cmd := &cobra.Command{
		Use:   "align LABELS",
		Short: "Measure how far a judge agrees with people",
		Long: "align compares verdicts of people (LABELS: CSV or JSON Lines, - for standard input) with\n" +
			"those of a judge: agreement, kappa, how many good outputs it passes and how many bad ones it\n" +
			"catches, which disagreements to read, and the pass rate corrected for its errors.\n\n" +
			"Start with `proviso align --template last > labels.csv`, fill in the column human, then\n" +
			"`proviso align labels.csv --run last`.",
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.template != "" {
				return a.alignSheet(cmd.Context(), f)
			}
			return a.align(cmd.Context(), f, args[0])
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *alignFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.run, "run", "", "kept `RUN` with the judge's verdicts: its id or the beginning of it, last, its file, or its address on a server")
	fs.StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	fs.StringVar(&f.by, "by", "", "only labels of one `PERSON`, by id or name (default what most people say)")
	choiceVar(fs, &f.format, "format", formatTerminal, []string{formatTerminal, formatJSON, formatMarkdown}, "`FORMAT` of the result: terminal, json or markdown")
	fs.BoolVar(&f.all, "all", false, "show every disagreement, not only the first ten of each assertion")
	fs.StringVar(&f.save, "save", "", "store the result in `FILE` (.proviso/alignment.json if none is given), so that reports show how far the judge is validated")
	fs.Lookup("save").NoOptDefVal = align.File
	f.least = []floor{{flag: "min-kappa", measure: align.Kappa}, {flag: "min-tnr", measure: align.TNR}, {flag: "min-tpr", measure: align.TPR}}
	for i := range f.least {
		g := &f.least[i]
		fs.Float64Var(&g.least, g.flag, 0, "exit with 1 if the "+string(g.measure)+" of an assertion is below `N`")
	}
	fs.StringVar(&f.template, "template", "", "print outputs of `RUN` as CSV to label; measures nothing")
	fs.IntVar(&f.perAssertion, "per-assertion", 50, "with --template: at most `N` outputs for each assertion")
	choiceVar(fs, &f.sample, "sample", "balanced", []string{"balanced", "random"}, "with --template: `KIND` of sample: balanced (half passed by the judge, half failed) or random")
	fs.StringArrayVar(&f.assertions, "assertion", nil, "with --template: only the assertion `NAME`; may be repeated")
	fs.BoolVar(&f.verdicts, "show-verdicts", false, "with --template: show the judge's verdicts, which may bias people")
	fs.Uint64Var(&f.seed, "seed", 0, "with --template: `SEED` of the sample; another seed draws other outputs")
}

// check refuses flags that exclude each other.
func (f *alignFlags) check(cmd *cobra.Command, args []string) error {
	sheet := cmd.Flags().Changed("template")
	for name, want := range map[string]bool{"per-assertion": true, "sample": true, "assertion": true, "show-verdicts": true, "seed": true,
		"run": false, "by": false, "format": false, "all": false, "save": false, "min-kappa": false, "min-tnr": false, "min-tpr": false} {
		if cmd.Flags().Changed(name) && want != sheet {
			if want {
				return usageError{fmt.Errorf("--%s is for --template", name), seeHelp(cmd)}
			}
			return usageError{fmt.Errorf("--%s does not go with --template, which only prints what is to be labelled", name), seeHelp(cmd)}
		}
	}
	for i := range f.least {
		g := &f.least[i]
		if g.set = cmd.Flags().Changed(g.flag); g.set && !(g.least >= -1 && g.least <= 1) {
			return badValue("--"+g.flag, "a number from -1 to 1", fmt.Sprint(g.least), seeHelp(cmd))
		}
	}
	switch {
	case sheet && f.template == "":
		return usageError{errors.New("--template needs a run"), "write --template last for the last one"}
	case sheet && len(args) > 0:
		return usageError{fmt.Errorf("unexpected argument %q: --template reads no labels", args[0]), seeHelp(cmd)}
	case !sheet && len(args) == 0:
		return usageError{errors.New("no labels"), "name their file, or make one with --template last"}
	case f.save != "" && f.run == "":
		return usageError{errors.New("--save needs --run: what is kept names the judge and the text of the assertion"), "add --run last"}
	}
	return nil
}

// alignSheet prints the outputs to label, with instructions.
func (a *app) alignSheet(ctx context.Context, f *alignFlags) error {
	r, err := a.openRun(ctx, f.dir, f.template)
	if err != nil {
		return err
	}
	defer r.Close()
	o := align.SheetOptions{PerAssertion: f.perAssertion, Random: f.sample == "random", Verdicts: f.verdicts, Assertions: f.assertions, Seed: f.seed}
	if f.perAssertion < 1 || f.perAssertion > align.MaxPerAssertion {
		return badValue("--per-assertion", fmt.Sprintf("a number from 1 to %d", align.MaxPerAssertion), strconv.Itoa(f.perAssertion), "50 is usual")
	}
	sheet, err := align.WriteSheet(a.out, r.Reader, o)
	if err != nil {
		return err
	}
	for _, p := range sheet.Assertions {
		fmt.Fprintf(a.err, "proviso: %s: %d of %d outputs", printable(p.Assertion), p.Drawn.N, p.Of.N)
		if f.verdicts {
			fmt.Fprintf(a.err, ", %d passed and %d failed by %s", p.Drawn.Pass, p.Drawn.N-p.Drawn.Pass, printable(p.Judge))
		}
		fmt.Fprintln(a.err)
	}
	fmt.Fprintf(a.err, "proviso: write pass or fail into the column human of %s; then `proviso align FILE --run %s`\n", plural.Of(sheet.Rows, "row"), r.Header().ID)
	return nil
}

// align compares labels with verdicts, shows and keeps the result, and checks the
// gates.
func (a *app) align(ctx context.Context, f *alignFlags, name string) error {
	labels, err := a.labels(name, f.by)
	if err != nil {
		return a.mistaken(err, notMeasured)
	}
	a.sayLeftOut([]leftOut{
		{labels.Outputs, "label", "of whole outputs, not of an assertion"},
		{labels.Counted, "label", "no model decided the assertion"},
		{labels.Split, "output", "as many people say pass as fail"},
		{labels.Others, "label", "of other people"},
	})
	var run record.Run
	if f.run != "" {
		r, err := a.openRun(ctx, f.dir, f.run)
		if err != nil {
			return err
		}
		defer r.Close()
		run = r.Reader
		if f.save == align.File {
			f.save = a.besideSuite(f, r.Reader)
		}
	}
	result, err := align.Compare(labels, run)
	if err != nil {
		return a.mistaken(err, notMeasured)
	}
	if err := a.showAgreements(f, result); err != nil {
		return err
	}
	if f.save != "" {
		if err := a.saveAgreements(f.save, result); err != nil {
			return err
		}
	}
	return a.gates(f, result)
}

func (a *app) labels(name, by string) (*align.Labels, error) {
	file, err := a.openInput(name, holdsAlignment)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return align.ReadLabelsOf(shownName(name), file, by)
}

// notMeasured is what align did if there are mistakes.
const notMeasured = "nothing was measured"

// leftOut counts outputs that are not compared, and names the reason.
type leftOut struct {
	n         int
	noun, why string
}

func (a *app) sayLeftOut(list []leftOut) {
	for _, x := range list {
		if x.n > 0 {
			a.warn(fmt.Sprintf("%s left out: %s", plural.Of(x.n, x.noun), x.why))
		}
	}
}

// showAgreements prints the result, and what was left out.
func (a *app) showAgreements(f *alignFlags, result *align.Agreements) error {
	a.sayLeftOut([]leftOut{
		{result.Unlabelled, "row", "no verdict of a person"},
		{result.Stale, "label", "the run has another output of that case"},
		{result.Skipped, "label", "the assertion did not apply"},
	})
	var text []byte
	var err error
	switch f.format {
	case formatJSON:
		text, err = result.JSON()
	case formatMarkdown:
		text = result.Markdown(f.all)
	default:
		text = result.Text(a.terminal(true), f.all)
	}
	if err == nil {
		_, err = a.out.Write(text)
	}
	return writeError(err)
}

// besideSuite returns the alignment file in the folder of a run's suite, where reports of the suite
// look for it. A run file from elsewhere must not decide where to write.
func (a *app) besideSuite(f *alignFlags, r *runfile.Reader) string {
	if inside, err := filepath.Rel(cmp.Or(f.dir, a.stateDir()), r.Path()); err != nil || !filepath.IsLocal(inside) {
		return align.File
	}
	folder, _ := r.Header().Meta.At("folder").(string)
	return shortPath(filepath.Join(alignmentFolder(folder), align.File))
}

// alignmentFolder returns the folder with the alignment of a run's suite: the suite's folder if the
// run records it and it exists, otherwise the working folder.
func alignmentFolder(folder string) string {
	if info, err := os.Stat(folder); folder == "" || err != nil || !info.IsDir() {
		return "."
	}
	return folder
}

// trustOf returns how far judges agree with human labels, according to the alignment in a suite's
// folder; nil if there is none.
func (a *app) trustOf(dir string) func(judge, assertion string, raw *value.Object) report.Trust {
	kept, err := align.Load(filepath.Join(dir, align.File))
	if err != nil {
		a.warn(err.Error())
		return nil
	}
	return func(judge, assertion string, raw *value.Object) report.Trust {
		return kept.Trust(judge, assertion, record.AssertionHash(&proviso.Assertion{Raw: raw}))
	}
}

func (a *app) saveAgreements(file string, result *align.Agreements) error {
	kept, err := align.Load(file)
	if err != nil {
		return err
	}
	n, omitted := kept.Add(result, time.Now())
	for _, text := range omitted {
		a.warn(text)
	}
	if n == 0 {
		return nil
	}
	if err := kept.Save(file); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "proviso: kept the alignment of %s in %s\n", plural.Of(n, "assertion"), printable(file))
	return nil
}

// gates checks every assertion against the given floors: exit code 1 if one is too low,
// 3 if it is unknown.
func (a *app) gates(f *alignFlags, result *align.Agreements) error {
	code := exitOK
	for i := range result.Assertions {
		x := &result.Assertions[i]
		for _, g := range f.least {
			if !g.set {
				continue
			}
			switch e := g.measure.Of(x); {
			case e == nil:
				why := x.NotMeasured()
				if x.N == 0 || why == "" {
					why = string(g.measure) + " is not known"
				}
				fmt.Fprintf(a.err, "proviso: %s: %s, so --%s cannot be decided\n", printable(x.Assertion), why, g.flag)
				if code == exitOK {
					code = exitUndecided
				}
			case e.Value < g.least:
				fmt.Fprintf(a.err, "proviso: %s: %s %.2f is below %v (--%s)\n", printable(x.Assertion), g.measure, e.Value, g.least, g.flag)
				code = exitFailed
			}
		}
	}
	return exitWith(code)
}
