package store

import "context"

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
