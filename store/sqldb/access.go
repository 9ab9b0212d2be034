package sqldb

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
