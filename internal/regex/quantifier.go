package regex

// noQuantifier refuses a quantifier in a position where none is allowed.
func (p *parser) noQuantifier() error {
	switch p.peek() {
	case '*', '+', '?':
		return syntaxError("Invalid quantifier")
	case '{':
		if _, _, ok := p.braces(); ok || p.flags.unicode {
			return syntaxError("Invalid quantifier")
		}
	}
	return nil
}

// quantified reads the quantifier of atom, if one follows.
func (p *parser) quantified(atom *node) (*node, error) {
	n := &node{op: opRepeat, subs: []*node{atom}, max: unbounded}
	switch p.peek() {
	case '*':
		p.i++
	case '+':
		p.i++
		n.min = 1
	case '?':
		p.i++
		n.max = 1
	case '{':
		start := p.i
		lo, hi, ok := p.braces()
		if !ok {
			if p.flags.unicode {
				return nil, syntaxError("Incomplete quantifier")
			}
			p.i = start
			return atom, nil
		}
		if hi != unbounded && hi < lo {
			return nil, syntaxError("numbers out of order in {} quantifier")
		}
		n.min, n.max = lo, hi
	default:
		return atom, nil
	}
	n.lazy = p.accept('?')
	return n, nil
}

// braces reads {n}, {n,} or {n,m}. It reads nothing if there is none.
func (p *parser) braces() (lo, hi int, ok bool) {
	start := p.i
	p.i++
	lo, ok = p.number()
	hi = lo
	if ok && p.accept(',') {
		if hi, ok = p.number(); !ok {
			hi, ok = unbounded, true
		}
	}
	if !ok || !p.accept('}') {
		p.i = start
		return 0, 0, false
	}
	return lo, hi, true
}

// number reads decimal digits; a number that is too large for any text is capped.
func (p *parser) number() (int, bool) {
	const tooMany = 1 << 31
	n, start := 0, p.i
	for ; p.peek() >= '0' && p.peek() <= '9'; p.i++ {
		n = min(tooMany, n*10+int(p.peek()-'0'))
	}
	return n, p.i > start
}
