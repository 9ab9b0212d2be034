package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/storetest"
)

// restored requires that a restored database is consistent, shows what the original showed, and
// accepts more data.
func restored(t *testing.T, place, flag, want string, seen func(storetest.Backend) string) {
	t.Helper()
	if code, out := printed(t, "store", "check", flag, place); code != exitOK {
		t.Errorf("store check: %d: %s", code, out)
	}
	d := mustOpen(t, place, sqldb.Options{Now: func() time.Time { return filledAt }})
	if got := seen(d); got != want {
		t.Errorf("the restored database shows\n%s\nand the original\n%s", got, want)
	}
	if _, err := d.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
		t.Error(err)
	}
}

// TestBackupPostgres restores the output of pg_dump that was written while the database was open,
// as described in docs/scale.md.
func TestBackupPostgres(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	for _, name := range []string{"p", "q"} {
		if _, err := s.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	d := mustOpen(t, s.URL("p"), sqldb.Options{Now: func() time.Time { return filledAt }})
	seen := storetest.Fill(t, d)
	for _, c := range []*exec.Cmd{
		s.Command("pg_dump", "--format=custom", "--enable-row-security", "--file=proviso.dump", s.URL("p")),
		s.Command("pg_restore", "--exit-on-error", "--no-owner", "--dbname="+s.URL("q"), "proviso.dump"),
	} {
		c.Env = append(os.Environ(), "PGOPTIONS=-c proviso.project=*") // without it, policies hide all rows from the owner
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
	}
	restored(t, s.URL("q"), "--store", seen(d), seen)
}

// TestPointInTime restores the moment before a mistake, from a base backup and archived WAL: it has
// data stored after the backup, and data that the mistake removed.
func TestPointInTime(t *testing.T) {
	if os.Getenv("PROVISO_NIGHTLY") == "" {
		t.Skip("make nightly runs it")
	}
	s := postgrestest.StartFor(t, "-c", "wal_level=replica", "-c", "archive_mode=on", "-c", "archive_command=mkdir -p ../archive && cp %p ../archive/%f")
	if _, err := s.Create("p"); err != nil {
		t.Fatal(err)
	}
	run := func(sql string) {
		t.Helper()
		if err := s.Run(sql, "p"); err != nil {
			t.Fatal(err)
		}
	}
	run("ALTER ROLE app REPLICATION")
	open := func() openedStore {
		return mustOpen(t, s.URL("p"), sqldb.Options{Now: func() time.Time { return filledAt }})
	}
	d := open()
	if _, err := d.In(store.DefaultProject).AddLook(t.Context(), "run_of_nobody", "a"); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Command("pg_basebackup", "--pgdata=base", "--checkpoint=fast", "--dbname="+s.URL("p")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := storetest.Fill(t, d)
	want := seen(d)
	run("SELECT pg_create_restore_point('before')")
	run("SET proviso.project = '*'; DELETE FROM run; DELETE FROM label")
	run("SELECT pg_switch_wal()")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Stop(), s.Recover("base", "-c", "restore_command=cp ../archive/%f %p", "-c", "recovery_target_name=before", "-c", "recovery_target_action=promote"), s.Restart()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); s.Run("CREATE TABLE promoted (a int)", "p") != nil; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the server is still in recovery")
		}
	}
	run("DROP TABLE promoted")
	restored(t, s.URL("p"), "--store", want, seen)
	if n, err := open().In(store.DefaultProject).CountLooks(t.Context(), "run_of_nobody", "a"); n != 1 || err != nil {
		t.Errorf("what the backup had: %d, %v", n, err)
	}
}

// TestBackupSQLite restores copies that were made while the database was open.
func TestBackupSQLite(t *testing.T) {
	t.Parallel()
	file, seen := filledFile(t)
	d := mustOpen(t, file, sqldb.Options{Now: func() time.Time { return filledAt }})
	want := seen(d)
	if _, err := d.In(store.DefaultProject).AddLook(t.Context(), "run_of_nobody", "a"); err != nil { // the log has more than the file
		t.Fatal(err)
	}
	copies := map[string]func(to string) error{
		"VACUUM INTO": func(to string) error {
			db, err := sql.Open("sqlite", file)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.Exec("VACUUM INTO '" + to + "'")
			return err
		},
		"sqlite3 .backup": func(to string) error { return exec.Command("sqlite3", file, ".backup "+to).Run() },
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		delete(copies, "sqlite3 .backup")
	}
	for name, make := range copies {
		to := filepath.Join(t.TempDir(), strings.Fields(name)[0]+".db")
		if err := make(to); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		restored(t, to, "--db", want, seen)
	}
}
