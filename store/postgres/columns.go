package postgres

import (
	"database/sql"
	"strconv"
	"strings"
)

// Columns implements [sqldb.Engine]: rows are sent as one array per column. Inserts of all
// sizes are then one statement, which is prepared once, and PostgreSQL parses 20 parameters
// instead of 2,000.
func (e *engine) Columns(rows [][]any) (table string, args []any, ok bool) {
	if len(rows) < 2 {
		return "", nil, false
	}
	var b strings.Builder
	b.WriteString("unnest(")
	for column := range rows[0] {
		array, kind := arrayOf(rows, column)
		if kind == "" {
			return "", nil, false
		}
		if column > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(column+1) + "::" + kind)
		args = append(args, array)
	}
	b.WriteByte(')')
	return b.String(), args, true
}

// arrayOf returns a column of rows as an array and its type, "" if rows never use the column's
// type.
func arrayOf(rows [][]any, column int) (array any, kind string) {
	switch rows[0][column].(type) {
	case string:
		return columnOf(rows, column, "text[]", func(v any) (string, bool) {
			text, ok := v.(string)
			return cleanText(text), ok
		})
	case float64:
		return columnOf(rows, column, "float8[]", func(v any) (float64, bool) {
			n, ok := v.(float64)
			return n, ok
		})
	case []byte:
		return columnOf(rows, column, "bytea[]", func(v any) ([]byte, bool) {
			data, ok := v.([]byte)
			return data, ok
		})
	}
	return columnOf(rows, column, "bigint[]", integerOf)
}

func columnOf[T any](rows [][]any, column int, kind string, read func(any) (T, bool)) (array any, is string) {
	list := make([]T, len(rows))
	for i, row := range rows {
		v, ok := read(row[column])
		if !ok {
			return nil, ""
		}
		list[i] = v
	}
	return list, kind
}

func integerOf(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case sql.NullInt64:
		return v.Int64, v.Valid
	}
	return 0, false
}
