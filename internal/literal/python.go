package literal

import (
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
)

// pythonToken matches a token of Python, or text that may separate two tokens.
var pythonToken = pattern.Of(`(?s)^(?:([ \t\f]+|\\\n|#[^\n]*)|` +
	`([rbuftRBUFT]{0,2}(?:` +
	`"""((?:\\.|[^\\])*?(?:\\\z)?)(?:"""|\z)|` +
	`'''((?:\\.|[^\\])*?(?:\\\z)?)(?:'''|\z)|` +
	`"((?:\\.|[^\\"\n])*(?:\\\z)?)"?|` +
	`'((?:\\.|[^\\'\n])*(?:\\\z)?)'?))|` +
	`([_\pL][_\pL\p{Nd}]*)|[0-9][0-9A-Za-z_]*|.)`)

// pythonTokens splits Python source. A token's depth is that of brackets and of
// indentation.
func pythonTokens(src string) []token {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	var tokens []token
	line, open, indent, fresh := 1, 0, 0, true
	for at := 0; at < len(src); {
		m := pythonToken.Get().FindStringSubmatch(src[at:])
		text, blank, quoted, word := m[0], m[1], m[2], m[7]
		switch {
		case text == "\n":
			fresh = open == 0
		case blank == "":
			if fresh { // first token of a line
				indent, fresh = at-(strings.LastIndexByte(src[:at], '\n')+1), false
			}
			t := token{kind: punct, text: text, line: line}
			switch {
			case quoted != "":
				prefix := strings.ToLower(quoted[:strings.IndexAny(quoted, `"'`)])
				t.kind, t.text, t.parts = str, "", pythonParts(prefix, m[3]+m[4]+m[5]+m[6])
			case word != "":
				t.kind = name
			case strings.Contains(")]}", text):
				open = max(0, open-1)
			}
			t.depth = open + indent
			tokens = append(tokens, t)
			if strings.Contains("([{", text) {
				open++
			}
		}
		line += strings.Count(text, "\n")
		at += len(text)
	}
	return tokens
}

// pythonParts reads the text between the quotes of a string.
func pythonParts(prefix, body string) []part {
	raw := strings.Contains(prefix, "r")
	if strings.ContainsAny(prefix, "ft") {
		return formatted(body, raw)
	}
	return []part{{text: pythonText(body, raw)}}
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

// closingBrace returns the index of the brace that closes the one at i, or the end.
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

// expressionOf removes conversion and format from an expression of an f-string.
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

// escape is an escape: of one character, \xhh, \uhhhh, \u{h…} or \Uhhhhhhhh.
var escape = pattern.Of(`\\(?:u\{[^}]{0,8}\}|x[[:xdigit:]]{2}|u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|[[:ascii:]])`)

// unescaped decodes escapes. Invalid ones are kept unchanged.
func unescaped(body string, single map[byte]string) string {
	return escape.Get().ReplaceAllStringFunc(body, func(e string) string {
		if len(e) > 2 {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(e[2:], "{"), "}"), 16, 32)
			if err != nil {
				return ""
			}
			return string(rune(n))
		}
		if text, ok := single[e[1]]; ok {
			return text
		}
		return e
	})
}
