package regex

import (
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Program returns the pattern in the syntax of package regexp/syntax (with its
// flags Perl): it matches somewhere in a text if and only if the expression matches
// somewhere in [Units] of the text. ok is false for patterns with the u flag, and
// for those that only a backtracking engine can decide.
func (r *Regexp) Program() (expr string, ok bool) {
	return r.program.text, r.re != nil && !r.unicode
}

// Units returns the UTF-16 code units of a text, which a pattern without the u flag
// matches. Surrogates are at their shadows.
func Units(text string) []rune {
	out := make([]rune, 0, len(text))
	for i := 0; i < len(text); {
		if u, ok := value.SurrogateAt(text, i); ok {
			out = append(out, u+shadow)
			i += 3
			continue
		}
		c, n := utf8.DecodeRuneInString(text[i:])
		i += n
		if c > maxUnit {
			c -= 0x10000
			out = append(out, shadow+surrogateMin+c>>10, shadow+0xdc00+c&0x3ff)
			continue
		}
		out = append(out, c)
	}
	return out
}

// Text returns the text with these [Units]. A surrogate without its other half
// becomes U+FFFD, and so does anything that is not a unit.
func Text(units []rune) string {
	out := make([]rune, 0, len(units))
	for i := 0; i < len(units); i++ {
		c := units[i]
		if c <= maxUnit {
			out = append(out, c)
			continue
		}
		high := c - shadow - surrogateMin
		if high >= 0 && high < 0x400 && i+1 < len(units) {
			if low := units[i+1] - shadow - 0xdc00; low >= 0 && low < 0x400 {
				out = append(out, 0x10000+high<<10+low)
				i++
				continue
			}
		}
		out = append(out, utf8.RuneError)
	}
	return string(out)
}
