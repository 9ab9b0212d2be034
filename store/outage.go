package store

import (
	"context"
	"errors"
)

// The causes of errors of a store that cannot do its work now, although the call was right.
// The errors themselves name the database, for the log of an operator; these do not, for
// clients.
var (
	// ErrUnreachable is the cause while the database cannot be reached, as when it starts
	// again.
	ErrUnreachable = errors.New("the database cannot be reached")
	// ErrUnreadable is the cause while the database is there and cannot be read: the user lost
	// a right, or a table is gone. [Unreadable] names the table.
	ErrUnreadable = errors.New("the database cannot be read")
	// ErrReadOnly is the cause while the database can be read and not written: it became a
	// replica, or the user lost a right.
	ErrReadOnly = errors.New("the database cannot be written")
	// ErrSealed is the cause if another process has begun to seal texts, so that this one, which
	// has no key, must store none, and cannot read them.
	ErrSealed = errors.New("the texts of the database are sealed, and this process has no key for them: start it with --content-key-env, as the others")
	// ErrFailed is the cause of every other failure of a database.
	ErrFailed = errors.New("the database failed")
)

// Unreadable is [ErrUnreadable] for a table.
func Unreadable(table string) error {
	return Cause(ErrUnreadable, "no right to read the table "+table)
}

// Cause is one of the causes with a reason, which is shown to clients: it names no address, no
// user and no database.
func Cause(of error, reason string) error { return &cause{of, reason} }

type cause struct {
	of     error
	reason string
}

func (c *cause) Error() string { return c.of.Error() + ": " + c.reason }

func (c *cause) Unwrap() error { return c.of }

// Outage returns which of [ErrUnreachable], [ErrUnreadable], [ErrReadOnly], [ErrSealed] and
// [ErrFailed] is the cause of an error, with the reason of [Cause] if it has one; nil if none is.
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

// Patient marks the context of work that nobody waits for: while a store cannot be reached,
// a write waits until it can, or until the context ends, and is then repeated. Such a write
// must be one that may be done twice; those of this package are. A request is not patient:
// its client is told at once.
func Patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, true)
}

// IsPatient reports whether a context is marked by [Patient].
func IsPatient(ctx context.Context) bool {
	is, _ := ctx.Value(patientKey{}).(bool)
	return is
}
