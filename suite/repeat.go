package suite

import (
	"github.com/proviso-eval/proviso/value"

	"github.com/proviso-eval/proviso/internal/kind"
)

// repetition is how often a case runs and how often it must pass.
type repetition struct{ n, pass int }

// repetition decodes n, or {n, pass}.
func (p *pass) repetition(at string, v any, otherwise repetition) repetition {
	rep, message := parseRepetition(v)
	if message != "" {
		p.Mistake(at, "%s", message)
		return otherwise
	}
	if rep.n == 0 {
		return otherwise
	}
	return rep
}

// maxRepeat limits how often one case runs.
const maxRepeat = 100_000

// parseRepetition reads n, or {n, pass}. The message describes the mistake.
func parseRepetition(v any) (rep repetition, message string) {
	const want = "expected a number of repetitions, or {n: 5, pass: 4}"
	if v == nil {
		return repetition{}, ""
	}
	o, isObject := v.(*value.Object)
	if !isObject {
		n, ok := wholeNumber(v)
		if !ok {
			return repetition{}, want + ", got " + kind.Shown(v)
		}
		rep.n = n
	}
	for key, m := range o.All() {
		n, ok := wholeNumber(m)
		switch {
		case key != "n" && key != "pass":
			return repetition{}, want + "; unknown key \"" + key + "\""
		case !ok:
			return repetition{}, key + ": expected a whole number of at least 1, got " + kind.Shown(m)
		case key == "n":
			rep.n = n
		default:
			rep.pass = n
		}
	}
	switch {
	case rep.n == 0:
		return repetition{}, want
	case rep.n > maxRepeat:
		return repetition{}, "a case runs at most 100000 times"
	case rep.pass > rep.n:
		return repetition{}, "pass is more than n: a case cannot pass more often than it runs"
	}
	return rep, ""
}

func wholeNumber(v any) (int, bool) {
	f, ok := v.(float64)
	if !ok || f < 1 || f > 1e9 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
