package regex

import (
	"unicode/utf8"

	"github.com/proviso-eval/proviso/value"
)

// maxNesting is the maximum nesting depth of groups in a pattern.
const maxNesting = 1000

// flags are the flags that change the meaning of a pattern.
type flags struct {
	ignoreCase, multiline, dotAll, unicode bool
}

// parseFlags reads the flags given to a RegExp constructor.
func parseFlags(text string) (flags, bool) {
	var f flags
	for _, c := range text {
		var to *bool
		switch c {
		case 'i':
			to = &f.ignoreCase
		case 'm':
			to = &f.multiline
		case 's':
			to = &f.dotAll
		case 'u':
			to = &f.unicode
		}
		if to == nil || *to {
			return f, false
		}
		*to = true
	}
	return f, true
}

// parser reads a pattern by the grammar of ECMA-262 section 22.2.1, with the web's
// additions (annex B.1.2) unless the u flag is set. The source is a list of code
// points with the flag, and of UTF-16 code units without it.
type parser struct {
	src   []rune
	i     int
	flags flags
	depth int

	groups  int  // capturing groups in the whole pattern
	named   bool // \k is a reference: with the u flag, or if any group has a name
	names   map[string]bool
	refs    []string // names that \k refers to
	unsure  bool     // a Unicode property that this package does not know
	foreign bool     // a part that only a backtracking engine can decide
}

// syntaxError is the reason why a pattern is invalid, in V8's words.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

const errNesting = syntaxError("Regular expression too large")

func newParser(pattern string, f flags) *parser {
	p := &parser{flags: f, names: map[string]bool{}}
	if f.unicode {
		p.src = codePoints(pattern)
	} else {
		for _, u := range value.UTF16(pattern) {
			p.src = append(p.src, rune(u))
		}
	}
	return p
}

// codePoints splits s as JavaScript's string iterator does: a lone surrogate, which
// has three bytes in s, is one element.
func codePoints(s string) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		if u, ok := value.SurrogateAt(s, i); ok {
			out = append(out, u)
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, r)
		i += n
	}
	return out
}

// parse reads the whole pattern.
func (p *parser) parse() (*node, error) {
	p.countGroups()
	n, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if p.i < len(p.src) {
		return nil, syntaxError("Unmatched ')'")
	}
	for _, name := range p.refs {
		if !p.names[name] {
			return nil, syntaxError("Invalid named capture referenced")
		}
	}
	return n, nil
}

// countGroups counts the capturing groups and finds out whether any has a name. The
// meaning of \2 and \k depends on groups that may come later.
func (p *parser) countGroups() {
	inClass := false
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
		case c == '(' && p.runeAt(i+1) != '?':
			p.groups++
		case c == '(' && p.runeAt(i+2) == '<' && p.runeAt(i+3) != '=' && p.runeAt(i+3) != '!':
			p.groups++
			p.named = true
		}
	}
	p.named = p.named || p.flags.unicode
}

// runeAt returns the source at i, -1 outside it.
func (p *parser) runeAt(i int) rune {
	if i < len(p.src) {
		return p.src[i]
	}
	return -1
}

func (p *parser) peek() rune { return p.runeAt(p.i) }

// accept reads c if it comes next.
func (p *parser) accept(c rune) bool {
	if p.peek() != c {
		return false
	}
	p.i++
	return true
}

// acceptAll reads text if it comes next.
func (p *parser) acceptAll(text string) bool {
	for i, c := range text { // for ASCII, a byte is an element
		if p.runeAt(p.i+i) != c {
			return false
		}
	}
	p.i += len(text)
	return true
}

func (p *parser) disjunction() (*node, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errNesting
	}
	defer func() { p.depth-- }()
	first, err := p.alternative()
	if err != nil || p.peek() != '|' {
		return first, err
	}
	alt := &node{op: opAlt, subs: []*node{first}}
	for p.accept('|') {
		n, err := p.alternative()
		if err != nil {
			return nil, err
		}
		alt.subs = append(alt.subs, n)
	}
	return alt, nil
}

func (p *parser) alternative() (*node, error) {
	var subs []*node
	for p.i < len(p.src) && p.peek() != '|' && p.peek() != ')' {
		n, err := p.term()
		if err != nil {
			return nil, err
		}
		subs = append(subs, n)
	}
	switch len(subs) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return subs[0], nil
	}
	return &node{op: opSeq, subs: subs}, nil
}

// term reads an assertion, or an atom with its quantifier.
func (p *parser) term() (*node, error) {
	switch c := p.peek(); c {
	case '^':
		p.i++
		return &node{op: opBegin}, nil
	case '$':
		p.i++
		return &node{op: opEnd}, nil
	case '(':
		return p.group()
	case '*', '+', '?':
		return nil, syntaxError("Nothing to repeat")
	case '{':
		if p.flags.unicode {
			return nil, syntaxError("Lone quantifier brackets")
		}
		if _, _, ok := p.braces(); ok {
			return nil, syntaxError("Nothing to repeat")
		}
	case '}', ']':
		if p.flags.unicode {
			return nil, syntaxError("Lone quantifier brackets")
		}
	case '.':
		p.i++
		if p.flags.dotAll {
			return p.quantified(&node{op: opSet, negated: true})
		}
		return p.quantified(&node{op: opSet, set: lineEnds(), negated: true})
	case '[':
		n, err := p.class()
		if err != nil {
			return nil, err
		}
		return p.quantified(n)
	case '\\':
		return p.escapedTerm()
	}
	p.i++
	return p.quantified(&node{op: opSet, set: one(p.src[p.i-1])})
}

func (p *parser) escapedTerm() (*node, error) {
	switch p.runeAt(p.i + 1) {
	case 'b':
		p.i += 2
		return &node{op: opWord}, nil
	case 'B':
		p.i += 2
		return &node{op: opNotWord}, nil
	}
	n, err := p.atomEscape()
	if err != nil {
		return nil, err
	}
	return p.quantified(n)
}

// group reads a group or a lookaround with its quantifier.
func (p *parser) group() (*node, error) {
	p.i++
	look, repeatable := false, true
	switch {
	case p.acceptAll("?:"):
	case p.acceptAll("?="), p.acceptAll("?!"):
		look, repeatable = true, !p.flags.unicode
	case p.acceptAll("?<="), p.acceptAll("?<!"):
		look, repeatable = true, false
	case p.acceptAll("?<"):
		name, err := p.groupName()
		if err != nil {
			return nil, err
		}
		if p.names[name] {
			return nil, syntaxError("Duplicate capture group name")
		}
		p.names[name] = true
	case p.peek() == '?':
		return nil, syntaxError("Invalid group")
	}
	n, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if !p.accept(')') {
		return nil, syntaxError("Unterminated group")
	}
	if look {
		p.foreign = true
		n = &node{op: opForeign}
		if !repeatable {
			return n, p.noQuantifier()
		}
	}
	return p.quantified(n)
}
