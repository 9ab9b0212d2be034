package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/report"
)

func newShow(a *app) *cobra.Command {
	var outputs []string
	var dir string
	var noTable bool
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a kept run again, in any report format",
		Long:  "show prints a run that was kept: the last one, or the one that is named.\n\n" + runNames,
		Args:  atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := a.outputsOf(outputs, nil)
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), dir, argument(args), list, noTable)
		},
	}
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write a report to `FILE`, the format by its suffix; missing folders are made; may be repeated")
	cmd.Flags().StringVar(&dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	cmd.Flags().BoolVar(&noTable, "no-table", false, "print only the summary")
	return cmd
}

func (a *app) show(ctx context.Context, dir, name string, outputs []output, noTable bool) error {
	r, err := a.openRun(ctx, dir, name)
	if err != nil {
		return err
	}
	defer r.Close()
	meta, sum, err := r.report(a)
	if err != nil {
		return err
	}
	if len(outputs) > 0 {
		return writeReports(ctx, outputs, meta, sum, r.Reader)
	}
	return report.Terminal(a.out, a.terminal(!noTable), meta, sum, r.Reader)
}
