package subsume

import (
	"math"
	"slices"

	"github.com/proviso-eval/proviso"
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

// measured is a type that compares a measure with a threshold.
type measured struct {
	least bool     // the measure must reach the threshold; else not exceed it
	usual *float64 // the default threshold; nil if it is required
	texts bool     // the value holds reference texts
	best  bool     // of several texts, the best measure counts
}

// measuredType returns what is known of a type; false for all others.
func measuredType(base string) (measured, bool) {
	five, half, most := 5.0, 0.5, 0.75
	switch base {
	case "cost", "latency", "perplexity":
		return measured{}, true
	case "perplexity-score":
		return measured{least: true}, true
	case "levenshtein":
		return measured{usual: &five, texts: true}, true
	case "bleu":
		return measured{least: true, usual: &half, texts: true}, true
	case "rouge-n":
		return measured{least: true, usual: &most, texts: true}, true
	case "rouge-l":
		return measured{least: true, usual: &most, texts: true, best: true}, true
	case "gleu", "meteor":
		return measured{least: true, usual: &half, texts: true, best: true}, true
	}
	return measured{}, false
}

// fillLimit handles measures of the output.
func fillLimit(f *fact, base string, a *proviso.Assertion) {
	kind, ok := measuredType(base)
	if !ok {
		return
	}
	l := &limit{least: kind.least}
	switch v := a.Threshold.(type) {
	case float64:
		l.value = v
	case string:
		l.value = value.ToNumber(v)
	case value.Undefined:
		if kind.usual == nil {
			return
		}
		l.value = *kind.usual
	default:
		return
	}
	if math.IsNaN(l.value) {
		return
	}
	what := []any{base}
	if kind.texts {
		what = append(what, a.IgnoreCase && base == "levenshtein")
		if texts, ok := textsOf(a.Value); ok && kind.best {
			l.refs = texts
		} else {
			what = append(what, canonical(a.Value))
		}
	}
	if base == "meteor" {
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
