package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// TestPlaceOfStore: what is meant as the address of a database never becomes a file, and no
// message shows what stands behind its scheme.
func TestPlaceOfStore(t *testing.T) {
	const secret = "S3CRET"
	for place, says := range map[string]string{
		"postgre://proviso:S3CRET@h/proviso":                        "unknown scheme postgre://",
		"POSTGRES://proviso:S3CRET@h/proviso":                       "write postgres://",
		"Postgresql://proviso:S3CRET@h/proviso":                     "write postgresql://",
		"postgres:/proviso:S3CRET@h/proviso":                        "write postgres://",
		"postgres:proviso:S3CRET@h/proviso":                         "write postgres://",
		"mysql://u:S3CRET@h/db":                                     "unknown scheme mysql://",
		"u:S3CRET://h":                                              "begins with no scheme",
		"host=db.internal user=proviso password=S3CRET dbname=data": "host=… is libpq's other form",
		"proviso:S3CRET@h:5432/proviso":                             "without its scheme",
		"postgres//proviso:S3CRET@h/proviso":                        "without its scheme",
		"password=S3CRET":                                           "password=… is libpq's other form",
		" postgres://u:S3CRET@h/db":                                 "write postgres://",
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
			if code != exitUsage || !strings.Contains(out, says) || strings.Contains(out, secret) {
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

// TestReadersChangeNothing: only servers, workers and `store migrate` change tables, and what
// only reads works on a database that cannot be written.
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
	if err := s.Run("DELETE FROM proviso_schema WHERE version > 1", "p"); err != nil { // as of an earlier version
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

// TestServeAfterCopy: a file that was copied is served only by who says so, and from then on
// as before. The log says which file it is.
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

// TestWorkerFlags: what would make a worker useless stops it, and what costs money is said.
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
