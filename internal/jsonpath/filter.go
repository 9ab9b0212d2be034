package jsonpath

// kind is the kind of an expression.
type kind uint8

const (
	constant kind = iota
	path          // a query; its value is that of its one node
	call
	compare
	and
	or
	not
	group
)

// expr is an expression of a filter.
type expr struct {
	kind  kind
	value any // value of a constant
	query *query
	name  string // name of a function, or operator of a comparison
	args  []*expr
}

// or reads a logical expression.
func (p *parser) or() (*expr, error) { return p.chain("||", or, p.and) }

func (p *parser) and() (*expr, error) { return p.chain("&&", and, p.basic) }

func (p *parser) chain(operator string, k kind, next func() (*expr, error)) (*expr, error) {
	left, err := next()
	if err != nil {
		return nil, err
	}
	list := []*expr{left}
	for {
		before := p.i
		p.space()
		if !p.accept(operator) {
			p.i = before
			break
		}
		p.space()
		right, err := next()
		if err != nil {
			return nil, err
		}
		list = append(list, right)
	}
	if len(list) == 1 {
		return left, nil
	}
	for _, e := range list {
		if err := p.tested(e); err != nil {
			return nil, err
		}
	}
	return &expr{kind: k, args: list}, nil
}

// tested checks that e can be true or false by itself.
func (p *parser) tested(e *expr) error {
	if e.kind == constant || e.kind == call && !gives(e, logicalType) {
		return p.fail("a value is not a condition; compare it")
	}
	return nil
}

func (p *parser) basic() (*expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail("filters nest too deeply")
	}
	defer func() { p.depth-- }()
	if p.peek() == '!' {
		p.i++
		p.space()
		inner, err := p.negated()
		if err != nil {
			return nil, err
		}
		return &expr{kind: not, args: []*expr{inner}}, p.tested(inner)
	}
	if p.peek() == '(' {
		return p.group()
	}
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	before := p.i
	p.space()
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.accept(operator) {
			return p.comparison(left, operator)
		}
	}
	p.i = before
	return left, nil
}

// negated reads the operand of !: a group, a query or a function.
func (p *parser) negated() (*expr, error) {
	if p.peek() == '(' {
		return p.group()
	}
	return p.operand()
}

func (p *parser) group() (*expr, error) {
	p.i++
	p.space()
	inner, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.tested(inner); err != nil {
		return nil, err
	}
	p.space()
	if !p.accept(")") {
		return nil, p.fail("expected )")
	}
	return &expr{kind: group, args: []*expr{inner}}, nil
}

func (p *parser) comparison(left *expr, operator string) (*expr, error) {
	p.space()
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	for _, e := range []*expr{left, right} {
		if err := p.comparable(e); err != nil {
			return nil, err
		}
	}
	return &expr{kind: compare, name: operator, args: []*expr{left, right}}, nil
}

func (p *parser) comparable(e *expr) error {
	switch {
	case e.kind == path && !e.query.singular:
		return p.fail("only a path to one value can be compared")
	case e.kind == call && !gives(e, valueType):
		return p.fail("the result of " + e.name + "() cannot be compared")
	}
	return nil
}

// operand reads a literal, a query or a function.
func (p *parser) operand() (*expr, error) {
	switch p.peek() {
	case '@', '$':
		fromRoot := p.peek() == '$'
		p.i++
		q, err := p.segments(fromRoot)
		return &expr{kind: path, query: q}, err
	}
	v, ok, err := p.literal()
	if ok || err != nil {
		return &expr{kind: constant, value: v}, err
	}
	start := p.i
	for isNameByte(p.peek()) {
		p.i++
	}
	name := p.s[start:p.i]
	if _, ok := signatureOf(name); !ok || !p.accept("(") {
		p.i = start
		return nil, p.fail("expected a path, a value or one of the functions count, length, match, search, value")
	}
	return p.call(name)
}

func (p *parser) call(name string) (*expr, error) {
	f, _ := signatureOf(name)
	e := &expr{kind: call, name: name}
	for p.space(); !p.accept(")"); p.space() {
		if len(e.args) > 0 {
			if !p.accept(",") {
				return nil, p.fail("expected , or )")
			}
			p.space()
		}
		arg, err := p.or()
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
	}
	if len(e.args) != len(f.params) {
		return nil, p.fail("wrong number of arguments of " + name + "()")
	}
	for i, arg := range e.args {
		if !fits(arg, f.params[i]) {
			return nil, p.fail("wrong kind of argument of " + name + "()")
		}
	}
	return e, nil
}

// result is the type of a function's result or parameter.
type result uint8

const (
	valueType result = iota
	nodesType
	logicalType
)

// signature lists the parameter types and the result type of a function.
type signature struct {
	params []result
	result result
}

// signatureOf returns the signature of a function of RFC 9535, 2.4.
func signatureOf(name string) (signature, bool) {
	switch name {
	case "length":
		return signature{[]result{valueType}, valueType}, true
	case "count", "value":
		return signature{[]result{nodesType}, valueType}, true
	case "match", "search":
		return signature{[]result{valueType, valueType}, logicalType}, true
	}
	return signature{}, false
}

// gives reports whether e is a call whose result has the wanted type.
func gives(e *expr, want result) bool {
	f, _ := signatureOf(e.name)
	return e.kind == call && f.result == want
}

func fits(e *expr, want result) bool {
	switch e.kind {
	case constant:
		return want == valueType
	case path:
		return want == nodesType || e.query.singular
	case call:
		return gives(e, want)
	}
	return false
}
