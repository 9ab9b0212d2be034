package flowyaml

import (
	"github.com/proviso-eval/proviso/value"
)

// mapping reads a flow mapping, starting at its brace.
func (p *parser) mapping(tag string, depth int) (node, error) {
	isSet := false
	switch tag {
	case "", "!", tagMap:
	case tagSet:
		isSet = true
	default:
		return node{}, errTag
	}
	o := &value.Object{}
	err := p.entries('}', func() error {
		key, value, _, err := p.entry(depth, true)
		if err == nil && isSet && !key.merge && value.value != nil {
			err = errTag
		}
		if err == nil {
			err = p.put(o, key, value)
		}
		return err
	})
	return node{value: o, complex: true, mapping: true}, err
}

// sequence reads a flow sequence, starting at its bracket.
func (p *parser) sequence(tag string, depth int) (node, error) {
	add := addItem
	switch tag {
	case "", "!", tagSeq:
	case tagOmap:
		add = orderedItem(map[string]bool{})
	case tagPairs:
		add = pairItem
	default:
		return node{}, errTag
	}
	list := []any{}
	err := p.entries(']', func() error {
		key, val, pair, err := p.entry(depth, false)
		if err != nil {
			return err
		}
		item := key.value
		if pair {
			o := &value.Object{}
			if err := p.put(o, key, val); err != nil {
				return err
			}
			item = o
		}
		list, err = add(list, item)
		return err
	})
	return node{value: list, complex: true, list: true}, err
}

// entries reads the entries of a collection with the commas between them.
func (p *parser) entries(end byte, entry func() error) error {
	p.i++
	comma := true
	for {
		p.space(true)
		switch c := p.peek(0); {
		case c == 0:
			return errEnd
		case c == end:
			p.i++
			return nil
		case !comma:
			return errComma
		case c == ',':
			return errEmpty
		}
		if err := entry(); err != nil {
			return err
		}
		if comma = p.peek(0) == ','; comma {
			p.i++
		}
	}
}

// entry reads a key with its value, or an item of a sequence. A missing key or
// value is null.
func (p *parser) entry(depth int, mapping bool) (key, value node, pair bool, err error) {
	explicit := p.peek(0) == '?' && isBlank(p.peek(1))
	if explicit {
		p.i++
		p.space(true)
	}
	line := p.line
	key, ok, err := p.node(depth + 1)
	if err != nil {
		return key, value, false, err
	}
	p.space(true)
	if p.peek(0) == ':' && (mapping || explicit || p.line == line) {
		p.i++
		p.space(true)
		if value, _, err = p.node(depth + 1); err == nil {
			p.space(true)
		}
		return key, value, true, err
	}
	if !ok && !explicit {
		return key, value, false, errComma
	}
	return key, value, explicit, nil
}

// put adds a member; the last of equal keys wins. A merge key adds the members of
// one or several mappings that o does not have yet.
func (p *parser) put(o *value.Object, key, val node) error {
	switch {
	case key.complex:
		return errKey
	case key.merge && val.mapping:
		return p.merge(o, val.value)
	case key.merge && val.list:
		list, _ := val.value.([]any)
		for _, from := range list {
			if err := p.merge(o, from); err != nil {
				return err
			}
		}
		return nil
	case key.merge:
		return errMerge
	}
	o.Set(value.ToString(key.value), val.value)
	return nil
}

func (p *parser) merge(o *value.Object, from any) error {
	source, ok := from.(*value.Object)
	if !ok {
		return errMerge
	}
	for k, v := range source.All() {
		if p.merged++; p.merged > maxMerged {
			return errTooMuch
		}
		if !o.Has(k) {
			o.Set(k, v)
		}
	}
	return nil
}

func addItem(list []any, item any) ([]any, error) { return append(list, item), nil }

// orderedItem is !!omap: mappings of one key, each key once.
func orderedItem(seen map[string]bool) func([]any, any) ([]any, error) {
	return func(list []any, item any) ([]any, error) {
		o, ok := item.(*value.Object)
		if !ok || o.Len() != 1 || seen[o.Keys()[0]] {
			return nil, errTag
		}
		seen[o.Keys()[0]] = true
		return append(list, item), nil
	}
}

// pairItem is !!pairs: mappings of one key, read as lists of two.
func pairItem(list []any, item any) ([]any, error) {
	o, ok := item.(*value.Object)
	if !ok || o.Len() != 1 {
		return nil, errTag
	}
	key := o.Keys()[0]
	return append(list, []any{key, o.At(key)}), nil
}
