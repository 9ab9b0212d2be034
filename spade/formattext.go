package spade

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func meant(name string, valid []string) string {
	if near := document.Nearest(name, valid); near != "" {
		return " (did you mean " + value.Stringify(near) + "?)"
	}
	return ""
}

// cut returns the beginning of a text, in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// middleOut shortens a text to about so many bytes, with a note of where and how much.
func middleOut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := cut(text, most*3/4), text[len(text)-most/4:]
	tail = strings.ToValidUTF8(tail, "")
	return fmt.Sprintf("%s\n[… %d bytes are left out here …]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// excerpt shortens a model's text for a message.
func excerpt(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(cut(text, 8*most)), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

// unixLines removes a byte order mark and makes all line ends \n.
func unixLines(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
}

// firstOf returns the message of the first error.
func firstOf(list []*proviso.Error) string {
	if len(list) == 0 {
		return "nothing was left of it"
	}
	return list[0].Error()
}
