package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/export"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// storeExport writes the data of projects as files.
type storeExport struct {
	place    storePlace
	projects []string
	events   bool
	keyEnv   string
}

func newStoreExport(a *app) *cobra.Command {
	var f storeExport
	cmd := &cobra.Command{
		Use:   "export FOLDER",
		Short: "Write the data of projects as JSON Lines, and runs as run files",
		Long: "export writes a folder for each project: documents.jsonl (suites, assertion sets and datasets\n" +
			"with all versions), runs.jsonl and a run file for each run that has ended, evaluations.jsonl,\n" +
			"labels.jsonl, replaced-labels.jsonl, label-queues.jsonl, label-items.jsonl, watches.jsonl,\n" +
			"alarms.jsonl and keys.jsonl, which has no secrets; with --events also events.jsonl,\n" +
			"feedback.jsonl and verdicts.jsonl. Others may write meanwhile; each file is of the time when\n" +
			"it is written.",
		Args: someArgs("the folder is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.exportStore(cmd.Context(), &f, args[0]) },
	}
	f.place.register(cmd.Flags(), "the data of the server")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "only this `PROJECT`; may be repeated (default all)")
	cmd.Flags().BoolVar(&f.events, "events", false, "write events of production, thumbs and verdicts, too")
	cmd.Flags().StringVar(&f.keyEnv, "content-key-env", "", "open the texts of events with the key in the variable `NAME`, as for `proviso serve`")
	return cmd
}

func (a *app) exportStore(ctx context.Context, f *storeExport, folder string) error {
	if list, err := os.ReadDir(folder); err == nil && len(list) > 0 {
		return proviso.Errorf(proviso.Invalid, "the folder %s is not empty", folder)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return proviso.Errorf(proviso.Invalid, "the folder: %w", err)
	}
	key, err := (&serveCommand{traffic: serveTraffic{keyEnv: f.keyEnv}}).contentKey(a.env)
	if err != nil {
		return err
	}
	place, err := f.place.of(a)
	if err != nil {
		return err
	}
	return withStore(ctx, place, sqldb.Options{ContentKey: key, Access: sqldb.Reading}, func(db openedStore) error {
		if f.events {
			if err := db.CheckContentKey(); err != nil {
				return fmt.Errorf("--content-key-env: %w", err)
			}
		}
		return a.exportProjects(ctx, f, db, folder)
	})
}

func (a *app) exportProjects(ctx context.Context, f *storeExport, db store.Store, folder string) error {
	projects, err := db.Projects(ctx)
	if err != nil {
		return err
	}
	if len(f.projects) > 0 {
		projects = nil
		for _, p := range f.projects {
			if err := store.Project(p).Check(); err != nil {
				return err
			}
			projects = append(projects, store.Project(p))
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return proviso.WithCode(proviso.Unavailable, err)
	}
	defer root.Close()
	o := export.Options{Events: f.events, WriteRun: func(ctx context.Context, to io.Writer, kept store.Runs, r store.Run) error {
		return server.WriteRunFile(ctx, to, kept, r, versionName())
	}}
	for _, p := range projects {
		counts, err := export.Project(ctx, root, db, p, o)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.out, "%s: %s\n", p, strings.Join(counts, ", ")); err != nil {
			return err
		}
	}
	return nil
}
