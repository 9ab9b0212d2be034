package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
)

var _ sqldb.Engine = (*engine)(nil)

// engine is the [sqldb.Engine] for PostgreSQL.
type engine struct {
	db       *sql.DB
	place    string       // name of the database for messages
	user     string       // user of the connection
	schema   string       // schema of the tables
	uses     []sqldb.Use  // tables that the process uses; nil means all of them,
	needs    []string     // with these rights
	sslmode  string       // sslmode of the URL, "" if there is none
	tls      bool         // every connection must be encrypted
	outdated atomic.Int64 // connections opened before are not reused: milliseconds since 1970
	readAt   atomic.Int64 // when all tables were last readable: milliseconds since 1970
	steps    []step       // migration steps
	tables   sync.Once
	names    []string         // tables that the steps create, once tables is done
	offset   atomic.Int64     // offset of the database clock, in nanoseconds
	clock    func() time.Time // nil for the machine's clock
	stop     chan struct{}
}

// Query implements [sqldb.Engine]: it numbers the parameters, and removes hints for SQLite.
func (e *engine) Query(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 32)
	n := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'': // a string literal, up to the next quote
			end := i + 1 + strings.IndexByte(text[i+1:], '\'')
			b.WriteString(text[i : end+1])
			i = end
		case c == '?':
			b.WriteByte('$')
			if i+1 < len(text) && text[i+1] >= '1' && text[i+1] <= '9' {
				break // it is numbered
			}
			n++
			b.WriteString(strconv.Itoa(n))
		case c == 'C' && strings.HasPrefix(text[i:], crossJoin):
			b.WriteString("JOIN")
			i += len(crossJoin) - 1
		case c == 'I' && strings.HasPrefix(text[i:], indexedBy):
			i += len(indexedBy) - 1
			for i+1 < len(text) && text[i+1] != ' ' {
				i++
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

const (
	crossJoin = "CROSS JOIN"
	indexedBy = "INDEXED BY "
)

// Args implements [sqldb.Engine]. Texts in PostgreSQL must be valid UTF-8 without NUL.
func (e *engine) Args(args []any) []any {
	for i, a := range args {
		switch a := a.(type) {
		case bool:
			n := int64(0)
			if a {
				n = 1
			}
			args[i] = n
		case string:
			args[i] = cleanText(a)
		}
	}
	return args
}

func cleanText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return text
}

// lockKind distinguishes our advisory locks from those of other programs: "prvs".
const lockKind = 0x70727673

// Lock implements [sqldb.Engine] with advisory locks. Two projects may share a lock by chance,
// which only costs time.
func (e *engine) Lock(ctx context.Context, t *sql.Tx, projects []string) error {
	_, err := t.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1::int, h) FROM (SELECT DISTINCT hashtext(current_schema() || ':' || p) AS h FROM unnest($2::text[]) p ORDER BY 1) projects", lockKind, projects)
	return err
}

// Exclude implements [sqldb.Engine].
func (e *engine) Exclude(ctx context.Context, t *sql.Tx, tables []string) error {
	_, err := t.ExecContext(ctx, "LOCK TABLE "+strings.Join(tables, ", ")+" IN SHARE ROW EXCLUSIVE MODE")
	return err
}

// Ready implements [sqldb.Engine].
func (e *engine) Ready() error { return nil }

// Written implements [sqldb.Engine].
func (e *engine) Written(int) {}

// The operations for [engine.Failed] at startup and when reading.
const (
	opening = "open"
	reading = "read"
)

// Error codes, see the appendix "PostgreSQL Error Codes" of the manual.
const (
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	diskFull              = "53100"
	tooManyConnections    = "53300"
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
	cannotConnectNow      = "57P03"
	readOnlyTransaction   = "25006"
	insufficientPrivilege = "42501"
	invalidPassword       = "28P01"
	invalidAuthorization  = "28000"
	invalidCatalog        = "3D000"
	undefinedTable        = "42P01"
	undefinedObject       = "42704"
	invalidParameter      = "22023"
	cannotChange          = "55P02"
	invalidName           = "42602"
	syntaxError           = "42601"
	protocolViolation     = "08P01"
)

func codeOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Again implements [sqldb.Engine].
func (e *engine) Again(err error) bool {
	switch codeOf(err) {
	case serializationFailure, deadlockDetected:
		return true
	}
	return false
}

// Lost implements [sqldb.Engine].
func (e *engine) Lost(err error) bool {
	switch code := codeOf(err); {
	case operatorHelps(code): // work waits for the operator
		e.lostRights(code)
		return true
	case code == tooManyConnections, code == adminShutdown, code == crashShutdown, code == cannotConnectNow:
		return true
	case code != "":
		return strings.HasPrefix(code, "08") // connection exceptions
	}
	var network net.Error
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) ||
		errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err)
}

// Failed implements [sqldb.Engine].
func (e *engine) Failed(doing string, err error) error {
	cause, why := store.ErrFailed, messageOf(err)
	if e.Lost(err) {
		cause = store.ErrUnreachable
	}
	code := proviso.Unavailable
	if doing == opening && operatorHelps(codeOf(err)) {
		code = proviso.Refused
	}
	if e.tls && strings.Contains(err.Error(), "server refused TLS connection") { // pgconn has no type for this
		why = "it does not offer TLS, and " + strings.TrimSuffix("sslmode="+e.sslmode, "=") + " requires it"
	}
	if reason := unwelcome(err); doing == opening && reason != "" {
		code, why = proviso.Refused, reason
	}
	switch codeOf(err) {
	case diskFull:
		cause, why = store.ErrNoRoom, store.ErrNoRoom.Error()
	case tooManyConnections:
		cause = store.Cause(store.ErrUnreachable, "it has no free connection")
		why = "it has no free connection; raise its max_connections, or have fewer servers and workers"
	case readOnlyTransaction:
		cause, why = errReadOnly(), "it is read-only, perhaps a replica; use the URL of the primary"
	case insufficientPrivilege:
		e.readAt.Store(0)
		cause, why = e.denied(doing, err), e.lacking(err)
	case invalidPassword, invalidAuthorization:
		why = "it refuses the user or the password"
		cause = store.Cause(store.ErrUnreachable, why)
	case undefinedTable:
		e.readAt.Store(0)
		cause = errNoSchema()
		why = messageOf(err) + "; tables were removed, or the user " + e.user + " may no longer use their schema: GRANT USAGE ON SCHEMA " + ident(e.schema) + " TO " + ident(e.user)
	case invalidCatalog:
		cause, why = store.Cause(store.ErrUnreachable, "there is no such database"), "there is no such database; `createdb` makes one"
	}
	return proviso.Because(errors.Join(cause, err), code, "%s the database %s: %s", doing, e.place, why)
}

// unwelcome returns why a connection failed although the server can be reached and accepts the
// password: server and URL do not fit together. It returns "" for other errors.
func unwelcome(err error) string {
	if !errors.As(err, new(*pgconn.ConnectError)) {
		return ""
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case undefinedObject, invalidParameter, cannotChange, invalidName, syntaxError, protocolViolation: // a pooler returns the last one for settings that it does not pass on
			return "it does not take a parameter of the URL, or of PGOPTIONS: " + e.Message
		}
		return ""
	}
	for _, known := range [...]struct{ text, why string }{
		{"ValidateConnect failed", "no server of the URL is what its target_session_attrs asks for"},
		{"channel binding", "channel_binding=require needs TLS and a password of SCRAM, which the server does not ask for"},
		{"require_auth", "its authentication method is not one that require_auth allows"},
		{"SSL certificate", "sslcertmode=require needs TLS and a server that asks for a certificate"},
		{"protocol version", "it does not know the version of the protocol that min_protocol_version asks for"},
	} {
		if strings.Contains(err.Error(), known.text) { // pgconn has no types for these
			return known.why
		}
	}
	return ""
}

// operatorHelps reports whether a PostgreSQL error persists until somebody changes the database
// or its URL.
func operatorHelps(code string) bool {
	switch code {
	case readOnlyTransaction, insufficientPrivilege, invalidPassword, invalidAuthorization, invalidCatalog, undefinedTable:
		return true
	}
	return false
}

// messageOf returns the text of an error without what pgx adds: user, address, and the text of
// the query.
func messageOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Message + " (" + e.Code + ")"
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "it cannot be reached (" + dns.Err + ")"
	case errors.As(err, &op):
		return "it cannot be reached (" + op.Err.Error() + ")"
	case errors.As(err, new(*pgconn.ConnectError)):
		return "it cannot be reached" + spokenWith(err)
	}
	return err.Error()
}

// spokenWith describes, in brackets, what was wrong with the server's answer to a connection;
// "" if unknown.
func spokenWith(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return " (what listens there did not answer in time; perhaps it is not PostgreSQL)"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return " (the connection was closed without an answer)"
	case strings.Contains(err.Error(), "invalid body length"), strings.Contains(err.Error(), "unknown message type"), strings.Contains(err.Error(), "unexpected message"): // pgx has no types for them
		return " (what listens there does not answer as PostgreSQL does)"
	}
	return ""
}

// failed is Failed for errors that may have a code or come from a context.
func (e *engine) failed(doing string, err error) error {
	var known *proviso.Error
	switch {
	case err != nil && errors.As(err, new(*pgconn.ConnectError)) && errors.Is(err, context.Canceled): // pgx reports it on several lines
		return fmt.Errorf("%s the database %s: %w", doing, e.place, context.Canceled)
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	}
	return e.Failed(doing, err)
}

// Erased implements [sqldb.Engine]: PostgreSQL overwrites deleted data when it vacuums.
func (e *engine) Erased(context.Context) error { return nil }

// Alone implements [sqldb.Engine]: several processes may execute runs.
func (e *engine) Alone() (release func() error, err error) { return nil, nil }

// Several implements [sqldb.Engine].
func (e *engine) Several() bool { return true }

// Disconnect implements [sqldb.Engine].
func (e *engine) Disconnect() error {
	close(e.stop)
	if e.db == nil {
		return nil
	}
	return e.db.Close()
}
