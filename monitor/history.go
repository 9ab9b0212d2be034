package monitor

import (
	"cmp"
	"slices"
	"time"
)

const (
	maxValues = 12             // values known of one property
	back      = 24 * time.Hour // a value that returns after this time counts as a change
	leastRoom = time.Hour      // minimum margin around a change in which others may have caused it
)

// appearance is a value that was seen in traffic.
type appearance struct {
	Value string    `json:"value"`
	First time.Time `json:"first"` // or when it returned
	Last  time.Time `json:"last"`
}

// history records when the values of one property were seen.
type history []appearance

// saw records a value.
func (h *history) saw(value string, at time.Time) {
	if value == "" {
		return
	}
	for i := range *h {
		a := &(*h)[i]
		if a.Value != value {
			continue
		}
		if at.Sub(a.Last) > back && h.others(value, a.Last) {
			a.First = at
		}
		if at.Before(a.First) {
			a.First = at
		}
		if at.After(a.Last) {
			a.Last = at
		}
		return
	}
	if len(*h) >= maxValues {
		oldest := 0
		for i, a := range *h {
			if a.Last.Before((*h)[oldest].Last) {
				oldest = i
			}
		}
		*h = slices.Delete(*h, oldest, oldest+1)
	}
	*h = append(*h, appearance{value, at, at})
}

// others reports whether another value was seen after since.
func (h *history) others(value string, since time.Time) bool {
	return slices.ContainsFunc(*h, func(a appearance) bool { return a.Value != value && a.Last.After(since) })
}

// changes returns the values that appeared in a span of time, each with the previous
// value.
func (h *history) changes(what string, s Span) []Change {
	var list []Change
	for _, a := range *h {
		if a.First.Before(s.Low) || a.First.After(s.High) {
			continue
		}
		if from := h.before(a); from != nil {
			list = append(list, Change{What: what, From: from.Value, To: a.Value, At: a.First.UTC()})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.To, b.To)) })
	return list
}

// before returns the value that was seen last before a appeared.
func (h *history) before(a appearance) *appearance {
	var best *appearance
	for i := range *h {
		b := &(*h)[i]
		if b.Value == a.Value || !b.First.Before(a.First) {
			continue
		}
		if best == nil || b.Last.After(best.Last) {
			best = b
		}
	}
	return best
}

// around returns the interval in which something else may have caused a change.
func (s Span) around() Span {
	room := max(leastRoom, s.High.Sub(s.Low)/4)
	return Span{s.Low.Add(-room), s.High.Add(room / 4)}
}

// whats are the properties that may change, in the order in which alarms list them.
var whats = [...]string{"version", "model", "prompt", "judge"}

// saw records the values of an observation.
func (s *state) saw(o *Observation) {
	for i, v := range [...]string{o.Version, o.Model, o.Prompt, o.Judge} {
		s.History[i].saw(v, o.Time.UTC())
	}
}

// changed lists what changed around a span of time.
func (s *state) changed(at Span) []Change {
	list := []Change{}
	around := at.around()
	for i, what := range whats {
		list = append(list, s.History[i].changes(what, around)...)
	}
	for _, a := range s.Open {
		if a.Kind == KindMix && a.Since != nil && !a.Since.Low.After(around.High) && !a.Since.High.Before(around.Low) {
			list = append(list, a.Changed...)
		}
	}
	return list
}
