// Package postgres opens a store in a PostgreSQL database that several servers and workers
// share. The queries are those of package sqldb. Start at [Open]; store/storetest is the
// contract.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store/sqldb"
)

// Options configure a database; the zero value is right for a server.
type Options struct {
	sqldb.Options
	// Connections limits the number of connections of this process; 0 means
	// [DefaultConnections], or fewer if the process is not a server. Up to Writers of them
	// write; the zero value of Writers means 4.
	Connections int
}

// DefaultConnections is the default number of connections of a process: 4 that write, and 8
// that read.
const DefaultConnections = 12

const (
	// commandConnections is the number of connections of a command, which works sequentially.
	commandConnections = 4

	defaultWriters = 4
	connectWait    = 10 * time.Second
)

// IsURL reports whether text is the URL of a PostgreSQL database.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// DB is an open database.
type DB struct {
	*sqldb.DB
	engine *engine
}

// Open opens the database at a URL, such as postgres://user@host/name, and creates or migrates
// its tables. URL parameters and the PG… environment variables are those of libpq. Errors never
// show the password.
func Open(ctx context.Context, address string, o Options) (*DB, error) {
	return open(ctx, address, o, nil)
}

// open is Open with other migration steps, for tests; nil means the steps of this version.
func open(ctx context.Context, address string, o Options, of []step) (*DB, error) {
	if o.Connections <= 0 {
		o.Connections = DefaultConnections
		if o.Access != sqldb.Serving {
			o.Connections = commandConnections
		}
	}
	if o.Writers <= 0 {
		o.Writers = defaultWriters
	}
	o.Writers = max(2, min(o.Writers, o.Connections-1)) // a single writer would prepare statements
	e := &engine{stop: make(chan struct{}), steps: of}
	err := e.connect(ctx, address, o)
	if err == nil {
		err = e.migrate(ctx, o.Access)
	}
	if err == nil {
		err = e.rights(ctx)
	}
	if err != nil {
		return nil, errors.Join(e.failed(opening, err), e.Disconnect())
	}
	if o.Now == nil {
		if err := e.keepTime(ctx); err != nil {
			return nil, errors.Join(e.failed(opening, err), e.Disconnect())
		}
		o.Now = e.now
	}
	db, err := sqldb.New(ctx, e, e.db, e.db, o.Options)
	if err != nil {
		return nil, err
	}
	return &DB{DB: db, engine: e}, nil
}

// Place names the database and its server, without user and password.
func (d *DB) Place() string { return d.engine.place }

// connect opens the connections if the database can hold a store.
func (e *engine) connect(ctx context.Context, address string, o Options) error {
	config, err := parse(address)
	if err != nil {
		return err
	}
	e.place, e.user = placeOf(config), config.User
	e.use(&o.Options)
	e.tls = config.TLSConfig != nil && !slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
	if u, err := url.Parse(address); err == nil {
		e.sslmode = u.Query().Get("sslmode")
	}
	if e.steps == nil {
		if e.steps, err = steps(); err != nil {
			return err
		}
	}
	config.RuntimeParams["application_name"] = processName + strconv.Itoa(len(e.steps))
	config.RuntimeParams["client_encoding"] = "UTF8" // the server converts from any database encoding
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWait
	}
	e.db = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(e.connected), stdlib.OptionResetSession(e.reused))
	e.db.SetMaxOpenConns(o.Connections)
	e.db.SetMaxIdleConns(o.Connections)
	e.db.SetConnMaxIdleTime(5 * time.Minute)
	return e.fits(ctx, o.Connections, o.Access)
}

// form is what a URL looks like.
const form = "it is like postgres://user:password@host:5432/database, with each character of the password that is not a letter or a digit written as %XX"

// parse reads a URL. Errors show nothing that may be the password: a part of an unescaped
// password is parsed as the port or the database.
func parse(text string) (*pgx.ConnConfig, error) {
	if port := wrongPort(text); port != "" {
		return nil, proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: port %s is not valid: expected a number from 1 to 65535", port)
	}
	if err := checkParameters(text); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(escaped(text))
	if err == nil && !strings.Contains(config.Host+config.Database, "@") {
		return config, nil
	}
	reason := form
	var wrong *pgconn.ParseConfigError
	switch {
	case !errors.As(err, &wrong):
	case wrong.Unwrap() == nil && strings.Contains(err.Error(), "invalid port"):
		reason = "the port is not a number from 1 to 65535; " + form
	case wrong.Unwrap() == nil && strings.Contains(err.Error(), "min_protocol_version cannot"):
		reason = "min_protocol_version is later than max_protocol_version"
	case wrong.Unwrap() != nil && ofFiles(wrong.Unwrap().Error()):
		reason = wrong.Unwrap().Error()
	}
	return nil, proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: %s", reason)
}

// ofFiles reports whether a pgx error text is about certificate or service files. Such a text
// quotes nothing else from the URL.
func ofFiles(reason string) bool {
	for _, begin := range []string{"unable to ", "failed to ", `both "sslcert"`} {
		if strings.HasPrefix(reason, begin) {
			return true
		}
	}
	return false
}

// wrongPort returns a numeric port that is too large; "" if there is none. Without a user
// before it, that number may be part of a password.
func wrongPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil { // postgres://user:123456 may lack its host
		return ""
	}
	if n, err := strconv.Atoi(u.Port()); err != nil || n >= 1 && n <= 65535 {
		return ""
	}
	return u.Port()
}

// Password returns the password in a URL or in the libpq variables, "" if there is none, for
// callers that must keep it out of their output.
func Password(text string) string {
	config, err := pgx.ParseConfig(escaped(text))
	if err != nil {
		return ""
	}
	return config.Password
}

// placeOf returns the name of a database without its password.
func placeOf(c *pgx.ConnConfig) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(c.Port)))
	}
	return cmp.Or(c.Database, c.User) + " at " + host
}
