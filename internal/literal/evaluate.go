package literal

import (
	"strings"
	"unicode"
)

// node is a text composed of parts.
type node struct {
	parts   []part
	joined  *string // separator of the parts; nil joins them without one
	strip   bool    // surrounding white space is removed
	dedent  bool    // white space at the beginning of all lines is removed
	literal bool    // it contains a literal, and is not only a name
}

// part is a text, its stand-in in the source, or a node.
type part struct {
	text string
	name string
	node *node
}

// evaluation composes a text.
type evaluation struct {
	defined map[string]*definition
	numbers map[string]string
	steps   int
	size    int
	tooLong bool
	open    []string // names that are being resolved
}

// text returns the text of a node; ok is false if the node contains no literal.
func (e *evaluation) text(n node, depth int) (text string, ok bool) {
	ok = n.literal
	var b strings.Builder
	for i, p := range n.parts {
		if e.steps++; e.steps > maxSteps || depth > maxNest || e.size > maxText {
			e.tooLong = true
			return "", false
		}
		if i > 0 && n.joined != nil {
			b.WriteString(*n.joined)
		}
		piece, has := p.text, false
		switch {
		case p.node != nil:
			piece, has = e.text(*p.node, depth+1)
		case p.name != "":
			piece, has = e.named(p.name, depth)
		}
		ok = ok || has
		e.size += len(piece)
		b.WriteString(piece)
	}
	text = b.String()
	if n.dedent {
		text = dedented(text)
	}
	if n.strip {
		text = strings.TrimSpace(text)
	}
	return text, ok && !e.tooLong
}

// named returns the text of a name in the same file, or a variable in braces.
func (e *evaluation) named(name string, depth int) (string, bool) {
	d := e.defined[name]
	for _, open := range e.open {
		if open == name {
			d = nil // its definition refers to itself
		}
	}
	if d != nil {
		e.open = append(e.open, name)
		text, ok := e.text(d.value, depth+1)
		e.open = e.open[:len(e.open)-1]
		if ok {
			return text, true
		}
	}
	if n := e.numbers[name]; n != "" {
		return n, false
	}
	return "{" + variable(name) + "}", false
}

// variable makes a variable name from an expression.
func variable(expression string) string {
	var b strings.Builder
	for _, r := range expression {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() > 40 {
			break
		}
	}
	if name := strings.Trim(b.String(), "_."); name != "" {
		return name
	}
	return "value"
}

// dedented removes the white space that all lines that are not blank begin with.
// Blank lines become empty.
func dedented(text string) string {
	lines := strings.Split(text, "\n")
	margin, known := "", false
	for _, l := range lines {
		body := strings.TrimLeft(l, " \t")
		if body == "" {
			continue
		}
		indent := l[:len(l)-len(body)]
		if !known {
			margin, known = indent, true
			continue
		}
		for !strings.HasPrefix(indent, margin) {
			margin = margin[:len(margin)-1]
		}
	}
	for i, l := range lines {
		if strings.TrimLeft(l, " \t") == "" {
			lines[i] = ""
		} else {
			lines[i] = strings.TrimPrefix(l, margin)
		}
	}
	return strings.Join(lines, "\n")
}
