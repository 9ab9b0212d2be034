package script_test

import (
	"testing"

	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// FuzzRoundTrip sends a text, and the JSON value it may be, through JavaScript.
func FuzzRoundTrip(f *testing.F) {
	l := newLibrary(f, script.LibraryOptions{MaxVMs: 1})
	for _, s := range []string{
		"", "text", "\x01", "\x01e[]", "\x00", "\xed\xa0\xbd", "é😀", `{"a":[1,-0,1e999,"\u0001s","\ud800"],"__proto__":{"2":1,"1":0}}`, `["\u0000",null,true,{}]`, `-0`, `1e21`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseJSON(value.Stringify(s)) // anything that is not WTF-8 becomes U+FFFD
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{v, []any{v}, value.ObjectOf("k", v, v.(string), 1.0)} {
			got, err := l.Call(t.Context(), "echo", v)
			if err != nil || !same(got, v) {
				t.Fatalf("echo(%#v) = %#v, %v", v, got, err)
			}
		}
		v, err = value.ParseJSON(v.(string)) // keys too
		if err != nil || depth(v) > 500 {
			return
		}
		got, err := l.Call(t.Context(), "echo", v)
		if err != nil || !same(got, v) {
			t.Fatalf("echo(%s) = %#v, %v, want %#v", s, got, err, v)
		}
	})
}

func depth(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n = max(n, depth(e)+1)
		}
	case *value.Object:
		for _, e := range v.All() {
			n = max(n, depth(e)+1)
		}
	}
	return n
}

// FuzzCompile compiles and runs arbitrary code under small limits.
func FuzzCompile(f *testing.F) {
	e := newEngine(f, script.Options{MaxVMs: 1, Timeout: 200_000_000, Memory: 16 << 20})
	for _, s := range []string{"return 1", "}, function () {", "x = 1; return x", "throw 1", "return Promise.reject()", "/*", "`${", "#!", "import 'x'", "\x00", "return /(/", "return `\xed\xa0\x80`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = evalBody(t.Context(), e, s)
		if got, err := evalBody(t.Context(), e, "return output + typeof leak"); err != nil || got != "helloundefined" {
			t.Fatalf("after %q: %v, %v", s, got, err)
		}
	})
}
