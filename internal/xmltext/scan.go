package xmltext

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Contains searches text for elements that have all the required paths, which begin
// at the elements found. ok reports whether there are any, and some whether there
// is any element at all.
//
// An element is a start tag and the end tag of its name, with elements between
// them, or an empty-element tag. An end tag that does not match discards all open
// start tags before it. Adjacent elements are read as a whole, with the text
// between them; only if the whole cannot be read are they tried one by one. The
// inside of a part that was read is not tried separately.
func Contains(text string, required []string) (ok, some bool) {
	groups := find(text)
	read := extent{-1, -1} // the one whole that can contain other groups: the outermost
	for i, g := range groups {
		whole := extent{g[0].start, g[len(g)-1].end}
		if read.start <= whole.start && whole.end <= read.end {
			continue
		}
		decided, ok := whole.has(text, required)
		if ok {
			return true, true
		}
		if decided && i == 0 {
			read = whole
		}
		for _, e := range g {
			if decided {
				break
			}
			if _, ok := e.has(text, required); ok {
				return true, true
			}
		}
	}
	return false, len(groups) > 0
}

// extent is a part of the text.
type extent struct{ start, end int }

// has reads a part. It reports whether the part can be read, and whether it has all
// the required paths.
func (e extent) has(text string, required []string) (read, ok bool) {
	tree, err := Parse(text[e.start:e.end])
	if err != nil {
		return false, false
	}
	for _, path := range required {
		if !tree.Has(path) {
			return true, false
		}
	}
	return true, true
}

// frame is a start tag without its end tag so far.
type frame struct {
	name  string
	start int
	found []extent // elements inside
}

// find returns the elements of text that are in no other element, in groups of
// siblings. Elements outside of all unclosed start tags come first.
func find(text string) [][]extent {
	s := scanner{s: text}
	open := []frame{{}} // the first is the text itself
	var inner [][]extent
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		top := &open[len(open)-1]
		switch {
		case t.closing && len(open) > 1 && top.name == t.name:
			start := top.start
			open = open[:len(open)-1]
			top = &open[len(open)-1]
			top.found = append(top.found, extent{start, t.end})
		case t.closing:
			inner = collect(inner, open[1:])
			open = open[:1]
		case t.empty:
			top.found = append(top.found, extent{t.start, t.end})
		default:
			open = append(open, frame{name: t.name, start: t.start})
		}
	}
	return append(collect(nil, open), inner...)
}

func collect(groups [][]extent, open []frame) [][]extent {
	for _, f := range open {
		if len(f.found) > 0 {
			groups = append(groups, f.found)
		}
	}
	return groups
}

// scanned is a tag in a text that may not be XML.
type scanned struct {
	name           string
	start, end     int
	closing, empty bool
}

// scanner finds tags.
type scanner struct {
	s string
	i int

	// passed has a bit for every opening quote that a search for the end of a tag has
	// passed. A second search from there cannot find more than the first, so skipping
	// it keeps the time linear.
	passed []uint64
}

// next returns the next tag, or false at the end.
func (s *scanner) next() (scanned, bool) {
	for {
		n := strings.IndexByte(s.s[s.i:], '<')
		if n < 0 {
			return scanned{}, false
		}
		s.i += n
		rest := s.s[s.i:]
		ok := true
		switch {
		case strings.HasPrefix(rest, "<!--"):
			ok = s.skip("-->", len("<!--"))
		case strings.HasPrefix(rest, "<![CDATA["):
			ok = s.skip("]]>", len("<![CDATA["))
		case strings.HasPrefix(rest, "<?"):
			ok = s.skip("?>", len("<?"))
		case strings.HasPrefix(rest, "<!"):
			end := s.tagEnd(s.i+2, false)
			ok = end >= 0
			s.i = end
		default:
			if t, ok := s.tag(); ok {
				return t, true
			}
		}
		if !ok {
			return scanned{}, false
		}
	}
}

// skip moves past the next end after n bytes.
func (s *scanner) skip(end string, n int) bool {
	at := strings.Index(s.s[s.i+n:], end)
	s.i += n + at + len(end)
	return at >= 0
}

// tag reads the tag at s.i. If there is none, it moves past the <.
func (s *scanner) tag() (scanned, bool) {
	t := scanned{start: s.i}
	s.i++
	i := s.i
	if strings.HasPrefix(s.s[i:], "/") {
		t.closing = true
		i++
	}
	end := nameEnd(s.s, i)
	if end == i {
		return t, false
	}
	t.name = s.s[i:end]
	if t.end = s.tagEnd(end, true); t.end < 0 {
		return t, false
	}
	t.empty = !t.closing && strings.HasSuffix(strings.TrimRightFunc(s.s[end:t.end-1], value.IsSpace), "/")
	s.i = t.end
	return t, true
}

// tagEnd returns the offset after the > that ends a tag. It is -1 if there is none
// or, in a strict tag, if another < comes first. Between quotes neither counts.
func (s *scanner) tagEnd(i int, strict bool) int {
	for ; i < len(s.s); i++ {
		switch c := s.s[i]; c {
		case '>':
			return i + 1
		case '<':
			if strict {
				return -1
			}
		case '"', '\'':
			if strict && s.again(i) {
				return -1
			}
			n := strings.IndexByte(s.s[i+1:], c)
			if n < 0 {
				return -1
			}
			i += n + 1
		}
	}
	return -1
}

// again reports whether it was called with i before.
func (s *scanner) again(i int) bool {
	if s.passed == nil {
		s.passed = make([]uint64, len(s.s)/64+1)
	}
	word, bit := &s.passed[i/64], uint64(1)<<(i%64)
	was := *word&bit != 0
	*word |= bit
	return was
}
