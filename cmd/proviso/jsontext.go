package main

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// escaped writes JSON without characters that control a terminal or turn the direction of
// text. They can only be in its texts, where an escape means the same.
func escaped(json []byte) []byte {
	var out []byte
	from := 0
	for at := 0; at < len(json); {
		r, size := utf8.DecodeRune(json[at:])
		if r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) {
			out = append(out, json[from:at]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = at + size
		}
		at += size
	}
	if from == 0 {
		return json
	}
	return append(out, json[from:]...)
}
