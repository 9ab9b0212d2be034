package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// TestPlaceOfStore: a text meant as a database URL never becomes a file, and no message shows what
// follows its scheme.
func TestPlaceOfStore(t *testing.T) {
	const secret = "S3CRET"
	for place, says := range map[string]string{
		"postgre://proviso:S3CRET@h/proviso":                        "unknown scheme postgre://",
		"POSTGRES://proviso:S3CRET@h/proviso":                       "must be lowercase: postgres://",
		"Postgresql://proviso:S3CRET@h/proviso":                     "must be lowercase: postgresql://",
		"postgres:/proviso:S3CRET@h/proviso":                        "has no // behind postgres:; write postgres://",
		"postgresql:host":                                           "has no // behind postgresql:; write postgresql://",
		"postgres:proviso:S3CRET@h/proviso":                         "has no // behind postgres:; write postgres://",
		"mysql://u:S3CRET@h/db":                                     "unknown scheme mysql://",
		"u:S3CRET://h":                                              "begins with no scheme",
		"host=db.internal user=proviso password=S3CRET dbname=data": "host=… is libpq's other form",
		"proviso:S3CRET@h:5432/proviso":                             "without its scheme",
		"postgres//proviso:S3CRET@h/proviso":                        "without its scheme",
		"password=S3CRET":                                           "password=… is libpq's other form",
		" postgres://u:S3CRET@h/db":                                 "begins with a space; leave it out",
		"\"postgres://u:S3CRET@h/db\"":                              "begins with a quotation mark; leave it out",
	} {
		for _, args := range []string{"serve --store", "serve --db", "key list --store", "key create a --db", "store check --store", "store migrate --store", "store copy --to", "store copy --from",
			"store export out --store", "labels list --store", "worker --store", ""} {
			command := append(strings.Fields(args), place)
			if args == "" {
				t.Setenv(storeVariable, place)
				command = []string{"key", "list"}
			}
			t.Chdir(t.TempDir())
			code, out := printed(t, command...)
			if code != exitUsage || !strings.Contains(out, says) || strings.Contains(out, secret) || strings.Contains(out, "unknown scheme postgres://") {
				t.Errorf("%s %s: %d: %s", args, place, code, out)
			}
			if left, _ := filepath.Glob("*"); len(left) > 0 {
				t.Errorf("%s %s left %v", args, place, left)
			}
			os.Unsetenv(storeVariable) // Setenv restores it
		}
	}
	for _, path := range []string{"a b.db", "host/data.db", `C:\data\proviso.db`, "u@h:data.db", "name=value.db"} {
		if err := checkPlace(path); err != nil {
			t.Errorf("the file %q: %v", path, err)
		}
	}
}

// TestReadersChangeNothing: only servers, workers and `store migrate` change tables, and commands
// that only read work on a read-only database.
func TestReadersChangeNothing(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	readers := []string{"key list", "labels list", "labels export", "store check", "store export " + out}
	run := func(args, says string, want int) {
		t.Helper()
		if code, out := printed(t, append(strings.Fields(args), "--store", url)...); code != want || !strings.Contains(out, says) {
			t.Errorf("%s: %d: %s\nexpected %d: %s", args, code, out, want, says)
		}
	}
	for _, args := range append(readers, "key revoke a") {
		code, out := printed(t, append(strings.Fields(args), "--store", url)...)
		if code == exitOK || !strings.Contains(out, "`proviso store migrate`") {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
	run("store migrate --dry-run", "Would apply 001.sql", exitOK)
	run("key create a", "pvk_", exitOK)
	if err := s.Run("DELETE FROM proviso_schema WHERE version > 1", "p"); err != nil { // as in an earlier version
		t.Fatal(err)
	}
	for _, args := range append(readers, "key create b", "key revoke a") {
		code, out := printed(t, append(strings.Fields(args), "--store", url)...)
		if code == exitOK || !strings.Contains(out, "`proviso store migrate` applies what is missing") {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
	run("store migrate --dry-run", "Would apply 002.sql", exitOK)
	if err := s.Run("DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION app", "p"); err != nil {
		t.Fatal(err)
	}
	run("store migrate", "Applied 001.sql", exitOK)
	if err := s.Run("ALTER DATABASE p SET default_transaction_read_only = on", "postgres"); err != nil {
		t.Fatal(err)
	}
	for _, args := range readers {
		run(args, "", exitOK)
	}
	run("key create b", "it is read-only", exitUsage)
	run("serve --addr 127.0.0.1:0", "it is read-only", exitUsage)
}

// TestRightsOfCommands: a command requires exactly the rights that it uses. Its error message
// contains statements that grant them, and docs/store.md contains the same.
func TestRightsOfCommands(t *testing.T) {
	t.Parallel()
	commands := []struct {
		args string
		uses []sqldb.Use
	}{
		{"key list", sqldb.ListKeys},
		{"key create b", sqldb.MakeKeys},
		{"key revoke a", sqldb.RevokeKeys},
		{"labels list", sqldb.ListLabels},
		{"labels export", sqldb.ListLabels},
		{"labels import labels.jsonl", sqldb.ImportLabels},
		{"store check", nil},
		{"store export FOLDER --events", nil},
	}
	var table strings.Builder
	table.WriteString("| command | rights |\n|---|---|\n")
	for _, c := range commands {
		text := "`SELECT` on all tables"
		for i, u := range c.uses {
			if text += ", "; i == 0 {
				text = ""
			}
			text += "`" + strings.Join(u.Rights, "`, `") + "` on `" + u.Table + "`"
		}
		words := strings.Fields(c.args)
		fmt.Fprintf(&table, "| `%s %s` | %s |\n", words[0], words[1], text)
	}
	wantBlock(t, "docs/store.md", "rights", table.String())
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "key", "create", "a", "--store", url); code != exitOK {
		t.Fatal(out)
	}
	dir := t.TempDir()
	labels := filepath.Join(dir, "labels.jsonl")
	line := `{"label_id":"label_%d","run":"run_gone","row":0,"assertion":"kind","human":"%s","by":"ana","created":"2026-01-0%dT09:15:00Z"}` + "\n"
	text := fmt.Sprintf(line+line, 1, "pass", 1, 2, "fail", 2)
	if err := os.WriteFile(labels, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	grant := regexp.MustCompile(`GRANT [^;]* TO "[^"]*"`)
	for i, c := range commands {
		role := fmt.Sprint("role", i)
		if err := s.Run("CREATE ROLE "+role+" LOGIN", "p"); err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(strings.NewReplacer("labels.jsonl", labels, "FOLDER", filepath.Join(dir, role)).Replace(c.args))
		args = append(args, "--store", strings.Replace(url, "app@", role+"@", 1))
		run := func() (int, string) {
			defer os.RemoveAll(filepath.Join(dir, role))
			return printed(t, args...)
		}
		code, out := run()
		statements := grant.FindAllString(out, -1)
		if code != exitUsage || statements == nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%s without a right: %d: %s", c.args, code, out)
			continue
		}
		if given := strings.Join(statements, "; "); c.uses != nil && strings.Contains(given, "ALL TABLES") {
			t.Errorf("%s demands %s", c.args, given)
		}
		for _, u := range c.uses {
			if !strings.Contains(out, `"public"."`+u.Table+`"`) {
				t.Errorf("%s does not demand the table %s: %s", c.args, u.Table, out)
			}
		}
		for _, statement := range statements {
			if err := s.Run(statement, "p"); err != nil {
				t.Errorf("%s: %s: %v", c.args, statement, err)
			}
		}
		if code, out := run(); code != exitOK {
			t.Errorf("%s with %s: %d: %s", c.args, statements, code, out)
		}
		if err := s.Run("REVOKE SELECT ON proviso_schema FROM "+role, "p"); err != nil {
			t.Fatal(err)
		}
		if code, out := run(); code != exitUsage || !grant.MatchString(out) {
			t.Errorf("%s without a right on the schema: %d: %s", c.args, code, out)
		}
	}
}

// TestReadersOfFile: the rule of docs/store.md for a file of another version.
func TestReadersOfFile(t *testing.T) {
	t.Parallel()
	for version, says := range map[int]string{1: "`proviso store migrate` applies what is missing", 9999: "later version of proviso"} {
		file := filepath.Join(t.TempDir(), "data.db")
		if code, out := printed(t, "key", "create", "a", "--db", file); code != exitOK {
			t.Fatal(out)
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), fmt.Sprint("PRAGMA user_version = ", version))
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"key list", "labels list", "labels export", "store check", "store export " + t.TempDir()} {
			if code, out := printed(t, append(strings.Fields(args), "--db", file)...); code == exitOK || !strings.Contains(out, says) {
				t.Errorf("%s, schema %d: %d: %s", args, version, code, out)
			}
		}
	}
}

// TestLabelsOfVariable: PROVISO_STORE means the same as --store for every command that has the
// flag, even for those that read something else without it.
func TestLabelsOfVariable(t *testing.T) {
	t.Setenv(storeVariable, filepath.Join(t.TempDir(), "nothing.db"))
	for _, args := range []string{"labels list", "labels export", "labels list --project p"} {
		if code, out := printed(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(out, "there is no database") {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
	if code, out := printed(t, "labels", "list", "--run-dir", t.TempDir()); code != exitOK {
		t.Errorf("--run-dir: %d: %s", code, out)
	}
}

// TestCopyToVariable: PROVISO_STORE is the target of a copy, and never its source.
func TestCopyToVariable(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(storeVariable, "postgres://127.0.0.1:1/p")
	if code, out := printed(t, "store", "copy"); code != exitUsage || !strings.Contains(out, "there is no database "+os.Getenv("XDG_STATE_HOME")) {
		t.Errorf("%d: %s", code, out)
	}
}

// TestServeAfterCopy: a file that was copied is served only on explicit request, and from then on
// as before. The log names the file.
func TestServeAfterCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "data.db")
	db, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.MarkCopied(t.Context(), true), db.Close()); err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "serve", "--addr", "127.0.0.1:0", "--db", file); code != exitUsage || strings.Count(out, "\n") > 2 || !strings.Contains(out, "--after-copy") {
		t.Fatalf("%d: %s", code, out)
	}
	for _, args := range [][]string{{"--after-copy"}, nil} {
		p := startServe(t, dir, "http://127.0.0.1:1", append(args, "--db", file)...)
		if code := p.end(os.Interrupt); code != exitOK {
			t.Errorf("%v: %d", args, code)
		}
		if log := p.out.String(); !strings.Contains(log, `"msg":"opened the database"`) || !strings.Contains(log, file) {
			t.Errorf("the log: %s", log)
		}
	}
}

// TestWorkerFlags: settings that would make a worker useless are errors, and settings that cost
// money are reported.
func TestWorkerFlags(t *testing.T) {
	t.Parallel()
	const nowhere = "postgres://127.0.0.1:1/p"
	for args, says := range map[string]string{
		"worker --lease 999ms": "--lease: expected a time from 1s to 1h",
		"worker --lease 2h":    "--lease: expected a time from 1s to 1h",
		"worker --allow-host=": "--allow-host: expected a host",
	} {
		if code, out := printed(t, append(strings.Fields(args), "--store", nowhere)...); code != exitUsage || !strings.Contains(out, says) {
			t.Errorf("%s: %d: %s", args, code, out)
		}
	}
	if code, out := printed(t, "worker", "--lease", "2s", "--store", nowhere); code != exitUndecided || !strings.Contains(out, "warning: --lease 2s: ") {
		t.Errorf("a short lease: %d: %s", code, out)
	}
	if code, out := printed(t, "serve", "--judge", "nonsense:foo", "--addr", "127.0.0.1:0", "--db", filepath.Join(t.TempDir(), "a.db")); code != exitUsage || !strings.Contains(out, `the judge: provider "nonsense:foo" is not available`) {
		t.Errorf("no such judge: %d: %s", code, out)
	}
}
