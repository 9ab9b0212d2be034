package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// storeVariable is where the place of the store may stand, since a URL with a password
// should not stand in a command line, which others can read.
const storeVariable = "PROVISO_STORE"

// storePlace is where a server keeps its data: a file, or the URL of a PostgreSQL database.
type storePlace struct {
	store, db string // the flags
}

// register adds the flags. --db is for files only, and older.
func (p *storePlace) register(fs *pflag.FlagSet, what string) {
	fs.StringVar(&p.store, "store", "", what+" at the `URL` of a PostgreSQL database, or in a FILE; "+storeVariable+" is the same (default: --db)")
	fs.StringVar(&p.db, "db", "", what+" in the SQLite `FILE` (default $XDG_STATE_HOME/proviso/proviso.db)")
}

// registerURL adds only the flag for a database that processes share.
func (p *storePlace) registerURL(fs *pflag.FlagSet, what string) {
	fs.StringVar(&p.store, "store", "", what+" at the `URL` of a PostgreSQL database; "+storeVariable+" is the same")
}

// check refuses two places.
func (p *storePlace) check() error {
	if p.store != "" && p.db != "" {
		return usageError{errors.New("--store and --db exclude each other"), "the data are in one place"}
	}
	if postgres.IsURL(p.db) {
		return usageError{errors.New("--db takes a file"), "--store takes the URL of a database"}
	}
	return nil
}

// given reports whether a flag says where.
func (p *storePlace) given() bool { return p.store != "" || p.db != "" }

// of returns the place: a URL, or the path of a file. Nothing shows the password of a URL
// from then on.
func (p *storePlace) of(a *app) string {
	place := p.find(a)
	if postgres.IsURL(place) {
		a.secrets.Add(postgres.Password(place))
	}
	return place
}

func (p *storePlace) find(a *app) string {
	switch variable, _ := a.env.Lookup(storeVariable); {
	case p.store != "":
		return p.store
	case p.db != "":
		return p.db
	case variable != "":
		return variable
	}
	return a.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"), filepath.Join("proviso", "proviso.db"))
}

// openedStore is a store that is not in memory only.
type openedStore interface {
	store.Store
	store.Jobs
	CheckContentKey(ctx context.Context) error
	Check(ctx context.Context) ([]string, error)
}

// openStore opens the store at a place. A file must exist, unless it may be made.
func openStore(ctx context.Context, place string, make bool, o sqldb.Options) (openedStore, error) {
	return openStoreWith(ctx, place, make, 0, o)
}

// openStoreWith is openStore with up to a number of connections to a PostgreSQL database; 0 is
// the usual one.
func openStoreWith(ctx context.Context, place string, make bool, connections int, o sqldb.Options) (openedStore, error) {
	if postgres.IsURL(place) {
		return postgres.Open(ctx, place, postgres.Options{Options: o, Connections: connections})
	}
	if !make {
		if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			return nil, proviso.Because(err, proviso.NotFound, "there is no database %s", place)
		}
	}
	return sqlite.Open(ctx, place, o)
}

// workBase is the folder for the files of running runs. shared means that other processes
// have theirs there, too.
func workBase(place string) (base string, shared bool) {
	if postgres.IsURL(place) {
		return filepath.Join(os.TempDir(), "proviso-work"), true
	}
	return place + ".work", false
}
