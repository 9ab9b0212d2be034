package script_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

func newEngine(t testing.TB, o script.Options) *script.Engine {
	t.Helper()
	e := script.New(o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// evalBody compiles and calls a body with the parameters output and context.
func evalBody(ctx context.Context, e *script.Engine, text string) (any, error) {
	return evalSource(ctx, e, proviso.Source{Text: text, Form: proviso.Body})
}

func evalSource(ctx context.Context, e *script.Engine, src proviso.Source) (any, error) {
	src.Language = "javascript"
	if src.Name == "" {
		src.Name = "test"
	}
	src.Params = []string{"output", "context"}
	f, err := e.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return f.Call(ctx, "hello", value.ObjectOf("vars", value.ObjectOf("n", 3.0)))
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	undefined := value.Undefined{}
	for text, want := range map[string]any{
		"output.length > context.vars.n":     true,
		"undefined":                          undefined,
		"null":                               nil,
		"NaN":                                math.NaN(),
		"-0":                                 math.Copysign(0, -1),
		"[1, undefined, -0, NaN, , () => 1]": []any{1.0, undefined, math.Copysign(0, -1), math.NaN(), undefined, nil},
		"({a: 1, f() {}, s: Symbol(), u: undefined, 2: 'x'})": value.ObjectOf("2", "x", "a", 1.0, "u", undefined),
		"new Date(0)":                            "1970-01-01T00:00:00.000Z",
		"({d: new Date(0)})":                     value.ObjectOf("d", "1970-01-01T00:00:00.000Z"),
		"[Object(1), Object('s'), Object(true)]": []any{1.0, "s", true},
		"({toJSON() { return 5 }})":              5.0,
		"new Map([[1, 2]])":                      value.ObjectOf(),
		"({['__proto__']: 1})":                   value.ObjectOf("__proto__", 1.0),
		"() => 1":                                &value.Opaque{Kind: "function"},
		"Symbol.iterator":                        &value.Opaque{Kind: "symbol"},
		"10n":                                    &value.Opaque{Kind: "bigint"},
		"'\\ud83d'":                              "\xed\xa0\xbd",
		"'\\u0001j{}'":                           "\x01j{}",
		"Promise.resolve(7)":                     7.0,
		"(async () => { await null; return 'later' })()":    "later",
		"({then(ok) { ok(8) }})":                            8.0,
		"new Promise((ok) => setTimeout(() => ok(9), 1e9))": 9.0,
		"output // a comment":                               "hello",
		"this === globalThis":                               true,
		"typeof process + typeof require + typeof fetch":    "undefinedundefinedundefined",
		"(() => { leak = 1; return typeof leak })()":        "number",
	} {
		got, err := evalSource(t.Context(), e, proviso.Source{Text: text})
		if err != nil || !same(got, want) {
			t.Errorf("%s = %#v, %v, want %#v", text, got, err, want)
		}
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	for _, c := range []struct {
		text, want   string
		line, column int
	}{
		{"return 1;\n  let x = ;", "SyntaxError: unexpected token in expression: ';'", 2, 11},
		{"return {", "SyntaxError: ", 1, 9},
		{"}, function () {", "SyntaxError: ", 1, 1},
		{"let a = 1;\nreturn a.b.c", "TypeError: cannot read property 'c' of undefined", 2, 11},
		{"throw 'text'", "text", 0, 0},
		{"throw null", "null", 0, 0},
		{"throw {toString() { throw 1 }}", "", 0, 0},
		{"throw new RangeError('far')", "RangeError: far", 1, 21},
		{"const e = new Error('x'); e.name = 'Mine'; throw e", "Mine: x", 1, 20},
		{"return Promise.reject(new TypeError('late'))", "TypeError: late", 1, 36},
		{"const a = []; a[0] = a; return a", "TypeError: cyclic object value", 0, 0},
		{"return {a: 1n}", "TypeError: a BigInt has no JSON form", 0, 0},
		{"return {get a() { throw new Error('got') }}", "Error: got", 1, 34},
		{"(function f() { f() })()", "InternalError: stack overflow", 1, 18},
		{"return import('fs')", "TypeError: ", 0, 0},
		{"return require('fs')", "ReferenceError: 'require' is not defined", 1, 8},
	} {
		_, err := evalBody(t.Context(), e, c.text)
		var thrown *proviso.ScriptError
		if !errors.As(err, &thrown) || !strings.HasPrefix(thrown.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
			continue
		}
		if strings.HasPrefix(c.want, "SyntaxError") != thrown.Syntax {
			t.Errorf("%s: Syntax is %v", c.text, thrown.Syntax)
		}
		if (thrown.Line != c.line || thrown.Column != c.column) && c.line > 0 {
			t.Errorf("%s: at %d:%d, want %d:%d", c.text, thrown.Line, thrown.Column, c.line, c.column)
		}
		if strings.Contains(thrown.Stack, "<eval>") {
			t.Errorf("%s: stack shows our own frames:\n%s", c.text, thrown.Stack)
		}
	}
}

func TestModules(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	for _, c := range []struct {
		name, entry, text string
		want              any // a string with the prefix "error" is the beginning of an error
	}{
		{"a.js", "", "module.exports = (o) => o + '!'", "hello!"},
		{"a.cjs", "", "let n = 0; module.exports = () => ++n", 1.0},
		{"a.js", "f", "exports.f = async (o, c) => c.vars.n", 3.0},
		{"a.js", "", "module.exports = {default: () => 1}", 1.0},
		{"a.mjs", "", "let n = 0; export default () => ++n", 1.0},
		{"a.js", "", "export default async function (o) { return o.length }", 5.0},
		{"a.mjs", "g", "export const g = (o) => o === 'hello'", true},
		{"a.mjs", "", "export default {f: 1}", "error TypeError: the module exports no function as its default"},
		{"a.js", "nope", "exports.f = 1", "error TypeError: the module exports no function nope"},
		{"a.js", "", "const fs = require('fs')", "error ReferenceError: require('fs') is not available"},
		{"a.mjs", "", "import fs from 'fs'; export default () => 1", "error TypeError: module load failed: \"fs\" is not available"},
		{"a.js", "", "export default (", "error SyntaxError: "},
		{"a.cjs", "", "export default 1", "error SyntaxError: "},
		{"a.js", "", "throw new Error('top')", "error Error: top"},
	} {
		for range 2 {
			got, err := evalSource(t.Context(), e, proviso.Source{Name: c.name, Entry: c.entry, Text: c.text, Form: proviso.Module})
			if want, ok := c.want.(string); ok && strings.HasPrefix(want, "error ") {
				if err == nil || !strings.HasPrefix("error "+err.Error(), want) {
					t.Errorf("%s %s: %v, %v, want %s", c.name, c.text, got, err, want)
				}
			} else if err != nil || !same(got, c.want) {
				t.Errorf("%s %s: %v, %v, want %v", c.name, c.text, got, err, c.want)
			}
		}
	}
}

// A VM loads few modules; many calls need many VMs.
func TestManyModuleCalls(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	f, err := e.Compile(t.Context(), proviso.Source{Language: "javascript", Name: "a.mjs", Form: proviso.Module, Text: "let n = 0; export default () => ++n"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if got, err := f.Call(t.Context()); err != nil || got != 1.0 {
			t.Fatalf("call %d: %v, %v", i, got, err)
		}
	}
}

func TestOtherLanguage(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{})
	var known *proviso.Error
	if _, err := e.Compile(t.Context(), proviso.Source{Language: "python", Text: "1"}); !errors.As(err, &known) || known.Code != proviso.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestManySources(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 2})
	for i := range 3000 {
		got, err := evalBody(t.Context(), e, fmt.Sprintf("return output.length + %d /* %s */", i%1500, strings.Repeat("x", 5000)))
		if err != nil || got != float64(5+i%1500) {
			t.Fatalf("source %d: %v, %v", i, got, err)
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 2})
	f, err := e.Compile(t.Context(), proviso.Source{Language: "javascript", Text: "Promise.resolve(a * 1000 + b)", Params: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 100 {
				if got, err := f.Call(t.Context(), float64(g), float64(i)); err != nil || got != float64(g*1000+i) {
					t.Errorf("%d, %d: %v, %v", g, i, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"for (;;);": proviso.Timeout,
		"try { for (;;); } catch { return true } finally { for (;;); }":               proviso.Timeout,
		"return (async () => { for (;;) await 1 })()":                                 proviso.Timeout,
		"return (async () => { for (;;) await new Promise((f) => setTimeout(f)) })()": proviso.Timeout,
		"setInterval(() => {}, 1); return new Promise(() => {})":                      proviso.Timeout,
		"return new Promise(() => {})":                                                proviso.Timeout,
		"return /^(a+)+$/.test('a'.repeat(50) + '!')":                                 proviso.Timeout,
		"throw {get message() { for (;;); }}":                                         proviso.Timeout,
		"return {get a() { for (;;); }}":                                              proviso.Timeout,
		"return {toJSON() { for (;;); }}":                                             proviso.Timeout,
		"return 'x'.repeat(2 ** 28)":                                                  proviso.Limit,
		"const a = []; for (;;) a.push(a.length + 'x'.repeat(1000))":                  proviso.Limit,
		"return new Array(1e8).fill('x')":                                             proviso.Limit,
	} {
		o := script.Options{MaxVMs: 1, Timeout: 150 * time.Millisecond, Memory: 16 << 20}
		if want == proviso.Limit {
			o.Timeout = time.Minute
		}
		e := newEngine(t, o)
		start := time.Now()
		got, err := evalBody(t.Context(), e, text)
		var known *proviso.Error
		if !errors.As(err, &known) || known.Code != want {
			t.Errorf("%s: %v, %v, want code %s", text, got, err, want)
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s took %s", text, d)
		}
		got, err = evalBody(t.Context(), e, "return 1")
		for range 20 {
			if !errors.As(err, &known) || known.Code != proviso.Timeout { // a busy machine
				break
			}
			got, err = evalBody(t.Context(), e, "return 1")
		}
		if err != nil || got != 1.0 {
			t.Fatalf("after %s: %v, %v", text, got, err)
		}
	}
}

// Some loops inside QuickJS cannot be interrupted; the caller must not wait.
func TestUninterruptible(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1, Timeout: 200 * time.Millisecond})
	start := time.Now()
	_, err := evalBody(t.Context(), e, "return new Array(2 ** 27).join().length") // ends after some seconds
	var known *proviso.Error
	if !errors.As(err, &known) || known.Code == proviso.Internal {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %s", d)
	}
	if got, err := evalBody(t.Context(), e, "return 1"); err != nil || got != 1.0 {
		t.Errorf("afterwards: %v, %v", got, err)
	}
}

func TestEngineCancel(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1, Timeout: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var known *proviso.Error
	if _, err := evalBody(ctx, e, "return (async () => { for (;;) await 1 })()"); !errors.As(err, &known) || known.Code != proviso.Timeout {
		t.Errorf("got %v", err)
	}
}

// TestLargeResults: code cannot return more than a worker allows, as a result or as the
// message of an exception.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	e := script.New(script.Options{Timeout: time.Minute})
	defer func() { _ = e.Close() }()
	call := func(purpose proviso.Purpose, text string) (any, error) {
		f, err := e.Compile(t.Context(), proviso.Source{Language: "javascript", Form: proviso.Expression, Text: text, Purpose: purpose})
		if err != nil {
			t.Fatal(err)
		}
		return f.Call(t.Context())
	}
	for _, text := range []string{"'x'.repeat(50e6)", "({pass: true, score: 1, reason: 'x'.repeat(50e6)})", "['x'.repeat(1 << 20)]"} {
		_, err := call(0, text)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit || !strings.Contains(e.Message, "the result is larger than 1 MB") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if v, err := call(0, "'x'.repeat(1 << 20)"); err != nil || len(v.(string)) != script.MaxResult {
		t.Errorf("a result of the size that is allowed: %v", err)
	}
	if v, err := call(proviso.Acting, "'x'.repeat(2 << 20)"); err != nil || len(v.(string)) != 2<<20 {
		t.Errorf("a result of code that acts: %v", err)
	}
	_, err := call(0, "(() => { throw new Error('x'.repeat(5e6)) })()")
	var thrown *proviso.ScriptError
	if !errors.As(err, &thrown) || len(thrown.Message) > 5000 || len(thrown.Stack) > 17000 {
		t.Errorf("an exception with a long message: %d bytes", len(err.Error()))
	}
}
