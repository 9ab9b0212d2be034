package suite

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// DecodeSet decodes an assertion set that is not in a suite file: a list, at a
// pointer, of assertions in the form of a suite. It returns the valid ones and the
// mistakes in the others: at most 100, and one that counts the rest. types are the
// assertion types that the set may name.
func DecodeSet(types proviso.Types, list []any, pointer string) ([]*proviso.Assertion, []*proviso.Error) {
	var mistakes []*proviso.Error
	dropped, wrong := 0, false
	record := func(e *proviso.Error) {
		wrong = wrong || !e.Warning
		if len(mistakes) < maxMistakes {
			mistakes = append(mistakes, e)
		} else {
			dropped++
		}
	}
	d := &decoder{facts: proviso.Facts{Types: types}}
	d.Decoder = assertion.Decoder{Owner: d, Report: record, Enough: func() bool {
		enough := len(mistakes) == maxMistakes
		if enough {
			dropped++
		}
		return enough
	}}
	ids := map[string]bool{}
	all := make([]*proviso.Assertion, 0, len(list))
	for i, v := range list {
		at := document.Join(pointer, i)
		if _, ok := v.(*value.Object); !ok {
			d.Mistake(at, "%s", notMember(v))
			continue
		}
		a := &proviso.Assertion{}
		if !d.Assertion(a, at, v) || a.Broken {
			continue
		}
		for _, e := range memberMistakes(a, ids) {
			e.Pointer = at + e.Pointer
			record(e)
		}
		all = append(all, a)
	}
	if dropped > 0 {
		m := proviso.MoreMistakes(dropped, !wrong)
		mistakes = append(mistakes, &proviso.Error{Code: m.Code, Message: m.Message, Warning: m.Warning})
	}
	return all, mistakes
}

// notMember explains why a value is not an assertion of a set.
func notMember(v any) string {
	return "an assertion of the set is {id, instruction, criteria} or {id, check}, not " + kind.Shown(v)
}

// memberMistakes returns the mistakes that keep an assertion out of a set, with
// pointers below its own. Results are counted by id, so ids must differ. An
// assertion of weight 0 would not count in the share; use severity info for that.
func memberMistakes(a *proviso.Assertion, ids map[string]bool) []*proviso.Error {
	var mistakes []*proviso.Error
	wrong := func(pointer, format string, args ...any) {
		mistakes = append(mistakes, proviso.ErrorAt(pointer, proviso.Invalid, format, args...))
	}
	switch {
	case a.ID == "":
		wrong("", "an assertion of the set needs an id")
	case ids[a.ID]:
		wrong("/id", "a second assertion has the id %q", a.ID)
	}
	ids[a.ID] = true
	if a.Weight != nil && !(*a.Weight > 0) {
		wrong("/weight", "the weight in a set is more than 0, not %s; severity: info reports an assertion without counting it", value.FormatNumber(*a.Weight))
	}
	return mistakes
}
