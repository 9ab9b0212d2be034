package regex_test

import (
	"regexp"
	"testing"

	"github.com/proviso-eval/proviso/internal/regex"
)

// TestProgram: the expression decides the units of a text as the pattern decides
// the text.
func TestProgram(t *testing.T) {
	t.Parallel()
	e := regex.New(regex.Options{})
	texts := []string{"", "a", "A", "é", "x🎉y", "🎉🎉", "a\nb", "ſ", "\u2028", "a1 b", "\xed\xa0\xbc", "ab\xff"}
	for _, pattern := range []string{`a`, `^.$`, `^..$`, `[^a]`, `🎉`, `\bb`, `a.b`, `^[\ud83c]`, `(a|é)+`, `s`, `\Bb`, `^$`} {
		for _, flags := range []string{"", "i"} {
			re, err := e.Compile(pattern, flags)
			if err != nil {
				t.Fatal(err)
			}
			expr, ok := re.Program()
			if !ok {
				t.Errorf("/%s/%s has no program", pattern, flags)
				continue
			}
			program := regexp.MustCompile(expr)
			for _, text := range texts {
				want, err := re.Match(t.Context(), text)
				if err != nil {
					t.Fatal(err)
				}
				if got := program.MatchString(string(regex.Units(text))); got != want {
					t.Errorf("/%s/%s in %q: the program says %v, the pattern %v", pattern, flags, text, got, want)
				}
			}
		}
	}
	for _, pattern := range []string{`(?=a)`, `(a)\1`} {
		if re, err := e.Compile(pattern, ""); err != nil {
			t.Error(err)
		} else if _, ok := re.Program(); ok {
			t.Errorf("/%s/ has a program", pattern)
		}
	}
	for _, text := range []string{"", "a🎉é", "🎉"} {
		if got := regex.Text(regex.Units(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
