package postgres_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/postgres/postgrestest"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/storetest"
)

// asked runs SQL as a superuser.
func asked(t *testing.T, s *postgrestest.Server, database string, sql ...string) {
	t.Helper()
	for _, text := range sql {
		if err := s.Run(text, database); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func mustOpen(t *testing.T, url string, access sqldb.Access) *postgres.DB {
	t.Helper()
	d, err := postgres.Open(t.Context(), url, postgres.Options{Options: sqldb.Options{Access: access}})
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

// cannotWrite checks that an open database is read-only, and reports that as temporary.
func cannotWrite(t *testing.T, d *postgres.DB, says string) {
	t.Helper()
	_, err := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"})
	for doing, err := range map[string]error{"write": err, "ping": d.Ping(t.Context())} {
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Unavailable || !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", doing, err)
		}
	}
	if _, err := d.Projects(t.Context()); err != nil {
		t.Errorf("read: %v", err)
	}
}

// oneReason checks that clients see the same reason for every failing operation.
func oneReason(t *testing.T, d *postgres.DB, want string) {
	t.Helper()
	_, of := d.Authenticate(t.Context(), store.NewSecret())
	_, read := d.Projects(t.Context())
	_, write := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"})
	for doing, err := range map[string]error{"ping": d.Ping(t.Context()), "authenticate": of, "read": read, "write": write} {
		if cause := store.Outage(err); cause == nil || cause.Error() != want {
			t.Errorf("%s: %v, because of %v\nexpected %s", doing, err, cause, want)
		}
	}
}

func canWrite(t *testing.T, d *postgres.DB) {
	t.Helper()
	if _, err := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"}); err != nil {
		t.Error(err)
	}
	if err := d.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestReadOnly: a database that is read-only for a while does not refuse requests for good, and
// becomes writable without a restart. Meanwhile, readers can use it.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, url, sqldb.Serving)
	canWrite(t, d)
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'p'"
	asked(t, s, "postgres", "ALTER DATABASE p SET default_transaction_read_only = on", end)
	until(t, func() bool { return errors.Is(d.Ping(t.Context()), store.ErrReadOnly) }) // its sessions ended
	cannotWrite(t, d, "it is read-only, perhaps a replica")
	reader := mustOpen(t, url, sqldb.Reading)
	if problems, err := reader.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	if s, err := postgres.Schema(t.Context(), url); err != nil || s.Version != s.Known {
		t.Errorf("the schema: %+v, %v", s, err)
	}
	asked(t, s, "postgres", "ALTER DATABASE p RESET default_transaction_read_only")
	until(t, func() bool { return d.Ping(t.Context()) == nil })
	canWrite(t, d)
}

// TestRights: docs/scale.md lists the rights that a user needs who is not the owner of the
// tables. Without one of them, a server does not start, and the error says how to grant it.
func TestRights(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	grants := regexp.MustCompile("(?s)```sql\n(.*?)```").FindStringSubmatch(string(page))
	if grants == nil {
		t.Fatal("docs/scale.md has no GRANTs")
	}
	asked(t, s, "p", "CREATE ROLE owner LOGIN", "GRANT CREATE ON DATABASE p TO owner", "ALTER SCHEMA public OWNER TO owner", "CREATE ROLE proviso_app LOGIN", "CREATE ROLE ro LOGIN")
	as := func(user string) string { return strings.Replace(url, "app@", user+"@", 1) }
	refused := func(user string, access sqldb.Access, says string) {
		t.Helper()
		d, err := postgres.Open(t.Context(), as(user), postgres.Options{Options: sqldb.Options{Access: access}})
		if err == nil {
			d.Close()
			t.Errorf("%s opened it", user)
			return
		}
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Refused && e.Code != proviso.NotFound || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nexpected %s", user, err, says)
		}
	}
	refused("proviso_app", sqldb.Reading, "has no tables of proviso; `proviso store migrate` makes them")
	refused("proviso_app", sqldb.Writing, "`proviso store migrate` makes them")
	mustOpen(t, as("owner"), sqldb.Serving)
	refused("proviso_app", sqldb.Serving, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES")
	asked(t, s, "p", "SET ROLE owner; "+grants[1])
	d := mustOpen(t, as("proviso_app"), sqldb.Serving)
	seen := storetest.Fill(t, d)
	if problems, err := d.Check(t.Context()); err != nil || len(problems) > 0 || seen(d) == "" {
		t.Errorf("check: %v, %v", problems, err)
	}
	canWrite(t, d)
	asked(t, s, "p", "GRANT USAGE ON SCHEMA public TO ro; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ro")
	refused("ro", sqldb.Serving, `the user ro lacks rights, such as on the table api_key; GRANT DELETE, INSERT, UPDATE ON ALL TABLES IN SCHEMA "public" TO "ro", or connect as the owner of the tables`)
	refused("ro", sqldb.Writing, "the user ro lacks rights")
	if _, err := mustOpen(t, as("ro"), sqldb.Reading).Projects(t.Context()); err != nil {
		t.Error(err)
	}
	asked(t, s, "p", "REVOKE ALL ON endpoint_rate FROM proviso_app") // only an earlier version uses it
	mustOpen(t, as("proviso_app"), sqldb.Serving)
	asked(t, s, "p", "REVOKE INSERT ON run FROM proviso_app")
	cannotWrite(t, d, "the user proviso_app ")
	if _, err := d.In("p").CreateRun(t.Context(), store.NewRun{Suite: "s"}); err == nil || !strings.Contains(err.Error(), `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "public" TO "proviso_app"`) {
		t.Errorf("at run time: %v", err)
	}
	asked(t, s, "p", "GRANT INSERT ON run TO proviso_app")
	canWrite(t, d)
	asked(t, s, "p", "REVOKE SELECT ON api_key FROM proviso_app") // a moment after all tables were read
	_, failed := d.Authenticate(t.Context(), store.NewSecret())
	for doing, err := range map[string]error{"authenticate": failed, "ping": d.Ping(t.Context())} {
		if cause := store.Outage(err); cause == nil || cause.Error() != "the database cannot be read: no right to read the table api_key" || !errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: %v, because of %v", doing, err, cause)
		}
	}
	asked(t, s, "p", "GRANT SELECT ON api_key TO proviso_app")
	canWrite(t, d)
	asked(t, s, "p", "REVOKE USAGE ON SCHEMA public FROM PUBLIC, proviso_app")
	if err := d.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), `may no longer use their schema: GRANT USAGE ON SCHEMA "public" TO "proviso_app"`) {
		t.Errorf("without the schema: %v", err)
	}
	oneReason(t, d, "the database cannot be read: no right to use the schema of its tables, or tables were removed")
	asked(t, s, "p", "GRANT USAGE ON SCHEMA public TO proviso_app")
	canWrite(t, d)
	asked(t, s, "p", "INSERT INTO proviso_schema (version, old_run) VALUES (9999, false)")
	if err := d.Ping(t.Context()); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "was written by a later version of proviso (schema 9999") {
		t.Errorf("a later schema: %v", err)
	} else if cause := store.Outage(err); cause.Error() != "the database cannot be written: it was migrated by a later version of proviso" {
		t.Errorf("clients see of a later schema: %v", cause)
	}
	asked(t, s, "p", "DELETE FROM proviso_schema WHERE version = 9999")
	canWrite(t, d)
	asked(t, s, "p", "ALTER ROLE proviso_app NOLOGIN", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'proviso_app'")
	until(t, func() bool { return d.Ping(t.Context()) != nil })
	oneReason(t, d, "the database cannot be reached: it refuses the user or the password")
	asked(t, s, "p", "ALTER ROLE proviso_app LOGIN")
	until(t, func() bool { return d.Ping(t.Context()) == nil })
	asked(t, s, "p", "ALTER TABLE proviso_schema OWNER TO owner; DELETE FROM proviso_schema WHERE version > 1")
	refused("proviso_app", sqldb.Writing, "has schema 1, and this version of proviso has ")
	refused("owner", sqldb.Making, "`proviso store migrate` applies what is missing")
}

// TestForeign: a table of another program is reported before anything is created.
func TestForeign(t *testing.T) {
	t.Parallel()
	s := postgrestest.StartFor(t)
	url, err := s.Create("p")
	if err != nil {
		t.Fatal(err)
	}
	asked(t, s, "p", "CREATE TABLE event (n BIGINT)")
	_, opened := postgres.Open(t.Context(), url, postgres.Options{})
	_, shown := postgres.Schema(t.Context(), url)
	for _, err := range []error{opened, shown} {
		if err == nil || !strings.Contains(err.Error(), "has a table event that is not proviso's; use an empty database") {
			t.Errorf("%v", err)
		}
	}
}
