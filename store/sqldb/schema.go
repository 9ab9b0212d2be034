package sqldb

// Schema is how far the tables of a database are.
type Schema struct {
	Version int    // applied steps; 0 if there are no tables
	Known   int    // steps that this version of proviso knows
	Missing []Step // those that it would apply
}

// Step is a step that brings tables up to date.
type Step struct {
	Name   string // of its file
	OldRun bool   // processes that do not know it may keep running
}
