package postgres_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestSecondWall: a query that forgets the project, on the same database and as the same
// role, sees rows of the project that the session is of, and of no other. A session of none
// sees nothing. It writes nothing for others, either. Every table with a project has it.
func TestSecondWall(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	d := open(t, url, storetest.Options{})
	defer d.Close()
	for _, p := range []store.Project{"a", "b"} {
		in := d.In(p)
		if _, err := in.CreateRun(t.Context(), store.NewRun{ID: "run_" + string(p), Suite: "s"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := in.PutWatch(t.Context(), store.NewWatch{Name: "w", Content: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	texts := func(query string, args ...any) []string {
		t.Helper()
		rows, err := c.Query(t.Context(), query, args...)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	const all = "SELECT id FROM run UNION ALL SELECT project FROM watch ORDER BY 1"
	if list := texts(all); len(list) != 0 {
		t.Errorf("a session of no project sees %q", list)
	}
	texts("SELECT set_config('proviso.project', 'a', false)")
	if list := texts(all); !slices.Equal(list, []string{"a", "run_a"}) {
		t.Errorf("a session of a sees %q", list)
	}
	for _, change := range []string{"UPDATE run SET suite = 'x' WHERE id = 'run_b'", "DELETE FROM watch WHERE project = 'b'"} {
		if r, err := c.Exec(t.Context(), change); err != nil || r.RowsAffected() != 0 {
			t.Errorf("%s: %d rows, %v", change, r.RowsAffected(), err)
		}
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO watch (project, name, salt, number, created) VALUES ('b', 'x', '', 0, 0)"); err == nil {
		t.Error("a session of a writes for b")
	}
	open := texts(`SELECT table_name::text FROM information_schema.columns WHERE column_name = 'project' AND table_schema = current_schema()
		EXCEPT SELECT c.relname::text FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid WHERE c.relrowsecurity AND c.relforcerowsecurity AND c.relnamespace = current_schema()::regnamespace`)
	if !slices.Equal(open, []string{"api_key"}) { // a key is found before its project is known
		t.Errorf("tables with a project and without a policy: %q", open)
	}
}
