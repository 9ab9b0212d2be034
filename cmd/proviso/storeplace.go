package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// storeVariable may hold the location of the store: a URL with a password should not be on a
// command line, which others can read.
const storeVariable = "PROVISO_STORE"

// storePlace is the location of a server's data: a file, or the URL of a PostgreSQL database.
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

// check rejects two locations.
func (p *storePlace) check() error {
	if p.store != "" && p.db != "" {
		return usageError{errors.New("--store and --db exclude each other"), "the data are in one place"}
	}
	if postgres.IsURL(p.db) {
		return usageError{errors.New("--db takes a file"), "--store takes the URL of a database"}
	}
	for _, place := range []string{p.store, p.db} {
		if err := checkPlace(place); err != nil {
			return err
		}
	}
	return nil
}

// given reports whether a flag sets the location.
func (p *storePlace) given() bool { return p.store != "" || p.db != "" }

// of returns the location: a URL, or the path of a file. From then on, no message shows the
// password of the URL.
func (p *storePlace) of(a *app) (string, error) {
	if err := p.check(); err != nil {
		return "", err
	}
	place := p.find(a)
	if postgres.IsURL(place) {
		a.secrets.Add(postgres.Password(place))
	}
	return place, checkPlace(place)
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
	return a.usualFile()
}

// usualFile is the default location of a server's data.
func (a *app) usualFile() string {
	return a.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"), filepath.Join("proviso", "proviso.db"))
}

// databaseSchemes are the schemes that package postgres reads, in lower case only.
var databaseSchemes = []string{"postgres", "postgresql"}

// connectionWords are keywords of libpq connection strings, such as host=db.internal.
var connectionWords = map[string]bool{"host": true, "hostaddr": true, "port": true, "dbname": true, "user": true, "password": true, "passfile": true, "service": true, "sslmode": true}

// checkPlace rejects a text that is meant as a database URL but that proviso does not recognize: it
// would become a file with the password in its name. The message shows only the scheme, because the
// password may be anywhere after it.
func checkPlace(place string) error {
	const form = "the data are in a PostgreSQL database, postgres://user@host/database, or in a SQLite file, which is named by its path"
	if postgres.IsURL(place) {
		return nil
	}
	scheme, _, isURL := strings.Cut(place, "://")
	if !isURL { // postgres:/user@host and postgres:user@host are not files, either
		var rest string
		if scheme, rest, isURL = strings.Cut(place, ":"); isURL {
			isURL = rest != "" && document.Nearest(scheme, databaseSchemes) != ""
		}
	}
	if isURL {
		if mistake := wrongBeginning(place); mistake != "" {
			return usageError{errors.New(mistake), form}
		}
		if near := document.Nearest(scheme, databaseSchemes); near != "" {
			return usageError{fmt.Errorf("unknown scheme %s of the database; write %s://", report.Line(printable(scheme), 20)+"://", near), form}
		}
		if strings.ContainsFunc(scheme, func(r rune) bool { return !isSchemeRune(r) }) {
			return usageError{errors.New("the address of the database begins with no scheme; write postgres://"), form}
		}
		return usageError{fmt.Errorf("unknown scheme %s of the database", report.Line(scheme, 20)+"://"), form}
	}
	user, _, at := strings.Cut(place, "@")
	if at && strings.Contains(user, ":") || strings.HasPrefix(strings.ToLower(place), "postgres//") || strings.HasPrefix(strings.ToLower(place), "postgresql//") {
		return usageError{errors.New("this looks like the address of a database without its scheme; write postgres://user@host/database"), form}
	}
	for word := range strings.FieldsSeq(place) {
		if name, _, is := strings.Cut(word, "="); is && connectionWords[strings.ToLower(name)] {
			return usageError{fmt.Errorf("%s=… is libpq's other form of an address, which proviso does not read; write postgres://user@host/database", strings.ToLower(name)), form}
		}
	}
	return nil
}

// wrongBeginning explains what is wrong with the beginning of a URL that has the right scheme; ""
// if nothing is.
func wrongBeginning(place string) string {
	text := strings.TrimLeftFunc(place, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' })
	lead := place[:len(place)-len(text)]
	colon := strings.IndexByte(text, ':')
	scheme := strings.ToLower(text[:max(0, colon)])
	switch {
	case !slices.Contains(databaseSchemes, scheme):
		return ""
	case strings.ContainsAny(lead, "\"'"):
		return "the address of the database begins with a quotation mark; leave it out"
	case lead != "":
		return "the address of the database begins with a space; leave it out"
	case !strings.HasPrefix(text[colon:], "://"):
		return "the address of the database has no // behind " + scheme + ":; write " + scheme + "://user@host/database"
	case text[:colon] != scheme:
		return "the scheme of the database must be lowercase: " + scheme + "://"
	}
	return ""
}

func isSchemeRune(r rune) bool {
	return r == '+' || r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
}

// openedStore is a store that is not only in memory.
type openedStore interface {
	store.Store
	store.Jobs
	CheckContentKey() error
	Check(ctx context.Context) ([]string, error)
	// Place names the database without user and password.
	Place() string
}

// openStore opens the store at a location, with the access in o.Access. Only a server and the
// creation of a key create the file.
func openStore(ctx context.Context, place string, o sqldb.Options) (openedStore, error) {
	return openStoreWith(ctx, place, 0, o)
}

// withStore opens the store at a location and closes it after do.
func withStore(ctx context.Context, place string, o sqldb.Options, do func(openedStore) error) error {
	db, err := openStore(ctx, place, o)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// openStoreWith is openStore with a maximum number of connections to a PostgreSQL database; 0 means
// the default.
func openStoreWith(ctx context.Context, place string, connections int, o sqldb.Options) (openedStore, error) {
	if postgres.IsURL(place) {
		return postgres.Open(ctx, place, postgres.Options{Options: o, Connections: connections})
	}
	if o.Access == sqldb.Writing || o.Access == sqldb.Reading {
		if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			return nil, proviso.Because(err, proviso.NotFound, "there is no database %s", place)
		}
	}
	return sqlite.Open(ctx, place, o)
}

// workBase returns the folder for the files of running runs. shared means that other processes use
// it, too.
func workBase(place string) (base string, shared bool) {
	if postgres.IsURL(place) {
		return filepath.Join(os.TempDir(), "proviso-work"), true
	}
	return place + ".work", false
}
