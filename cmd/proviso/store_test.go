package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/store/storetest"
)

// filledFile is a database with something of each kind. Its runs have ended.
func filledFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proviso.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Fill(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStoreExport: every line of the files is JSON, and a run is the file that it was pushed
// as.
func TestStoreExport(t *testing.T) {
	t.Parallel()
	file, folder := filledFile(t), filepath.Join(t.TempDir(), "out")
	code, out := printed(t, "store", "export", folder, "--db", file, "--events")
	if code != exitOK || !strings.Contains(out, "default: 4 documents, 3 runs, 1 evaluations, 3 labels, 2 watches, 1 alarms, 3 events, 1 feedback, 3 verdicts\nteam-a: 4 documents, ") {
		t.Fatalf("%d: %s", code, out)
	}
	for name, want := range map[string]string{
		"documents.jsonl":   `"content":"a second version é of team-a"`,
		"runs.jsonl":        `"status":"done"`,
		"evaluations.jsonl": `"agent":"agent"`,
		"labels.jsonl":      `"by":"cy"`,
		"watches.jsonl":     `"content":{"of":"team-a"}`,
		"alarms.jsonl":      `"state":"open"`,
		"events.jsonl":      `"output":"team-a"`,
		"feedback.jsonl":    `"user":"eve"`,
		"verdicts.jsonl":    `"reason":"because"`,
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

// TestStoreCopy leads from a file to PostgreSQL: migrate, copy, check.
func TestStoreCopy(t *testing.T) {
	t.Parallel()
	postgres := postgrestest.StartFor(t)
	if err := postgres.Run("CREATE DATABASE p", "postgres"); err != nil {
		t.Fatal(err)
	}
	file, to := filledFile(t), postgres.URL("p")
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
	db, err := openStore(t.Context(), file, false, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Start(t.Context(), func(context.Context, store.Job) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "store", "copy", "--from", file, "--to", to); code != exitUsage || !strings.Contains(out, "stop the server first") {
		t.Errorf("while a server runs: %d: %s", code, out)
	}
}

// TestStorePassword: whatever goes wrong, no command shows the password of the database.
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

// TestDocsOfStore compares the flags of the commands below store and key with their pages.
func TestDocsOfStore(t *testing.T) {
	a := newApp(stdio{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for page, cmd := range map[string]*cobra.Command{"docs/store.md": newStore(a), "docs/key.md": newKey(a)} {
		for _, sub := range cmd.Commands() {
			wantBlock(t, page, "flags of "+sub.Name(), flagTable(sub))
		}
	}
}
