package regex

// op is the kind of a node.
type op uint8

const (
	opEmpty   op = iota
	opSet        // one code point, or one code unit
	opSeq        // subs, one after the other
	opAlt        // one of subs, the first that leads to a match
	opRepeat     // subs[0], min to max times
	opBegin      // ^
	opEnd        // $
	opWord       // \b
	opNotWord    // \B
	opForeign    // what only a backtracking engine decides: lookaround, backreferences
)

// unbounded is the max of a repeat without one.
const unbounded = -1

// node is a part of a parsed pattern. Groups are gone: without backreferences
// they matter to nobody.
type node struct {
	op       op
	set      set
	negated  bool // opSet: everything but set; kept apart because case is folded before
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
