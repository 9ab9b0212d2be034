// Package postgres opens a store in a PostgreSQL database, which several servers and workers
// share. The queries are those of package sqldb; what one process does, the others see. Start
// at [Open]; store/storetest is the contract.
package postgres

import (
	"context"
	"errors"
	"net"
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
	// Connections bounds how many connections this process has; 0 means 12. Writers of them
	// write; the zero value of Writers means 4.
	Connections int
}

const (
	defaultConnections = 12
	defaultWriters     = 4
	connectWait        = 10 * time.Second
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

// Open opens the database at a URL, such as postgres://user@host/name, and creates or
// migrates its tables. Parameters of the URL and the PG… variables of the environment are
// those of libpq. Errors never show the password.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	if o.Connections <= 0 {
		o.Connections = defaultConnections
	}
	if o.Writers <= 0 {
		o.Writers = defaultWriters
	}
	o.Writers = max(2, min(o.Writers, o.Connections-1)) // of one writer, statements would be prepared
	e := &engine{stop: make(chan struct{})}
	if err := e.connect(ctx, url, o); err != nil {
		return nil, errors.Join(e.failed("open", err), e.Disconnect())
	}
	if o.Now == nil {
		if err := e.keepTime(ctx); err != nil {
			return nil, errors.Join(e.failed("open", err), e.Disconnect())
		}
		o.Now = e.now
	}
	db, err := sqldb.New(ctx, e, e.db, e.db, o.Options)
	if err != nil {
		return nil, err
	}
	return &DB{DB: db, engine: e}, nil
}

// connect opens the connections, and migrates.
func (e *engine) connect(ctx context.Context, url string, o Options) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return proviso.Errorf(proviso.Invalid, "the URL of the database is not valid: %s", parseReason(err))
	}
	e.place = placeOf(config)
	config.RuntimeParams["application_name"] = "proviso"
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectWait
	}
	e.db = stdlib.OpenDB(*config)
	e.db.SetMaxOpenConns(o.Connections)
	e.db.SetMaxIdleConns(o.Connections)
	e.db.SetConnMaxIdleTime(5 * time.Minute)
	return e.migrate(ctx)
}

// parseReason says what is wrong with a URL without the URL, which has the password.
func parseReason(err error) string {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) && parse.Unwrap() != nil {
		return parse.Unwrap().Error()
	}
	return "it is like postgres://user@host:5432/database"
}

// placeOf names a database without its password.
func placeOf(c *pgx.ConnConfig) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(c.Port)))
	}
	return c.Database + " at " + host
}
