package excerpt_test

import (
	"strings"
	"testing"

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
