package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

func newStore(a *app) *cobra.Command {
	return group("store", "Migrate, check, export and copy the data of a server",
		"store works on the database of a server: a SQLite file, or a PostgreSQL database. Servers and\n"+
			"workers migrate it themselves when they start; migrate does so before them.\n\n"+
			"Exit codes: 0 done, and check found nothing; 1 check found something; 2 a mistake in the\n"+
			"command line, or a database that cannot be used; 3 the database cannot be read or written.",
		newStoreMigrate(a), newStoreCheck(a), newStoreExport(a), newStoreCopy(a))
}

// storeCommand returns a command on a server's data.
func storeCommand(a *app, use, short string, do func(ctx context.Context, at string) error) *cobra.Command {
	var place storePlace
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := place.of(a)
			if err != nil {
				return err
			}
			return do(cmd.Context(), at)
		},
	}
	place.register(cmd.Flags(), "the data of the server")
	return cmd
}

func newStoreMigrate(a *app) *cobra.Command {
	var dry bool
	cmd := storeCommand(a, "migrate", "Bring the tables up to date with this version of proviso", func(ctx context.Context, at string) error {
		return a.migrateStore(ctx, at, dry)
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	return cmd
}

func newStoreCheck(a *app) *cobra.Command {
	return storeCommand(a, "check", "Find data that are damaged, or that do not agree with each other", a.checkStore)
}

func newStoreCopy(a *app) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy",
		Short: "Copy everything from a SQLite file to an empty PostgreSQL database",
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, target := storePlace{db: cmp.Or(from, a.usualFile())}, storePlace{store: to} // the variable names the target
			if postgres.IsURL(from) {
				return usageError{errors.New("--from takes a SQLite file"), "copies go from SQLite to PostgreSQL; pg_dump copies PostgreSQL"}
			}
			file, err := source.of(a)
			if err != nil {
				return fmt.Errorf("--from: %w", err)
			}
			place, err := target.of(a)
			if err != nil {
				return fmt.Errorf("--to: %w", err)
			}
			if !postgres.IsURL(place) {
				return usageError{errors.New("--to takes the URL of a PostgreSQL database, such as postgres://user@host/proviso"), storeVariable + " is the same"}
			}
			return a.copyStore(cmd.Context(), file, place)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "SQLite `FILE` (default $XDG_STATE_HOME/proviso/proviso.db)")
	cmd.Flags().StringVar(&to, "to", "", "`URL` of the PostgreSQL database; "+storeVariable+" is the same")
	return cmd
}

// schemaOf returns the schema version of a database.
func schemaOf(ctx context.Context, place string) (sqldb.Schema, error) {
	if postgres.IsURL(place) {
		return postgres.Schema(ctx, place)
	}
	return sqlite.Schema(ctx, place)
}

func (a *app) migrateStore(ctx context.Context, place string, dry bool) error {
	s, err := schemaOf(ctx, place)
	if err != nil {
		return err
	}
	switch {
	case s.Version > s.Known:
		_, err = fmt.Fprintf(a.out, "Nothing to do: the database has schema %d, of a later version; this one knows %d and may keep running\n", s.Version, s.Known)
		return err
	case len(s.Missing) == 0:
		_, err = fmt.Fprintf(a.out, "Nothing to do: the database has schema %d\n", s.Version)
		return err
	}
	verb := "Would apply"
	if !dry {
		if err := withStore(ctx, place, sqldb.Options{}, func(openedStore) error { return nil }); err != nil {
			return err
		}
		verb = "Applied"
	}
	for _, step := range s.Missing {
		note := ""
		switch {
		case dry && s.Version > 0 && step.OldRun:
			note = ": servers and workers of the earlier version keep running"
		case dry && s.Version > 0:
			note = ": stop servers and workers of the earlier version before"
		}
		if _, err := fmt.Fprintf(a.out, "%s %s%s\n", verb, step.Name, note); err != nil {
			return err
		}
	}
	if !dry {
		_, err = fmt.Fprintf(a.out, "The database has schema %d\n", s.Known)
	}
	return err
}

func (a *app) checkStore(ctx context.Context, place string) error {
	s, err := schemaOf(ctx, place)
	if err != nil {
		return err
	}
	var problems []string
	if len(s.Missing) > 0 {
		problems = []string{fmt.Sprintf("the schema is %d, and this version has %d: `proviso store migrate` applies what is missing", s.Version, s.Known)}
	} else {
		if err := withStore(ctx, place, sqldb.Options{Access: sqldb.Reading}, func(db openedStore) (err error) {
			problems, err = db.Check(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	return a.showProblems(problems, s.Version)
}

// showProblems prints the problems that a check found.
func (a *app) showProblems(problems []string, schema int) error {
	for _, p := range problems {
		if _, err := fmt.Fprintln(a.out, printable(p)); err != nil {
			return err
		}
	}
	if len(problems) == 0 {
		_, err := fmt.Fprintf(a.out, "Nothing is wrong; the database has schema %d\n", schema)
		return err
	}
	return exitError{exitFailed}
}

func (a *app) copyStore(ctx context.Context, from, to string) error {
	if _, err := sqlite.Schema(ctx, from); err != nil {
		return err
	}
	source, err := sqlite.Open(ctx, from, sqlite.Options{Copied: true})
	if err != nil {
		return err
	}
	return errors.Join(a.copyFrom(ctx, source, to), source.Close())
}

func (a *app) copyFrom(ctx context.Context, source *sqlite.DB, to string) error {
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("stop the server first: %w", err)
	}
	target, err := postgres.Open(ctx, to, postgres.Options{})
	if err != nil {
		return errors.Join(err, snapshot.Close())
	}
	var tables int
	var rows int64
	err = target.Fill(ctx, snapshot, func(table string, n int64) {
		fmt.Fprintf(a.err, "%s: %s\n", table, plural.Of(int(n), "row"))
		tables, rows = tables+1, rows+n
	})
	var problems []string
	if err == nil {
		err = source.MarkCopied(ctx, true)
	}
	if err == nil {
		problems, err = target.Check(ctx)
	}
	if err = errors.Join(err, target.Close(), snapshot.Close()); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.out, "Copied %d rows of %d tables; every count is that of the source\n", rows, tables); err != nil || len(problems) == 0 {
		return err
	}
	return a.showProblems(problems, 0)
}
