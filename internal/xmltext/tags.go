package xmltext

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

func (c *checker) openTag() *SyntaxError {
	start := c.i + 1
	end := nameEnd(c.s, start)
	if end == start {
		c.i = start
		return c.fail("disallowed character in tag name")
	}
	if c.seenRoot && len(c.open) == 0 {
		return c.fail("documents may contain only one root")
	}
	c.seenRoot = true
	c.i = end
	attributes, err := c.attributes()
	if err != nil {
		return err
	}
	if message := c.names.enter(c.s[start:end], attributes, c.later()); message != "" {
		return c.fail(message)
	}
	if c.s[c.i] == '/' {
		c.i++
		c.names.leave()
		return c.expect(">", "forward-slash in opening tag not followed by >")
	}
	c.i++
	if c.open = append(c.open, c.s[start:end]); len(c.open) > maxOpen {
		return c.fail("maximum nested tags exceeded")
	}
	return nil
}

type attribute struct{ name, value string }

// attributes reads up to the > or / that ends the tag.
func (c *checker) attributes() ([]attribute, *SyntaxError) {
	var list []attribute
	for {
		space := c.skipSpace()
		if c.i >= len(c.s) {
			return nil, c.fail("unexpected end of a tag")
		}
		if c.s[c.i] == '>' || c.s[c.i] == '/' {
			return list, nil
		}
		end := nameEnd(c.s, c.i)
		switch {
		case end == c.i:
			return nil, c.fail("disallowed character in attribute name")
		case !space:
			return nil, c.fail("no whitespace between attributes")
		}
		name := c.s[c.i:end]
		c.i = end
		c.skipSpace()
		if err := c.expect("=", "attribute without value"); err != nil {
			return nil, err
		}
		c.skipSpace()
		value, err := c.attributeValue()
		if err != nil {
			return nil, err
		}
		list = append(list, attribute{name, value})
	}
}

// attributeValue reads a quoted value and resolves its references.
func (c *checker) attributeValue() (string, *SyntaxError) {
	if c.i >= len(c.s) || c.s[c.i] != '"' && c.s[c.i] != '\'' {
		return "", c.fail("unquoted attribute value")
	}
	stop := string(c.s[c.i]) + "<&"
	c.i++
	var b strings.Builder
	for {
		n := strings.IndexAny(c.s[c.i:], stop)
		if n < 0 {
			c.i = len(c.s)
			return "", c.fail("unclosed attribute value")
		}
		text := c.s[c.i : c.i+n]
		c.i += n
		switch c.s[c.i] {
		case '<':
			return "", c.fail("disallowed character in an attribute value")
		case '&':
			value, err := c.reference()
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			b.WriteString(value)
		default:
			c.i++
			if b.Len() == 0 {
				return text, nil
			}
			b.WriteString(text)
			return b.String(), nil
		}
	}
}

func (c *checker) closeTag() *SyntaxError {
	start := c.i + len("</")
	end := nameEnd(c.s, start)
	name := c.s[start:end]
	if len(c.open) == 0 || c.open[len(c.open)-1] != name {
		return c.fail("unmatched closing tag: " + name)
	}
	c.i = end
	c.skipSpace()
	c.open = c.open[:len(c.open)-1]
	c.names.leave()
	return c.expect(">", "disallowed character in closing tag")
}

// The namespaces that are bound initially.
const (
	xmlURI   = "http://www.w3.org/XML/1998/namespace"
	xmlnsURI = "http://www.w3.org/2000/xmlns/"
)

// namespaces holds the prefixes that are bound in the current element.
type namespaces struct {
	bound map[string][]string // prefix → URIs, the innermost last
	undo  [][]string          // prefixes bound by each open element
}

func newNamespaces() *namespaces {
	return &namespaces{bound: map[string][]string{"xml": {xmlURI}, "xmlns": {xmlnsURI}}}
}

// resolve returns the URI to which prefix is bound.
func (n *namespaces) resolve(prefix string) (string, bool) {
	uris := n.bound[prefix]
	if len(uris) == 0 {
		return "", false
	}
	return uris[len(uris)-1], true
}

// enter binds the prefixes that an element declares and checks its name and
// attributes. It returns what is wrong, or "".
func (n *namespaces) enter(name string, attributes []attribute, later bool) string {
	var declared []string
	for _, a := range attributes {
		prefix, local, ok := splitName(a.name)
		switch {
		case !ok:
			return "malformed name: " + a.name
		case a.name == "xmlns":
			local = ""
		case prefix != "xmlns":
			continue
		}
		uri := value.TrimSpace(a.value)
		if prefix == "xmlns" && uri == "" && !later {
			return "invalid attempt to undefine prefix in XML 1.0"
		}
		if message := badBinding(local, uri); message != "" {
			return message
		}
		n.bound[local] = append(n.bound[local], uri)
		declared = append(declared, local)
	}
	n.undo = append(n.undo, declared)
	return n.use(name, attributes)
}

// leave removes the bindings of the innermost element.
func (n *namespaces) leave() {
	last := len(n.undo) - 1
	for _, prefix := range n.undo[last] {
		uris := n.bound[prefix]
		n.bound[prefix] = uris[:len(uris)-1]
	}
	n.undo = n.undo[:last]
}

// use checks the prefixes of an element and that no attribute occurs twice.
func (n *namespaces) use(name string, attributes []attribute) string {
	prefix, _, ok := splitName(name)
	if !ok {
		return "malformed name: " + name
	}
	if prefix != "" {
		if uri, _ := n.resolve(prefix); uri == "" || prefix == "xmlns" {
			return "unbound namespace prefix: " + prefix
		}
	}
	if len(attributes) == 0 {
		return ""
	}
	seen := make(map[attribute]bool, len(attributes)) // local name and URI
	for _, a := range attributes {
		key := attribute{name: a.name}
		if prefix, local, _ := splitName(a.name); prefix != "" {
			uri, ok := n.resolve(prefix)
			if !ok {
				return "unbound namespace prefix: " + prefix
			}
			key = attribute{local, "{" + uri + "}"}
		}
		if seen[key] {
			return "duplicate attribute: " + a.name
		}
		seen[key] = true
	}
	return ""
}

// badBinding says why prefix must not be bound to uri, or "".
func badBinding(prefix, uri string) string {
	switch {
	case prefix == "xml" && uri != xmlURI, prefix != "xml" && uri == xmlURI:
		return "the prefix xml and its namespace belong together"
	case prefix == "xmlns" || uri == xmlnsURI:
		return "the prefix xmlns and its namespace must not be declared"
	}
	return ""
}

// splitName separates a prefix, which may be empty, from the local name.
func splitName(name string) (prefix, local string, ok bool) {
	prefix, local, found := strings.Cut(name, ":")
	if !found {
		return "", name, true
	}
	return prefix, local, prefix != "" && local != "" && !strings.Contains(local, ":")
}
