package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// TestOldDatabase opens a database from before there were projects: all its data belongs to the
// default project, and its names are free in others.
func TestOldDatabase(t *testing.T) {
	t.Parallel()
	const (
		secret = "pvk_86mjq18t1zvgfsybw1ge9kke9rf5zesdg0mz8t0gpfptz7g"
		keyID  = "key_06drtrktg3n0fjjg5xd37vjgc8"
	)
	dump, err := os.ReadFile("testdata/schema1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proviso.db")
	execute(t, path, string(dump))
	d := open(t, path, storetest.Options{})
	defer func() { d.Close() }()
	for range 2 { // after the migration, and after reopening
		k, err := d.Authenticate(t.Context(), secret)
		if err != nil || k.ID != keyID || k.Project != store.DefaultProject || k.Spent != 0.5 {
			t.Fatalf("the key: %+v, %v", k, err)
		}
		oldContents(t, d.In(store.DefaultProject))
		d.Close()
		d = open(t, path, storetest.Options{})
	}
	suite := store.NewDocument{Kind: store.SuiteKind, Name: "refunds", MediaType: "application/json", Content: []byte(`{"suite":"one"}`)}
	for p, want := range map[store.Project]int{"other": 1, store.DefaultProject: 1} { // the same content is version 1 of each
		doc, created, err := d.In(p).PutDocument(t.Context(), suite)
		if err != nil || doc.Number != want || created != (p == "other") {
			t.Errorf("%s: %+v, %t, %v", p, doc, created, err)
		}
	}
	executeOld(t, d)
}

// oldContents checks the data of testdata/schema1.sql.
func oldContents(t *testing.T, in store.ProjectStore) {
	t.Helper()
	doc, err := in.Document(t.Context(), store.SuiteKind, "refunds", "")
	if err != nil || doc.Number != 1 || !doc.Current || string(doc.Content) != `{"suite":"one"}` {
		t.Errorf("the suite: %+v, %v", doc, err)
	}
	versions, err := in.ListDocuments(t.Context(), store.DocumentFilter{Kind: store.SuiteKind, Name: "refunds"}, store.Page{})
	if err != nil || len(versions.Items) != 2 || versions.Items[0].Number != 2 || versions.Items[0].Current {
		t.Errorf("its versions: %+v, %v", versions, err)
	}
	names, err := in.ListDocuments(t.Context(), store.DocumentFilter{}, store.Page{})
	if err != nil || len(names.Items) != 2 {
		t.Errorf("the documents: %+v, %v", names, err)
	}
	run, err := in.Run(t.Context(), "run_old")
	if err != nil || run.Version != doc.Hash || run.Totals.Passed != 1 || run.Project != store.DefaultProject {
		t.Errorf("the run: %+v, %v", run, err)
	}
	if r, err := in.Result(t.Context(), "run_old", 0); err != nil || string(r.JSON) != `{"index":0}` {
		t.Errorf("its row: %+v, %v", r, err)
	}
	if e, err := in.Evaluation(t.Context(), "eval_old"); err != nil || e.Status != proviso.Fail || string(e.Request) != "{}" {
		t.Errorf("the evaluation: %+v, %v", e, err)
	}
	for what, n := range map[string]func() (int, error){
		"runs": func() (int, error) {
			l, err := in.ListRuns(t.Context(), store.RunFilter{Suite: "refunds"}, store.Page{})
			return len(l.Items), err
		},
		"evaluations": func() (int, error) {
			l, err := in.ListEvaluations(t.Context(), store.EvaluationFilter{Agent: "agent"}, store.Page{})
			return len(l.Items), err
		},
	} {
		if n, err := n(); err != nil || n != 1 {
			t.Errorf("%d %s, %v", n, what, err)
		}
	}
}

// executeOld executes the queued run of the old database.
func executeOld(t *testing.T, d interface {
	store.Store
	store.Jobs
}) {
	t.Helper()
	if err := d.Start(t.Context(), func(ctx context.Context, job store.Job) error {
		_, err := d.In(job.Run.Project).AddResults(ctx, job.Run.ID, []store.Result{{Index: 1}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		r, err := d.In(store.DefaultProject).Run(t.Context(), "run_old")
		return err == nil && r.Status == store.Done && r.Totals.Rows() == 2
	})
}

// TestOldServerUnderNewCommand: while a server of an earlier version uses a
// database, its tables are not changed; after it has ended, they are migrated.
func TestOldServerUnderNewCommand(t *testing.T) {
	t.Parallel()
	dump, err := os.ReadFile("testdata/schema1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proviso.db")
	execute(t, path, string(dump))
	other := filepath.Join(t.TempDir(), "other.db") // its lock file stands in for that of the old server
	server := open(t, other, storetest.Options{})
	if err := server.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other+".lock", path+".lock"); err != nil {
		t.Skip(err)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != proviso.Refused || !strings.Contains(e.Message, "(schema 1, this one has ") || !strings.Contains(e.Message, "), and a server uses it; stop the server") {
		t.Errorf("beside the old server: %v", err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(t, path, storetest.Options{})
	defer d.Close()
	oldContents(t, d.In(store.DefaultProject))
}

// TestOldDatabaseIsLeft: only a server migrates a file.
func TestOldDatabaseIsLeft(t *testing.T) {
	t.Parallel()
	dump, err := os.ReadFile("testdata/schema1.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "proviso.db")
	execute(t, path, string(dump))
	for _, access := range []sqldb.Access{sqldb.Making, sqldb.Writing, sqldb.Reading} {
		d, err := sqlite.Open(t.Context(), path, sqlite.Options{Access: access})
		if err == nil || !strings.Contains(err.Error(), "has schema 1, and this version of proviso has ") {
			t.Errorf("%d: %v", access, err)
		}
		if err == nil {
			d.Close()
		}
	}
	if s, err := sqlite.Schema(t.Context(), path); err != nil || s.Version != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
