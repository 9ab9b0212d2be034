package store

import "errors"

// The causes of errors of a store that cannot do its work now, although the call was right.
// The errors themselves name the database, for the log of an operator; these do not, for
// clients.
var (
	// ErrUnreachable is the cause while the database cannot be reached, as when it starts
	// again.
	ErrUnreachable = errors.New("the database cannot be reached")
	// ErrReadOnly is the cause while the database can be read and not written: it became a
	// replica, or the user lost a right.
	ErrReadOnly = errors.New("the server cannot write its database")
	// ErrSealed is the cause if another server has begun to seal texts, so that this one, which
	// has no key, must store none.
	ErrSealed = errors.New("the texts of the database are sealed, and this server has no key for them")
	// ErrFailed is the cause of every other failure of a database.
	ErrFailed = errors.New("the database failed")
)

// Outage returns which of [ErrUnreachable], [ErrReadOnly], [ErrSealed] and [ErrFailed] is the cause of an
// error; nil if none is.
func Outage(err error) error {
	for _, cause := range [...]error{ErrUnreachable, ErrReadOnly, ErrSealed, ErrFailed} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	return nil
}
