package expr_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/expr"
	"github.com/proviso-eval/proviso/value"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	vars := value.ObjectOf("lang", "de", "n", 3.0, "f", 2.5, "two", 2.0, "big", 0x1p60, "list", []any{1.0, 3.0}, "tags", []any{"a", "b"}, "user", value.ObjectOf("vip", true))
	meta := value.ObjectOf("tier", "gold")
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
		`vars.tags.all(x, vars.tags.all(y, true))`: "true",

		`vars.two * 1.1 > 1.0 && 1.1 * vars.two > 1.0`:      "true",
		`vars.f * 1.1 > 1.0 && vars.f - 0.5 == 2`:           "true",
		`vars.two == 2 && vars.two == 2.0 && 2 == vars.two`: "true",
		`vars.two != 2`: "false",
		`vars.two > 1 && vars.two >= 2 && 3 > vars.two`:         "true",
		`vars.two + 1 == 3 && 1 + vars.two == 3`:                "true",
		`vars.two - 1 == 1 && 3 - vars.two == 1 && -vars.two<0`: "true",
		`vars.n / vars.two == 1.5 && vars.n / 2 == 1.5`:         "true",
		`vars.two % 2 == 0 && vars.n % vars.two == 1`:           "true",
		`vars.f % 2 == 0.5 && 7 % vars.n == 1 && 7 % 3 == 1`:    "true",
		`1 + 1.5 == 2.5 && 2u * 1.5 == 3.0 && 7 / 2 == 3`:       "true",
		`size(vars.tags) * 1.5 > 2.9 && size(vars.tags) > 1.5`:  "true",
		`size(vars.tags) > 1 && size(vars.tags) == vars.two`:    "true",
		`vars.tags[0] == "a" && vars.tags[vars.two - 1] == "b"`: "true",
		`vars.tags[size(vars.tags) - 1] == "b"`:                 "true",
		`[1, 2, 3][int(vars.two)] == vars.n`:                    "true",
		`vars.two in [1, 2] && vars.n in vars.list`:             "true",
		`{2: "x"}[vars.two] == "x"`:                             "true",
		`int(vars.two) == 2 && int(vars.f) == 2`:                "true",
		`string(vars.two) == "2" && string(vars.f) == "2.5" && string(12345678.0) == "12345678" && string(1) == "1" && string(duration("1s")) == "1s"`: "true",
		`double("2.5") == vars.f && int("2") == vars.two`:     "true",
		`vars.list.filter(x, x > 2).size() == 1`:              "true",
		`vars.list.map(x, x * 2) == [2, 6]`:                   "true",
		`vars.big > 9007199254740991`:                         "true",
		`vars.lang + "x" == "dex" && vars.tags + ["c"] != []`: "true",
		`timestamp("2026-01-05T00:00:00Z").getFullYear() + vars.two == 2028 && duration("1h") + duration("1h") == duration("2h")`: "true",

		`double("5") == 5 && double(vars.two) * 2.5 == 5 && 5 == -double("-5")`: "true",

		`vars.n / 0 > 1`:       "division by zero",
		`vars.n / 0.0 > 1.0`:   "division by zero",
		`vars.n % 0 == 0`:      "modulus by zero",
		`vars.lang + 1 == "d"`: "no such overload",
		`vars.lang * 2.0 > 1`:  "no such overload",
		`vars.tags[1.5] == ""`: "index",
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
		`vars.a ==`:   "column",
		`varz.a`:      "undeclared reference to 'varz'",
		`"a`:          "column",
		`"a" * 2 > 1`: "no matching overload",
		`vars.n + 1`:  "not true or false",
		`"de"`:        "it returns a text, not true or false",
		`vars.a == (`: "the condition ends too early",
		`vars.a = 1`:  "unexpected ",
	} {
		if _, err := expr.Compile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, want %q", text, err, want)
		}
	}
}

// TestConditionsOfEvents: a condition that can never be true or false is found
// before any event arrives.
func TestConditionsOfEvents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`agent`: "a text", `segment.lang`: "a text", `cost`: "a number", `latency_ms * 2`: "a number", `usage.total`: "a number", `metadata`: "an object", `segment`: "an object",
		`size(output)`: "a number", `"de"`: "a text", `[1]`: "a list", `user == "" ? "a" : "b"`: "a text", `input + output`: "a text",
		`metadata.premium`: "", `latency_ms == 0`: "", `cost > 1`: "", `latency_ms / 1000 > 2`: "", `segment.lang == 'de'`: "", `user != null`: "", `true`: "", `has(segment.lang)`: "", `agent in ["a", "b"]`: "",
	} {
		_, err := expr.CompileWhere(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestCostOfEvents: a condition that is costly for one event is an error at once,
// because thousands of events arrive per second. A case may cost more.
func TestCostOfEvents(t *testing.T) {
	t.Parallel()
	const costly = "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, a + b + c + d > 0))))"
	where, err := expr.CompileWhere(costly)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := where.HoldsOf(t.Context(), map[string]any{}); err == nil || !strings.Contains(err.Error(), "cost") {
		t.Errorf("where: %v", err)
	}
	when, err := expr.Compile(costly)
	if err != nil {
		t.Fatal(err)
	}
	if holds, err := when.Holds(t.Context(), nil, nil); err != nil || !holds {
		t.Errorf("when: %t %v", holds, err)
	}
}
