package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/show"
)

// spadeCoverage holds the flags of spade coverage.
type spadeCoverage struct {
	spadeSource
	assertions, candidates string
	failUnder              float64
	result                 resultFlags
}

func newSpadeCoverage(a *app) *cobra.Command {
	f := &spadeCoverage{}
	cmd := &cobra.Command{
		Use:   "coverage --assertions FILE [FOLDER|FILE]",
		Short: "Show which instructions of a prompt no assertion checks",
		Long: "coverage lists the sentences of the last version of a prompt, and for each the assertions\n" +
			"that check it. An assertion checks a sentence if it was proposed for it, or if the rules of\n" +
			"`spade propose --rules` would propose it. Versions are read as by `spade deltas`.\n\n" +
			"Exit codes: 0 done, 1 a smaller share of the instructions is covered than --fail-under\n" +
			"requires, 2 a mistake in the command line or a file.",
		Args: atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if f.assertions == "" {
				return missingFlag(cmd, "assertions", "name the file of the assertion set")
			}
			f.result.find()
			return f.check(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.spadeCoverage(cmd.Context(), f, args) },
	}
	f.register(cmd.Flags())
	fs := cmd.Flags()
	fs.StringVar(&f.assertions, "assertions", "", "`FILE` with the assertions: an assertion set, or candidates")
	fs.StringVar(&f.candidates, "candidates", "", "`FILE` of candidates with the provenance of assertions of the same name")
	shareVar(fs, &f.failUnder, "fail-under", 0, "exit with 1 if less than this `SHARE` of the instructions is covered: 0 to 1, or N%")
	f.result.register(fs, formatJSON, formatMarkdown)
	return cmd
}

func (a *app) spadeCoverage(ctx context.Context, f *spadeCoverage, args []string) error {
	h, err := a.history(ctx, &f.spadeSource, args)
	if err != nil {
		return err
	}
	list, err := a.readSelected(f.assertions, f.candidates)
	if err != nil {
		return err
	}
	var end closers
	defer end.close()
	e, err := a.textEngine(ctx, &end, nil, 0)
	if err != nil {
		return err
	}
	c, err := coverage.Of(ctx, h.Changes[len(h.Changes)-1].Text, list, e.Compiler(textOnly))
	if err != nil {
		return a.orStopped(ctx, err)
	}
	var data []byte
	switch f.result.format {
	case formatJSON:
		data, err = c.JSON()
	case formatMarkdown:
		data = show.CoverMarkdown(c)
	default:
		data = show.Cover(c, f.result.screen(a))
	}
	if err != nil {
		return err
	}
	if err := a.result(f.result.out, data); err != nil {
		return err
	}
	if len(c.Orphans) > 0 && f.candidates == "" {
		fmt.Fprintln(a.err, "proviso: if these assertions were selected from candidates, --candidates FILE says which sentences they were made of")
	}
	if c.Share() < f.failUnder {
		fmt.Fprintf(a.err, "proviso: %s of the instructions are covered, less than %s (--fail-under)\n", report.Percent(c.Share()), report.Percent(f.failUnder))
		return exitError{exitFailed}
	}
	return nil
}
