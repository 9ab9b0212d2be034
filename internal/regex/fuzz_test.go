package regex_test

import (
	"context"
	"slices"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/regex"
	"github.com/proviso-eval/proviso/internal/script"
)

// reference runs QuickJS directly, without any of this package's JavaScript.
var reference = script.NewLibrary(script.LibraryOptions{Name: "reference", Source: func() string {
	return `globalThis.ask = function (pattern, flags, text) {
	  var re;
	  try { re = new RegExp(pattern, flags); } catch (e) { return "invalid"; }
	  var m = re.exec(text);
	  return m === null ? null : m[0];
	}`
}})

// FuzzAgainstQuickJS checks that both engines give the same verdict and matched
// text. The pattern comes from a grammar that the seed drives.
func FuzzAgainstQuickJS(f *testing.F) {
	for seed := range uint64(800) {
		f.Add(seed, uint8(seed%4))
	}
	engine := regex.New(regex.Options{})
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		flags := []string{"", "i", "u", "s"}[kind%4]
		g := newGrammar(seed, flags == "u")
		pattern := g.pattern(2)
		re, err := engine.Compile(pattern, flags)
		if err != nil {
			return // syntax is compared in TestSyntax: QuickJS accepts newer syntax than V8
		}
		for range 2 {
			compare(t, re, pattern, flags, g.text())
		}
	})
}

func compare(t *testing.T, re *regex.Regexp, pattern, flags, text string) {
	t.Helper()
	want, err := reference.Call(context.Background(), "ask", pattern, flags, text)
	if err != nil {
		return // a limit of the reference
	}
	if want == "invalid" {
		t.Errorf("/%s/%s is accepted, QuickJS refuses it", pattern, flags)
		return
	}
	got, err := re.Match(context.Background(), text)
	if err != nil || got != (want != nil) {
		t.Errorf("/%s/%s on %q: match %v, %v; QuickJS: %q", pattern, flags, text, got, err, want)
		return
	}
	found, err := re.FindAllIndex(context.Background(), text, 1)
	if err != nil || len(found) > 0 != got {
		t.Errorf("/%s/%s on %q: find %v, %v; match %v", pattern, flags, text, found, err, got)
	}
	// Half a pair is widened to the character, so lengths may differ by a unit at
	// either end where there are pairs.
	if got && len(found) > 0 && !hasAstral(text) && text[found[0][0]:found[0][1]] != want {
		t.Errorf("/%s/%s on %q: found %v; QuickJS: %q", pattern, flags, text, found, want)
	}
}

func hasAstral(s string) bool {
	return slices.ContainsFunc([]byte(s), func(c byte) bool { return c >= 0xf0 || c == 0xed })
}

// FuzzCompile checks that no pattern and no text causes a panic or a hang.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{`(a+)+$`, `[\d-x]`, `\u{1F600}`, `(?<a>.)\k<a>`, `a{1,2}{`, "\xed\xa0\x80", "(((("} {
		f.Add(s, "u", "text")
		f.Add(s, "", "😀")
	}
	engine := regex.New(regex.Options{Timeout: 50_000_000})
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		re, err := engine.Compile(pattern, flags)
		if err != nil {
			return
		}
		ok, err := re.Match(context.Background(), text)
		if err != nil {
			var known *proviso.Error
			if !asError(err, &known) {
				t.Errorf("/%s/%s on %q: error without a code: %v", pattern, flags, text, err)
			}
			return
		}
		found, err := re.FindAllIndex(context.Background(), text, 1)
		if err == nil && (len(found) > 0 != ok || ok && (found[0][0] < 0 || found[0][1] < found[0][0] || found[0][1] > len(text))) {
			t.Errorf("/%s/%s on %q: match %v, found %v", pattern, flags, text, ok, found)
		}
	})
}
