package expr_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/expr"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	vars := proviso.ObjectOf("lang", "de", "n", 3.0, "f", 2.5, "tags", []any{"a", "b"}, "user", proviso.ObjectOf("vip", true))
	meta := proviso.ObjectOf("tier", "gold")
	for text, want := range map[string]string{
		`vars.lang == "de"`:                        "true",
		`vars.n == 3 && vars.n > 2.5`:              "true",
		`vars.f < 2.0`:                             "false",
		`"a" in vars.tags`:                         "true",
		`vars.user.vip`:                            "true",
		`has(vars.missing)`:                        "false",
		`metadata.tier.startsWith("g")`:            "true",
		`vars.lang.matches("^d")`:                  "true",
		`vars.missing == 1`:                        "no such key",
		`vars.n + 1`:                               "not true or false",
		`vars.tags.all(x, vars.tags.all(y, true))`: "true",
	} {
		c, err := expr.Compile(text)
		if err != nil {
			t.Errorf("Compile(%s): %v", text, err)
			continue
		}
		got, err := c.Holds(t.Context(), vars, meta)
		switch {
		case want != "true" && want != "false":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one with %q", text, err, want)
			}
		case err != nil || got != (want == "true"):
			t.Errorf("%s = %v, %v; want %s", text, got, err, want)
		}
	}
}

func TestCompileMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`vars.a ==`: "column",
		`varz.a`:    "undeclared reference to 'varz'",
		`"a`:        "column",
	} {
		if _, err := expr.Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, want %q", text, err, want)
		}
	}
}
