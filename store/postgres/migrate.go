package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/proviso-eval/proviso"
)

//go:embed schema/*.sql
var schema embed.FS

// migrations are the steps that bring a database up to date, in order. A released step never
// changes.
var migrations = [...]string{"schema/001.sql", "schema/002.sql"}

// migrate applies the missing steps in one transaction. Of several processes one applies
// them, and the others wait.
func (e *engine) migrate(ctx context.Context) error {
	if version, err := e.version(ctx, e.db); err != nil || version == len(migrations) {
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
	if _, err := t.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS proviso_schema (version BIGINT PRIMARY KEY, applied TIMESTAMPTZ NOT NULL DEFAULT now())"); err != nil {
		return err
	}
	version, err := e.version(ctx, t)
	if err != nil {
		return err
	}
	for i, file := range migrations[version:] {
		text, err := schema.ReadFile(file)
		if err == nil {
			_, err = t.ExecContext(ctx, string(text))
		}
		if err == nil {
			_, err = t.ExecContext(ctx, "INSERT INTO proviso_schema (version) VALUES ($1)", version+i+1)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return t.Commit()
}

// version returns the number of applied steps.
func (e *engine) version(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (version int, err error) {
	var is bool
	if err := q.QueryRowContext(ctx, "SELECT to_regclass('proviso_schema') IS NOT NULL").Scan(&is); err != nil || !is {
		return 0, err
	}
	if err := q.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM proviso_schema").Scan(&version); err != nil {
		return 0, err
	}
	if version > len(migrations) {
		return 0, proviso.Errorf(proviso.Refused, "the database %s was written by a later version of proviso (schema %d, this one knows up to %d); use that version, or another database", e.place, version, len(migrations))
	}
	return version, nil
}
