package subsume

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso/value"
)

// endless is the upper end of unbounded amounts.
const endless = math.MaxInt

// amounts are whole numbers from 0: spans from lo to hi, ascending and separate.
type amounts []amountSpan

type amountSpan struct{ lo, hi int }

// amountsOf reads the value of a count as package check does: a number, a number
// written as text, or an object with min, max or both. It ignores other keys of an
// object; without min and max it uses the default.
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

// wholeNumber returns f as a count, limited to the range of counts.
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
