package show

import (
	"strings"
	"testing"
)

// text writes a diff with the parts of one side in brackets.
func text(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.op == ' ' {
			b.WriteString(p.text)
		} else {
			b.WriteString("[" + string(p.op) + p.text + "]")
		}
	}
	return b.String()
}

func TestWordDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, head, want string }{
		{"", "", ""},
		{"same", "same", "same"},
		{"", "new", "[+new]"},
		{"old", "", "[-old]"},
		{"Be kind to all.", "Be short to all.", "Be [-kind][+short] to all."},
		{"one two three four", "one 2 3 four", "one [-two three][+2 3] four"},
		{"a b c", "a c", "a [-b ]c"},
		{"line\none two", "line\none 2", "line\none [-two][+2]"},
		{"x\n\ny", "x\ny", "x\n[-\n]y"},
		{"größe  ä", "größe ä", "größe[-  ][+ ]ä"},
	} {
		if got := text(wordDiff(c.base, c.head)); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.base, c.head, got, c.want)
		}
	}
}

// TestLongDiff: texts beyond the limits are compared only at their beginning and end.
func TestLongDiff(t *testing.T) {
	t.Parallel()
	var base, head strings.Builder
	for range maxDiffWords {
		base.WriteString("a b ")
		head.WriteString("b a ")
	}
	parts := wordDiff("start "+base.String()+"end", "start "+head.String()+"end")
	if len(parts) != 4 || parts[0].text != "start " || parts[3].text != " end" {
		t.Errorf("%d parts, %q", len(parts), parts[0].text)
	}
	far := strings.Repeat("far ", 500)
	got := text(folded(wordDiff(far+"old "+far+"old "+far, far+"new "+far+"new "+far)))
	if strings.Count(got, "…") != 3 || len(got) > 6*context || !strings.Contains(got, "[-old][+new]") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// FuzzWordDiff: the parts without the added ones are the base, and those without the
// removed ones the head.
func FuzzWordDiff(f *testing.F) {
	f.Add("a b  c\nd", "a x c\n\nd")
	f.Add("one", " one ")
	f.Add("\xff a", "a \xff")
	f.Add("a b c d e", "c b a e d")
	f.Fuzz(func(t *testing.T, base, head string) {
		if len(base) > maxDiffBytes || len(head) > maxDiffBytes {
			return
		}
		parts := wordDiff(base, head)
		var b, h strings.Builder
		for i, p := range parts {
			if p.text == "" || i > 0 && p.op == parts[i-1].op {
				t.Errorf("part %d is empty or belongs to the one before: %q", i, text(parts))
			}
			if p.op != '+' {
				b.WriteString(p.text)
			}
			if p.op != '-' {
				h.WriteString(p.text)
			}
		}
		if b.String() != base || h.String() != head {
			t.Errorf("%q and %q became %q", base, head, text(parts))
		}
		if changed(parts) != (base != head) {
			t.Errorf("%q and %q: changed is %v", base, head, changed(parts))
		}
	})
}
