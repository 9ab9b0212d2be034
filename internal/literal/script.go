package literal

import (
	"strings"

	"github.com/proviso-eval/proviso/internal/jstoken"
)

// scriptTokens splits JavaScript and TypeScript. A template, including everything
// inserted into it, is one string.
func scriptTokens(src string) []token {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	s := &scripts{src: src, scanner: jstoken.New(src), line: 1}
	for {
		t, ok := s.scanner.Next()
		if !ok {
			return s.tokens
		}
		s.token(t)
	}
}

type scripts struct {
	src     string
	scanner *jstoken.Scanner
	at      int // position up to which lines are counted
	line    int
	open    int
	tokens  []token
}

func (s *scripts) token(t jstoken.Token) {
	s.line += strings.Count(s.src[s.at:t.Start], "\n")
	s.at = t.Start
	text := s.scanner.Text(t)
	out := token{kind: punct, text: text, line: s.line, depth: s.open}
	switch t.Kind {
	case jstoken.Name:
		out.kind = name
	case jstoken.String:
		out.kind, out.text, out.parts = str, "", []part{{text: scriptText(strings.Trim(text, text[:1]))}}
		if len(text) >= 2 {
			out.parts[0].text = scriptText(text[1 : len(text)-1])
		}
	case jstoken.Template:
		if strings.HasPrefix(text, "`") {
			out.kind, out.text, out.parts = str, "", s.template(t)
		}
	case jstoken.Punct:
		switch text {
		case "(", "[", "{":
			s.open++
		case ")", "]", "}":
			s.open = max(0, s.open-1)
			out.depth = s.open
		}
	}
	s.tokens = append(s.tokens, out)
}

// template reads a template to its end.
func (s *scripts) template(t jstoken.Token) []part {
	var parts []part
	for {
		text := s.scanner.Text(t)
		ends := !strings.HasSuffix(text, "${")
		body := strings.TrimSuffix(strings.TrimSuffix(text[1:], "${"), "`")
		parts = append(parts, part{text: scriptText(body)})
		if ends {
			return parts
		}
		start, nested, ok := t.End, 0, false
		for {
			if t, ok = s.scanner.Next(); !ok {
				return parts
			}
			if t.Kind != jstoken.Template {
				continue
			}
			text := s.scanner.Text(t)
			switch {
			case strings.HasPrefix(text, "}") && nested == 0:
			case strings.HasPrefix(text, "`") && strings.HasSuffix(text, "${"):
				nested++
				continue
			case strings.HasPrefix(text, "}") && !strings.HasSuffix(text, "${"):
				nested--
				continue
			default:
				continue
			}
			break
		}
		parts = append(parts, part{name: named(s.src[start:t.Start])})
	}
}

// scriptText decodes the escapes of a string or a template.
func scriptText(body string) string {
	if !strings.Contains(body, `\`) {
		return body
	}
	return unescaped(body, map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, '`': "`", '$': "$", '{': "{", '\n': "", 'b': "\b", 'f': "\f", 'v': "\v", '0': "\x00"})
}
