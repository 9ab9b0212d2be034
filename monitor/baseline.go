package monitor

import (
	"math"
	"time"

	"github.com/proviso-eval/proviso/stats"
)

const (
	// minBaseline is the number of evaluations needed to learn a baseline.
	minBaseline = 200
	// baselineConfidence is the confidence of the upper limit that serves as the
	// in-control rate.
	baselineConfidence = 0.9
	// pseudoItems is the number of evaluations at the mean rate that are added to each
	// hour, and to segments with fewer than minBaseline evaluations.
	pseudoItems = 200
	// Hours of the day get their own rates after seasonDays with seasonPerDay evaluations
	// a day.
	seasonDays   = 14
	seasonPerDay = 100
	day          = 24 * time.Hour
)

// baselineSteps are the numbers of evaluations at which a baseline is computed again.
// After the last, it is computed once more when it spans seasonDays, and then is final.
var baselineSteps = [...]int{minBaseline, 500, 1000, 3000}

// Source is the origin of an in-control rate.
type Source string

// The sources of in-control rates.
const (
	FromNothing   Source = ""          // none yet: the chart is learning
	FromObjective Source = "objective" // the rate that the watch allows
	FromEarlier   Source = "earlier"   // the previous version's rate, under the same judge
	FromBaseline  Source = "baseline"  // the observed rate
)

// model is the failure rate in control.
type model struct {
	Source   Source             `json:"source,omitempty"`
	Rate     float64            `json:"rate"`
	Upper    float64            `json:"upper"`
	N        int                `json:"n"`
	Segments map[string]float64 `json:"segments,omitempty"` // upper limits
	Hours    []float64          `json:"hours,omitempty"`    // factors by hour of the day (UTC)
}

// at returns the in-control failure probability of one evaluation.
func (m *model) at(segment string, t time.Time) float64 {
	p := m.Upper
	if own, ok := m.Segments[segment]; ok {
		p = own
	} else if own, ok := m.Segments[otherSegment]; ok {
		p = own
	}
	if len(m.Hours) == 24 {
		p *= m.Hours[t.UTC().Hour()]
	}
	return min(0.99, p)
}

// cell counts the evaluations of a segment by hour of the day.
type cell struct {
	N [24]int `json:"n"`
	X [24]int `json:"x"` // failed evaluations
}

func (c *cell) total() stats.Count {
	var t stats.Count
	for h := range c.N {
		t.N += c.N[h]
		t.Pass += c.X[h] // Count.Pass holds failures here
	}
	return t
}

// baseline counts what was observed in control.
type baseline struct {
	Cells map[string]*cell `json:"cells,omitempty"` // by segment
	N     int              `json:"n"`
	X     int              `json:"x"`
	First time.Time        `json:"first"`
	Last  time.Time        `json:"last"`
	Step  int              `json:"step"` // index of the next baselineSteps entry
	Done  bool             `json:"done,omitempty"`
}

// segmentOf returns the segment under which an evaluation is counted.
func (b *baseline) segmentOf(segment string) string {
	if _, ok := b.Cells[segment]; !ok && len(b.Cells) >= maxSegments {
		return otherSegment
	}
	return segment
}

// add counts an evaluation, and returns a new model if one is due.
func (b *baseline) add(failed bool, segment string, t time.Time) *model {
	if b.Done {
		return nil
	}
	segment = b.segmentOf(segment)
	c := b.Cells[segment]
	if c == nil {
		if b.Cells == nil {
			b.Cells = map[string]*cell{}
		}
		c = &cell{}
		b.Cells[segment] = c
	}
	hour := t.UTC().Hour()
	c.N[hour]++
	if b.N++; failed {
		c.X[hour]++
		b.X++
	}
	if b.First.IsZero() || t.Before(b.First) {
		b.First = t
	}
	if t.After(b.Last) {
		b.Last = t
	}
	switch {
	case b.Step < len(baselineSteps) && b.N >= baselineSteps[b.Step]:
		b.Step++
	case b.Step == len(baselineSteps) && b.Last.Sub(b.First) >= seasonDays*day:
		b.Done = true
	default:
		return nil
	}
	return b.learned()
}

// learned computes a model from the observations.
func (b *baseline) learned() *model {
	m := &model{Source: FromBaseline, N: b.N, Rate: float64(b.X) / float64(b.N), Upper: upperOf(stats.Count{Pass: b.X, N: b.N})}
	rates := map[string]float64{} // expected rates by segment
	if len(b.Cells) > 1 {
		m.Segments = map[string]float64{}
	}
	for name, c := range b.Cells {
		t := c.total()
		shrunk := (float64(t.Pass) + pseudoItems*m.Rate) / (float64(t.N) + pseudoItems)
		rates[name] = shrunk
		switch {
		case len(b.Cells) == 1:
		case t.N >= minBaseline:
			rates[name], m.Segments[name] = t.Share(), upperOf(t)
		case m.Rate > 0:
			m.Segments[name] = max(m.Upper, shrunk*m.Upper/m.Rate)
		default:
			m.Segments[name] = m.Upper
		}
	}
	if days := b.Last.Sub(b.First).Hours() / 24; m.Rate > 0 && days >= seasonDays && float64(b.N)/days >= seasonPerDay {
		m.Hours = b.hours(rates, m.Rate)
	}
	return m
}

// hours returns, for each hour of the day, the factor between its failures and those
// expected from the segments.
func (b *baseline) hours(rates map[string]float64, rate float64) []float64 {
	list := make([]float64, 24)
	for h := range list {
		failed, expected := pseudoItems*rate, pseudoItems*rate
		for name, c := range b.Cells {
			failed += float64(c.X[h])
			expected += float64(c.N[h]) * rates[name]
		}
		list[h] = failed / expected
	}
	return list
}

// upperOf returns the upper limit of a share of failures.
func upperOf(c stats.Count) float64 {
	u, err := stats.UpperJeffreys(c, baselineConfidence)
	if err != nil || math.IsNaN(u) {
		return 0.99
	}
	return min(0.99, u)
}
