// Package jsonpath selects values by JSONPath (RFC 9535).
//
// Start at [Compile]. Selecting is bounded: a path whose segments multiply each
// other returns an error instead of an endless list.
package jsonpath

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Path is a compiled path. It is safe for concurrent use.
type Path struct{ query *query }

// Compile reads a path. Anything that RFC 9535 does not allow, including wrong types in
// filters, is a *[proviso.Error] with the code Invalid.
func Compile(text string) (*Path, error) {
	p := parser{s: text}
	if text == "" || text[0] != '$' {
		return nil, p.fail("a path begins with $")
	}
	p.i = 1
	q, err := p.segments(true)
	if err != nil {
		return nil, err
	}
	if p.i < len(p.s) {
		return nil, p.fail("unexpected text")
	}
	return &Path{q}, nil
}

// maxSteps is the number of values that one selection may visit.
const maxSteps = 5_000_000

// Select returns the values that the path selects from root, in the order of
// RFC 9535; members of objects are in the order of their keys. An error means
// that the limit was reached.
func (p *Path) Select(root any) ([]any, error) {
	e := evaluation{root: root}
	nodes := e.query(p.query, root)
	if e.steps > maxSteps {
		return nil, proviso.Errorf(proviso.Limit, "the path visits more than %d values", maxSteps)
	}
	return nodes, nil
}

// query is a list of segments, from the root or from the current node.
type query struct {
	fromRoot bool
	segments []segment
	singular bool // selects at most one value, for any argument
}

// segment applies its selectors to each node, or to each descendant as well.
type segment struct {
	descend   bool
	selectors []selector
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byFilter
	wildcard
)

type selector struct {
	kind   selectorKind
	name   string
	index  int
	slice  slice
	filter *expr
}

// slice is start:end:step; missing parts are not set.
type slice struct {
	start, end       int
	hasStart, hasEnd bool
	step             int
}

// evaluation is one selection.
type evaluation struct {
	root    any
	steps   int
	regexps map[string]*matcher // compiled patterns of this selection
}

// step counts a visited value; it returns false once there are too many.
func (e *evaluation) step() bool {
	e.steps++
	return e.steps <= maxSteps
}

func (e *evaluation) query(q *query, current any) []any {
	start := current
	if q.fromRoot {
		start = e.root
	}
	nodes := []any{start}
	for i := range q.segments {
		s := &q.segments[i]
		var next []any
		for _, n := range nodes {
			if s.descend {
				next = e.descend(s, n, next)
			} else {
				next = e.children(s, n, next)
			}
		}
		nodes = next
	}
	return nodes
}

// descend applies a segment to n, then to its descendants, depth first.
func (e *evaluation) descend(s *segment, n any, out []any) []any {
	out = e.children(s, n, out)
	switch n := n.(type) {
	case []any:
		for _, v := range n {
			if !e.step() {
				return out
			}
			out = e.descend(s, v, out)
		}
	case *value.Object:
		for _, v := range n.All() {
			if !e.step() {
				return out
			}
			out = e.descend(s, v, out)
		}
	}
	return out
}

func (e *evaluation) children(s *segment, n any, out []any) []any {
	for i := range s.selectors {
		if !e.step() {
			return out
		}
		switch n := n.(type) {
		case []any:
			out = e.items(&s.selectors[i], n, out)
		case *value.Object:
			out = e.members(&s.selectors[i], n, out)
		}
	}
	return out
}

func (e *evaluation) members(s *selector, o *value.Object, out []any) []any {
	switch s.kind {
	case byName:
		if v, ok := o.Get(s.name); ok {
			out = append(out, v)
		}
	case wildcard, byFilter:
		for _, v := range o.All() {
			if !e.step() {
				return out
			}
			if s.kind == wildcard || e.holds(s.filter, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func (e *evaluation) items(s *selector, list []any, out []any) []any {
	switch s.kind {
	case byIndex:
		i := s.index
		if i < 0 {
			i += len(list)
		}
		if i >= 0 && i < len(list) {
			out = append(out, list[i])
		}
	case bySlice:
		return e.sliced(s.slice, list, out)
	case wildcard, byFilter:
		for _, v := range list {
			if !e.step() {
				return out
			}
			if s.kind == wildcard || e.holds(s.filter, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// sliced is RFC 9535, 2.3.4.2.2.
func (e *evaluation) sliced(s slice, list []any, out []any) []any {
	n := len(list)
	start, end := 0, n
	if s.step < 0 {
		start, end = n-1, -n-1
	}
	if s.hasStart {
		start = s.start
	}
	if s.hasEnd {
		end = s.end
	}
	fix := func(i int) int {
		if i < 0 {
			return i + n
		}
		return i
	}
	start, end = fix(start), fix(end)
	switch {
	case s.step > 0:
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		for i := start; i < end && e.step(); i += s.step {
			out = append(out, list[i])
			if s.step > n {
				break
			}
		}
	case s.step < 0:
		start, end = min(max(start, -1), n-1), min(max(end, -1), n-1)
		for i := start; i > end && e.step(); i += s.step {
			out = append(out, list[i])
			if s.step < -n {
				break
			}
		}
	}
	return out
}
