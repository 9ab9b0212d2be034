package regex

import (
	"slices"
	"unicode"
)

// The surrogate code units, and their code points in the text and the patterns that
// Go's engine reads (see translate.go).
const (
	surrogateMin = 0xd800
	surrogateMax = 0xdfff
	shadow       = 0x100000
	maxUnit      = 0xffff
)

// span is the range of code points from lo to hi.
type span struct{ lo, hi rune }

// set is a set of code points, or of UTF-16 code units without the u flag. The
// result of normal is sorted, and its spans neither touch nor overlap.
type set []span

func one(r rune) set { return set{{r, r}} }

// normal returns s sorted, with touching spans joined. It works in place.
func (s set) normal() set {
	slices.SortFunc(s, func(a, b span) int { return int(a.lo - b.lo) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, x.hi)
			continue
		}
		out = append(out, x)
	}
	return out
}

// complement returns the characters up to and including limit that are not in s.
func (s set) complement(limit rune) set {
	var out set
	next := rune(0)
	for _, x := range s {
		if x.lo > next {
			out = append(out, span{next, x.lo - 1})
		}
		next = x.hi + 1
	}
	if next <= limit {
		out = append(out, span{next, limit})
	}
	return out
}

// has reports whether r is in s.
func (s set) has(r rune) bool {
	_, ok := slices.BinarySearchFunc(s, r, func(x span, r rune) int {
		switch {
		case x.hi < r:
			return -1
		case x.lo > r:
			return 1
		}
		return 0
	})
	return ok
}

// covers reports whether all of lo to hi is in s.
func (s set) covers(lo, hi rune) bool {
	for _, x := range s {
		if x.lo <= lo && hi <= x.hi {
			return true
		}
	}
	return false
}

// meets reports whether any of lo to hi is in s.
func (s set) meets(lo, hi rune) bool {
	for _, x := range s {
		if x.lo <= hi && lo <= x.hi {
			return true
		}
	}
	return false
}

// size returns the number of members.
func (s set) size() int {
	n := 0
	for _, x := range s {
		n += int(x.hi-x.lo) + 1
	}
	return n
}

// fromTable returns the members of a table of package unicode.
func fromTable(t *unicode.RangeTable) set {
	var s set
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			s = append(s, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			s = append(s, span{r, r})
		}
	}
	for _, r := range t.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return s.normal()
}

// The sets of the class escapes and of the dot (ECMA-262, CharacterClassEscape
// and IsLineTerminator).

func digits() set { return set{{'0', '9'}} }

func wordChars() set { return set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} }

func spaces() set {
	return set{{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a},
		{0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}}
}

func lineEnds() set { return set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}} }
