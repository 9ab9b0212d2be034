package subsume

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// limit is a threshold for a measure of an output.
type limit struct {
	value float64
	least bool // the measure must be at least the value; else at most
	// refs are reference texts, of which the best measure counts; nil if they are part
	// of what is measured.
	refs []string
}

// within reports whether every measure within l is within k, for the same measure.
func (l *limit) within(k *limit) bool {
	if !containsEvery(k.refs, l.refs) {
		return false
	}
	if l.least {
		return l.value >= k.value
	}
	return l.value <= k.value
}

// containsEvery reports whether all of some are in list.
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

// textsOf returns a text, or a list of texts, as a list.
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
