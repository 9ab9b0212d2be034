package rowscan

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/value"
)

// walk reads a document with the scanner as a reader of rows does: members of objects,
// elements of arrays, texts and numbers, and every other value skipped.
func walk(s *Scanner, seen *[]string) {
	s.space()
	if s.bad || s.i >= len(s.b) {
		s.bad = true
		return
	}
	switch s.b[s.i] {
	case '{':
		s.Members(func(key []byte) {
			*seen = append(*seen, "k"+string(key))
			if len(key)%3 == 0 { // others are skipped
				walk(s, seen)
			}
		})
	case '[':
		s.Elements(func() { walk(s, seen) })
	case '"':
		*seen = append(*seen, "s"+s.Text())
	default:
		*seen = append(*seen, "v"+string(s.Skip()))
	}
}

// FuzzScanner: valid JSON is read to its end with the same values as by the parser,
// and other text causes no panic or hang.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{}`, `[]`, `{"abc":[1,-2.5e3,true,null,"x\"}\\",{"a":"\ud83d\ude00"}]}`, ` { "k" : [ ] , "abc" : "\\" } `,
		`{"abc"`, `{"abc":}`, `{"abc":1,}`, `[1 2]`, `]`, `{"a":"\`, "{\"a\":1}\x00", `"\q"`, strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "[")+strings.Count(text, "{") > 1000 {
			return // walk calls itself; skip does not
		}
		s := Scanner{b: []byte(text)}
		var seen []string
		walk(&s, &seen)
		whole := s.Whole()
		v, err := value.ParseJSON(text)
		if err == nil && !whole {
			t.Errorf("%q is valid, and the scanner stops at %d", text, s.i)
		}
		if text, ok := v.(string); ok && err == nil && (len(seen) != 1 || seen[0] != "s"+text) {
			t.Errorf("%q was read as %q", text, seen)
		}
	})
}

// TestScannerSkips: a value is skipped as one piece of text, regardless of its
// strings.
func TestScannerSkips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`"a\"}]" ,`, `"a\"}]"`},
		{`"a\\" ,`, `"a\\"`},
		{` {"a":[1,{"b":"]}"}],"c":{}} ]`, `{"a":[1,{"b":"]}"}],"c":{}}`},
		{`-1.5e+7}`, `-1.5e+7`},
		{`null`, `null`},
		{`[]x`, `[]`},
		{`[1,`, ``},
		{`}`, ``},
		{`"abc`, ``},
		{``, ``},
		{strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5), strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5)},
	} {
		s := Scanner{b: []byte(c.text)}
		if got := string(s.Skip()); got != c.want || s.bad != (c.want == "") {
			t.Errorf("%.40q: skipped %.40q, bad %v", c.text, got, s.bad)
		}
	}
}
