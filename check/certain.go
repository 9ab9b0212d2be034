package check

import (
	"math"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// certain reports whether a group with undecided assertions certainly fails, and why:
// it would fail even if all of them passed.
func (t *tally) certain(threshold *float64) (reason string, failed bool) {
	switch {
	case t.settled || t.settles:
		return "", false // it passes, or may still pass
	case t.must:
		return t.failure, true
	case threshold == nil || math.IsNaN(*threshold):
		return t.failure, t.failed
	case t.counted == 0:
		return "", false
	}
	best := t.best()
	if best >= *threshold {
		return "", false
	}
	return "Aggregate score " + toFixed(best, 2) + " at best < " + value.FormatNumber(*threshold) + " threshold", true
}

// open adds an undecided verdict, or a verdict without a score, such as that of a set
// that failed while one of its members is undecided.
func (t *tally) open(v *proviso.Verdict, row *Row) {
	t.undecided = true
	if v.Status == proviso.Errored {
		t.fatal = v.Reason
	} else if e := lastUndecided(v.Components); e != nil {
		t.fatal = e.Reason
	}
	t.settles = t.settles || allowsFlagged(v.Assertion)
	t.optional = t.optional || v.Assertion.When != "" && v.Status == proviso.Errored
	w := weightOf(v.Assertion)
	t.negative = t.negative || w < 0
	t.openWeight += w
	if w != 0 {
		t.openScore += w * ceiling(v, row)
	}
}

// best is the highest mean that is still possible. It is infinite if that is unknown,
// and NaN if the mean can no longer be a number.
func (t *tally) best() float64 {
	all := t.weight + t.openWeight
	switch {
	case t.negative:
		return math.Inf(1)
	case all <= 0:
		return 0
	case t.weight <= 0:
		return t.openScore / all
	}
	best := (t.score + t.openScore) / all
	if mean := t.score / t.weight; t.optional && mean > best {
		return mean
	}
	return best
}

// ceiling is the best score that an undecided assertion can still get.
func ceiling(v *proviso.Verdict, row *Row) float64 {
	if v.Assertion.Type != proviso.TypeSet {
		return greatest(v.Assertion, row)
	}
	if len(v.Components) == 0 { // its condition is undecided
		most := 1.0
		for _, member := range v.Assertion.Assert {
			most = max(most, greatest(member, row))
		}
		return most
	}
	var t tally
	for i := range v.Components {
		t.add(&v.Components[i], row)
	}
	return t.best()
}

// greatest is the highest score that the type of an assertion can give.
func greatest(a *proviso.Assertion, row *Row) float64 {
	base, not := splitType(a.Type)
	kind, ok := Lookup(base)
	if !ok {
		return 1
	}
	free := kind.Range == AnyScore || kind.Range == SignedScore && not
	if kind.Range == RubricScore {
		_, rubric := graderOf(a, row.Case)
		free = rubric != nil
	}
	if free {
		return math.Inf(1)
	}
	return 1
}

// lastUndecided returns the last verdict that is an error. Those of sets come last,
// and those within sets are included. It is nil if there is none.
func lastUndecided(verdicts []proviso.Verdict) *proviso.Verdict {
	var last *proviso.Verdict
	for _, sets := range []bool{false, true} {
		for i := range verdicts {
			v := &verdicts[i]
			switch {
			case isSet(v) != sets:
			case v.Status == proviso.Errored:
				last = v
			case v.Unscored:
				last = lastUndecided(v.Components)
			}
		}
	}
	return last
}

func isSet(v *proviso.Verdict) bool { return v.Assertion.Type == proviso.TypeSet }
