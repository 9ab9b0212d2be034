package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	codes "modernc.org/sqlite/lib"
)

// Check is [sqldb.DB.Check], preceded by a check of the file itself: a line for each damaged
// page, index or reference.
func (d *DB) Check(ctx context.Context) (problems []string, err error) {
	e := d.engine
	ask := func(query string, read func(*sql.Rows) (string, error)) error {
		rows, err := e.reading.QueryContext(ctx, query)
		if err != nil {
			return e.named("read", err)
		}
		defer rows.Close()
		for rows.Next() {
			problem, err := read(rows)
			if err != nil {
				return e.named("read", err)
			}
			if problem != "" {
				problems = append(problems, problem)
			}
		}
		return e.named("read", rows.Err())
	}
	err = ask("PRAGMA integrity_check(10)", func(rows *sql.Rows) (text string, err error) {
		if err := rows.Scan(&text); err != nil || text == "ok" {
			return "", err
		}
		return "the file is damaged: " + text, nil
	})
	if codeOf(err) == codes.SQLITE_CORRUPT { // the check stopped at severe damage
		return append(problems, "the file is damaged: "+err.Error()), nil
	}
	if err != nil || len(problems) > 0 { // then the tables cannot be trusted
		return problems, err
	}
	err = ask("SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2", func(rows *sql.Rows) (string, error) {
		var table, parent sql.NullString
		var n int
		err := rows.Scan(&table, &parent, &n)
		return fmt.Sprintf("table %s: %d rows belong to rows of %s that do not exist", table.String, n, parent.String), err
	})
	if err != nil {
		return problems, err
	}
	more, err := d.DB.Check(ctx)
	return append(problems, more...), err
}
