package suite

import (
	"hash/maphash"
	"math"
	"sync/atomic"
)

// knownIDs are the ids that a pass gave to the lines of files, for later passes:
// hashing the bytes of a line is much faster than hashing the content of its case.
type knownIDs struct {
	seed maphash.Seed
	list atomic.Pointer[[]knownID] // in order; nil until a pass has ended, or if some cases are not lines
}

// knownID is the id of the case in one line.
type knownID struct {
	line   uint64 // hash of its bytes
	key    contentKey
	number uint16 // among the cases of equal content, from 1
}

func newKnownIDs() *knownIDs { return &knownIDs{seed: maphash.MakeSeed()} }

// hash returns the hash of a line, which is not 0.
func (k *knownIDs) hash(line string) uint64 { return max(1, maphash.String(k.seed, line)) }

// lineOf returns the hash of a case's line if the id depends on that line alone,
// otherwise 0.
func (p *pass) lineOf(w written, axes []axis) uint64 {
	if w.line == "" || p.base != "" || w.base != nil || w.data != nil || len(axes) > 0 {
		return 0
	}
	return p.source.known.hash(w.line)
}

// again returns the id that an earlier pass gave to this line, if all lines up to
// here are unchanged.
func (n *identities) again(line uint64) (string, bool) {
	if n.before == nil {
		return "", false
	}
	if line != 0 && n.at < len(n.before) && n.before[n.at].line == line {
		k := n.before[n.at]
		n.at++
		return k.key.id(uint32(k.number)), true
	}
	for _, k := range n.before[:n.at] { // the file has changed: continue without them
		n.count(k.key)
	}
	n.before, n.mixed = nil, true
	return "", false
}

// remember keeps the id of a line for later passes.
func (n *identities) remember(line uint64, key contentKey, number uint32) {
	if line == 0 || number > math.MaxUint16 {
		n.mixed, n.made = true, nil
	}
	if !n.mixed {
		n.made = append(n.made, knownID{line, key, uint16(number)})
	}
}

// publish offers the ids of a pass that has ended to later passes.
func (n *identities) publish(known *knownIDs) {
	if !n.mixed && n.before == nil && len(n.made) > 0 {
		known.list.CompareAndSwap(nil, &n.made)
	}
}
