package judge

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
)

// The reasons why a readable reply has no verdict on an assertion or a criterion. In
// messages, the part after a colon quotes the reply.
var (
	errNoVerdict     = errors.New("it gives no verdict on the criterion")
	errTwoVerdicts   = errors.New("it gives two different verdicts on the criterion")
	errContradiction = errors.New("it contradicts itself: its verdict on the assertion is not that on its criteria")
	errInvented      = errors.New("it says that the criterion is met, and none of its quotes occurs in the output")
	errInventedNot   = errors.New("it says that the criterion is not met, and none of its quotes occurs in the output")
	errNumbers       = errors.New("it does not number the criteria of an assertion as it was asked to")
)

// match returns the verdict on each criterion of an assertion, or the error that
// explains why there is none. It ignores results with other ids.
func match(list []entry, a asked) ([]*criterionReply, []error) {
	out, wrong := make([]*criterionReply, len(a.ns)), make([]error, len(a.ns))
	all := func(err error) ([]*criterionReply, []error) {
		return make([]*criterionReply, len(a.ns)), slices.Repeat([]error{err}, len(a.ns))
	}
	for i := range list {
		e := &list[i]
		if e.id != a.id {
			continue
		}
		own, err := e.place(a)
		if err != nil {
			return all(err)
		}
		if e.contradicts() {
			return all(errContradiction)
		}
		for k, s := range own {
			switch {
			case wrong[k] != nil:
			case s.says == saysTwo:
				out[k], wrong[k] = nil, errTwoVerdicts
			case out[k] == nil:
				out[k] = s
			case out[k].says != s.says:
				out[k], wrong[k] = nil, errTwoVerdicts
			}
		}
	}
	for k := range out {
		if wrong[k] == nil && (out[k] == nil || out[k].says == saysNothing) {
			out[k], wrong[k] = nil, errNoVerdict
		}
	}
	return out, wrong
}

// place assigns verdicts to the criteria of an assertion. If any of them is numbered, the
// numbers must be exactly the requested ones, each once. If none is, their order counts,
// and there must be as many as criteria. In any other case a verdict could be about
// another criterion.
func (e *entry) place(a asked) ([]*criterionReply, error) {
	out := make([]*criterionReply, len(a.ns))
	numbered := slices.ContainsFunc(e.criteria, func(s criterionReply) bool { return s.n != 0 })
	fits := len(e.criteria) == len(a.ns)
	for i := range e.criteria {
		k := i
		if numbered {
			k = slices.Index(a.ns, e.criteria[i].n)
		}
		if fits = fits && k >= 0 && out[k] == nil; !fits {
			return nil, e.misnumbered(a)
		}
		out[k] = &e.criteria[i]
	}
	if !fits {
		return nil, e.misnumbered(a)
	}
	return out, nil
}

// misnumbered returns an error with the numbers in the reply and the requested ones.
func (e *entry) misnumbered(a asked) error {
	var is, should []string
	for _, s := range e.criteria[:min(len(e.criteria), 12)] {
		switch s.n {
		case 0:
			is = append(is, "none")
		case -1:
			is = append(is, "something else")
		default:
			is = append(is, strconv.Itoa(s.n))
		}
	}
	for _, n := range a.ns[:min(len(a.ns), 12)] {
		should = append(should, strconv.Itoa(n))
	}
	if len(is) == 0 {
		is = []string{"no criteria"}
	}
	return proviso.Errorf(proviso.Undecided, "%w: %s instead of %s", errNumbers, strings.Join(is, ", "), strings.Join(should, ", "))
}

// contradicts reports whether the verdict on the whole assertion contradicts those on
// its criteria.
func (e *entry) contradicts() bool {
	has := func(o opinion) bool {
		return slices.ContainsFunc(e.criteria, func(s criterionReply) bool { return s.says == o })
	}
	switch e.pass {
	case saysMet:
		return has(saysNotMet) || has(saysCannotTell)
	case saysTwo:
		return true
	case saysNotMet:
		return !has(saysNotMet) && !has(saysNothing) && !has(saysCannotTell)
	}
	return false
}

// named corrects the case of ids: it replaces an unknown id if exactly one assertion has
// that id in a different case.
func named(entries []entry, list []asked) {
	for i := range entries {
		e := &entries[i]
		same := func(a asked) bool { return a.id == e.id }
		alike := func(a asked) bool { return strings.EqualFold(a.id, e.id) }
		if slices.ContainsFunc(list, same) {
			continue
		}
		at := slices.IndexFunc(list, alike)
		if at >= 0 && !slices.ContainsFunc(list[at+1:], alike) {
			e.id = list[at].id
		}
	}
}
