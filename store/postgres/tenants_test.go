package postgres_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestSecondWall: a query that forgets the project, on the same database and as the same role,
// sees only rows of the session's project. A session without a project sees nothing. Neither
// can write rows of other projects. This covers every table with a project.
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
		if _, err := in.AddSpans(t.Context(), "key", []store.SpanPart{{Trace: "t", Spans: 1, Content: []byte(p)}}, store.TraceLimits{Life: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.PutShared(t.Context(), store.SharedItem{Kind: "session", Name: "s", Life: time.Hour}); err != nil {
		t.Fatal(err)
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
	const all = "SELECT id FROM run UNION ALL SELECT project FROM watch UNION ALL SELECT 'spans of ' || project FROM trace_part UNION ALL SELECT kind FROM shared ORDER BY 1"
	if list := texts(all); len(list) != 0 {
		t.Errorf("a session of no project sees %q", list)
	}
	texts("SELECT set_config('proviso.project', 'a', false)")
	if list := texts(all); !slices.Equal(list, []string{"a", "run_a", "spans of a"}) {
		t.Errorf("a session of a sees %q", list)
	}
	for _, change := range []string{"UPDATE run SET suite = 'x' WHERE id = 'run_b'", "DELETE FROM watch WHERE project = 'b'",
		"DELETE FROM trace_part WHERE project = 'b'", "UPDATE shared SET kind = 'x'"} {
		if r, err := c.Exec(t.Context(), change); err != nil || r.RowsAffected() != 0 {
			t.Errorf("%s: %d rows, %v", change, r.RowsAffected(), err)
		}
	}
	for _, change := range []string{"INSERT INTO watch (project, name, salt, number, created) VALUES ('b', 'x', '', 0, 0)",
		"INSERT INTO shared (kind, name, item_group, content, expires) VALUES ('session', 'x', '', '', 0)"} {
		if _, err := c.Exec(t.Context(), change); err == nil {
			t.Errorf("a session of a writes for others: %s", change)
		}
	}
	open := texts(`SELECT c.relname::text FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid)) ORDER BY 1`)
	if !slices.Equal(open, openTables) {
		t.Errorf("tables without a policy: %q\nexpected %q", open, openTables)
	}
}

// openTables are the tables without a policy. A key is found before its project is known, and
// an operator's key is charged for its work in other projects. Replies are claimed with a key.
// Rates, the content key and the schema version belong to no project. Rows of the others are
// found by the number of a row that has a project and a policy.
var openTables = []string{
	"api_key", "content_key", "endpoint_rate", "event_content", "label_item", "label_lease", "label_worker", "proviso_schema", "reply",
	"result", "run_file", "run_part", "traffic_hour", "traffic_prompt", "verdict", "watch_anchor", "watch_chart", "watch_hour",
	"watch_hour_segment", "watch_job", "watch_term", "watch_verdict", "watch_version",
}
