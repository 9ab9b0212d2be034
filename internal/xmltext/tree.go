package xmltext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Tree is the content of a document in the form for paths. A node is text alone, or
// an object of its elements by name, its attributes as "@_name" and, if it has
// either, its text as "#text"; elements of one name under one parent are a list.
type Tree struct{ root *node }

type node struct {
	name       string
	attributes []string // names, without "@_"
	elements   []*node
	text       bool // there is text that is not white space
}

// Has reports whether the dotted path leads to a node, an attribute or a text. A
// step into a list is an index from 0.
func (t *Tree) Has(path string) bool {
	at := []*node{t.root}
	list := false
	for {
		step, rest, more := strings.Cut(path, ".")
		var found bool
		if list {
			at, found = index(at, step)
			list = false
		} else {
			at, found = at[0].member(step)
			list = len(at) > 1
		}
		if !found || !more {
			return found
		}
		if len(at) == 0 { // an attribute or a text
			return false
		}
		path = rest
	}
}

func index(list []*node, step string) ([]*node, bool) {
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= len(list) || strconv.Itoa(i) != step {
		return nil, false
	}
	return list[i : i+1], true
}

// member returns the elements called key. For an attribute or a text it returns
// none, but true. The root is an object even if it contains only text.
func (n *node) member(key string) ([]*node, bool) {
	if key == "#text" {
		return nil, n.text && (n.name == "" || len(n.attributes)+len(n.elements) > 0)
	}
	var found []*node
	for _, e := range n.elements {
		if e.name == key {
			found = append(found, e)
		}
	}
	if found != nil {
		return found, true
	}
	name, ok := strings.CutPrefix(key, "@_")
	return nil, ok && slices.Contains(n.attributes, name)
}

// Parse reads a tree leniently: end tags need not match, elements need not end,
// attributes need no value, there may be several roots. The error is a
// *[SyntaxError] for markup that does not end, for more than 101 open elements, and
// for the names __proto__, constructor and prototype, which the parser whose
// verdicts this package reproduces refuses.
func Parse(text string) (*Tree, error) {
	root := &node{}
	p := lenient{s: text, at: root, root: root}
	for p.i < len(p.s) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return &Tree{root}, nil
}

type lenient struct {
	s       string
	i       int
	root    *node
	at      *node   // innermost open element
	open    []*node // parents of the open elements
	text    bool    // text since the last element that is not white space
	doctype bool
}

func (p *lenient) next() error {
	rest := p.s[p.i:]
	switch {
	case rest[0] != '<':
		n := strings.IndexByte(rest, '<')
		if n < 0 {
			n = len(rest)
		}
		p.text = p.text || value.TrimSpace(rest[:n]) != ""
		p.i += n
		return nil
	case strings.HasPrefix(rest, "</"):
		return p.closeTag()
	case strings.HasPrefix(rest, "<?"):
		return p.instruction()
	case strings.HasPrefix(rest, "<!--"):
		_, err := p.until("-->", len("<!--"), "comment is not closed")
		return err
	case strings.HasPrefix(rest, "<!D"):
		return p.documentType()
	case strings.HasPrefix(rest, "<!["):
		p.save()
		data, err := p.until("]]>", 0, "CDATA is not closed")
		p.at.text = p.at.text || len(data) > len("<![CDATA[")
		return err
	}
	return p.openTag()
}

// until moves past the next end after skip bytes and returns the text before it.
func (p *lenient) until(end string, skip int, message string) (string, error) {
	n := strings.Index(p.s[min(p.i+skip, len(p.s)):], end)
	if n < 0 {
		return "", &SyntaxError{Message: message}
	}
	data := p.s[p.i : p.i+skip+n]
	p.i += skip + n + len(end)
	return data, nil
}

// save adds the text read so far to the element that contains it.
func (p *lenient) save() {
	p.at.text = p.at.text || p.text
	p.text = false
}

func (p *lenient) closeTag() error {
	data, err := p.until(">", 0, "closing tag is not closed")
	if err != nil {
		return err
	}
	if _, err := safeName(value.TrimSpace(data[len("</"):])); err != nil {
		return err
	}
	p.save()
	p.at = p.root
	if last := len(p.open) - 1; last >= 0 {
		p.at, p.open = p.open[last], p.open[:last]
	}
	return nil
}

func (p *lenient) instruction() error {
	data, ok := p.tag("?>")
	if !ok {
		return &SyntaxError{Message: "processing instruction is not closed"}
	}
	p.save()
	name, rest := cutSpace(data)
	p.at.elements = append(p.at.elements, &node{name: name, attributes: attributeNames(rest)})
	return nil
}

func (p *lenient) documentType() error {
	if p.doctype {
		return &SyntaxError{Message: "multiple DOCTYPE declarations"}
	}
	p.doctype = true
	if !strings.HasPrefix(p.s[p.i:], "<!DOCTYPE") {
		return &SyntaxError{Message: "invalid tag instead of DOCTYPE"}
	}
	p.i += len("<!DOCTYPE")
	for depth := 1; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '"', '\'':
			n := strings.IndexByte(p.s[p.i+1:], c)
			if n < 0 {
				return &SyntaxError{Message: "unclosed DOCTYPE"}
			}
			p.i += n + 1
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				p.i++
				return nil
			}
		}
	}
	return &SyntaxError{Message: "unclosed DOCTYPE"}
}

// tag reads from the < up to end, which does not count between quotes, and returns
// the text between them.
func (p *lenient) tag(end string) (string, bool) {
	for i := p.i + 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"' || c == '\'':
			n := strings.IndexByte(p.s[i+1:], c)
			if n < 0 {
				return "", false
			}
			i += n + 1
		case c == end[0] && strings.HasPrefix(p.s[i:], end):
			data := p.s[p.i+1 : i]
			p.i = i + len(end)
			return data, true
		}
	}
	return "", false
}

func (p *lenient) openTag() error {
	data, ok := p.tag(">")
	if !ok {
		return &SyntaxError{Message: "tag is not closed"}
	}
	name, rest := cutSpace(data)
	if name == "#text" {
		return &SyntaxError{Message: "invalid tag name: #text"}
	}
	// The slash of <a/> belongs to the name, that of <a b/> to the attributes.
	empty := strings.HasSuffix(data, "/")
	if before, ok := strings.CutSuffix(name, "/"); ok && empty {
		name, rest = before, ""
	} else if empty {
		rest = rest[:len(rest)-1]
	}
	name, err := safeName(name)
	if err != nil {
		return err
	}
	if p.at != p.root {
		p.save()
	}
	p.text = false
	element := &node{name: name, attributes: attributeNames(rest)}
	p.at.elements = append(p.at.elements, element)
	if empty {
		return nil
	}
	if len(p.open) >= maxOpen {
		return &SyntaxError{Message: "maximum nested tags exceeded"}
	}
	p.open = append(p.open, p.at)
	p.at = element
	return nil
}
