package run

import (
	"errors"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/lint"
)

// wording warns about judged assertions whose wording is ambiguous.
type wording struct {
	p    *Plan
	seen map[*proviso.Assertion]bool // the set of a suite is the same in every case
}

// maxWorded bounds how many assertions are remembered; further ones may be
// checked twice.
const maxWorded = 10_000

// warn checks assertions and the members of sets.
func (w *wording) warn(list []*proviso.Assertion) {
	for _, a := range list {
		w.warn(a.Assert)
		if len(a.Criteria) == 0 || w.seen[a] {
			continue
		}
		if len(w.seen) < maxWorded {
			w.seen[a] = true
		}
		for _, l := range lint.Assertion(a) {
			e := proviso.Because(errors.New(l.Rule), proviso.Invalid, "%s", l.Text())
			e.Pointer, e.Warning = l.Pointer, true
			w.p.mistake(e)
		}
	}
}
