package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/show"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	dir, format, file string
	by, reference     string
	cases             int
}

var compareFormats = []string{formatTerminal, formatMarkdown, formatHTML, formatJSON}

// sideNames is the help text on how to name a side of a comparison.
const sideNames = runNames + " A side may also be a baseline file, or a\n" +
	"folder with a run or a baseline, such as an artifact of a CI system."

func newCompare(a *app) *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Compare two runs: what broke, what was fixed, and whether it is chance",
		Long: "compare pairs the cases of two runs and shows for each assertion how its pass rate\n" +
			"changed, with 95 % intervals, which cases broke and which were fixed, and where their\n" +
			"outputs differ.\n\n" + sideNames + "\n\n" +
			"With --by it compares the providers, or the prompts, of one run: each with the first one,\n" +
			"or with --reference.\n\n" +
			"Exit codes: 0 the runs were compared, 2 the command line is wrong or a run is missing,\n" +
			"3 they have nothing that could be compared. `proviso gate` decides whether a change may\n" +
			"merge.",
		Args:    atMost(2),
		PreRunE: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.compare(cmd.Context(), f, args)
			if errors.Is(err, gate.ErrNothing) {
				a.explain(err)
				return exitError{exitUndecided}
			}
			return err
		},
	}
	fs := cmd.Flags()
	choiceVar(fs, &f.format, "format", formatTerminal, compareFormats, "`FORMAT` of the result: terminal, markdown, html or json")
	fs.StringVarP(&f.file, "output", "o", "", "write the result to `FILE`, the format by its suffix (.txt, .md, .html or .json) unless --format is given")
	choiceVar(fs, &f.by, "by", "", []string{"provider", "prompt"}, "compare the columns of one run by `KIND`: provider or prompt")
	fs.StringVar(&f.reference, "reference", "", "with --by: compare with the provider or prompt `LABEL` instead of the first one")
	fs.IntVar(&f.cases, "cases", 10, "show at most `N` cases with their outputs (HTML: at least 200)")
	fs.StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	return cmd
}

// check finds mistakes in the command line.
func (f *compareFlags) check(cmd *cobra.Command, args []string) error {
	if f.file != "" && !cmd.Flags().Changed("format") {
		if f.format = formatOf(f.file, compareFormats); f.format == "" {
			return usageError{fmt.Errorf("-o %s: the suffix does not say which format", f.file), "valid: .txt, .md, .html, .json; or give --format"}
		}
	}
	switch {
	case f.by == "" && len(args) < 2:
		return usageError{errors.New("compare needs two runs, BASE and HEAD"), "the last one is called last; --by provider compares the columns of one run"}
	case f.by != "" && len(args) != 1:
		return usageError{errors.New("--by compares the columns of one run"), "name one run, such as last"}
	case f.by == "" && f.reference != "":
		return usageError{errors.New("--reference goes with --by"), "it names a provider or a prompt of one run"}
	case f.cases < 1:
		return usageError{fmt.Errorf("--cases %d is not at least 1", f.cases), seeHelp(cmd)}
	}
	return nil
}

// compare compares the sides that the arguments name, and writes the result.
func (a *app) compare(ctx context.Context, f *compareFlags, args []string) error {
	a.spare.Store(40) // unlike a run, a comparison keeps most of what it allocates
	head, err := a.openSide(ctx, f.dir, args[len(args)-1], "")
	if err != nil {
		return a.mistaken(err, nothingRun)
	}
	defer head.close()
	o := show.Options{Suite: head.suite, Cases: f.cases}
	if f.by != "" {
		list, err := a.compareColumns(head, f.by, f.reference)
		if err != nil {
			return err
		}
		o.Reproduce = []string{"proviso compare " + shellWord(head.run.Name) + " --by " + f.by + inFolder(f.dir)}
		return a.writeColumns(f, list, show.Texts{Base: head.texts, Head: head.texts}, o)
	}
	base, err := a.openSide(ctx, f.dir, args[0], head.suite)
	if err != nil {
		return a.mistaken(err, nothingRun)
	}
	defer base.close()
	if base.run.Name == head.run.Name || base.path == head.path {
		return usageError{fmt.Errorf("both names are the run %s", head.run.Name), "name two runs; `proviso compare RUN --by provider` compares the columns of one"}
	}
	c, _, err := a.compareSides(base, head, nil)
	if err != nil {
		return err
	}
	o.Reproduce = []string{"proviso compare " + shellWord(base.run.Name) + " " + shellWord(head.run.Name) + inFolder(f.dir)}
	texts := show.Texts{Base: base.texts, Head: head.texts}
	return a.writeTo(f, func(w io.Writer) error { return writeComparison(w, f.format, c, nil, texts, a.terminalOf(f, o)) })
}

func writeComparison(w io.Writer, format string, c *gate.Comparison, d *gate.Decision, texts show.Texts, o show.Options) error {
	switch format {
	case formatMarkdown:
		return show.Markdown(w, c, d, texts, o)
	case formatHTML:
		return show.HTML(w, c, d, texts, o)
	case formatJSON:
		return show.JSON(w, c, d)
	}
	return show.Terminal(w, c, d, texts, o)
}

// inFolder returns the flag for the folder of the kept runs, unless it is the default.
func inFolder(dir string) string {
	if dir == "" {
		return ""
	}
	return " --run-dir " + shellWord(dir)
}

// compareColumns compares the providers or the prompts of a run.
func (a *app) compareColumns(s *side, by, reference string) ([]*gate.Comparison, error) {
	list, err := gate.CompareColumns(s.run, by, reference, gate.Options{Judges: a.judgeErrors(s.folder, s.run)})
	for _, c := range list {
		c.Warnings = slices.Concat(s.notes, c.Warnings)
	}
	return list, err
}

// writeColumns writes the comparisons of a run's columns.
func (a *app) writeColumns(f *compareFlags, list []*gate.Comparison, texts show.Texts, o show.Options) error {
	return a.writeTo(f, func(w io.Writer) error {
		switch f.format {
		case formatHTML:
			return show.ColumnsHTML(w, list, texts, o)
		case formatJSON:
			return show.ColumnsJSON(w, f.by, list)
		}
		for i, c := range list {
			var err error
			if i > 0 {
				_, err = io.WriteString(w, "\n")
			}
			if err = errors.Join(err, writeComparison(w, f.format, c, nil, texts, a.terminalOf(f, o))); err != nil {
				return err
			}
		}
		return nil
	})
}

// terminalOf adds the features of the terminal if the result goes to one.
func (a *app) terminalOf(f *compareFlags, o show.Options) show.Options {
	if f.file != "" {
		return o
	}
	return a.inTerminal(o)
}

// inTerminal adds the features of the terminal. Without a terminal, lines have the default width.
func (a *app) inTerminal(o show.Options) show.Options {
	t := a.terminal(true)
	o.Color = t.Color
	if isTerminal(a.out) {
		o.Width = t.Width
	}
	return o
}

// writeTo writes the result to the file of the flags, which appears only when it is
// complete, or to standard output.
func (a *app) writeTo(f *compareFlags, write func(io.Writer) error) error {
	if f.format == formatJSON {
		a.spare.Store(25) // most of what is allocated from here on is garbage
	}
	if f.file != "" {
		return a.resultBy(f.file, write)
	}
	if f.format == formatJSON { // JSON needs no text that could be damaged, and may be large
		return write(a.out)
	}
	var b bytes.Buffer // an error must leave no partial output
	if err := write(&b); err != nil {
		return err
	}
	_, err := a.out.Write(b.Bytes())
	return err
}
