package check

import (
	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// limitOf reads a threshold, which may be a number written as text.
func limitOf(v any) (bool, float64, error) {
	switch v := v.(type) {
	case nil, value.Undefined:
		return false, 0, nil
	case float64:
		return true, v, nil
	case string:
		if f := value.ToNumber(v); f == f {
			return true, f, nil
		}
	}
	return false, 0, proviso.Errorf(proviso.Invalid, "threshold must be a number, found %s", value.Stringify(v))
}

// weighs reports a negative weight, which promptfoo accepts.
func (m *compiled) weighs(all []*proviso.Error) []*proviso.Error {
	if m.Weight == nil || *m.Weight >= 0 {
		return all
	}
	err := proviso.Errorf(proviso.Invalid, "weight must be 0 or more, not %s: a negative weight makes a failure raise the score of the case", value.FormatNumber(*m.Weight))
	if !m.c.Lenient {
		return m.wrong(all, "weight", err)
	}
	w := mistakeAt(m.Assertion, "weight", err)
	w.Warning = true
	return append(all, w)
}

// limit returns the threshold that the type compares with; false if it has none.
func (k *Kind) limit(given bool, threshold float64) (float64, bool) {
	switch {
	case k.Limit == NoLimit, k.Limit == LimitIfGiven && !given:
		return 0, false
	case !given, k.Limit == LimitPositive && threshold == 0:
		return k.Default, true
	}
	return threshold, true
}

// limits sets the threshold of the assertion, and warns of a threshold that has no
// effect. In a CSV file, the threshold may be the default of the cell, which the user
// did not write.
func (m *compiled) limits(all []*proviso.Error) []*proviso.Error {
	if bound, ok := m.kind.limit(m.hasLimit, m.threshold); ok {
		m.bound, m.compared = bound, &m.bound
	}
	_, number := m.Threshold.(float64)
	text := m.base == proviso.TypeSet && m.hasLimit && !number
	if text {
		m.compared = nil // as in promptfoo
	}
	if !m.hasLimit || m.compared != nil || m.base == proviso.TypeJudge || m.kind.CellLimit != 0 && m.threshold == m.kind.CellLimit {
		return all
	}
	why := "type " + m.base + " has no score to compare"
	if text {
		why = "it is a text, and an assert-set takes a number"
	}
	w := mistakeAt(m.Assertion, "threshold", proviso.Errorf(proviso.Invalid, "threshold: %s is not compared: %s", value.ToString(m.Threshold), why))
	w.Warning = true
	return append(all, w)
}
