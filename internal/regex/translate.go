package regex

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// A pattern without the u flag matches UTF-16 code units, and Go's engine matches
// code points. So for a text with characters outside the basic plane, the engine
// gets a shadow of the text: every surrogate unit u becomes the code point
// shadow+u. Patterns refer to surrogates by their shadow, so one program serves
// both kinds of text. Shadows are private-use characters of the last plane. They
// cannot collide with real ones, which are surrogate pairs in such a text.

// Limits of translation. Beyond them Go's compiler and matcher, whose work grows
// with text times program, are the slower engine.
const (
	maxRepeat  = 1000
	maxProgram = 4000
)

// program is a pattern in the syntax of package regexp.
type program struct {
	text    string
	literal string // the whole pattern, if it is a plain text
	isText  bool   // literal is meaningful
	size    int    // approximate number of instructions

	// plain: the verdict does not depend on whether astral characters are one character
	// or two, nor on how lone surrogates are read.
	plain bool
	// extents: the match has the same bounds in both engines.
	extents bool
	// free: the text before the match does not matter.
	free bool
	// nullable: the empty text may match.
	nullable bool
}

// translate returns a program with the pattern's meaning for Go's engine, or false
// if there is none.
func translate(n *node, f flags) (program, bool) {
	t := translator{flags: f, limit: maxUnit}
	t.plain, t.extents, t.free, t.text = true, true, true, true
	if f.unicode {
		t.limit = unicode.MaxRune
	}
	if f.unicode && f.ignoreCase || !t.node(n) || t.size > maxProgram {
		return program{}, false
	}
	p := program{text: t.out.String(), size: t.size, plain: t.plain, extents: t.extents, free: t.free, nullable: n.nullable()}
	if t.text && t.plain {
		p.literal, p.isText = t.literal.String(), true
	}
	return p, true
}

type translator struct {
	flags   flags
	limit   rune
	out     strings.Builder
	literal strings.Builder
	size    int

	plain, extents, free, text bool
}

// node writes n, and returns false if Go's engine has no equivalent.
func (t *translator) node(n *node) bool {
	if t.size > maxProgram {
		return false
	}
	if n.op != opSet && n.op != opSeq && n.op != opEmpty {
		t.text = false
	}
	t.size++
	switch n.op {
	case opEmpty:
		t.out.WriteString("(?:)")
	case opSet:
		t.set(n, false)
	case opSeq:
		return t.list(n.subs, "")
	case opAlt:
		return t.list(n.subs, "|")
	case opRepeat:
		return t.repeat(n)
	case opBegin:
		t.free = false
		t.out.WriteString(`\A`)
		return !t.flags.multiline
	case opEnd:
		t.out.WriteString(`\z`)
		return !t.flags.multiline
	case opWord:
		t.free = false
		t.out.WriteString(`\b`)
	case opNotWord:
		// It holds between the halves of a surrogate pair. JavaScript engines differ on
		// whether it does with the u flag.
		t.free, t.plain = false, false
		t.out.WriteString(`\B`)
		return !t.flags.unicode
	default:
		return false
	}
	return true
}

func (t *translator) list(subs []*node, separator string) bool {
	t.out.WriteString("(?:")
	for i, s := range subs {
		if i > 0 {
			t.out.WriteString(separator)
		}
		if !t.node(s) {
			return false
		}
	}
	t.out.WriteString(")")
	return true
}

// repeat writes a quantified node. The engines differ in how an empty iteration
// affects the order of alternatives, but agree on whether there is a match.
func (t *translator) repeat(n *node) bool {
	sub := n.subs[0]
	if n.min > maxRepeat || n.max > maxRepeat {
		return false
	}
	t.extents = t.extents && !sub.nullable()
	start := t.size
	t.out.WriteString("(?:")
	if star := n.min == 0 && n.max == unbounded; star && sub.op == opSet {
		t.set(sub, true)
	} else if !t.node(sub) {
		return false
	}
	t.out.WriteString(")")
	t.size += (t.size - start) * (max(n.min, n.max, 1) - 1)
	switch {
	case n.max == unbounded && n.min == 0:
		t.out.WriteString("*")
	case n.max == unbounded && n.min == 1:
		t.out.WriteString("+")
	case n.max == unbounded:
		fmt.Fprintf(&t.out, "{%d,}", n.min)
	default:
		fmt.Fprintf(&t.out, "{%d,%d}", n.min, n.max)
	}
	if n.lazy {
		t.out.WriteString("?")
	}
	return t.size <= maxProgram
}

// set writes a set of characters; starred means that it may repeat any number of
// times.
func (t *translator) set(n *node, starred bool) {
	s := n.set
	if t.flags.ignoreCase {
		s = foldings().closed(s)
	}
	if n.negated {
		s = s.complement(t.limit)
	}
	s = t.shadowed(s, starred)
	t.size += len(s) / 8
	if len(s) == 1 && s[0].lo == s[0].hi {
		t.literal.WriteRune(s[0].lo)
		t.out.WriteString(regexp.QuoteMeta(string(s[0].lo)))
		return
	}
	t.text = false
	if len(s) == 0 {
		t.out.WriteString(`[^\x{0}-\x{10FFFF}]`)
		return
	}
	t.out.WriteByte('[')
	for _, x := range s {
		fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, x.lo, x.hi)
	}
	t.out.WriteByte(']')
}

// shadowed moves the surrogates in s to their shadows. A set of all surrogates also
// gets all astral characters: if it repeats without bounds, it reads the same text
// whether a pair is one character or two.
func (t *translator) shadowed(s set, starred bool) set {
	const replacement = unicode.ReplacementChar
	all := s.covers(surrogateMin, surrogateMax)
	switch {
	case all:
		t.plain = t.plain && starred && s.has(replacement)
	case s.meets(surrogateMin, surrogateMax), s.has(replacement):
		t.plain = false
	}
	if !s.meets(surrogateMin, surrogateMax) {
		return s
	}
	var out set
	for _, x := range s {
		if x.lo < surrogateMin {
			out = append(out, span{x.lo, min(x.hi, surrogateMin-1)})
		}
		if lo, hi := max(x.lo, surrogateMin), min(x.hi, surrogateMax); lo <= hi && !t.flags.unicode {
			out = append(out, span{lo + shadow, hi + shadow})
		}
		if x.hi > surrogateMax {
			out = append(out, span{max(x.lo, surrogateMax+1), x.hi})
		}
	}
	if all && !t.flags.unicode {
		out = append(out, span{maxUnit + 1, unicode.MaxRune})
	}
	return out.normal()
}
