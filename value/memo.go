package value

import (
	"strings"
)

// Parser reads similar JSON texts, such as the lines of a file, as [ParseJSON] does. It
// does not parse a value again if its text equals the text at the same place of the
// previous JSON text. Results share values, so they must not be changed. The zero value is
// ready to use. It is not safe for concurrent use.
type Parser struct {
	root  memo
	nodes int
	buf   []byte
}

// Limits of a Parser's memory.
const (
	memoNodes   = 1024     // values
	memoMembers = 64       // per array or object
	memoText    = 16 << 10 // bytes of a remembered text
)

// Parse reads one JSON text. The error is a *[SyntaxError].
func (q *Parser) Parse(text string) (any, error) {
	p := parser{s: text, buf: q.buf}
	m := &q.root
	if len(text) > memoText {
		m = nil
	} else {
		m.parser = q
	}
	v, err := p.whole(m)
	q.buf = p.buf
	if len(q.buf) > memoText {
		q.buf = nil
	}
	return v, err
}

// memo is the value at one place of the previous text. A nil memo remembers nothing.
type memo struct {
	parser  *Parser
	raw     string // the value's text; "" if there was none
	value   any
	keys    []string // keys of an object, in order; shared by all objects with the same keys
	quoted  []string // the keys in their JSON form
	members []*memo
}

// member returns the memo of member i, nil if there are too many.
func (m *memo) member(i int) *memo {
	if m == nil || i >= memoMembers {
		return nil
	}
	if i == len(m.members) {
		if m.parser.nodes >= memoNodes {
			return nil
		}
		m.parser.nodes++
		m.members = append(m.members, &memo{parser: m.parser})
	}
	if i > len(m.members) {
		return nil
	}
	return m.members[i]
}

// size returns the number of members.
func (m *memo) size() int {
	if m == nil {
		return 0
	}
	if list, ok := m.value.([]any); ok {
		return min(len(list), memoMembers)
	}
	return 0
}

// remembered reads a value, or returns the previous one if its text is the same.
func (p *parser) remembered(depth int, m *memo) (any, error) {
	if m.raw != "" && strings.HasPrefix(p.s[p.i:], m.raw) && p.endsAt(p.i+len(m.raw)) {
		p.i += len(m.raw)
		return m.value, nil
	}
	start := p.i
	var v any
	var err error
	switch {
	case p.i < len(p.s) && p.s[p.i] == '{':
		v, err = p.object(depth+1, m)
	case p.i < len(p.s) && p.s[p.i] == '[':
		v, err = p.array(depth+1, m)
	default:
		v, err = p.value(depth, nil)
	}
	if err != nil {
		m.raw = ""
		return nil, err
	}
	m.raw, m.value = p.s[start:p.i], v
	return v, nil
}

// endsAt reports whether the value that ends at offset i is complete. A number could
// continue after the end of the text.
func (p *parser) endsAt(i int) bool {
	if c := p.s[i-1]; c < '0' || c > '9' || i == len(p.s) {
		return true
	}
	c := p.s[i]
	return (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E'
}

// objectBuilder builds an object that shares its keys with the previous one as long as they
// are the same.
type objectBuilder struct {
	memo *memo
	o    *Object
	vals []any // values of the memo's first keys, while o is nil
	n    int   // members read
}

// key reads a key.
func (p *parser) key(b *objectBuilder) (string, error) {
	if b.o == nil && b.memo != nil && b.n < len(b.memo.keys) {
		if q := b.memo.quoted[b.n]; strings.HasPrefix(p.s[p.i:], q) {
			p.i += len(q)
			return b.memo.keys[b.n], nil
		}
	}
	key, err := p.str()
	return WellFormed(key), err
}

// add adds a member or replaces it; again is true if it replaced one.
func (b *objectBuilder) add(key string, v any) (again bool) {
	i := b.n
	b.n++
	if b.o == nil {
		if b.memo != nil && i < len(b.memo.keys) && b.memo.keys[i] == key {
			if b.vals == nil {
				b.vals = make([]any, 0, len(b.memo.keys))
			}
			b.vals = append(b.vals, v)
			return false
		}
		b.diverge(i)
	}
	if i := b.o.find(key); i >= 0 {
		b.o.vals[i] = v
		return true
	}
	b.o.put(key, v)
	return false
}

// diverge gives the object its own keys. The first i are those of the memo.
func (b *objectBuilder) diverge(i int) {
	b.o = &Object{keys: make([]string, i, max(4, i+1)), vals: b.vals}
	if i > 0 {
		copy(b.o.keys, b.memo.keys)
		b.o.reindex()
	}
	if cap(b.o.vals) == 0 {
		b.o.vals = make([]any, 0, 4)
	}
}

// object returns the finished object and remembers its keys.
func (b *objectBuilder) object() *Object {
	switch {
	case b.o != nil:
		b.remember()
		return b.o
	case b.n == 0:
		return &Object{}
	case b.n < len(b.memo.keys):
		b.diverge(b.n)
		b.remember()
		return b.o
	}
	o := &Object{keys: b.memo.keys, vals: b.vals}
	o.reindex()
	return o
}

// remember keeps the keys for the next object, unless a key was repeated or is an array
// index, because objects reorder those.
func (b *objectBuilder) remember() {
	m := b.memo
	if m == nil {
		return
	}
	m.keys, m.quoted = nil, nil
	if b.n > memoMembers || b.o.Len() != b.n {
		return
	}
	for _, key := range b.o.keys {
		if _, ok := arrayIndex(key); ok {
			return
		}
	}
	m.keys = make([]string, b.n)
	m.quoted = make([]string, b.n)
	for i, key := range b.o.keys {
		m.keys[i] = strings.Clone(key)
		m.quoted[i] = string(AppendQuoted(nil, key))
	}
}
