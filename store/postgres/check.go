package postgres

import "context"

// Check is [sqldb.DB.Check], preceded by a check of the database itself: a line for each index
// and each foreign key that PostgreSQL considers invalid.
func (d *DB) Check(ctx context.Context) (problems []string, err error) {
	rows, err := d.engine.db.QueryContext(ctx, `SELECT 'index ' || c.relname || ' is not valid: REINDEX INDEX ' || c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace
		UNION ALL SELECT 'the references of table ' || conrelid::regclass || ' were never checked: ALTER TABLE ' || conrelid::regclass || ' VALIDATE CONSTRAINT ' || conname
			FROM pg_constraint WHERE NOT convalidated AND connamespace = current_schema()::regnamespace ORDER BY 1`)
	if err != nil {
		return nil, d.engine.failed("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		var problem string
		if err := rows.Scan(&problem); err != nil {
			return nil, d.engine.failed("read", err)
		}
		problems = append(problems, problem)
	}
	if err := rows.Err(); err != nil {
		return nil, d.engine.failed("read", err)
	}
	more, err := d.DB.Check(ctx)
	return append(problems, more...), err
}
