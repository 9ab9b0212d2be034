package ngram

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// Fields splits text at white space like JavaScript's text.trim().split(/\s+/): a
// blank text is one empty word. The words share the memory of text.
func Fields(text string) []string {
	words := make([]string, 0, strings.Count(text, " ")+1)
	start := -1 // start of the current word
	for i := 0; i < len(text); {
		if start < 0 && dark[text[i]] {
			start = i
		}
		for i < len(text) && dark[text[i]] {
			i++
		}
		if i == len(text) {
			break
		}
		space, size := text[i] < utf8.RuneSelf, 1
		if !space {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			space = value.IsSpace(r)
		}
		switch {
		case space && start >= 0:
			words = append(words, text[start:i])
			start = -1
		case !space && start < 0:
			start = i
		}
		i += size
	}
	if start >= 0 {
		words = append(words, text[start:])
	}
	if len(words) == 0 {
		words = append(words, "")
	}
	return words
}

// dark are the bytes of ASCII that are not white space.
var dark = func() (bytes [256]bool) {
	for c := range utf8.RuneSelf {
		bytes[c] = !value.IsSpace(rune(c))
	}
	return bytes
}()

// TrimPeriods returns words without the full stops at their ends. If there are
// none it returns words itself.
func TrimPeriods(words []string) []string {
	for i, w := range words {
		if !strings.HasSuffix(w, ".") {
			continue
		}
		trimmed := make([]string, len(words))
		copy(trimmed, words[:i])
		for j := i; j < len(words); j++ {
			trimmed[j] = strings.TrimRight(words[j], ".")
		}
		return trimmed
	}
	return words
}
