package report

import (
	"strings"
	"unicode"
)

// Printable replaces characters that would control the terminal: control characters, and
// those that change the direction of text. It keeps line breaks and tabs.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Message is [Printable] for text in a CI log: commands such as ::error:: and ##[error] get
// a backslash and have no effect.
func Message(s string) string {
	s = Printable(s)
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") {
			b.WriteByte('\\')
		}
		from := 0
		for i := range len(line) {
			if line[i] == '[' && opensCommand(line[from:i]) {
				b.WriteString(line[from:i] + `\`)
				from = i
			}
		}
		b.WriteString(line[from:])
	}
	return b.String()
}

// OneLine replaces each run of white space in s by one space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
