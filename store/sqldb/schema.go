package sqldb

import "github.com/proviso-eval/proviso"

// Schema is how far the tables of a database are.
type Schema struct {
	Version int    // applied steps; 0 if there are no tables
	Known   int    // steps that this version of proviso knows
	Missing []Step // those that it would apply
}

// Check returns why tables cannot be used with an access that does not migrate them; nil if
// they can. place is the database, for the message.
func (s Schema) Check(place string, a Access) error {
	switch {
	case s.Version >= s.Known || a.Migrates(s.Version):
		return nil
	case s.Version == 0:
		return proviso.Errorf(proviso.NotFound, "the database %s has no tables of proviso; `proviso store migrate` makes them", place)
	}
	return proviso.Errorf(proviso.Refused, "the database %s has schema %d, and this version of proviso has %d: `proviso store migrate` applies what is missing", place, s.Version, s.Known)
}

// Step is a step that brings tables up to date.
type Step struct {
	Name   string // of its file
	OldRun bool   // processes that do not know it may keep running
}
