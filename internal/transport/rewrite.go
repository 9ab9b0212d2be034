package transport

import (
	"bytes"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// rewrite replaces those strings and numbers of a valid JSON text that hide changes,
// and leaves every other byte as it is. It passes hide whether a string is a member
// with the name of a secret.
func rewrite(raw []byte, hide func(text string, secret bool) string) []byte {
	var out bytes.Buffer
	secret := false
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case c == '"':
			end = i + literal(raw[i:])
			text := unquoted(raw[i:end])
			hidden := hide(text, secret)
			secret = isName(raw[end:]) && proviso.IsSecret(text)
			put(&out, raw[i:end], text, hidden)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(raw) && bytes.IndexByte([]byte("0123456789.eE+-"), raw[end]) >= 0 {
				end++
			}
			number := string(raw[i:end])
			put(&out, raw[i:end], number, hide(number, false))
		default:
			out.WriteByte(c)
			secret = secret && c != '{' && c != '[' && c != ','
		}
		i = end
	}
	return out.Bytes()
}

// put writes the text as it was, or what it became as a string.
func put(out *bytes.Buffer, raw []byte, was, is string) {
	if was == is {
		out.Write(raw)
		return
	}
	out.Write(value.AppendQuoted(nil, is))
}

// isName reports whether a string that after follows is the name of a member.
func isName(after []byte) bool {
	for _, c := range after {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}

// literal is the length of the string literal that raw begins with.
func literal(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// unquoted decodes a string literal.
func unquoted(literal []byte) string {
	v, _ := value.ParseJSON(string(literal))
	text, _ := v.(string)
	return text
}
