package sqldb

import (
	"github.com/proviso-eval/proviso"
)

// Schema is the migration state of a database.
type Schema struct {
	Version int    // applied migration steps; 0 if there are no tables
	Known   int    // steps that this proviso version knows
	Missing []Step // steps that this process would apply
}

// Check returns why the tables cannot be used with an access that does not migrate them, or
// nil. place names the database in the message.
func (s Schema) Check(place string, a Access) error {
	switch {
	case s.Version >= s.Known || a.Migrates(s.Version):
		return nil
	case s.Version == 0:
		return proviso.Errorf(proviso.NotFound, "the database %s has no tables of proviso; `proviso store migrate` makes them", place)
	}
	return proviso.Errorf(proviso.Refused, "the database %s has schema %d, and this version of proviso has %d: `proviso store migrate` applies what is missing", place, s.Version, s.Known)
}

// Step is a migration step.
type Step struct {
	Name   string // its file name
	OldRun bool   // processes that do not know the step may keep running
}

// Access is how a process uses a database. The zero value is that of a server.
type Access int

const (
	// Serving reads and writes. It creates the tables, and migrates those of an earlier
	// version.
	Serving Access = iota
	// Making reads and writes, and creates the tables of a database that has none.
	Making
	// Writing reads and writes existing tables.
	Writing
	// Reading changes nothing. The database may be read-only.
	Reading
)

// Migrates reports whether tables of a version may be migrated; version 0 is a database without
// tables.
func (a Access) Migrates(version int) bool {
	return a == Serving || a == Making && version == 0
}
