package sqldb

import (
	"github.com/proviso-eval/proviso"
)

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

// Access is what a process wants of a database. The zero value is that of a server.
type Access int

const (
	// Serving reads and writes. It makes the tables, and migrates those of an earlier version.
	Serving Access = iota
	// Making reads and writes, and makes the tables of a database that has none.
	Making
	// Writing reads and writes the tables that are there.
	Writing
	// Reading changes nothing, so that the database may be read-only.
	Reading
)

// Migrates reports whether tables of a version may be brought up to date; version 0 is a
// database without tables.
func (a Access) Migrates(version int) bool {
	return a == Serving || a == Making && version == 0
}
