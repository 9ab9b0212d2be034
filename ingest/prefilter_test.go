package ingest

import (
	"regexp"
	"strings"
	"testing"
)

var filtered = []string{`\d{16}`, `\d{4}[ -]?\d{4}`, `[\w.+-]+@[\w-]+\.[\w.]+`, `(?i)secret`, `secret|token`, `a(bc)+d`, `[à-ü]{3}x`, `x?y*`, `\bDE\d{20}\b`, `(\d\d){3}`, `.{5}q`, `\d\d\d+`, `^key=(\S+)`,
	`[ab]{2}[ab]{3}`, `[ab][ab]c`, `\d{3,5}\d{2}`, `\d+\d{3}`, `(?:[0-9]{2}){2,}`, `[^x]{4}`, `é+`}

// TestPrefilter: a prefilter never rejects a text that contains a match.
func TestPrefilter(t *testing.T) {
	t.Parallel()
	texts := []string{"", "4929123412341234", "a 492912341234123", "1234-5678", "12345678", "eve@example.com", "SECRET", "my token", "abcbcd", "ääöx", "xyy", "DE12345678901234567890", "123456", "12 34 56",
		"abcdeq", "1x22x333x", "key=a", "abab", "ababa", "abc", "12345", "xxxx", "xyzé", strings.Repeat("1 ", 40), strings.Repeat("123456789012345 ", 40) + "1234567890123456"}
	for _, text := range filtered {
		p, err := compilePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range texts {
			if p.MatchString(in) && !p.needs.in(in) {
				t.Errorf("%s matches %q", text, in)
			}
		}
	}
	p, _ := compilePattern(`\d{16}`)
	if p.needs.run != 16 || p.needs.in("a 492912341234123 b") {
		t.Errorf("%+v", p.needs.run)
	}
}

// FuzzPrefilter is TestPrefilter for any pattern and text.
func FuzzPrefilter(f *testing.F) {
	for _, text := range filtered {
		f.Add(text, "a 4929 123412341234 eve@example.com "+text)
	}
	f.Fuzz(func(t *testing.T, text, in string) {
		if len(text) > 200 || strings.ContainsAny(text, "{") && regexp.MustCompile(`\{\d{3,}`).MatchString(text) {
			return
		}
		p, err := compilePattern(text)
		if err != nil {
			return
		}
		if got, want := p.redact(in), p.ReplaceAllLiteralString(in, Removed); got != want {
			t.Fatalf("%s in %q: %q, want %q", text, in, got, want)
		}
	})
}
