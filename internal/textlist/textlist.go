// Package textlist converts between lists of texts and values of a suite: JSON
// lists, and lists written as one text with commas.
package textlist

import (
	"strings"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Of returns the texts of a list and leaves out other members. For a value that is
// not a list it returns nil.
func Of(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Values returns texts as a list of values.
func Values(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Split reads a list written as text: members separated by commas, trimmed, without
// empty ones. A member in double quotes keeps its commas and white space, with "",
// \" and \\ as escapes.
func Split(s string) ([]string, error) {
	list := []string{}
	for i := 0; ; {
		for i < len(s) && (s[i] == ',' || spaceAt(s, i) > 0) {
			i += max(1, spaceAt(s, i))
		}
		if i >= len(s) {
			return list, nil
		}
		if s[i] != '"' {
			end := strings.IndexByte(s[i:], ',')
			if end < 0 {
				end = len(s) - i
			}
			list = append(list, value.TrimSpace(s[i:i+end]))
			i += end
			continue
		}
		field, next, err := quotedField(s, i+1)
		if err != nil {
			return nil, err
		}
		list = append(list, field)
		i = next
	}
}

// quotedField reads from after the opening quote to the comma after the field.
func quotedField(s string, i int) (string, int, error) {
	var b strings.Builder
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'),
			s[i] == '"' && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			for i++; i < len(s) && spaceAt(s, i) > 0; {
				i += spaceAt(s, i)
			}
			if i < len(s) && s[i] != ',' {
				return "", 0, proviso.Errorf(proviso.Invalid, "expected a comma after the quoted text in the list, found %q", s[i:min(len(s), i+10)])
			}
			return b.String(), i, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, proviso.Errorf(proviso.Invalid, "a quoted text in the list is not closed")
}

// spaceAt returns the length of the white space character at i; 0 if there is none.
func spaceAt(s string, i int) int {
	if r, size := utf8.DecodeRuneInString(s[i:]); value.IsSpace(r) {
		return size
	}
	return 0
}
