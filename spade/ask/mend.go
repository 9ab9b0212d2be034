package ask

import "strings"

// mended rewrites the object or list at the start of a text as JSON, and returns it with its
// length in the text. It corrects model mistakes that have only one reading: trailing commas,
// single quotation marks, unquoted names, line breaks in strings, escapes that JSON does not
// have (such as \d in a pattern), unescaped quotation marks inside a string, comments, and
// True, False and None. It does not complete an object or list without an end: then it returns
// "" and how much it read.
func mended(text string) (strict string, length int) {
	m := mender{text: text}
	for m.at < len(text) {
		if c := text[m.at]; c == '"' || c == '\'' {
			if !m.quoted(c) {
				return "", len(text)
			}
			continue
		} else if !m.other(c) {
			return "", m.at + 1
		}
		if m.depth == 0 {
			return m.out.String(), m.at
		}
	}
	return "", len(text)
}

// mender is the state of mending one text.
type mender struct {
	text  string
	at    int
	depth int
	out   strings.Builder
}

// maxDepth bounds how deeply the objects of a reply are nested.
const maxDepth = 64

// other writes what is outside of strings.
func (m *mender) other(c byte) bool {
	rest := m.text[m.at:]
	switch {
	case c == '{' || c == '[':
		m.depth++
	case c == '}' || c == ']':
		m.depth--
	case c == ',':
		after := m.skipped(m.at + 1)
		if after < len(m.text) && strings.IndexByte("}]", m.text[after]) >= 0 {
			m.at = after
			return true
		}
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
		m.at = m.skipped(m.at)
		return true
	case isLetter(c):
		m.word()
		return true
	}
	m.out.WriteByte(c)
	m.at++
	return m.depth <= maxDepth
}

// word writes a name or a keyword.
func (m *mender) word() {
	end := m.at
	for end < len(m.text) && (isLetter(m.text[end]) || m.text[end] >= '0' && m.text[end] <= '9') {
		end++
	}
	word := m.text[m.at:end]
	number := m.at > 0 && strings.IndexByte("0123456789.", m.text[m.at-1]) >= 0 // the e of 1e5
	m.at = end
	after := m.skipped(end)
	switch {
	case number:
	case after < len(m.text) && m.text[after] == ':':
		word = `"` + word + `"`
	case word == "True", word == "False":
		word = strings.ToLower(word)
	case word == "None":
		word = "null"
	}
	m.out.WriteString(word)
}

// skipped returns the position after the white space and comments that start at at.
func (m *mender) skipped(at int) int {
	for at < len(m.text) {
		rest := m.text[at:]
		end := -1
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			end = 1
		case strings.HasPrefix(rest, "//"):
			end = strings.IndexByte(rest, '\n')
		case strings.HasPrefix(rest, "/*"):
			if end = strings.Index(rest, "*/"); end >= 0 {
				end += 2
			}
		default:
			return at
		}
		if end < 0 {
			return len(m.text)
		}
		at += end
	}
	return at
}

// quoted writes a string as JSON; it returns false if the string does not end.
func (m *mender) quoted(quote byte) bool {
	m.out.WriteByte('"')
	for m.at++; m.at < len(m.text); m.at++ {
		switch c := m.text[m.at]; {
		case c == '\\' && m.at+1 < len(m.text):
			m.at++
			m.escaped(m.text[m.at])
		case c == quote && m.ends(m.at+1):
			m.out.WriteByte('"')
			m.at++
			return true
		case c == '"':
			m.out.WriteString(`\"`)
		case c == '\n':
			m.out.WriteString(`\n`)
		case c == '\r':
			m.out.WriteString(`\r`)
		case c == '\t':
			m.out.WriteString(`\t`)
		default:
			m.out.WriteByte(c)
		}
	}
	return false
}

// escaped writes a backslash and the byte after it. If the two are no JSON escape, such as \d
// in a pattern, the backslash is literal.
func (m *mender) escaped(c byte) {
	switch {
	case c == '\'':
		m.out.WriteByte(c)
	case c == 'u' && !hexadecimal(m.text[m.at+1:min(len(m.text), m.at+5)]), strings.IndexByte(`"\/bfnrtu`, c) < 0:
		m.out.WriteString(`\\`)
		m.at-- // it is written like any other byte
	default:
		m.out.WriteByte('\\')
		m.out.WriteByte(c)
	}
}

func hexadecimal(text string) bool {
	return len(text) == 4 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// ends reports whether the text after a quotation mark shows that the mark ended a string.
func (m *mender) ends(at int) bool {
	at = m.skipped(at)
	return at < len(m.text) && strings.IndexByte(",:]}", m.text[at]) >= 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
