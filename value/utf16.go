package value

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// SurrogateAt decodes the three-byte form in which this package holds a lone surrogate, at
// s[i:]. It returns false if there is none.
func SurrogateAt(s string, i int) (rune, bool) {
	if i+3 > len(s) || s[i] != 0xed || s[i+1] < 0xa0 || s[i+1] > 0xbf || s[i+2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[i+1]&0x3f)<<6 | rune(s[i+2]&0x3f), true
}

// WellFormed replaces each invalid UTF-8 byte of s by U+FFFD, as [AppendQuoted] does,
// so that keys that differ are written differently. Lone surrogates stay.
func WellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if _, lone := SurrogateAt(s, i); lone {
			n = 3
			b.WriteString(s[i : i+n])
		} else {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// UTF16Len returns the length of s in UTF-16 code units, which is what
// JavaScript calls its length.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if _, ok := SurrogateAt(s, i); ok {
			size = 3
		}
		if i += size; r > 0xffff {
			n++
		}
	}
	return n
}

// UTF16 returns s as UTF-16 code units, lone surrogates included.
func UTF16(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if u, ok := SurrogateAt(s, i); ok {
			units = append(units, uint16(u))
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		units = utf16.AppendRune(units, r)
		i += size
	}
	return units
}
