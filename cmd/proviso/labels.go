package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// labelsFlags are the flags of the commands below labels.
type labelsFlags struct {
	dir, server, project string // where the labels are
	data                 storePlace

	run, by, queue string
	history        bool

	person string // of import: whose a sheet is
}

func newLabels(a *app) *cobra.Command {
	return group("labels", "List, export and import the labels of people",
		"labels reads and writes what people said of outputs: beside the kept runs, where `proviso view` writes\n"+
			"it, in the database of a server (--store), or through a server (--server). `proviso align` and\n"+
			"`proviso spade label` read what export writes.",
		newLabelsExport(a), newLabelsImport(a), newLabelsList(a))
}

// place adds the flags that say where labels are.
func (f *labelsFlags) place(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "run-dir", "", "`FOLDER` of the kept runs (default $XDG_STATE_HOME/proviso/runs)")
	f.data.register(cmd.Flags(), "the labels of a server")
	cmd.Flags().StringVar(&f.server, "server", "", "the labels on the server at `URL`; "+keyVariable+" holds the key")
	cmd.Flags().StringVar(&f.project, "project", "", "the labels of this `PROJECT` (default that of the key, or "+string(store.DefaultProject)+")")
}

// filter adds the flags that select labels.
func (f *labelsFlags) filter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.run, "run", "", "only labels on the `RUN` with this id")
	cmd.Flags().StringVar(&f.by, "by", "", "only labels of this `PERSON`: the id of a key, or a name")
	cmd.Flags().StringVar(&f.queue, "queue", "", "only labels on items of this `QUEUE`")
	cmd.Flags().BoolVar(&f.history, "history", false, "labels that a later one of the same person replaced, too")
}

// inStore reports whether the labels are in the database of a server.
func (f *labelsFlags) inStore(a *app) bool {
	variable, _ := a.env.Lookup(storeVariable)
	return f.data.given() || variable != "" && f.dir == "" && f.server == ""
}

func (f *labelsFlags) check(a *app) error {
	given := 0
	for _, text := range []string{f.dir, f.data.db + f.data.store, f.server} {
		if text != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return usageError{fmt.Errorf("--run-dir, --store, --db and --server exclude each other"), "labels are in one place"}
	case f.project != "" && !f.inStore(a) && f.server == "":
		return usageError{fmt.Errorf("--project is for --store, --db and --server"), "labels beside kept runs have no project"}
	case f.project != "":
		if err := store.Project(f.project).Check(); err != nil {
			return err
		}
	}
	return f.data.check()
}

func newLabelsExport(a *app) *cobra.Command {
	f := &labelsFlags{}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print labels as JSON Lines, the oldest first",
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.readLabels(cmd.Context(), f)
			if err != nil {
				return err
			}
			var text []byte
			for i := range list {
				text = label.AppendLine(text, &list[i])
			}
			_, err = a.out.Write(escaped(text))
			return coded(err)
		},
	}
	f.place(cmd)
	f.filter(cmd)
	return cmd
}

func newLabelsList(a *app) *cobra.Command {
	f := &labelsFlags{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show labels as a table, the newest first",
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.readLabels(cmd.Context(), f)
			if err != nil {
				return err
			}
			slices.Reverse(list)
			return a.showLabels(list)
		},
	}
	f.place(cmd)
	f.filter(cmd)
	return cmd
}

// readLabels returns the labels that the flags ask for, the oldest first.
func (a *app) readLabels(ctx context.Context, f *labelsFlags) ([]label.Label, error) {
	if err := f.check(a); err != nil {
		return nil, err
	}
	if f.server != "" {
		return a.fetchLabels(ctx, f)
	}
	var list []label.Label
	err := a.withLabels(ctx, f, sqldb.Reading, sqldb.ListLabels, func(kept store.ProjectStore) error {
		filter := store.LabelFilter{Run: f.run, By: f.by, Queue: f.queue, History: f.history}
		for page := (store.Page{Limit: store.MaxPage}); ; {
			part, err := kept.ListLabels(ctx, filter, page)
			if err != nil {
				return err
			}
			for i := range part.Items {
				list = append(list, part.Items[i].Label)
			}
			if page.After = part.Next; part.Next == "" {
				slices.Reverse(list)
				return nil
			}
		}
	})
	return list, err
}

// showLabels prints a table.
func (a *app) showLabels(list []label.Label) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CREATED\tBY\tLABEL\tOF\tASSERTION\tJUDGE\tNOTE") // Flush returns the error
	for i := range list {
		l := &list[i]
		of := l.Evaluation
		if l.Run != "" {
			of = fmt.Sprintf("%s row %d", l.Run, l.Index)
		}
		cells := []string{l.Created.UTC().Format(time.DateTime), cmp.Or(l.Name, l.By), string(l.Verdict), of, cmp.Or(l.Assertion, "(output)"), cmp.Or(l.Judged, "-"), report.OneLine(l.Note)}
		for i := range cells {
			cells[i] = report.Line(printable(cells[i]), 60)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), " "))
	}
	return coded(w.Flush())
}
