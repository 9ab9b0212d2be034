package flowyaml

import "github.com/proviso-eval/proviso/value"

// maxDepth is the nesting depth that js-yaml allows, including the root.
const maxDepth = 99

// maxMerged is the number of keys that merges may add to one document.
const maxMerged = 10_000

// parser reads one document: a flow mapping and nothing else. The grammar is that of
// YAML 1.2, chapter 7.4, with js-yaml's extensions.
type parser struct {
	*reader
	i         int
	line      int
	lineStart int
	indent    int // spaces at the beginning of the line
	anchors   map[string]*node
	merged    int
}

// node is a value with the properties that merging and keys depend on.
type node struct {
	value   any
	complex bool // cannot be a key
	merge   bool // the merge key
	mapping bool // it is a mapping, so it can be merged
	list    bool // it is a sequence
}

// mistake says why a text is not a flow mapping.
type mistake string

// Error implements error.
func (m mistake) Error() string { return string(m) }

const (
	errEnd      mistake = "the text ends inside a flow collection"
	errComma    mistake = "a comma is missing between entries"
	errEmpty    mistake = "an entry is missing before a comma"
	errRest     mistake = "there is text behind the mapping"
	errQuote    mistake = "a quoted text is not closed"
	errEscape   mistake = "unknown escape in a quoted text"
	errControl  mistake = "a control character"
	errTag      mistake = "a tag that does not fit"
	errAnchor   mistake = "an anchor or alias without a name, or twice"
	errAlias    mistake = "an alias without its anchor"
	errKey      mistake = "a key must be a scalar"
	errMerge    mistake = "only mappings can be merged"
	errTooDeep  mistake = "nested too deeply"
	errTooMuch  mistake = "too many merged keys"
	errNoObject mistake = "expected a flow mapping"
)

// peek returns the byte k ahead, 0 at the end.
func (p *parser) peek(k int) byte {
	for p.i+k >= len(p.buf) {
		if !p.more() {
			return 0
		}
	}
	return p.buf[p.i+k]
}

// document reads the mapping and makes sure that nothing follows it.
func (p *parser) document() (*value.Object, error) {
	if p.peek(0) != '{' {
		return nil, errNoObject
	}
	n, err := p.mapping("", 1)
	if err != nil {
		return nil, err
	}
	p.space(true)
	for p.separator() && p.peek(0) == '.' {
		at := p.line
		p.i += 3
		p.space(true)
		if p.line == at && p.peek(0) != 0 {
			return nil, errRest
		}
	}
	if p.peek(0) != 0 || p.i < len(p.buf) {
		return nil, errRest
	}
	o, _ := n.value.(*value.Object)
	return o, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' }
func isBlank(c byte) bool { return isSpace(c) || isBreak(c) }

// isFlow reports whether c is an indicator of flow collections.
func isFlow(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }

// space skips white space and line breaks, and comments if they are allowed: a
// comment needs a blank before it. It returns the number of line breaks.
func (p *parser) space(comments bool) int {
	breaks := 0
	apart := p.i == p.lineStart || isBlank(p.buf[p.i-1])
	for {
		for isSpace(p.peek(0)) {
			apart = true
			p.i++
		}
		if comments && apart && p.peek(0) == '#' {
			for c := p.peek(0); c != 0 && !isBreak(c); c = p.peek(0) {
				p.i++
			}
		}
		if !isBreak(p.peek(0)) {
			return breaks
		}
		p.newline()
		breaks++
		apart = true
	}
}

// newline skips a line break and measures the indentation after it.
func (p *parser) newline() {
	if p.peek(0) == '\r' && p.peek(1) == '\n' {
		p.i++
	}
	p.i++
	p.line++
	p.lineStart, p.indent = p.i, 0
	for p.peek(0) == ' ' {
		p.i++
		p.indent++
	}
}

// separator reports whether a line "---" or "..." begins here.
func (p *parser) separator() bool {
	c := p.peek(0)
	if p.i != p.lineStart || c != '-' && c != '.' || p.peek(1) != c || p.peek(2) != c {
		return false
	}
	after := p.peek(3)
	return after == 0 || isBlank(after)
}

// node reads a value with its properties; ok is false if there is none.
func (p *parser) node(depth int) (n node, ok bool, err error) {
	if depth > maxDepth {
		return n, false, errTooDeep
	}
	if p.separator() {
		return n, false, nil
	}
	tag, anchor, here, err := p.properties()
	if err != nil {
		return n, false, err
	}
	var held *node
	if here {
		if c := p.peek(0); anchor != "" && (c == '{' || c == '[') {
			held = p.hold(anchor)
			*held = empty(c)
		}
		n, ok, err = p.content(tag, anchor, depth)
	}
	if err != nil {
		return n, false, err
	}
	if !ok {
		if tag == "" && anchor == "" {
			return n, false, nil
		}
		if n, err = scalar("", tag, true); err != nil {
			return n, false, err
		}
	}
	if anchor != "" {
		// The anchor is assigned where a collection begins; its value is known at its end.
		if held == nil {
			held = p.hold(anchor)
		}
		*held = n
	}
	return n, true, nil
}

// hold assigns an anchor to the node that it returns.
func (p *parser) hold(anchor string) *node {
	if p.anchors == nil {
		p.anchors = map[string]*node{}
	}
	n := &node{}
	p.anchors[anchor] = n
	return n
}

// properties reads tags and anchors. here is false if the content would be on a
// line that is not indented, where js-yaml does not look for it.
func (p *parser) properties() (tag, anchor string, here bool, err error) {
	here = true
	for {
		c := p.peek(0)
		switch {
		case c == '!' && tag == "":
			tag, err = p.tag()
		case c == '&' && anchor == "":
			p.i++
			if anchor = p.word(); anchor == "" {
				err = errAnchor
			}
		case (c == '!' || c == '&') && here:
			err = errAnchor
		default:
			return tag, anchor, here, nil
		}
		if err != nil {
			return "", "", false, err
		}
		if p.space(true) > 0 {
			here = p.indent > 0
		}
		if !here {
			return tag, anchor, false, nil
		}
	}
}

// word reads the name of an anchor or alias.
func (p *parser) word() string {
	start := p.i
	for c := p.peek(0); c != 0 && !isBlank(c) && !isFlow(c); c = p.peek(0) {
		p.i++
	}
	return string(p.buf[start:p.i])
}

// content reads the node that follows the properties.
func (p *parser) content(tag, anchor string, depth int) (n node, ok bool, err error) {
	switch c := p.peek(0); c {
	case '{':
		n, err = p.mapping(tag, depth)
		return n, true, err
	case '[':
		n, err = p.sequence(tag, depth)
		return n, true, err
	case '"', '\'':
		var text string
		if text, err = p.quoted(c); err == nil {
			n, err = scalar(text, tag, false)
		}
		return n, true, err
	case '*':
		n, err = p.alias(tag, anchor)
		return n, true, err
	}
	text, ok, err := p.plain()
	if ok && err == nil {
		n, err = scalar(text, tag, true)
	}
	return n, ok, err
}

// empty stands for a collection that refers to itself: values here are trees, so
// the inner reference is an empty collection.
func empty(c byte) node {
	if c == '[' {
		return node{value: []any{}, complex: true, list: true}
	}
	return node{value: &value.Object{}, complex: true, mapping: true}
}

func (p *parser) alias(tag, anchor string) (node, error) {
	p.i++
	name := p.word()
	if tag != "" || anchor != "" || name == "" {
		return node{}, errAnchor
	}
	n, ok := p.anchors[name]
	if !ok {
		return node{}, errAlias
	}
	return *n, nil
}
