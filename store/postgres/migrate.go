package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/store/sqldb"
)

//go:embed schema/*.sql
var schema embed.FS

// The first line of a step says what servers and workers that do not know the step must do
// while and after it is applied. docs/scale.md describes how tables change over two releases.
const (
	oldRun  = "-- old servers: keep running"
	oldStop = "-- old servers: must stop"
)

// schemaTable records the applied steps.
const schemaTable = "proviso_schema"

// step is a migration step: a file of the schema.
type step struct{ name, text string }

// oldRun reports whether processes that do not know the step may keep running.
func (s step) oldRun() bool {
	first, _, _ := strings.Cut(s.text, "\n")
	return first == oldRun
}

// steps returns all migration steps, in order. A released step never changes.
func steps() ([]step, error) {
	files, err := schema.ReadDir("schema") // sorted by name
	var list []step
	for _, f := range files {
		text, failed := schema.ReadFile(path.Join("schema", f.Name()))
		list, err = append(list, step{f.Name(), string(text)}), errors.Join(err, failed)
	}
	return list, err
}

// Schema returns the migration state of a database. It changes nothing.
func Schema(ctx context.Context, url string) (s sqldb.Schema, err error) {
	e := &engine{stop: make(chan struct{})}
	defer func() { err = errors.Join(e.failed(opening, err), e.Disconnect()) }()
	if err := e.connect(ctx, url, Options{Connections: 2, Options: sqldb.Options{Access: sqldb.Reading}}); err != nil {
		return s, err
	}
	if s.Version, err = e.version(ctx, e.db); err != nil {
		return s, err
	}
	if s.Version == 0 {
		if err := e.foreign(ctx, e.db); err != nil {
			return s, err
		}
	}
	s.Known = len(e.steps)
	for _, step := range e.steps[min(s.Version, s.Known):] {
		s.Missing = append(s.Missing, sqldb.Step{Name: step.name, OldRun: step.oldRun()})
	}
	return s, nil
}

// migrate applies the missing steps in one transaction. If several processes call it, one
// applies the steps and the others wait.
func (e *engine) migrate(ctx context.Context, access sqldb.Access) error {
	version, err := e.version(ctx, e.db)
	if err != nil || version >= len(e.steps) {
		return err
	}
	if err := (sqldb.Schema{Version: version, Known: len(e.steps)}).Check(e.place, access); err != nil {
		return err
	}
	t, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // does nothing after Commit
	if _, err := t.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1, 0)", lockKind+1); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS proviso_schema (version BIGINT PRIMARY KEY, applied TIMESTAMPTZ NOT NULL DEFAULT now());
		ALTER TABLE proviso_schema ADD COLUMN IF NOT EXISTS old_run BOOLEAN NOT NULL DEFAULT false`); err != nil {
		return err
	}
	if version, err = e.version(ctx, t); err != nil {
		return err
	}
	if version == 0 {
		if err := e.foreign(ctx, t); err != nil {
			return err
		}
	}
	for i := version; i < len(e.steps); i++ {
		s := e.steps[i]
		if !s.oldRun() && i > 0 {
			if err := e.aloneWith(ctx, t, i+1); err != nil {
				return err
			}
		}
		_, err := t.ExecContext(ctx, s.text)
		if err == nil {
			_, err = t.ExecContext(ctx, "INSERT INTO proviso_schema (version, old_run) VALUES ($1, $2)", i+1, s.oldRun())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return t.Commit()
}

// version returns the number of applied steps. Unknown steps are an error, unless processes
// that do not know them may keep running.
func (e *engine) version(ctx context.Context, q querier) (version int, err error) {
	var is bool
	if err := q.QueryRowContext(ctx, "SELECT to_regclass('proviso_schema') IS NOT NULL").Scan(&is); err != nil || !is {
		return 0, err
	}
	var fits bool // a table without this column is from a version without such steps
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0), coalesce(bool_and(coalesce((to_jsonb(s) ->> 'old_run')::boolean, false)) FILTER (WHERE version > $1), true)
		FROM proviso_schema s`, len(e.steps)).Scan(&version, &fits); err != nil {
		return 0, err
	}
	if !fits {
		return 0, proviso.Errorf(proviso.Refused, "the database %s was written by a later version of proviso (schema %d, this one knows up to %d); use that version, or another database", e.place, version, len(e.steps))
	}
	return version, nil
}

// processName is the prefix of our connections' name in pg_stat_activity. The number of known
// steps follows.
const processName = "proviso, schema "

// leavePatience is how long a connection may be listed after its process has ended.
const leavePatience = time.Second

// aloneWith refuses a step while processes are connected that do not know it, and would fail.
func (e *engine) aloneWith(ctx context.Context, t *sql.Tx, number int) error {
	for end := time.Now().Add(leavePatience); ; {
		// Without the reset, a transaction sees the connections of its first query again.
		if _, err := t.ExecContext(ctx, "SELECT pg_stat_clear_snapshot()"); err != nil {
			return err
		}
		var n int
		if err := t.QueryRowContext(ctx, `SELECT count(DISTINCT coalesce(client_addr::text, '') || application_name) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name LIKE $1 || '%' AND substr(application_name, length($1) + 1) ~ '^[0-9]+$'
				AND substr(application_name, length($1) + 1)::bigint < $2`, processName, number).Scan(&n); err != nil || n == 0 {
			return err
		}
		if time.Now().After(end) {
			return proviso.Errorf(proviso.Refused, "the database %s needs a step of the schema (%d) with which servers and workers of an earlier version cannot run, and some are connected; stop them, and start this version", e.place, number)
		}
		if err := transport.Wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}
