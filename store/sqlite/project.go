package sqlite

import "github.com/proviso-eval/proviso/store"

// project is what a database keeps of one project: its methods reach nothing else.
type project struct {
	*DB
	name store.Project
}

var _ store.ProjectStore = project{}

// In implements [store.Store].
func (d *DB) In(p store.Project) store.ProjectStore { return project{d, p} }

// conditions are those of a list of the project.
func (d project) conditions(column string) conditions {
	var c conditions
	c.add(column+" = ?", string(d.name))
	return c
}
