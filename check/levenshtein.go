package check

import (
	"context"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// The distance is computed only as far as a verdict needs it. maxEdits limits that
// work, maxShownEdits the extra work for a reason. Both count steps of 64 cells.
const (
	maxEdits      = 1 << 30 // some seconds
	maxShownEdits = 1 << 21 // some milliseconds
)

// newLevenshtein is `levenshtein`: the output is at most threshold edits (of one
// UTF-16 code unit each) away from the value.
func newLevenshtein(_ *Compiler, s *Spec) (Check, error) {
	want, ok := s.Value.(string)
	if !ok {
		return nil, s.badValue("a text")
	}
	threshold := s.threshold()
	if s.IgnoreCase {
		want = lower(want)
	}
	return Func(func(_ context.Context, sub *Subject) (Finding, error) {
		text := sub.folded(s.IgnoreCase)
		most := max(len(text), len(want)) // an upper bound: there are at least as many bytes as units
		if threshold >= float64(most) && !s.Not {
			return found(true), nil
		}
		e := newEdits(text, want)
		limit := -1 // for NaN
		if threshold >= 0 {
			limit = int(min(math.Floor(threshold), float64(e.most())))
		}
		if e.cost(limit) > maxEdits {
			return Finding{}, proviso.Errorf(proviso.Limit, "the texts are too long for an edit distance of up to %d", limit)
		}
		distance, ok := e.within(limit)
		f := found(ok)
		if f.Pass == s.Not {
			f.Reason = s.distanceReason(e, distance, ok)
		}
		return f, nil
	}), nil
}

func (s *Spec) distanceReason(e *edits, distance int, ok bool) string {
	limit := thresholdText(s)
	if ok {
		return "Levenshtein distance " + strconv.Itoa(distance) + " is less than or equal to threshold " + limit
	}
	if e.cost(e.most()) > maxShownEdits {
		return "Levenshtein distance is greater than threshold " + limit
	}
	distance, _ = e.within(e.most())
	return "Levenshtein distance " + strconv.Itoa(distance) + " is greater than threshold " + limit
}

// thresholdText is the threshold as reasons show it.
func thresholdText(s *Spec) string {
	if s.HasThreshold {
		return value.ToString(s.Assertion.Threshold)
	}
	return value.FormatNumber(s.kind.Default)
}

// edits are two texts without their common beginning and end. The symbols of the
// shorter one are numbered from 0; the next number stands for any other.
type edits struct {
	short, long []uint16
	symbols     int
}

// most returns the largest distance the texts can have.
func (e *edits) most() int { return len(e.long) }

// cost is the maximum number of steps of within(limit).
func (e *edits) cost(limit int) int {
	return len(e.long) * min(limit/64+2, len(e.short)/64+1)
}

func newEdits(a, b string) *edits {
	a, b = trimCommon(a, b)
	x, y := value.UTF16(a), value.UTF16(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	e := &edits{short: x, long: y}
	e.number()
	return e
}

// trimCommon removes the common beginning and end of both texts, in whole characters.
func trimCommon(a, b string) (string, string) {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i])) {
		i--
	}
	a, b = a[i:], b[i:]
	n = min(len(a), len(b))
	i = 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	for i > 0 && !utf8.RuneStart(a[len(a)-i]) {
		i--
	}
	return a[:len(a)-i], b[:len(b)-i]
}

// number replaces the code units by the numbers of symbols.
func (e *edits) number() {
	var low [128]uint32 // number plus one; 0 is unset
	var high map[uint16]uint32
	for i, u := range e.short {
		id := low[u&127]
		if u >= 128 {
			id = high[u]
		}
		if id == 0 {
			e.symbols++
			id = uint32(e.symbols)
			switch {
			case u < 128:
				low[u] = id
			case high == nil:
				high = map[uint16]uint32{u: id}
			default:
				high[u] = id
			}
		}
		e.short[i] = uint16(id - 1)
	}
	for i, u := range e.long {
		id := low[u&127]
		if u >= 128 {
			id = high[u]
		}
		if id == 0 {
			id = uint32(e.symbols) + 1
		}
		e.long[i] = uint16(id - 1)
	}
}
