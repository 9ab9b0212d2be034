package regex

import (
	"io"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// hasPairs reports whether s may hold astral characters or lone surrogates.
func hasPairs(s string) bool { return search(s, true) }

// hasLone reports whether s holds a lone surrogate.
func hasLone(s string) bool { return search(s, false) }

func search(s string, astral bool) bool {
	i := 0
	for i < len(s) {
		for len(s)-i >= 8 { // eight ASCII characters at a time
			const high = 0x8080808080808080
			b := s[i : i+8] // one bounds check instead of eight
			w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
				uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
			if w&high != 0 {
				break
			}
			i += 8
		}
		for end := min(i+8, len(s)); i < end; i++ {
			c := s[i]
			if c < 0xed {
				continue
			}
			if c >= 0xf0 && astral || c == 0xed && i+1 < len(s) && s[i+1] >= 0xa0 {
				return true
			}
		}
	}
	return false
}

// unitReader feeds a text to Go's engine, one element at a time, and stops when
// time runs out. In a shadow text (see translate.go) an astral character is two
// elements, of one and of three bytes.
type unitReader struct {
	s     string
	i     int
	low   rune         // second half of a pair, to return next; 0 if none
	pairs bool         // shadow text
	stop  func() error // says why no time is left
	ticks int
	every int   // elements between two checks of the clock
	err   error // why the text was cut off
}

// ReadRune returns the next element and its length in bytes.
func (r *unitReader) ReadRune() (rune, int, error) {
	if r.ticks++; r.ticks%r.every == 0 && r.err == nil {
		r.err = r.stop()
	}
	if r.err != nil {
		return 0, 0, io.EOF
	}
	if r.low != 0 {
		low := r.low
		r.low = 0
		return low, 3, nil
	}
	if r.i >= len(r.s) {
		return 0, 0, io.EOF
	}
	if c := r.s[r.i]; c < utf8.RuneSelf {
		r.i++
		return rune(c), 1, nil
	}
	if u, ok := value.SurrogateAt(r.s, r.i); ok {
		r.i += 3
		return u + shadow, 3, nil
	}
	c, n := utf8.DecodeRuneInString(r.s[r.i:])
	r.i += n
	if c > maxUnit && r.pairs {
		c -= 0x10000
		r.low = shadow + 0xdc00 + c&0x3ff
		return shadow + surrogateMin + c>>10, 1, nil
	}
	return c, n, nil
}

// offsets turns ascending positions in UTF-16 code units into byte offsets, in
// place. A position between the halves of a pair becomes the beginning of the
// character at even indexes and its end at odd ones.
func offsets(s string, at []int) {
	i, units := 0, 0
	for k, want := range at {
		for units < want && i < len(s) {
			_, n := utf8.DecodeRuneInString(s[i:])
			if _, ok := value.SurrogateAt(s, i); ok {
				n = 3
			}
			width := 1
			if n == 4 {
				width = 2
			}
			if units+width > want && k%2 == 0 {
				break
			}
			i += n
			units += width
		}
		at[k] = i
	}
}
