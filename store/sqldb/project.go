package sqldb

import "github.com/proviso-eval/proviso/store"

// project is the part of a database that belongs to one project. Its methods
// access nothing else.
type project struct {
	*DB
	reader
	name store.Project
}

var _ store.ProjectStore = project{}

// In implements [store.Store].
func (d *DB) In(p store.Project) store.ProjectStore { return project{d, reader{d, string(p)}, p} }

// conditions are the conditions of a list of the project.
func (d project) conditions(column string) conditions {
	var c conditions
	c.add(column+" = ?", string(d.name))
	return c
}
