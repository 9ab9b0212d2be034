package store

import (
	"context"
	"errors"
)

// The causes of store errors that are not the caller's fault. The errors themselves name the
// database, for the operator's log. The causes do not; they are for clients.
var (
	// ErrUnreachable means that the database cannot be reached, for example while it restarts.
	ErrUnreachable = errors.New("the database cannot be reached")
	// ErrUnreadable means that the database is reachable but cannot be read: the user lost a
	// right, or a table is gone. [Unreadable] names the table.
	ErrUnreadable = errors.New("the database cannot be read")
	// ErrReadOnly means that the database can be read but not written: it became a replica, or
	// the user lost a right.
	ErrReadOnly = errors.New("the database cannot be written")
	// ErrSealed means that another process has begun to seal texts. This process has no key: it
	// can read no sealed texts and must store none.
	ErrSealed = errors.New("the texts of the database are encrypted, and this process has no key for them: start it with --content-key-env, as the others")
	// ErrFailed is the cause of every other failure of a database.
	ErrFailed = errors.New("the database failed")
)

// Unreadable returns [ErrUnreadable] for a table.
func Unreadable(table string) error {
	return Cause(ErrUnreadable, "no right to read the table "+table)
}

// Cause returns one of the causes with a reason. Clients see the reason, so it must name no
// address, user or database.
func Cause(of error, reason string) error { return &cause{of, reason} }

type cause struct {
	of     error
	reason string
}

func (c *cause) Error() string { return c.of.Error() + ": " + c.reason }

func (c *cause) Unwrap() error { return c.of }

// Outage returns the cause of an error: [ErrUnreachable], [ErrUnreadable], [ErrReadOnly],
// [ErrSealed] or [ErrFailed], with the reason from [Cause] if it has one. It returns nil for
// other errors.
func Outage(err error) error {
	var known *cause
	if errors.As(err, &known) {
		return known
	}
	for _, cause := range [...]error{ErrUnreachable, ErrUnreadable, ErrReadOnly, ErrSealed, ErrFailed} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	return nil
}

type patientKey struct{}

// Patient marks the context of background work. If the store cannot be reached, a write waits
// until it can or the context ends, and is then repeated. Such a write must be idempotent;
// those of this package are. A request is not patient: its client gets the error at once.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

// IsPatient reports whether a context is marked by [Patient].
func IsPatient(ctx context.Context) bool {
	is, _ := ctx.Value(patientKey{}).(bool)
	return is
}
