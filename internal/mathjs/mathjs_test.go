package mathjs_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/value"
)

func newEngine(t testing.TB, o mathjs.Options) *mathjs.Engine {
	t.Helper()
	e := mathjs.New(o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// shared is the engine of the tests that do not set options: it takes long to start.
var shared = mathjs.New(mathjs.Options{})

func isCode(err error, codes ...string) bool {
	var e *proviso.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

func TestEval(t *testing.T) {
	t.Parallel()
	e := shared
	scope := value.ObjectOf("tp", 6.0, "fp", 2.0, "fn", 1.0, "acc", 2.0, "b", 0.75, "zero", 0.0, "__count", 3.0, "text", "x", "pi", 4.0)
	for expr, want := range map[string]any{
		"tp / (tp + fp)":              0.75,
		"2 * tp / (2 * tp + fp + fn)": 0.8,
		"-acc":                        -2.0,
		"- - acc + +1":                3.0,
		"acc/__count":                 2.0 / 3,
		"acc / zero":                  math.Inf(1),
		"-acc / zero":                 math.Inf(-1),
		"0 / 0":                       math.NaN(),
		"0.1 + 0.2":                   0.30000000000000004,
		"8 / 2 / 2 - 3 - 4":           -5.0,
		"2 acc":                       4.0,
		"acc b":                       1.5,
		"(acc)(b)":                    1.5,
		"1 / 2 acc":                   1.0,
		"acc % 2":                     0.0,
		"acc ^ 3 ^ 2":                 512.0,
		"-acc ^ 2":                    -4.0,
		"5!":                          120.0,
		"1e3 + .5":                    1000.5,
		"acc > 1":                     true,
		"acc == 2 and b < 1":          true,
		"acc > 1 ? 10 : 20":           10.0,
		"sqrt(acc)":                   math.Sqrt2,
		"round(acc / 3, 2)":           0.67,
		"mean(acc, b)":                1.375,
		"std(1,2,3)":                  1.0,
		"mod(7, 3)":                   1.0,
		"max([acc, b])":               2.0,
		"pi":                          4.0,
		"e":                           math.E,
		`"text"`:                      "text",
		"text":                        "x",
		"null":                        nil,
		"a = acc * 2; a + 1":          []any{5.0},
		"[acc, b]":                    []any{2.0, 0.75},
		"[1, 2; 3, 4] * 2":            []any{[]any{2.0, 4.0}, []any{6.0, 8.0}},
		"{x: acc}":                    value.ObjectOf("x", 2.0),
		"10 cm to inch":               "3.9370078740157486 inch",
		"sqrt(-1)":                    "i",
		"f(x) = x":                    &value.Opaque{Kind: "function"},
	} {
		got, err := e.Eval(t.Context(), expr, scope)
		if err != nil || !equal(got, want) {
			t.Errorf("%q = %v, %v, want %v", expr, got, err, want)
		}
		if err := e.Check(expr); err != nil {
			t.Errorf("Check(%q): %v", expr, err)
		}
	}
}

// equal compares results; Stringify would not distinguish NaN from null.
func equal(a, b any) bool {
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		return ok && (x == y || x != x && y != y)
	}
	if x, ok := a.(*value.Opaque); ok {
		y, ok := b.(*value.Opaque)
		return ok && *x == *y
	}
	return value.Stringify(a) == value.Stringify(b)
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	e := shared
	for _, expr := range []string{"1 +", "(1", "a b)", "2 ** 3", "[1, 2", `"open`, "1 2 ="} {
		if err := e.Check(expr); !isCode(err, proviso.Invalid) {
			t.Errorf("Check(%q): %v", expr, err)
		}
		if v, err := e.Eval(t.Context(), expr, nil); !isCode(err, proviso.Undecided) {
			t.Errorf("Eval(%q) = %v, %v", expr, v, err)
		}
	}
	for expr, message := range map[string]string{
		"nope + 1":           "Undefined symbol nope",
		"my-metric + 1":      "Undefined symbol my",
		"import({x: 1})":     "disabled",
		`createUnit("foo")`:  "disabled",
		"nope(1)":            "Undefined function nope",
		"{a: 1}.constructor": "No access",
		"toString":           "Cannot access",
	} {
		if err := e.Check(expr); err != nil {
			t.Errorf("Check(%q): %v", expr, err)
		}
		if v, err := e.Eval(t.Context(), expr, nil); !isCode(err, proviso.Undecided) || !strings.Contains(err.Error(), message) {
			t.Errorf("Eval(%q) = %v, %v, want %q", expr, v, err, message)
		}
	}
	if v, err := e.Eval(t.Context(), "1 + 1", value.ObjectOf("end", 1.0)); err == nil {
		t.Errorf("a scope with end gives %v", v)
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	e := newEngine(t, mathjs.Options{Timeout: 300 * time.Millisecond})
	for name, expr := range map[string]string{
		"memory":      "ones(100000, 100000)",
		"time":        "sum(map(1:10000000, f(x) = x))",
		"recursion":   "f(x) = f(x + 1); f(1)",
		"parentheses": strings.Repeat("(", 30000) + "1" + strings.Repeat(")", 30000),
		"signs":       strings.Repeat("-", 60000) + "1",
		"length":      strings.Repeat("1+", 100000) + "a",
		"factorial":   "170! / factorial(1:1000000)",
	} {
		start := time.Now()
		v, err := e.Eval(t.Context(), expr, nil)
		if err == nil {
			t.Errorf("%s: %.40v", name, v)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	if v, err := e.Eval(t.Context(), "sqrt(4)", nil); err != nil || v != 2.0 {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

func TestScopeIsNotChanged(t *testing.T) {
	t.Parallel()
	e := shared
	scope := value.ObjectOf("a", 1.0)
	for _, expr := range []string{"a = 5", "qq = 7"} {
		if _, err := e.Eval(t.Context(), expr, scope); err != nil {
			t.Fatal(err)
		}
	}
	if scope.At("a") != 1.0 || scope.Len() != 1 {
		t.Errorf("the scope is now %s", value.Stringify(scope))
	}
	if _, err := e.Eval(t.Context(), "sqrt(qq)", scope); !isCode(err, proviso.Undecided) {
		t.Errorf("a name of an earlier expression is still there: %v", err)
	}
}

// FuzzArithmetic compares results computed in Go with those of mathjs, which a
// ternary forces. Expressions with characters outside Go's arithmetic always go to
// mathjs; inside a ternary it reads an unclosed bracket differently.
func FuzzArithmetic(f *testing.F) {
	for _, expr := range []string{
		"1", "a+b*2", "-(a - b) / 3.5", "a b", "2(a)", "1/0", "--a", "a/-b", "0.1+0.2", "1.", ".5", "1e3", "a--b", "a +\tb", "07", "in", "a in b",
		"1 2", "__count", "a\n", "a # b", "(a)", "((a)", "a)", "+", "", "a_1", "1a", "1.2.3", "a'", "0x10",
	} {
		f.Add(expr, 1.5, -2.0)
	}
	e := mathjs.New(mathjs.Options{Timeout: 5 * time.Second})
	f.Cleanup(func() { _ = e.Close() })
	if _, err := e.Eval(f.Context(), "sqrt(4)", nil); err != nil { // loads mathjs outside the time of an input
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, expr string, a, b float64) {
		if len(expr) > 100 || strings.Trim(expr, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_. \t+-*/()") != "" {
			return
		}
		scope := value.ObjectOf("a", a, "b", b, "__count", 3.0)
		got, err1 := e.Eval(t.Context(), expr, scope)
		want, err2 := e.Eval(t.Context(), "true ? ("+expr+") : 0", scope)
		if n, ok := got.(float64); !ok || err1 != nil || n != n {
			return // not computed in Go, or the same call twice
		}
		if err2 != nil || !equal(got, want) {
			t.Errorf("%q = %v, %v, and in mathjs %v, %v", expr, got, err1, want, err2)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	e := newEngine(b, mathjs.Options{})
	scope := value.ObjectOf("tp", 6.0, "fp", 2.0, "fn", 1.0)
	for _, expr := range []string{"2 * tp / (2 * tp + fp + fn)", "sqrt(tp)"} {
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(b.Context(), expr, scope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		e := mathjs.New(mathjs.Options{})
		if _, err := e.Eval(b.Context(), "sqrt(4)", nil); err != nil {
			b.Fatal(err)
		}
		_ = e.Close()
	}
}
