package regex

import (
	"strings"
	"unicode"
)

// class reads a character class.
func (p *parser) class() (*node, error) {
	p.i++
	n := &node{op: opSet, negated: p.accept('^')}
	for !p.accept(']') {
		lo, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if p.peek() != '-' || p.runeAt(p.i+1) == ']' {
			n.set = append(n.set, lo.members...)
			continue
		}
		p.i++
		hi, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if n.set, err = p.classRange(n.set, lo, hi); err != nil {
			return nil, err
		}
	}
	n.set = n.set.normal()
	return n, nil
}

// atom is one member of a class as written.
type atom struct {
	members set
	many    bool // an escape such as \d, which cannot bound a range
}

// classRange adds the range from lo to hi. Without the u flag, a range with an
// escape such as \d as a bound is three members (annex B.1.2.1).
func (p *parser) classRange(s set, lo, hi atom) (set, error) {
	if !lo.many && !hi.many {
		from, to := lo.members[0].lo, hi.members[0].lo
		if from > to {
			return nil, syntaxError("Range out of order in character class")
		}
		return append(s, span{from, to}), nil
	}
	if p.flags.unicode {
		return nil, syntaxError("Invalid character class")
	}
	s = append(s, lo.members...)
	s = append(s, span{'-', '-'})
	return append(s, hi.members...), nil
}

func (p *parser) classAtom() (atom, error) {
	c := p.peek()
	if c < 0 {
		return atom{}, syntaxError("Unterminated character class")
	}
	p.i++
	if c != '\\' {
		return atom{members: one(c)}, nil
	}
	if p.accept('b') {
		return atom{members: one('\b')}, nil
	}
	s, negated, ok, err := p.classEscape()
	if err != nil {
		return atom{}, err
	}
	if ok {
		if negated {
			s = s.complement(p.limit())
		}
		return atom{members: s, many: true}, nil
	}
	r, err := p.characterEscape(true)
	return atom{members: one(r)}, err
}

// limit is the largest character.
func (p *parser) limit() rune {
	if p.flags.unicode {
		return unicode.MaxRune
	}
	return maxUnit
}

// property reads the braces of \p{…}. It leaves properties that this package does
// not know to the JavaScript engine.
func (p *parser) property() (set, error) {
	if !p.accept('{') {
		return nil, syntaxError("Invalid property name")
	}
	var b strings.Builder
	for c := p.peek(); c == '_' || c == '=' || asciiLetter(c) || c >= '0' && c <= '9'; c = p.peek() {
		b.WriteRune(c)
		p.i++
	}
	if !p.accept('}') || b.Len() == 0 {
		return nil, syntaxError("Invalid property name")
	}
	if s, ok := propertySet(b.String()); ok {
		return s, nil
	}
	p.unsure = true
	return nil, nil
}

// propertySet returns the members of a Unicode property, if this package knows it.
func propertySet(name string) (set, bool) {
	key, value, isPair := strings.Cut(name, "=")
	if isPair {
		switch key {
		case "General_Category", "gc":
			return category(value)
		case "Script", "sc":
			if t, ok := unicode.Scripts[value]; ok {
				return fromTable(t), true
			}
		}
		return nil, false
	}
	switch name {
	case "Any":
		return set{{0, unicode.MaxRune}}, true
	case "ASCII":
		return set{{0, 0x7f}}, true
	case "White_Space", "space":
		return fromTable(unicode.White_Space), true
	}
	return category(name)
}

// category returns the members of a general category. Categories that contain
// unassigned code points or surrogates are left out on purpose.
func category(name string) (set, bool) {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	switch name {
	case "C", "Cs", "Co", "Cn", "LC":
		return nil, false
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	return fromTable(t), true
}
