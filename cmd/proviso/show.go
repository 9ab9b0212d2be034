package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
)

func newShow(a *app) *cobra.Command {
	var outputs []string
	var dir string
	var noTable bool
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a stored run again, in any report format",
		Long: "show prints a run that was kept: the last one, or the one with the given id (its\n" +
			"beginning is enough) or file.",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			if dir == "" {
				dir = a.stateDir()
			}
			list, err := a.outputsOf(outputs, nil)
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), dir, name, list, noTable)
		},
	}
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "write a report to `FILE`, the format by its suffix; may be repeated")
	cmd.Flags().StringVar(&dir, "run-dir", "", "`FOLDER` of the stored runs (default $XDG_STATE_HOME/proviso/runs)")
	cmd.Flags().BoolVar(&noTable, "no-table", false, "print only the summary")
	return cmd
}

func (a *app) show(ctx context.Context, dir, name string, outputs []output, noTable bool) error {
	path, err := findRun(dir, name)
	if err != nil {
		return err
	}
	r, err := runfile.Open(path)
	if err != nil {
		return proviso.Errorf(proviso.NotFound, "%w", err)
	}
	defer r.Close()
	meta, sum, err := report.FromRun(r)
	if err != nil {
		return proviso.Errorf(proviso.Invalid, "%s: %w", path, err)
	}
	meta.Types = check.Facts()
	meta.Trust = a.trustOf(alignmentFolder(meta.Folder))
	for _, o := range outputs {
		if err := o.write(ctx, meta, sum, r); err != nil {
			return proviso.Errorf(proviso.Unavailable, "%w", err)
		}
	}
	if len(outputs) > 0 {
		return nil
	}
	return report.Terminal(a.out, a.terminal(!noTable), meta, sum, r)
}

// findRun finds a run by its file, its id or the beginning of its id; the last
// one if name is empty.
func findRun(dir, name string) (string, error) {
	if name != "" {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	runs, err := runfile.List(dir)
	if err != nil {
		return "", proviso.Errorf(proviso.NotFound, "%w", err)
	}
	var ids []string
	for _, info := range runs {
		if strings.HasPrefix(info.ID, name) {
			return info.Path, nil
		}
		ids = append(ids, info.ID)
	}
	if len(ids) == 0 {
		return "", proviso.Errorf(proviso.NotFound, "no run is kept in %s yet: `proviso eval` keeps them there", dir)
	}
	return "", &proviso.Error{Code: proviso.NotFound, Message: "no run " + name + " in " + dir, Valid: ids[:min(len(ids), 5)]}
}
