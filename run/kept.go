package run

import (
	"iter"

	"github.com/proviso-eval/proviso/value"
)

// Limits of the cases that a plan keeps between checking and running them.
const (
	maxKept      = 1024
	maxKeptBytes = 8 << 20 // bytes of the texts in them
)

// kept holds the prepared cases of a small suite, so that the run neither reads nor compiles
// them again. A larger suite is read twice, so that memory does not grow with its cases.
type kept struct {
	cases []*prepared
	bytes int
	off   bool // the cases are read again
}

// add keeps a case, or drops all cases if they exceed the limits.
func (k *kept) add(pc *prepared) {
	if k.off {
		return
	}
	k.bytes += textBytes(pc.Vars) + textBytes(pc.Raw)
	if len(k.cases) == maxKept || k.bytes > maxKeptBytes || pc.Broken {
		k.drop()
		return
	}
	k.cases = append(k.cases, pc)
}

// drop drops the kept cases; no further ones are kept.
func (k *kept) drop() { *k = kept{off: true} }

// textBytes returns the length of the texts in a value, in bytes.
func textBytes(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, e := range v {
			n += textBytes(e)
		}
	case *value.Object:
		for _, e := range v.All() {
			n += textBytes(e)
		}
	}
	return n
}

// lazyCases yields the cases of the run: those that the plan kept, or those of the suite, which
// the workers prepare.
func (e *execution) lazyCases() iter.Seq2[*lazyCase, error] {
	return func(yield func(*lazyCase, error) bool) {
		if e.kept == nil {
			for c, err := range e.p.Suite.Cases() {
				if !yield(&lazyCase{c: c}, err) {
					return
				}
			}
			return
		}
		for i, pc := range e.kept {
			if !yield(&lazyCase{c: pc.Case, pc: pc}, nil) {
				return
			}
			if !e.p.serial { // otherwise the cases are read twice
				e.kept[i] = nil
			}
		}
	}
}
