package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cl100kPiece is the length of this pattern's match at the start of a text:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func cl100kPiece(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	first, width := utf8.DecodeRuneInString(text)
	if unicode.IsLetter(first) {
		return run(text, unicode.IsLetter)
	}
	if mayPrecedeWord(first) {
		if n := run(text[width:], unicode.IsLetter); n > 0 {
			return width + n
		}
	}
	return otherPiece(text, "\r\n")
}

// o200kPiece is the length of this pattern's match at the start of a text, where U
// is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and W is [\p{Ll}\p{Lm}\p{Lo}\p{M}]:
//
//	[^\r\n\p{L}\p{N}]?U*W+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?U+W*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func o200kPiece(text string) int {
	first, width := utf8.DecodeRuneInString(text)
	starts := []int{0}
	if mayPrecedeWord(first) {
		starts = []int{width, 0}
	}
	for _, word := range []func(string) int{lowerWord, upperWord} {
		for _, start := range starts {
			if n := word(text[start:]); n > 0 {
				end := start + n
				return end + contraction(text[end:])
			}
		}
	}
	return otherPiece(text, "\r\n/")
}

// lowerWord is the length of U*W+ at the start of a text, 0 if there is none.
func lowerWord(text string) int {
	upper := run(text, isUpper)
	if n := run(text[upper:], isLower); n > 0 {
		return upper + n
	}
	// The last character of U* that is also in W ends the match.
	at := strings.LastIndexFunc(text[:upper], isLower)
	if at < 0 {
		return 0
	}
	_, width := utf8.DecodeRuneInString(text[at:])
	return at + width
}

// upperWord is the length of U+W* at the start of a text, 0 if there is none.
func upperWord(text string) int {
	upper := run(text, isUpper)
	if upper == 0 {
		return 0
	}
	return upper + run(text[upper:], isLower)
}

func isUpper(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
}

func isLower(r rune) bool {
	return unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M)
}

// mayPrecedeWord is [^\r\n\p{L}\p{N}].
func mayPrecedeWord(r rune) bool {
	return r != '\r' && r != '\n' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// otherPiece is the length of a number, of punctuation with its trailing
// characters, or of white space, at the start of a text.
func otherPiece(text, trail string) int {
	if n := number(text); n > 0 {
		return n
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if n := run(text[start:], isOther); n > 0 {
		end := start + n
		return len(text) - len(strings.TrimLeft(text[end:], trail))
	}
	space := run(text, unicode.IsSpace)
	if at := strings.LastIndexAny(text[:space], "\r\n"); at >= 0 {
		return at + 1
	}
	if space < len(text) { // the last of several belongs to the text after it
		if _, width := utf8.DecodeLastRuneInString(text[:space]); width < space {
			return space - width
		}
	}
	return space
}

// isOther is [^\s\p{L}\p{N}].
func isOther(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// number is the length of \p{N}{1,3}, 0 if there is none.
func number(text string) int {
	n := 0
	for range 3 {
		r, width := utf8.DecodeRuneInString(text[n:])
		if !unicode.IsNumber(r) {
			break
		}
		n += width
	}
	return n
}

// contraction is the length of (?i:'s|'t|'re|'ve|'m|'ll|'d), 0 if there is none.
func contraction(text string) int {
	if text == "" || text[0] != '\'' {
		return 0
	}
	if strings.HasPrefix(text[1:], "ſ") { // an s in another case
		return 1 + len("ſ")
	}
	for _, end := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if len(text) > len(end) && strings.EqualFold(text[1:1+len(end)], end) {
			return 1 + len(end)
		}
	}
	return 0
}

// run is the length of the longest prefix of a text whose characters are in a set.
func run(text string, in func(rune) bool) int {
	for i, r := range text {
		if !in(r) {
			return i
		}
	}
	return len(text)
}
