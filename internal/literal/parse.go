package literal

import (
	"slices"
	"strings"
)

// kind is the kind of a token.
type kind uint8

const (
	name kind = iota
	str
	punct
)

// token is a piece of source.
type token struct {
	kind  kind
	text  string // text of a name or a punctuator
	parts []part // parts of a string
	line  int
	depth int // depth of brackets, or of indentation
}

// parser finds the names that a source defines.
type parser struct {
	tokens   []token
	adjacent bool // adjacent strings are concatenated
	nest     int
	defined  map[string]*definition
	others   map[string]int    // by name: line of a value that is not text
	numbers  map[string]string // whole numbers by name; "" for a name with another value
}

// at returns a token; the zero token after the end.
func (p *parser) at(i int) token {
	if i < 0 || i >= len(p.tokens) {
		return token{kind: punct}
	}
	return p.tokens[i]
}

func (p *parser) is(i int, text string) bool {
	t := p.at(i)
	return t.kind == punct && t.text == text
}

// definitions finds every name = text and name: text.
func (p *parser) definitions() {
	for i, t := range p.tokens {
		key := t.text
		if t.kind == str && len(t.parts) == 1 && t.parts[0].name == "" {
			key = t.parts[0].text
		}
		if t.kind == punct || key == "" {
			continue
		}
		start, more := p.valueAfter(i)
		if start == 0 || t.kind == str && !p.is(i+1, ":") {
			continue
		}
		n, end, ok := p.expression(start)
		if !ok || p.goesOn(end) {
			p.number(key, t.depth, start, more)
			if p.others[key] == 0 {
				p.others[key] = t.line
			}
			continue
		}
		old := p.defined[key]
		switch {
		case more && old != nil:
			before := old.value
			old.value = node{parts: []part{{node: &before}, {node: &n}}, literal: before.literal || n.literal}
		case old == nil || t.depth <= old.depth:
			p.defined[key] = &definition{value: n, depth: t.depth, line: t.line}
		}
	}
}

// number records a whole number as the value of a name, unless the name has several
// values.
func (p *parser) number(key string, depth, start int, more bool) {
	t := p.at(start)
	end := p.at(start + 1)
	digits := t.text
	if digits != "" && digits[0] != '_' {
		digits = strings.ReplaceAll(digits, "_", "") // as in 1_000
	}
	alone := depth == 0 && t.kind != str && len(digits) <= maxDigits && strings.Trim(digits, "0123456789") == "" && digits != "" &&
		(start+1 >= len(p.tokens) || end.line > t.line && !p.is(start+1, ".") && !p.goesOn(start+1) && !p.is(start+1, "+") || p.is(start+1, ";"))
	if old, has := p.numbers[key]; !alone || more || has && old != digits {
		p.numbers[key] = ""
		return
	}
	p.numbers[key] = digits
}

// maxDigits bounds a number that is inserted into a text.
const maxDigits = 9

// goesOn reports whether an operator after a text makes it part of another
// expression.
func (p *parser) goesOn(i int) bool {
	t := p.at(i)
	return t.kind == punct && slices.Contains([]string{"=", "=>", "<", ">", "!", "?", "&", "|", "*", "/", "-", "["}, t.text) && !(t.text == "[" && p.adjacent && t.line > p.at(i-1).line)
}

// maxAnnotation bounds the number of tokens in the type between a name and its
// value.
const maxAnnotation = 24

// valueAfter returns the start of the value of the name at i, 0 if it has none.
// more means that the value is appended to the previous one.
func (p *parser) valueAfter(i int) (start int, more bool) {
	switch {
	case p.is(i+1, "=") && p.is(i-1, ":") && p.at(i-2).kind == name && p.at(i-2).line == p.at(i).line:
		return 0, false // a type
	case p.is(i+1, "=") && !p.is(i+2, "=") && !p.is(i+2, ">"):
		return i + 2, false
	case p.is(i+1, "+") && p.is(i+2, "="):
		return i + 3, true
	case !p.is(i+1, ":"):
		return 0, false
	case p.is(i+2, "="): // an assignment in an expression
		return i + 3, false
	}
	for k := i + 2; k < min(len(p.tokens), i+2+maxAnnotation); k++ {
		t := p.at(k)
		if t.depth < p.at(i).depth || p.adjacent && t.line > p.at(i).line || t.kind == str || t.kind == punct && slices.Contains([]string{";", ",", "{", "(", ":"}, t.text) {
			break
		}
		if p.is(k, "=") && !p.is(k+1, "=") && !p.is(k+1, ">") {
			return k + 1, false
		}
	}
	return i + 2, false
}

// expression reads concatenated texts.
func (p *parser) expression(i int) (n node, next int, ok bool) {
	if p.nest++; p.nest > maxNest {
		p.nest--
		return n, i, false
	}
	defer func() { p.nest-- }()
	n, i, ok = p.term(i)
	for ok && p.is(i, "+") && !p.is(i+1, "=") && !p.is(i+1, "+") {
		more, after, also := p.term(i + 1)
		if !also {
			return n, i, false
		}
		left := n
		n = node{parts: []part{{node: &left}, {node: &more}}, literal: left.literal || more.literal}
		i = after
	}
	return n, i, ok
}

// term reads one text, or its stand-in.
func (p *parser) term(i int) (n node, next int, ok bool) {
	t := p.at(i)
	switch {
	case t.kind == str:
		n = node{parts: slices.Clone(t.parts), literal: true}
		for i++; p.adjacent && p.at(i).kind == str; i++ {
			n.parts = append(n.parts, p.at(i).parts...)
		}
		return p.methods(n, i)
	case p.is(i, "("):
		if n, i, ok = p.expression(i + 1); !ok || !p.is(i, ")") {
			return n, i, false
		}
		return p.methods(n, i+1)
	case p.is(i, "["):
		items, after, ok := p.list(i)
		if !ok || !p.is(after, ".") || p.at(after+1).text != "join" || p.at(after+3).kind != str || !p.is(after+4, ")") {
			return n, i, false
		}
		return p.methods(joined(items, p.at(after+3)), after+5)
	case t.kind == name:
		return p.named(i)
	}
	return n, i, false
}

// named reads a name, a call around a text, or a text with a tag.
func (p *parser) named(i int) (n node, next int, ok bool) {
	whole, last := p.at(i).text, p.at(i).text
	for i++; p.is(i, ".") && p.at(i+1).kind == name; i += 2 {
		last = p.at(i + 1).text
		whole += "." + last
	}
	if slices.Contains([]string{"getenv", "get", "open", "require", "Path", "load", "fetch", "print", "log"}, last) {
		return n, i, false // the text in it has another purpose
	}
	dedents := slices.Contains([]string{"dedent", "cleandoc", "outdent", "stripIndent"}, last)
	switch {
	case p.is(i, "("):
		from := i + 1
		if p.at(from).kind == name && p.is(from+1, "=") {
			from += 2
		}
		n, _, ok = p.expression(from)
		if !ok || !n.literal && !dedents {
			return n, i, false
		}
		if dedents {
			inner := n
			n = node{parts: []part{{node: &inner}}, dedent: true, strip: last != "dedent" || !p.adjacent, literal: inner.literal}
		}
		return p.methods(n, p.closing(i)+1)
	case !p.adjacent && p.at(i).kind == str:
		n = node{parts: p.at(i).parts, literal: true, dedent: dedents, strip: dedents}
		return p.methods(n, i+1)
	}
	if _, known := p.defined[whole]; !known {
		if _, known = p.defined[last]; known {
			whole = last // member of a class or a module of this file
		}
	}
	return node{parts: []part{{name: whole}}}, i, true
}

// methods reads calls on a text: those that remove white space, and join. Other
// calls change nothing that matters here.
func (p *parser) methods(n node, i int) (node, int, bool) {
	for p.is(i, ".") && p.at(i+1).kind == name && p.is(i+2, "(") {
		switch p.at(i + 1).text {
		case "strip", "trim", "lstrip", "rstrip", "trimStart", "trimEnd":
			inner := n
			n = node{parts: []part{{node: &inner}}, strip: true, literal: inner.literal}
		case "join":
			if items, _, ok := p.list(i + 3); ok {
				text := ""
				if len(n.parts) == 1 {
					text = n.parts[0].text
				}
				n = node{parts: items, joined: &text, literal: true}
			}
		}
		i = p.closing(i+2) + 1
	}
	return n, i, true
}

func joined(items []part, with token) node {
	text := ""
	if len(with.parts) == 1 {
		text = with.parts[0].text
	}
	return node{parts: items, joined: &text, literal: true}
}

// list reads texts in square or round brackets, and returns the index after them.
func (p *parser) list(i int) (items []part, next int, ok bool) {
	if !p.is(i, "[") && !p.is(i, "(") {
		return nil, i, false
	}
	end := p.closing(i)
	for i++; i < end; i++ {
		n, after, ok := p.expression(i)
		if !ok || after != end && !p.is(after, ",") {
			return nil, i, false
		}
		items = append(items, part{node: &n})
		i = after
	}
	return items, end + 1, true
}

// closing returns the index of the bracket that closes the one at i, or the end.
func (p *parser) closing(i int) int {
	open := 0
	for ; i < len(p.tokens); i++ {
		if t := p.tokens[i]; t.kind == punct {
			switch t.text {
			case "(", "[", "{":
				open++
			case ")", "]", "}":
				if open--; open <= 0 {
					return i
				}
			}
		}
	}
	return i
}
