package report

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// passage is a text with a marked part, as byte offsets.
type passage struct {
	name       string // name shown before the line
	text       string
	start, end int // bounds of the marked part; equal if something is missing there
	plain      bool
}

// maxCompared limits how many bytes of an output are searched for the difference.
const maxCompared = 1 << 20

// compare returns where an output differs from the expected value. It returns nil for types
// whose reason is sufficient. Output and value are values of package value.
func compare(types proviso.Types, kind string, value, output any) []passage {
	facts := types.Of(kind)
	if facts == nil || facts.Match == proviso.MatchNone {
		return nil
	}
	got := textOf(output)
	if len(got) > maxCompared {
		got = got[:maxCompared]
	}
	if strings.HasPrefix(kind, "not-") {
		return forbidden(facts, value, got)
	}
	want := textOf(value)
	switch facts.Match {
	case proviso.MatchWhole:
		if _, isText := value.(string); !isText {
			got = canonical(got)
		}
		return differing(want, got)
	case proviso.MatchStart:
		return differingAt(want, got, 0, len(want))
	case proviso.MatchEnd:
		at := excerpt.Start(got, max(0, len(got)-len(want)))
		return differingAt(want, got, at, len(got))
	case proviso.MatchPart:
		return nearest(want, got, facts.FoldsCase)
	}
	return nil
}

// textOf returns a value as text assertions see it.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if _, undefined := v.(value.Undefined); undefined {
		return ""
	}
	return value.Stringify(v)
}

// canonical returns JSON text in proviso's format, so that white space does not count as a
// difference.
func canonical(text string) string {
	if v, err := value.ParseReply(context.Background(), text); err == nil {
		return value.Stringify(v)
	}
	return text
}

// differing marks the parts of two texts between their common prefix and suffix.
func differing(want, got string) []passage {
	if want == got {
		return nil // they differ in kind, as the reason explains
	}
	start := commonPrefix(want, got)
	tail := commonSuffix(want[start:], got[start:])
	return []passage{
		{name: "expected", text: want, start: start, end: len(want) - tail},
		{name: "got", text: got, start: start, end: len(got) - tail},
	}
}

// differingAt compares want with got[at:end].
func differingAt(want, got string, at, end int) []passage {
	same := commonPrefix(want, got[at:])
	end = excerpt.Start(got, min(max(end, at+same), len(got)))
	return []passage{
		{name: "expected", text: want, start: same, end: len(want)},
		{name: "got", text: got, start: at + same, end: end},
	}
}

// nearest finds the longest prefix of want that occurs in got, and marks the text after it.
func nearest(want, got string, fold bool) []passage {
	w, g := want, got
	if fold {
		w, g = lowerASCII(want), lowerASCII(got)
	}
	// If a prefix occurs, shorter ones do too, so binary search finds the longest.
	low, high := 0, min(len(w), maxNeedle)
	for low < high {
		middle := (low + high + 1) / 2
		if strings.Contains(g, w[:middle]) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	same := excerpt.Start(want, low)
	if same < minShared || same == len(want) {
		return []passage{{name: "expected", text: want, plain: true}, {name: "got", text: got, plain: true}}
	}
	return differingAt(want, got, strings.Index(g, w[:same]), strings.Index(g, w[:same])+len(want))
}

const (
	minShared = 3 // shorter matches are chance
	maxNeedle = 4096
)

// forbidden marks text that must not occur.
func forbidden(facts *proviso.TypeFacts, value any, got string) []passage {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, v := range list {
		want, g := textOf(v), got
		switch facts.Match {
		case proviso.MatchPart, proviso.MatchAnyOne:
		case proviso.MatchStart:
			g = got[:min(len(got), len(want))]
		default:
			return nil
		}
		if facts.FoldsCase {
			want, g = lowerASCII(want), lowerASCII(g)
		}
		if at := strings.Index(g, want); at >= 0 && want != "" {
			return []passage{{name: "found", text: got, start: at, end: at + len(want)}}
		}
	}
	return nil
}

// lowerASCII lowers only ASCII letters, so every offset stays valid.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// commonPrefix returns the length of the common prefix, in whole characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return min(excerpt.Start(a, n), excerpt.Start(b, n))
}

// commonSuffix returns the length of the common suffix, in whole characters.
func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// show returns the passage on one line of at most the given cells, and the column and width
// of its marked part in cells. It shortens long texts on both sides of the mark.
func (x *passage) show(cells int) (line string, at, n int) {
	if x.plain {
		return cut(x.text, cells), 0, 0
	}
	before := ""
	from := excerpt.Start(x.text, max(0, x.start-maxEscape*cells))
	lead := clean(x.text[from:x.start])
	if room := cells / 3; cellsOf(lead) > room && cellsOf(clean(x.text[from:min(len(x.text), x.start+cells)])) > cells {
		before = "…"
		for cellsOf(lead) > room-1 {
			_, size := utf8.DecodeRuneInString(lead)
			lead = lead[size:]
		}
	} else if from > 0 {
		before = "…"
	}
	head := before + lead
	at = cellsOf(head)
	line = head + cutAfter(head, x.text[x.start:], cells-at)
	marked := cellsOf(cutAfter(head, x.text[x.start:x.end], cells-at))
	return line, at, max(1, min(marked, cells-at))
}
