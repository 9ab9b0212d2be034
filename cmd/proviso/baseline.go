package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/baseline"
	"github.com/proviso-eval/proviso/internal/plural"
)

func newBaseline(a *app) *cobra.Command {
	return group("baseline", "Save the verdicts of a run in a small file to review and commit",
		"A baseline is what `proviso gate --baseline FILE` compares with: one line for each row of a\n"+
			"run, with its verdicts and without its outputs. docs/baseline.md describes the format.",
		newBaselineSave(a), newBaselineShow(a))
}

func newBaselineSave(a *app) *cobra.Command {
	var dir, file string
	cmd := &cobra.Command{
		Use:   "save [RUN]",
		Short: "Write the verdicts of a run, or of the last one, to a baseline",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.saveBaseline(cmd.Context(), dir, argument(args), file)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "baseline.jsonl", "write to `FILE`; - is the standard output")
	cmd.Flags().StringVar(&dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	return cmd
}

func (a *app) saveBaseline(ctx context.Context, dir, name, file string) error {
	side, err := a.openSide(ctx, dir, name, "")
	if err != nil {
		return err
	}
	defer side.close()
	if side.file == nil {
		return proviso.Errorf(proviso.Invalid, "%s is a baseline already", name)
	}
	errored := 0
	for i := range side.run.Rows {
		if side.run.Rows[i].Status == proviso.Errored {
			errored++
		}
	}
	if errored == len(side.run.Rows) {
		return proviso.Errorf(proviso.Undecided, "every row of %s has an error: nothing could be compared with it", side.run.Name)
	}
	var text bytes.Buffer // a partial file would look complete
	if err := baseline.Write(&text, side.run); err != nil {
		return err
	}
	if file == "-" {
		_, err := a.out.Write(text.Bytes())
		return err
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the baseline: %w", err)
	}
	if errored > 0 {
		a.warn(fmt.Sprintf("%s of %d with an error; --retry-errors of eval runs them again", plural.Of(errored, "row"), len(side.run.Rows)))
	}
	_, err = fmt.Fprintf(a.out, "%s: %s, %d bytes\n", printable(file), plural.Of(len(side.run.Rows), "row"), text.Len())
	return err
}

func newBaselineShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Print the pass rates in a baseline",
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("no baseline is named"), "expected a file, such as baseline.jsonl"}
			}
			if _, err := os.Stat(args[0]); err != nil {
				return proviso.Errorf(proviso.NotFound, "the baseline %s does not exist; `proviso baseline save` writes one", args[0])
			}
			side, err := openBaseline(cmd.Context(), args[0])
			if err != nil {
				return a.mistaken(err, "nothing was shown")
			}
			return a.showBaseline(side.run)
		},
	}
}

// passes counts the verdicts of one assertion.
type passes struct{ passed, failed, errors int }

func (a *app) showBaseline(r *gate.Run) error {
	of, rows := map[string]*passes{}, passes{}
	for i := range r.Rows {
		rows.add(r.Rows[i].Status)
		for _, v := range r.Rows[i].Verdicts {
			if of[v.Assertion] == nil {
				of[v.Assertion] = &passes{}
			}
			of[v.Assertion].add(v.Status)
		}
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	rows.line(w, fmt.Sprintf("rows (%s)", plural.Of(len(r.Columns), "column")))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		of[name].line(w, name)
	}
	return w.Flush()
}

func (p *passes) add(s proviso.Status) {
	switch s {
	case proviso.Pass:
		p.passed++
	case proviso.Fail:
		p.failed++
	case proviso.Errored:
		p.errors++
	}
}

func (p *passes) line(w *tabwriter.Writer, name string) {
	rate, asked := "-", p.passed+p.failed+p.errors
	if p.passed+p.failed > 0 {
		rate = fmt.Sprintf("%.1f %%", 100*float64(p.passed)/float64(asked))
	}
	fmt.Fprintf(w, "%s\t%s\t%d of %d\t", printable(name), rate, p.passed, asked)
	if p.errors > 0 {
		fmt.Fprint(w, plural.Of(p.errors, "error"))
	}
	fmt.Fprintln(w)
}
