package literal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pythonTokens splits Python source. Its depth is that of brackets and of indentation.
func pythonTokens(src string) []token {
	s := &source{text: strings.ReplaceAll(src, "\r\n", "\n"), line: 1, fresh: true}
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == '\n':
			s.line++
			s.at++
			s.fresh = s.open == 0
		case c == ' ' || c == '\t' || c == '\f':
			s.at++
		case c == '\\' && strings.HasPrefix(s.text[s.at+1:], "\n"):
			s.at++
			s.line++
			s.at++
		case c == '#':
			s.to(s.at + max(0, strings.IndexByte(s.text[s.at:]+"\n", '\n')))
		default:
			s.indentation()
			s.pythonToken(c)
		}
	}
	return s.tokens
}

// source is what is left of a source.
type source struct {
	text   string
	at     int
	line   int
	open   int  // brackets
	indent int  // of the line
	fresh  bool // a line begins
	tokens []token
}

func (s *source) to(end int) {
	s.line += strings.Count(s.text[s.at:end], "\n")
	s.at = end
}

func (s *source) indentation() {
	if s.fresh {
		s.indent = s.at - (strings.LastIndexByte(s.text[:s.at], '\n') + 1)
		s.fresh = false
	}
}

func (s *source) add(t token) {
	t.depth = s.open + s.indent
	s.tokens = append(s.tokens, t)
}

func (s *source) pythonToken(c byte) {
	line := s.line
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	if c == '"' || c == '\'' {
		s.pythonString("")
		return
	}
	if c == '_' || unicode.IsLetter(r) {
		end := s.at + size
		for end < len(s.text) {
			r, n := utf8.DecodeRuneInString(s.text[end:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			end += n
		}
		word := s.text[s.at:end]
		if end < len(s.text) && (s.text[end] == '"' || s.text[end] == '\'') && len(word) <= 2 && strings.Trim(strings.ToLower(word), "rbuft") == "" {
			s.at = end
			s.pythonString(strings.ToLower(word))
			return
		}
		s.add(token{kind: name, text: word, line: line})
		s.at = end
		return
	}
	if c >= '0' && c <= '9' {
		end := s.at + 1
		for end < len(s.text) && (s.text[end] == '_' || isAlphanumeric(s.text[end])) {
			end++
		}
		s.add(token{kind: punct, text: s.text[s.at:end], line: line})
		s.at = end
		return
	}
	switch c {
	case '(', '[', '{':
		s.add(token{kind: punct, text: string(c), line: line})
		s.open++
	case ')', ']', '}':
		s.open = max(0, s.open-1)
		s.add(token{kind: punct, text: string(c), line: line})
	default:
		s.add(token{kind: punct, text: s.text[s.at : s.at+size], line: line})
	}
	s.at += size
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pythonString reads a string that begins at its quote.
func (s *source) pythonString(prefix string) {
	line := s.line
	quote := s.text[s.at : s.at+1]
	if strings.HasPrefix(s.text[s.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	start := s.at + len(quote)
	end, closed := start, false
	for end < len(s.text) {
		switch {
		case s.text[end] == '\\':
			end++
		case strings.HasPrefix(s.text[end:], quote):
			closed = true
		case s.text[end] == '\n' && len(quote) == 1:
			closed = true // it is not closed in its line
			quote = ""
		}
		if closed {
			break
		}
		end++
	}
	end = min(end, len(s.text))
	body := s.text[start:end]
	raw := strings.Contains(prefix, "r")
	parts := []part{{text: pythonText(body, raw)}}
	if strings.ContainsAny(prefix, "ft") {
		parts = formatted(body, raw)
	}
	s.add(token{kind: str, parts: parts, line: line})
	s.to(min(len(s.text), end+len(quote)))
}

// formatted splits an f-string into texts and expressions (PEP 498 and 701).
func formatted(body string, raw bool) []part {
	var parts []part
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, part{text: pythonText(text.String(), raw)})
			text.Reset()
		}
	}
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\' && !raw && strings.HasPrefix(body[i:], `\N{`):
			end := strings.IndexByte(body[i:], '}')
			if end < 0 {
				end = len(body) - i - 1
			}
			text.WriteString(body[i : i+end+1])
			i += end
		case (c == '{' || c == '}') && i+1 < len(body) && body[i+1] == c:
			text.WriteByte(c)
			i++
		case c == '{':
			end := closingBrace(body, i)
			flush()
			parts = append(parts, part{name: expressionOf(body[i+1 : end])})
			i = end
		default:
			text.WriteByte(c)
		}
	}
	flush()
	if len(parts) == 0 {
		parts = []part{{}}
	}
	return parts
}

// closingBrace returns the brace that closes the one at i, or the end.
func closingBrace(body string, i int) int {
	open := 0
	quote := byte(0)
	for ; i < len(body); i++ {
		switch c := body[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{' || c == '(' || c == '[':
			open++
		case c == '}' || c == ')' || c == ']':
			if open--; open == 0 {
				return i
			}
		}
	}
	return len(body)
}

// expressionOf takes conversion and format away from an expression of an f-string.
func expressionOf(text string) string {
	open := 0
	for i, c := range text {
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		case ':', '!':
			if open == 0 && !strings.HasPrefix(text[i:], "!=") {
				text = text[:i]
				return named(text)
			}
		}
	}
	return named(text)
}

func named(text string) string {
	text = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), "="))
	if text == "" {
		return "value"
	}
	return text
}

// pythonText decodes the escapes of a string.
func pythonText(body string, raw bool) string {
	if raw || !strings.Contains(body, `\`) {
		return body
	}
	return unescaped(body, map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, '\n': "", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '0': "\x00"})
}

// unescaped decodes escapes: those of one character, \xhh, \uhhhh, \u{h…} and \Uhhhhhhhh.
// Others stay as they are.
func unescaped(body string, single map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			b.WriteByte(body[i])
			continue
		}
		next := body[i+1]
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[next]
		text, ok := single[next]
		switch {
		case next == 'u' && strings.HasPrefix(body[i+2:], "{") && strings.IndexByte(body[i:min(i+12, len(body))], '}') > 0:
			end := i + strings.IndexByte(body[i:], '}')
			if n, err := strconv.ParseUint(body[i+3:end], 16, 32); err == nil {
				b.WriteRune(rune(n))
			}
			i = end
		case digits > 0 && i+2+digits <= len(body):
			n, err := strconv.ParseUint(body[i+2:i+2+digits], 16, 32)
			if err != nil {
				b.WriteByte('\\')
				continue
			}
			b.WriteRune(rune(n))
			i += 1 + digits
		case ok:
			b.WriteString(text)
			i++
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}
