package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/value"
)

// keyFlags are the flags of all commands below key.
type keyFlags struct {
	place  storePlace
	format string
}

func newKey(a *app) *cobra.Command {
	return group("key", "Make, list and revoke the API keys of a server",
		"key manages the API keys that clients of `proviso serve` send. It works on the\n"+
			"server's database, whether the server is running or not.",
		newKeyCreate(a), newKeyList(a), newKeyRevoke(a))
}

// add adds the flags to a command, in the order of their names.
func (f *keyFlags) add(cmd *cobra.Command) {
	f.place.register(cmd.Flags(), "the data of the server")
	cmd.Flags().StringVar(&f.format, "format", "table", "`FORMAT` of the output: table or json")
}

func (f *keyFlags) check() error {
	if !slices.Contains(tableFormats, f.format) {
		return &proviso.Error{Code: proviso.Invalid, Message: fmt.Sprintf("--format %s: there is no such format", f.format), Valid: tableFormats}
	}
	return f.place.check()
}

func newKeyCreate(a *app) *cobra.Command {
	var f keyFlags
	var scopes, providers []string
	var budget float64
	var project string
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an API key and print its secret, which is shown only once",
		Args:  someArgs("the name of the key is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			k := store.NewKey{Name: args[0], Project: store.Project(project), Providers: providers}
			for _, s := range scopes {
				k.Scopes = append(k.Scopes, store.Scope(s))
			}
			if cmd.Flags().Changed("budget") {
				k.Budget = &budget
			}
			if project == "" {
				return proviso.Errorf(proviso.Invalid, "--project names no project")
			}
			if err := errors.Join(f.check(), k.Check()); err != nil {
				return err
			}
			return a.createKey(cmd.Context(), &f, k)
		},
	}
	f.add(cmd)
	cmd.Flags().Float64Var(&budget, "budget", 0, "limit of what the key may spend in all, in US `DOLLARS` (default no limit)")
	cmd.Flags().StringVar(&project, "project", string(store.DefaultProject), "`PROJECT` of the key; keys see nothing of other projects")
	cmd.Flags().StringArrayVar(&providers, "provider", nil, "`GLOB` of providers that the key may use, such as 'openai:*'; may be repeated (default all)")
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{string(store.Evaluate)}, "`SCOPE` of the key; may be repeated: "+strings.Join(store.ScopeNames(), ", "))
	return cmd
}

func newKeyList(a *app) *cobra.Command {
	var f keyFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List all API keys, newest first",
		Args:    atMost(0),
		PreRunE: func(*cobra.Command, []string) error { return f.check() },
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.listKeys(cmd.Context(), &f) },
	}
	f.add(cmd)
	return cmd
}

func newKeyRevoke(a *app) *cobra.Command {
	var f keyFlags
	cmd := &cobra.Command{
		Use:     "revoke ID|NAME|SECRET",
		Short:   "Revoke an API key for good",
		Args:    someArgs("the id, the name or the secret of the key is missing", 1, 1),
		PreRunE: func(*cobra.Command, []string) error { return f.check() },
		RunE:    func(cmd *cobra.Command, args []string) error { return a.revokeKey(cmd.Context(), &f, args[0]) },
	}
	f.add(cmd)
	return cmd
}

// withKeys opens the database with the access that a command needs.
func (a *app) withKeys(ctx context.Context, f *keyFlags, access sqldb.Access, uses []sqldb.Use, do func(store.Keys) error) error {
	place, err := f.place.of(a)
	if err != nil {
		return err
	}
	err = withStore(ctx, place, sqldb.Options{Access: access, Uses: uses}, func(db openedStore) error { return do(db) })
	if !postgres.IsURL(place) && access != sqldb.Making && errors.Is(err, os.ErrNotExist) {
		return proviso.Errorf(proviso.NotFound, "%w; `proviso key create` makes it", err)
	}
	return err
}

func (a *app) createKey(ctx context.Context, f *keyFlags, n store.NewKey) error {
	return a.withKeys(ctx, f, sqldb.Making, sqldb.MakeKeys, func(keys store.Keys) error {
		k, secret, err := keys.CreateKey(ctx, n)
		if err != nil {
			return err
		}
		if f.format == formatJSON {
			err = value.WriteJSON(a.out, k.File(secret), "  ")
		} else {
			_, err = fmt.Fprintln(a.out, secret)
		}
		if err != nil { // nobody knows the secret, so the key is useless
			_, revoking := keys.RevokeKey(context.WithoutCancel(ctx), k.ID)
			return errors.Join(proviso.Errorf(proviso.Unavailable, "the key was revoked, because its secret cannot be printed: %w", err), revoking)
		}
		if f.format != formatJSON {
			fmt.Fprintf(a.err, "Made the key %s (%s) of the project %s. This is its secret; it is not kept and cannot be shown again.\n", k.ID, printable(k.Name), k.Project)
		}
		return nil
	})
}

func (a *app) listKeys(ctx context.Context, f *keyFlags) error {
	return a.withKeys(ctx, f, sqldb.Reading, sqldb.ListKeys, func(keys store.Keys) error {
		list, err := store.AllKeys(ctx, keys)
		if err != nil {
			return err
		}
		return a.showKeys(f, list)
	})
}

func (a *app) revokeKey(ctx context.Context, f *keyFlags, name string) error {
	return a.withKeys(ctx, f, sqldb.Writing, sqldb.RevokeKeys, func(keys store.Keys) error {
		k, err := store.FindKey(ctx, keys, name)
		if err != nil {
			return err
		}
		if k, err = keys.RevokeKey(ctx, k.ID); err != nil {
			return err
		}
		if f.format == formatJSON {
			return value.WriteJSON(a.out, k.File(""), "  ")
		}
		_, err = fmt.Fprintf(a.out, "Revoked the key %s (%s)\n", k.ID, printable(k.Name))
		return err
	})
}

func (a *app) showKeys(f *keyFlags, list []store.Key) error {
	if f.format == formatJSON {
		shown := []store.KeyFile{}
		for _, k := range list {
			shown = append(shown, k.File(""))
		}
		return value.WriteJSON(a.out, map[string]any{"keys": shown}, "  ")
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.out, "There are no keys; `proviso key create NAME` makes one")
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tPROJECT\tSECRET\tSCOPES\tSPENT\tBUDGET\tPROVIDERS\tCREATED\tLAST USED\tREVOKED")
	for _, k := range list {
		budget, providers := "none", "all"
		if k.Budget != nil {
			budget = usd.Cents(*k.Budget)
		}
		if len(k.Providers) > 0 {
			providers = strings.Join(k.Providers, " ")
		}
		var scopes []string
		for _, s := range k.Scopes {
			scopes = append(scopes, string(s))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s…\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, printable(k.Name), k.Project, k.Hint, strings.Join(scopes, ","), usd.Cents(k.Spent), budget,
			printable(providers), day(k.Created), day(k.LastUsed), day(k.Revoked))
	}
	return w.Flush()
}

// day returns the date of an event; "-" if it has not happened.
func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.DateOnly)
}
