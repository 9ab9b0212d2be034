package excerpt_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/internal/excerpt"
)

func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aé", 2, "a"},
		{"aé", 3, "aé"},
		{"日本語", 5, "日"},
		{"😀😀", 7, "😀"},
		{"é", 1, ""},
		{strings.Repeat("\x80", 10), 8, strings.Repeat("\x80", 4)},
	} {
		if got := excerpt.Head(c.text, c.n); got != c.want {
			t.Errorf("Head(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
		want := c.want
		if want != c.text {
			want += "…"
		}
		if got := excerpt.Bytes(c.text, c.n); got != want {
			t.Errorf("Bytes(%q, %d) = %q, want %q", c.text, c.n, got, want)
		}
	}
}

func TestRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""},
		{"a", 0, "…"},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"日本語", 3, "日本語"},
		{"日本語", 2, "日本…"},
		{"\x80\x80\x80", 2, "\x80\x80…"},
	} {
		if got := excerpt.Runes(c.text, c.n); got != c.want {
			t.Errorf("Runes(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{" a\n\tb  c ", 5, "a b c"},
		{"a\nb c d", 5, "a b c…"},
		{strings.Repeat("é", 9), 8, strings.Repeat("é", 8) + "…"},
		{"a" + strings.Repeat(" ", 1000) + "b", 3, "a"},
	} {
		if got := excerpt.Line(c.text, c.n); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// FuzzExcerpt: a shortened text is a beginning of the text, is short enough, and splits no
// character; a plain line has nothing that a terminal would interpret.
func FuzzExcerpt(f *testing.F) {
	for _, text := range []string{"", "abc", "日本語", "a\u0301é😀", "\x80\x80\x80\x80\x80", "a\xf0\x9f", " a \n\t b\u00a0c ", "\x1b[31mred\x07\u009b", strings.Repeat("x", 300)} {
		f.Add(text, uint16(3))
	}
	f.Fuzz(func(t *testing.T, text string, most uint16) {
		n := int(most)
		head := excerpt.Head(text, n)
		if !strings.HasPrefix(text, head) || len(head) > n || len(head) < min(len(text), n)-utf8.UTFMax || utf8.ValidString(text) && !utf8.ValidString(head) {
			t.Errorf("Head(%q, %d) = %q", text, n, head)
		}
		if got := excerpt.Bytes(text, n); got != text && got != head+"…" {
			t.Errorf("Bytes(%q, %d) = %q", text, n, got)
		}
		runes := excerpt.Runes(text, n)
		if before, cut := strings.CutSuffix(runes, "…"); runes != text && (!cut || !strings.HasPrefix(text, before) || utf8.RuneCountInString(before) != n) || utf8.RuneCountInString(text) > n && runes == text {
			t.Errorf("Runes(%q, %d) = %q", text, n, runes)
		}
		line := excerpt.Line(text, n)
		if strings.ContainsAny(line, "\n\t\r\v\f") || strings.Contains(line, "  ") || utf8.RuneCountInString(line) > n+1 {
			t.Errorf("Line(%q, %d) = %q", text, n, line)
		}
		plain := excerpt.Plain(text)
		if utf8.RuneCountInString(plain) > 121 || !utf8.ValidString(plain) || strings.ContainsFunc(plain, unicode.IsControl) {
			t.Errorf("Plain(%q) = %q", text, plain)
		}
	})
}
