package expr_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/expr"
	"github.com/proviso-eval/proviso/value"
)

// FuzzCompile: a condition, on a case or on an event, is a mistake with a column,
// or gives the same answer each time; a missing answer is an error with a code.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		`vars.lang == "de" && vars.n > 2.5`, `vars.tags.all(x, vars.tags.exists(y, x == y)) || "a" in vars.tags`, `has(vars.missing)`, `vars.lang.matches("^(a+)+$")`,
		`vars.n % 0 == 0 || vars.n / 0.0 > 1.0 || -vars.n < 9223372036854775807`, `[1, 2, 3][int(vars.n)] == vars.n ? true : false`, `{2: "x"}[vars.n] == "x"`,
		`timestamp("2026-01-05T00:00:00Z") < timestamp("2027-01-05T00:00:00Z") + duration("1h")`, `size(output) > 3 && segment.lang == 'de' && cost > 1u`, `user == "" ? "a" : "b"`,
		`string(vars.n) == b"\xff" || type(vars.n) == double`, "(((((((", `"\udc00"`, "vars\x00", `metadata[""][""]`, `'''a' + r"\"`, `latency_ms / 1000 > 2 // note`,
	} {
		f.Add(text)
	}
	vars := value.ObjectOf("lang", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "n", 3.0, "tags", []any{"a", "b"}, "none", value.Undefined{}, "user", value.ObjectOf("vip", true))
	event := map[string]any{"id": "e", "output": "Hello", "segment": value.ObjectOf("lang", "de"), "cost": 2.0, "latency_ms": 12.5, "metadata": vars, "user": ""}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		check := func(key string, c *expr.Condition, err error, holds func() (bool, error)) {
			var known *proviso.Error
			if err != nil {
				if !errors.As(err, &known) || known.Code != proviso.Invalid || !strings.HasPrefix(err.Error(), key) {
					t.Errorf("%q: %v", text, err)
				}
				return
			}
			got, err := holds()
			again, other := holds()
			if got != again || (err == nil) != (other == nil) || err != nil && (!errors.As(err, &known) || known.Code != proviso.Undecided || got) {
				t.Errorf("%q: %v %v, then %v %v", text, got, err, again, other)
			}
			if err != nil && utf8.ValidString(text) && !utf8.ValidString(err.Error()) {
				t.Errorf("%q: %q", text, err)
			}
		}
		when, err := expr.Compile(text)
		check("when", when, err, func() (bool, error) { return when.Holds(t.Context(), vars, vars) })
		where, err := expr.CompileWhere(text)
		check("where", where, err, func() (bool, error) { return where.HoldsOf(t.Context(), event) })
	})
}
