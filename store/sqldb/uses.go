package sqldb

import "slices"

// Use is a table that a process uses, with the rights that it needs: SELECT, INSERT, UPDATE and
// DELETE.
type Use struct {
	Table  string
	Rights []string
}

// The tables of commands that need no others. A PostgreSQL user may have just these rights;
// docs/store.md lists them.
var (
	// ListKeys is what [DB.ListKeys] and [DB.Key] use.
	ListKeys = []Use{{"api_key", []string{"SELECT"}}}
	// MakeKeys is what [DB.CreateKey] uses, and [DB.RevokeKey] if a secret cannot be printed.
	MakeKeys = []Use{{"api_key", []string{"SELECT", "INSERT", "UPDATE"}}}
	// RevokeKeys is what [DB.ListKeys] and [DB.RevokeKey] use.
	RevokeKeys = []Use{{"api_key", []string{"SELECT", "UPDATE"}}}
	// ListLabels is what ListLabels of a project uses.
	ListLabels = []Use{{"label", []string{"SELECT"}}}
	// ImportLabels is what store.ImportLabels uses.
	ImportLabels = []Use{
		{"label", []string{"SELECT", "INSERT", "UPDATE", "DELETE"}},
		{"label_item", []string{"SELECT", "UPDATE"}},
		{"label_judged", []string{"SELECT", "INSERT", "UPDATE"}},
		{"label_lease", []string{"SELECT", "DELETE"}},
		{"label_pair", []string{"SELECT", "INSERT", "UPDATE"}},
		{"label_queue", []string{"SELECT"}},
		{"label_worker", []string{"SELECT", "INSERT", "UPDATE"}},
		{"result", []string{"SELECT"}},
		{"run", []string{"SELECT"}},
	}
)

// uses reports whether a process uses a table.
func (o *Options) uses(table string) bool {
	return o.Uses == nil || slices.ContainsFunc(o.Uses, func(u Use) bool { return u.Table == table })
}
