package subsume

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// endless is the upper end of unbounded amounts.
const endless = math.MaxInt

// amounts are whole numbers of at least 0: spans from lo to hi, ascending and disjoint.
type amounts []amountSpan

type amountSpan struct{ lo, hi int }

// amountsOf reads the value of a count like package check: a number, a number written as a
// string, or an object with min, max or both. It ignores other keys of an object; without min
// and max it uses other.
func amountsOf(val any, other amounts) (amounts, bool) {
	switch v := val.(type) {
	case float64:
		return exactly(v)
	case string:
		return exactly(value.ToNumber(v))
	case *value.Object:
		low, hasLow, ok := boundOf(v, "min")
		if !ok {
			return nil, false
		}
		high, hasHigh, ok := boundOf(v, "max")
		if !ok {
			return nil, false
		}
		if !hasLow && !hasHigh {
			return other, other != nil
		}
		span := amountSpan{0, endless}
		if hasLow {
			span.lo = wholeNumber(math.Ceil(low))
		}
		if hasHigh {
			span.hi = wholeNumber(math.Floor(high))
		}
		if hasHigh && high < 0 || span.lo > span.hi {
			return amounts{}, true
		}
		return amounts{span}, true
	}
	return nil, false
}

func exactly(f float64) (amounts, bool) {
	switch {
	case math.IsNaN(f):
		return nil, false
	case f < 0 || f != math.Trunc(f) || f > 1<<53:
		return amounts{}, true // no count has this value
	}
	return amounts{{int(f), int(f)}}, true
}

func boundOf(o *value.Object, key string) (bound float64, has, ok bool) {
	v, has := o.Get(key)
	if _, undefined := v.(value.Undefined); !has || undefined {
		return 0, false, true
	}
	switch v.(type) {
	case float64, string:
		f := value.ToNumber(v)
		return f, true, !math.IsNaN(f)
	}
	return 0, false, false
}

// wholeNumber returns f as a count, clamped to the range of counts.
func wholeNumber(f float64) int {
	return int(min(max(f, 0), 1<<53))
}

// without returns the amounts that are not in a.
func (a amounts) without() amounts {
	out := amounts{}
	next := 0
	for _, s := range a {
		if s.lo > next {
			out = append(out, amountSpan{next, s.lo - 1})
		}
		if s.hi == endless {
			return out
		}
		next = s.hi + 1
	}
	return append(out, amountSpan{next, endless})
}

// within reports whether every amount of a is in b.
func (a amounts) within(b amounts) bool {
	for _, s := range a {
		if !slices.ContainsFunc(b, func(t amountSpan) bool { return t.lo <= s.lo && s.hi <= t.hi }) {
			return false
		}
	}
	return true
}

// limit is a threshold for a measure of an output.
type limit struct {
	value float64
	least bool // the measure must be at least value; otherwise at most
	// refs are reference texts, of which the best measure counts; nil if they are part of the
	// measure.
	refs []string
}

// within reports whether every measure that satisfies l satisfies k, for the same measure.
func (l *limit) within(k *limit) bool {
	if !containsEvery(k.refs, l.refs) {
		return false
	}
	if l.least {
		return l.value >= k.value
	}
	return l.value <= k.value
}

// containsEvery reports whether list contains all members of some.
func containsEvery(list, some []string) bool {
	for _, s := range some {
		if !slices.Contains(list, s) {
			return false
		}
	}
	return true
}

// fillLimit handles measures of the output.
func fillLimit(f *fact, kind *check.Kind, a *proviso.Assertion) {
	l := &limit{least: kind.Measure == check.AtLeast}
	switch v := a.Threshold.(type) {
	case float64:
		l.value = v
	case string:
		l.value = value.ToNumber(v)
	case value.Undefined:
		if kind.Limit != check.LimitAlways {
			return
		}
		l.value = kind.Default
	default:
		return
	}
	if math.IsNaN(l.value) {
		return
	}
	what := []any{kind.Type}
	if kind.References != check.NoReferences {
		what = append(what, a.IgnoreCase && kind.Type == "levenshtein")
		if texts, ok := textsOf(a.Value); ok && kind.References == check.BestOf {
			l.refs = texts
		} else {
			what = append(what, canonical(a.Value))
		}
	}
	if kind.Type == "meteor" {
		for _, key := range []string{"alpha", "beta", "gamma"} {
			what = append(what, a.Raw.At(key))
		}
	}
	f.measure, f.limit = value.Stringify(what), l
}

// textsOf returns a string or a list of strings as a list.
func textsOf(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		list := make([]string, len(v))
		for i, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, false
			}
			list[i] = text
		}
		return list, true
	}
	return nil, false
}
