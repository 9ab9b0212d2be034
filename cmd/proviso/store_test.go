package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

var filledAt = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// filledFile returns a database with something of each kind. seen is everything that a store shows
// of it.
func filledFile(t *testing.T) (path string, seen func(storetest.Backend) string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "proviso.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return filledAt }})
	if err != nil {
		t.Fatal(err)
	}
	seen = storetest.Fill(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path, seen
}

// TestStoreExport: every line of the files is JSON, and a run equals the file that was pushed.
func TestStoreExport(t *testing.T) {
	t.Parallel()
	file, _ := filledFile(t)
	folder := filepath.Join(t.TempDir(), "out")
	code, out := printed(t, "store", "export", folder, "--db", file, "--events")
	if code != exitOK || !strings.Contains(out, "default: 4 documents, 3 runs, 1 evaluation, 3 labels, 1 replaced label, 2 label queues, 3 label items, 2 watches, 1 alarm, 1 key, 3 events, 1 feedback, 3 verdicts\nteam-a: 4 documents, ") {
		t.Fatalf("%d: %s", code, out)
	}
	for name, want := range map[string]string{
		"documents.jsonl":    `"content":"a second version é of team-a"`,
		"runs.jsonl":         `"status":"done"`,
		"evaluations.jsonl":  `"agent":"agent"`,
		"labels.jsonl":       `"by":"cy"`,
		"label-queues.jsonl": `"people":`,
		"label-items.jsonl":  `"population":`,
		"keys.jsonl":         `"project":"team-a"`,
		"watches.jsonl":      `"content":{"of":"team-a"}`,
		"alarms.jsonl":       `"state":"open"`,
		"events.jsonl":       `"output":"team-a"`,
		"feedback.jsonl":     `"user":"eve"`,
		"verdicts.jsonl":     `"reason":"because"`,
	} {
		data, err := os.ReadFile(filepath.Join(folder, "team-a", name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s\nexpected %s", name, err, data, want)
		}
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if data, err := os.ReadFile(filepath.Join(folder, "team-a", "keys.jsonl")); err != nil || strings.Contains(string(data), "hash") || strings.Contains(string(data), "secret") || strings.Contains(string(data), `"ci"`) {
		t.Errorf("keys: %s, %v", data, err)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "team-a", "replaced-labels.jsonl")); err != nil || !strings.Contains(string(data), `"by":"ben"`) {
		t.Errorf("replaced labels: %s, %v", data, err)
	}
	runs, err := filepath.Glob(filepath.Join(folder, "*", "runs", "*.jsonl"))
	if err != nil || len(runs) != 3 { // the others have not ended
		t.Fatalf("runs: %v, %v", runs, err)
	}
	if data, err := os.ReadFile(runs[0]); err != nil || strings.Count(string(data), "\n") != 4 || !strings.HasPrefix(string(data), "first\n{") {
		t.Errorf("a run of a header, two rows and a trailer: %s, %v", data, err)
	}
	if code, out := printed(t, "store", "export", folder, "--db", file); code != exitUsage || !strings.Contains(out, "is not empty") {
		t.Errorf("again: %d: %s", code, out)
	}
	one := filepath.Join(t.TempDir(), "one")
	if code, out := printed(t, "store", "export", one, "--db", file, "--project", "team-a"); code != exitOK || strings.Contains(out, "default") {
		t.Errorf("one project: %d: %s", code, out)
	}
	if list, err := os.ReadDir(one); err != nil || len(list) != 1 || list[0].Name() != "team-a" {
		t.Errorf("one project: %v, %v", list, err)
	}
}

// TestStoreExportSealed: sealed texts are not left out silently.
func TestStoreExportSealed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "proviso.db")
	d := mustOpen(t, file, sqldb.Options{ContentKey: bytes.Repeat([]byte("k"), 32)})
	e := store.NewEvent{Event: ingest.Event{ID: "e", Agent: "a", Time: filledAt, Output: "o"}, KeepContent: true}
	if _, err := d.In(store.DefaultProject).AddEvents(t.Context(), []store.NewEvent{e}); err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "store", "export", filepath.Join(t.TempDir(), "a"), "--db", file, "--events"); code != exitUsage || !strings.Contains(out, "--content-key-env: the texts of events are encrypted") {
		t.Errorf("without the key: %d: %s", code, out)
	}
	if code, out := printed(t, "store", "export", filepath.Join(t.TempDir(), "b"), "--db", file); code != exitOK {
		t.Errorf("without events: %d: %s", code, out)
	}
}

// TestStoreCopy moves from a file to PostgreSQL: migrate, copy, check.
func TestStoreCopy(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.StartFor(t)
	to, err := postgres.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	file, seen := filledFile(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"migrate --dry-run --store " + to, exitOK, "Would apply 001.sql\n"},
		{"check --store " + to, exitFailed, "the schema is 0, and this version has "},
		{"migrate --store " + to, exitOK, "Applied 001.sql\n"},
		{"migrate --store " + to, exitOK, "Nothing to do: the database has schema "},
		{"check --store " + to, exitOK, "Nothing is wrong; the database has schema "},
		{"copy --from " + file + " --to " + to, exitOK, "Copied "},
		{"check --store " + to, exitOK, "Nothing is wrong"},
		{"copy --from " + file + " --to " + to, exitUsage, "has data already"},
		{"copy --from " + file + " --to " + file, exitUsage, "--to takes the URL"},
		{"copy --from " + to + " --to " + to, exitUsage, "--from takes a SQLite file"},
		{"copy --from nowhere.db --to " + to, exitUsage, "there is no database nowhere.db"},
		{"check --db " + file, exitOK, "Nothing is wrong; the database has schema "},
	} {
		if code, out := printed(t, append([]string{"store"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("store %s: %d: %s\nexpected %d: %s", c.args, code, out, c.code, c.says)
		}
	}
	for _, args := range []string{"serve --addr 127.0.0.1:0 --db " + file, "key create a --db " + file} {
		if code, out := printed(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(out, "were copied to another database") || !strings.Contains(out, "`proviso serve --after-copy`") {
			t.Errorf("%s after the copy: %d: %s", args, code, out)
		}
	}
	if code, out := printed(t, "key", "list", "--db", file); code != exitOK {
		t.Errorf("reading after the copy: %d: %s", code, out)
	}
	options := sqldb.Options{Copied: true, Now: func() time.Time { return filledAt }}
	source, target := mustOpen(t, file, options), mustOpen(t, to, options)
	if got, want := seen(target), seen(source); got != want {
		t.Errorf("the copy shows\n%s\nand the source\n%s", got, want)
	}
	for _, d := range []openedStore{source, target} { // numbers continue, and triggers count again
		in := d.In(store.DefaultProject)
		if _, err := in.CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
			t.Error(err)
		}
		if _, err := in.EnqueueEvents(t.Context(), "w", []store.Backfill{{Event: "e1", Probability: 1}}); err != nil {
			t.Error(err)
		}
		if h, err := in.WatchHealth(t.Context(), "w", filledAt); err != nil || h.Pending != 1 {
			t.Errorf("after the copy, %d jobs wait, %v", h.Pending, err)
		}
	}
	if err := source.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "store", "copy", "--from", file, "--to", to); code != exitUsage || !strings.Contains(out, "stop the server first") {
		t.Errorf("while a server runs: %d: %s", code, out)
	}
}

// mustOpen opens a store until the test ends.
func mustOpen(t testing.TB, place string, o sqldb.Options) openedStore {
	t.Helper()
	d, err := openStore(t.Context(), place, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// BenchmarkStoreCopy copies a run of 100,000 rows with four assertions each, about 1 KB per row:
// 500,002 table rows.
func BenchmarkStoreCopy(b *testing.B) {
	file := filepath.Join(b.TempDir(), "proviso.db")
	const rows = 100_000
	text := fmt.Sprintf("%0900d", 7)
	_, _, err := mustOpen(b, file, sqldb.Options{}).In(store.DefaultProject).ImportRun(b.Context(), store.ImportedRun{ID: "run_1", Suite: "s", Rows: rows}, func(yield func(store.Result, error) bool) {
		for i := range rows {
			r := store.Result{Index: i, Status: proviso.Pass, Cost: 0.001, JSON: fmt.Appendf(nil, `{"verdict":"pass","promptId":"p","output":"%d%s"}`, i, text)}
			for a := range 4 {
				r.Assertions = append(r.Assertions, store.AssertionStatus{ID: fmt.Sprint("a", a), Status: proviso.Pass})
			}
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	s := postgrestest.StartFor(b, "-c", "fsync=on")
	for n := 0; b.Loop(); n++ {
		name := fmt.Sprint("p", n)
		if _, err := s.Create(name); err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if code := execute([]string{"store", "copy", "--from", file, "--to", s.URL(name)}, stdio{in: strings.NewReader(""), out: &out, err: &out}); code != exitOK {
			b.Fatalf("%d: %s", code, &out)
		}
	}
}

// TestStorePassword: no command shows the database password, whatever fails.
func TestStorePassword(t *testing.T) {
	t.Parallel()
	const secret = "a-secret-of-the-database"
	for _, url := range []string{"postgres://u:" + secret + "@127.0.0.1:1/p", "postgres://u:" + secret + "/more@127.0.0.1:1/p", "postgres://127.0.0.1:1/p?password=" + secret} {
		for _, args := range []string{"store check", "store migrate", "key list", "labels export", "serve", "worker", "store check --help", "serve --help"} {
			code, out := printed(t, append(strings.Fields(args), "--store", url)...)
			if strings.Contains(out, secret) || out == "" || code == exitOK != strings.HasSuffix(args, "--help") {
				t.Errorf("%s: %d: %s", args, code, out)
			}
		}
	}
}

// TestPasswordInWrongPlace: a database URL in the place of another URL is rejected without showing
// its password.
func TestPasswordInWrongPlace(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"PW", "a-secret-of-the-database", "with@two-signs"} {
		for _, args := range []string{"eval --on ", "eval --on=", "labels list --server ", "monitor status --server ", "push a ", "datasets list --server "} {
			code, out := printed(t, strings.Fields(args+"postgres://x:"+secret+"@h/db")...)
			if code != exitUsage || strings.Contains(out, secret) || !strings.Contains(out, "postgres") {
				t.Errorf("%s: %d: %s", args, code, out)
			}
		}
	}
	for _, args := range []string{"show ", "compare a ", "eval -c ", "gate --base ", "serve --addr ", "serve --wrong="} {
		if code, out := printed(t, strings.Fields(args+"postgres://x:a-secret-of-the-database@h/db")...); code == exitOK || strings.Contains(out, "a-secret") {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
}

// TestDocsOfStore compares the flags of the commands below store and key with their pages.
func TestDocsOfStore(t *testing.T) {
	a := newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for page, cmd := range map[string]*cobra.Command{"docs/store.md": newStore(a), "docs/key.md": newKey(a)} {
		for _, sub := range cmd.Commands() {
			wantBlock(t, page, "flags of "+sub.Name(), flagTable(sub))
		}
	}
}
