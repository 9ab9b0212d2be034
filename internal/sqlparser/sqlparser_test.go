package sqlparser_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/sqlparser"
)

// shared is the parser of the tests that do not depend on its state: its grammars
// take long to start.
var shared = new(sqlparser.Parser)

func newParser(t testing.TB) *sqlparser.Parser {
	t.Helper()
	p := new(sqlparser.Parser)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func refused(err error) bool {
	var e *proviso.ScriptError
	return errors.As(err, &e)
}

func TestDialects(t *testing.T) {
	t.Parallel()
	p := shared
	for _, d := range []string{
		"Athena", "BigQuery", "DB2", "FlinkSQL", "Hive", "MariaDB", "MySQL", "Noql",
		"PostgreSQL", "Redshift", "Snowflake", "Sqlite", "TransactSQL", "Trino",
	} {
		if err := p.Parse(t.Context(), " SELECT a FROM t WHERE b > 1 ", d); err != nil {
			t.Errorf("%s: %v", d, err)
		}
		err := p.Parse(t.Context(), "SELECT * FORM t", strings.ToUpper(d))
		if !refused(err) || !strings.Contains(err.Error(), "but \"F\" found") && !strings.Contains(err.Error(), "found.") {
			t.Errorf("%s: %v", d, err)
		}
	}
	for _, d := range []string{"", "postgres", "Oracle"} {
		if err := p.Parse(t.Context(), "SELECT 1", d); !refused(err) || sqlparser.Known(d) {
			t.Errorf("%q: %v", d, err)
		}
	}
}

func TestDialectsDiffer(t *testing.T) {
	t.Parallel()
	p := shared
	for _, c := range []struct {
		sql, accepts, refuses string
	}{
		{"SELECT * FROM t WHERE a ILIKE 'x'", "PostgreSQL", "MySQL"},
		{"SELECT TOP 5 * FROM t", "TransactSQL", "MySQL"},
		{"SELECT [a b] FROM t", "TransactSQL", "MySQL"},
	} {
		if err := p.Parse(t.Context(), c.sql, c.accepts); err != nil {
			t.Errorf("%s: %q: %v", c.accepts, c.sql, err)
		}
		if err := p.Parse(t.Context(), c.sql, c.refuses); !refused(err) {
			t.Errorf("%s: %q: %v", c.refuses, c.sql, err)
		}
	}
}

func TestStateDoesNotStay(t *testing.T) {
	t.Parallel()
	p := newParser(t)
	none := sqlparser.Allowed{Tables: []string{"none"}, Columns: []string{"none"}}
	for _, sql := range []string{"SELECT x.a FROM t x", "SELECT x.b FROM x", "SELECT (", "SELECT x.b FROM x"} {
		got, err := p.Check(t.Context(), sql, "MySQL", none)
		if sql == "SELECT (" {
			if !refused(err) {
				t.Errorf("%q: %v", sql, err)
			}
			continue
		}
		want := sqlparser.Excess{Tables: []string{"select::null::x"}, Columns: []string{"select::x::b"}}
		if sql == "SELECT x.a FROM t x" {
			want = sqlparser.Excess{Tables: []string{"select::null::t"}, Columns: []string{"select::t::a"}}
		}
		if err != nil || !slices.Equal(got.Tables, want.Tables) || !slices.Equal(got.Columns, want.Columns) {
			t.Errorf("%q refers to %v, %v, want %v", sql, got, err, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	p := shared
	for _, c := range []struct {
		sql     string
		allowed sqlparser.Allowed
		excess  bool
	}{
		{"SELECT a FROM t", sqlparser.Allowed{Tables: []string{"select::null::t"}}, false},
		{"SELECT a FROM t", sqlparser.Allowed{Tables: []string{"SELECT::null::T"}}, false},
		{"SELECT a FROM ts", sqlparser.Allowed{Tables: []string{"select::null::t"}}, true},
		{"SELECT a FROM t", sqlparser.Allowed{Tables: []string{"select::null::("}}, true},
		{"SELECT a FROM t, u", sqlparser.Allowed{Tables: []string{"select::null::(t|u)"}}, false},
		{"SELECT a FROM t", sqlparser.Allowed{Columns: []string{"select::null::b", "select::null::a"}}, false},
		{"SELECT * FROM t", sqlparser.Allowed{Columns: []string{"select::null::a"}}, true},
		{"SELECT 1", sqlparser.Allowed{Tables: []string{"none"}, Columns: []string{"none"}}, false},
	} {
		got, err := p.Check(t.Context(), c.sql, "MySQL", c.allowed)
		if excess := got.Tables != nil || got.Columns != nil; err != nil || excess != c.excess {
			t.Errorf("%q with %v: %v, %v", c.sql, c.allowed, got, err)
		}
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	p := newParser(t)
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 20000) + "1" + strings.Repeat(")", 20000),
		"long":        strings.Repeat("x", 2<<20),
		"cases":       "SELECT " + strings.Repeat("CASE WHEN (", 3000),
	} {
		start := time.Now()
		err := p.Parse(t.Context(), sql, "MySQL")
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit && e.Code != proviso.Timeout {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	allowed := sqlparser.Allowed{Tables: []string{"(a+)+$|select::null::(a+)+b"}}
	if _, err := p.Check(t.Context(), "SELECT 1 FROM "+strings.Repeat("a", 40), "MySQL", allowed); err == nil {
		t.Error("a pattern that backtracks for ever has no error")
	}
	if err := p.Parse(t.Context(), "SELECT 1", "MySQL"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	p := newParser(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				if err := p.Parse(t.Context(), fmt.Sprintf("SELECT a%d FROM t%d", i, j), "MySQL"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	for _, sql := range []string{"SELECT 1", "", "\x00", "SELECT 'é😀' -- x", "/*", "`", "SELECT \xed\xa0\xbd", "\xff", "İ SELECT İ"} {
		f.Add(sql)
	}
	p := new(sqlparser.Parser)
	f.Cleanup(func() { _ = p.Close() })
	f.Fuzz(func(t *testing.T, sql string) {
		err := p.Parse(t.Context(), sql, "MySQL")
		var known *proviso.Error
		if errors.As(err, &known) && known.Code != proviso.Limit && known.Code != proviso.Timeout {
			t.Errorf("%q: %v", sql, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	p := newParser(b)
	_ = p.Parse(b.Context(), "SELECT 1", "MySQL")
	n := 0
	for name, sql := range map[string]string{
		"select": "SELECT a, b FROM t%d WHERE a > 1 AND b IN (1,2,3) ORDER BY a DESC LIMIT 10",
		"join":   "SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE o.total > %d GROUP BY u.id HAVING COUNT(*) > 3",
		"insert": "INSERT INTO t%d (a, b, c) VALUES (1, 'x', NULL)",
		"update": "UPDATE t%d SET a = a + 1, b = 'y' WHERE id = 5",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n++
				if err := p.Parse(b.Context(), fmt.Sprintf(sql, n), "MySQL"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkThousand parses a thousand different statements, including the engine
// start.
func BenchmarkThousand(b *testing.B) {
	statements := []string{
		"SELECT a, b FROM t%d WHERE a > %[1]d AND b IN (1,2,3) ORDER BY a DESC LIMIT 10",
		"SELECT u.id, COUNT(*) AS n FROM users u LEFT JOIN orders o ON o.user_id = u.id WHERE o.total > %d GROUP BY u.id HAVING COUNT(*) > 3",
		"INSERT INTO t%d (a, b, c) VALUES (1, 'x', NULL)",
		"UPDATE t%d SET a = a + 1, b = 'y' WHERE id = %[1]d",
	}
	for b.Loop() {
		p := new(sqlparser.Parser)
		for i := range 1000 {
			if err := p.Parse(b.Context(), fmt.Sprintf(statements[i%4], i), "MySQL"); err != nil {
				b.Fatal(err)
			}
		}
		_ = p.Close()
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		p := new(sqlparser.Parser)
		if err := p.Parse(b.Context(), "SELECT 1", "MySQL"); err != nil {
			b.Fatal(err)
		}
		_ = p.Close()
	}
}
