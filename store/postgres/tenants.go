package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/stdlib"
)

// The queries name the project of each row that they read or write. Policies of the database
// are a second wall behind them: a row of another project is not there, for a session that
// has not said that it is of that project. See "Row Security Policies" in the manual of
// PostgreSQL. They do not bind a superuser, nor a role with BYPASSRLS.

// scopeVariable is the variable of a session that the policies read.
const scopeVariable = "proviso.project"

// Scoped implements [sqldb.Engine].
func (e *engine) Scoped() bool { return true }

// Enter implements [sqldb.Engine]. What a connection was told last is kept with it, so that
// it is told again only if that differs.
func (e *engine) Enter(ctx context.Context, c *sql.Conn, project string) error {
	return c.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		told := conn.PgConn().CustomData()
		if told[scopeVariable] == project {
			return nil
		}
		delete(told, scopeVariable)
		if _, err := conn.Exec(ctx, "SELECT set_config($1, $2, false)", scopeVariable, project); err != nil {
			return err
		}
		told[scopeVariable] = project
		return nil
	})
}

// EnterTx implements [sqldb.Engine]: it holds until the end of the transaction.
func (e *engine) EnterTx(ctx context.Context, t *sql.Tx, project string) error {
	_, err := t.ExecContext(ctx, "SELECT set_config($1, $2, true)", scopeVariable, project)
	return err
}
