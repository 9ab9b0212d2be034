package script_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

const testSource = `
function echo(x) { return x; }
function args() { return [].slice.call(arguments); }
function kinds(list) { return list.map((v) => Object.is(v, -0) ? '-0' : Number.isNaN(v) ? 'NaN' : v === null ? 'null' : typeof v); }
function units(s) { return Array.from({length: s.length}, (_, i) => s.charCodeAt(i)); }
function loop() { for (;;); }
function regex(s) { return /^(a+)+$/.test(s); }
function eat() { const list = []; for (;;) list.push('x'.repeat(1000) + list.length); }
function deep(n) { return 1 + deep(n + 1); }
function throwError() { throw new TypeError('no such thing'); }
function throwText() { throw 'just text'; }
function run(code) { return Function(code)(); }
let kept = [];
function keep(n) { kept.push('x'.repeat(n) + kept.length); kept.push(kept.length + 'y'.repeat(n)); kept[kept.length-1].charCodeAt(0); return kept.length; }
`

func newLibrary(t testing.TB, o script.LibraryOptions) *script.Library {
	t.Helper()
	if o.Source == nil {
		o.Source = func() string { return testSource }
	}
	l := script.NewLibrary(o)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLibraryValues(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{})
	inf := math.Inf(1)
	for _, v := range []any{
		nil, true, false, "", "text", "a\x00b", "\x01", "\x01j{}", "\ud7ff€😀", "\xed\xa0\xbd", "x\xed\xb8\x80y",
		0.0, math.Copysign(0, -1), 1.0, -1.5, 1e300, inf, -inf, math.NaN(), 2147483648.0, value.Undefined{},
		[]any{}, []any{1.0, "a", nil, value.Undefined{}, math.NaN(), inf, -inf, math.Copysign(0, -1), "\x01u", "\x01", "a\x00", "\xed\xa0\xbd"},
		value.ObjectOf(), value.ObjectOf("b", 1.0, "a", []any{value.ObjectOf("__proto__", "x")}, "u", value.Undefined{}, "\x01", "\x01s"),
		value.ObjectOf("__proto__", math.NaN(), "10", 1.0, "2", 2.0),
	} {
		got, err := l.Call(t.Context(), "echo", v)
		if err != nil {
			t.Errorf("echo(%#v): %v", v, err)
		} else if !same(got, v) {
			t.Errorf("echo(%#v) = %#v", v, got)
		}
	}
}

func TestLibrarySeesTheValues(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{})
	list := []any{nil, value.Undefined{}, math.NaN(), math.Copysign(0, -1), 1.0, "x", true, value.ObjectOf()}
	got, err := l.Call(t.Context(), "kinds", list)
	want := []any{"null", "undefined", "NaN", "-0", "number", "string", "boolean", "object"}
	if err != nil || !same(got, want) {
		t.Errorf("kinds = %v, %v, want %v", got, err, want)
	}
	got, err = l.Call(t.Context(), "units", "\xed\xa0\xbdé\x00😀")
	want = []any{float64(0xd83d), float64(0xe9), 0.0, float64(0xd83d), float64(0xde00)}
	if err != nil || !same(got, want) {
		t.Errorf("units = %v, %v, want %v", got, err, want)
	}
	got, err = l.Call(t.Context(), "args", 1, []string{"a", "\x01"}, value.Undefined{})
	if err != nil || !same(got, []any{1.0, []any{"a", "\x01"}, value.Undefined{}}) {
		t.Errorf("args = %#v, %v", got, err)
	}
}

func TestLibraryErrors(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{Timeout: 300 * time.Millisecond, Memory: 8 << 20})
	patient := newLibrary(t, script.LibraryOptions{Timeout: 20 * time.Second, Memory: 8 << 20})
	var thrown *proviso.ScriptError
	if _, err := l.Call(t.Context(), "throwError"); !errors.As(err, &thrown) || thrown.Name != "TypeError" || thrown.Message != "no such thing" || !strings.Contains(thrown.Stack, "throwError") {
		t.Errorf("throwError: %#v", err)
	}
	if _, err := l.Call(t.Context(), "throwText"); !errors.As(err, &thrown) || thrown.Error() != "just text" {
		t.Errorf("throwText: %#v", err)
	}
	if _, err := l.Call(t.Context(), "missing"); !errors.As(err, &thrown) {
		t.Errorf("missing: %#v", err)
	}
	for name, want := range map[string]string{"loop": proviso.Timeout, "regex": proviso.Timeout, "eat": proviso.Limit, "deep": proviso.Limit} {
		start := time.Now()
		l := l
		if want == proviso.Limit {
			l = patient
		}
		_, err := l.Call(t.Context(), name, strings.Repeat("a", 50)+"!")
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("%s: %v, want code %s", name, err, want)
		}
		if d := time.Since(start); d > 15*time.Second {
			t.Errorf("%s took %s", name, d)
		}
	}
	if got, err := l.Call(t.Context(), "echo", "still there"); err != nil || got != "still there" {
		t.Errorf("after limits: %v, %v", got, err)
	}
}

// A call must not fail because of memory that earlier calls left behind.
func TestLibraryMemoryOfEarlierCalls(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{Memory: 8 << 20, MaxVMs: 1, Timeout: 20 * time.Second})
	for i := range 20 {
		if _, err := l.Call(t.Context(), "keep", 1<<20); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

// Input that reaches the Function constructor must not change the language for
// the input of others.
func TestLibraryIsHardened(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{MaxVMs: 1})
	for _, attack := range []string{
		"Array.prototype.x = 1", "Object.prototype.x = 1", "JSON.parse = null", "Array.prototype.map = null", "Array = null",
		"Object.defineProperty(Object.prototype, 'x', {value: 1})", "String.prototype.trim = () => 'evil'",
	} {
		_, _ = l.Call(t.Context(), "run", attack)
		got, err := l.Call(t.Context(), "run", "return [].x === undefined && ({}).x === undefined && JSON.parse('[1]').map((v) => v)[0] === 1 && ' a '.trim() === 'a'")
		if err != nil || got != true {
			t.Errorf("after %s: %v, %v", attack, got, err)
		}
	}
}

func TestLibraryCancel(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{Timeout: time.Minute, MaxVMs: 1})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 { // one runs, two wait for its VM
		wg.Go(func() {
			if _, err := l.Call(ctx, "loop"); !errors.Is(err, context.Canceled) {
				t.Errorf("loop: %v", err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	cancel()
	wg.Wait()
	if _, err := l.Call(t.Context(), "echo", 1); err != nil {
		t.Error(err)
	}
}

func TestLibraryConcurrent(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{MaxVMs: 3})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				want := []any{float64(g), float64(i)}
				got, err := l.Call(t.Context(), "args", float64(g), float64(i))
				if err != nil || !same(got, want) {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestLibraryBrokenSource(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, script.LibraryOptions{Source: func() string { return "function (" }})
	var e *proviso.Error
	if _, err := l.Call(t.Context(), "f"); !errors.As(err, &e) || e.Code != proviso.Internal {
		t.Errorf("got %v", err)
	}
}

// same compares values; -0 and 0 differ, and NaN equals itself.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (math.Float64bits(a) == math.Float64bits(b) || (math.IsNaN(a) && math.IsNaN(b)))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case *value.Object:
		b, ok := b.(*value.Object)
		if !ok || !reflect.DeepEqual(a.Keys(), b.Keys()) && a.Len()+b.Len() > 0 {
			return false
		}
		for k, v := range a.All() {
			if !same(v, b.At(k)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// TestProgramIsCompiledOnce: libraries share a program, and each runs its own
// source after it, in a VM of its own.
func TestProgramIsCompiledOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	program := script.NewProgram(func() string {
		asked++
		return "let start = 1; function next() { return start++; }"
	})
	for _, first := range []float64{10, 20} {
		l := newLibrary(t, script.LibraryOptions{Program: program, MaxVMs: 1, Source: func() string {
			return "start = " + value.Stringify(first) + ";"
		}})
		for _, want := range []float64{first, first + 1} {
			if v, err := l.Call(t.Context(), "next"); v != want || err != nil {
				t.Errorf("%v %v, want %v", v, err, want)
			}
		}
	}
	alone := newLibrary(t, script.LibraryOptions{Program: program, Source: func() string { return "" }})
	if v, err := alone.Call(t.Context(), "next"); v != 1.0 || err != nil {
		t.Errorf("the program alone: %v %v", v, err)
	}
	if asked != 1 {
		t.Errorf("the source was asked for %d times", asked)
	}
	broken := newLibrary(t, script.LibraryOptions{Name: "broken", Program: script.NewProgram(func() string { return "let (" })})
	for range 2 {
		if _, err := broken.Call(t.Context(), "next"); err == nil || !strings.Contains(err.Error(), "loading broken") {
			t.Errorf("a mistake in a program: %v", err)
		}
	}
}
