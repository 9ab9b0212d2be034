package sqldb

import "strings"

// insertSteps are how many rows a statement inserts. A few sizes are enough, so that the
// statements stay prepared.
var insertSteps = [...]int{64, 8, 1}

// insert adds rows with few statements: on a network, each costs the time of a round trip.
// into is the beginning of the statement, up to the columns, and after its end, with what is
// returned for each row that was added, if returned is not nil.
func (t *tx) insert(into, after string, rows [][]any, returned func(scanner) error) error {
	if table, args, ok := t.db.engine.Columns(rows); ok {
		return t.insertStep(into+" SELECT * FROM "+table+after, args, returned)
	}
	for _, step := range insertSteps {
		for len(rows) >= step {
			var args []any
			for _, row := range rows[:step] {
				args = append(args, row...)
			}
			if err := t.insertStep(into+valuesOf(step, len(rows[0]))+after, args, returned); err != nil {
				return err
			}
			rows = rows[step:]
		}
	}
	return nil
}

func (t *tx) insertStep(query string, args []any, returned func(scanner) error) error {
	if returned == nil {
		_, err := t.exec(query, args...)
		return err
	}
	rows, err := t.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := returned(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// valuesOf is the part of a statement that inserts rows, each of some columns.
func valuesOf(rows, columns int) string {
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	return " VALUES " + row + strings.Repeat(", "+row, rows-1)
}
