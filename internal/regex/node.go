package regex

// op is the kind of a node.
type op uint8

const (
	opEmpty   op = iota
	opSet        // one code point, or one code unit
	opSeq        // subs, in sequence
	opAlt        // one of subs: the first that leads to a match
	opRepeat     // subs[0], min to max times
	opBegin      // ^
	opEnd        // $
	opWord       // \b
	opNotWord    // \B
	opForeign    // only a backtracking engine can decide it: lookaround, backreferences
)

// unbounded is the max of a repeat without an upper bound.
const unbounded = -1

// node is a part of a parsed pattern. Groups are removed, because without
// backreferences they have no effect.
type node struct {
	op       op
	set      set
	negated  bool // opSet: everything but set; a separate field because case is folded first
	subs     []*node
	min, max int
	lazy     bool
}

// nullable reports whether n matches the empty text somewhere.
func (n *node) nullable() bool {
	switch n.op {
	case opSet:
		return false
	case opSeq:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
		return true
	case opAlt:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return false
	case opRepeat:
		return n.min == 0 || n.subs[0].nullable()
	}
	return true
}
