package monitor

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/ingest"
)

const (
	// maxSegments bounds the number of distinct segments in a watch; the others count as
	// otherSegment.
	maxSegments = 50
	// otherSegment is the name for all segments beyond maxSegments.
	otherSegment = "other"
	// leastShare is the share of the planned probabilities that remains when the budget
	// is spent, so that no segment has a probability of 0. The caller keeps the events
	// that it cannot pay for waiting.
	leastShare = 0.01
	// hourWithoutPrice bounds the events sampled per hour under a budget while the price
	// of an evaluation is unknown.
	hourWithoutPrice = 20
)

// Forecast is the input for planning an hour of a [Sampler]. Nothing in it depends on
// verdicts.
type Forecast struct {
	Now     time.Time
	Traffic map[string]float64 // matching events per day, by segment
	Cost    float64            // mean cost of an evaluated event in US dollars; 0 if unknown
	Free    bool               // evaluations cost nothing
	Spent   float64            // US dollars spent today (UTC)
}

// Sampler decides which events are evaluated, by a hash of their conversation. Thus
// conversations are in or out as a whole, every process makes the same decision, and a
// higher probability keeps everything that was in before. A Sampler is safe for
// concurrent use.
type Sampler struct {
	sample Sample
	salt   string

	mu      sync.Mutex
	planned map[string]float64 // probabilities by segment
	others  float64            // probability for segments without a plan
}

// NewSampler returns the sampler of a watch. The salt belongs to the watch: a different
// salt samples different conversations.
func NewSampler(w *Watch, salt string) *Sampler {
	return &Sampler{sample: w.Sample, salt: salt, others: w.Sample.Rate}
}

// Plan sets the probabilities for the hour that begins. Each segment gets the rate of the
// watch, or the probability that yields its daily floor if that is higher. If the day's
// budget would not last, Plan lowers all of them by the same factor for the remaining
// hours.
func (s *Sampler) Plan(f Forecast) {
	planned := map[string]float64{}
	evaluations := 0.0 // per day
	for _, name := range largest(f.Traffic, maxSegments) {
		events := max(0, f.Traffic[name])
		p := s.sample.Rate
		if events > 0 {
			p = min(1, max(p, float64(s.sample.Floor)/events))
		}
		planned[name] = p
		evaluations += p * events
	}
	for name, events := range f.Traffic {
		if _, ok := planned[name]; !ok {
			evaluations += s.sample.Rate * max(0, events)
		}
	}
	scale := s.affordable(&f, evaluations)
	for name := range planned {
		planned[name] *= scale
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned, s.others = planned, s.sample.Rate*scale
}

// affordable returns the share of the planned evaluations that the budget covers.
func (s *Sampler) affordable(f *Forecast, evaluations float64) float64 {
	if s.sample.BudgetPerDay <= 0 || f.Free || evaluations <= 0 {
		return 1
	}
	now := f.Now.UTC()
	left := 24 - float64(now.Hour()) // remaining hours, including this one
	expected := evaluations * left / 24
	if f.Cost <= 0 {
		return min(1, max(leastShare, hourWithoutPrice/(evaluations/24)))
	}
	return min(1, max(leastShare, (s.sample.BudgetPerDay-f.Spent)/(f.Cost*expected)))
}

// Take reports whether an event is evaluated, and the probability with which it was
// chosen.
func (s *Sampler) Take(e *ingest.Event) (probability float64, taken bool) {
	s.mu.Lock()
	p, ok := s.planned[e.Segment[s.sample.Segment]]
	if !ok {
		p = s.others
	}
	s.mu.Unlock()
	return p, p >= 1 || s.place(e.Group()) < p
}

// place returns the position of a conversation between 0 and 1.
func (s *Sampler) place(group string) float64 {
	sum := sha256.Sum256([]byte(s.salt + "\x00" + group))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// largest returns the names with the largest counts, at most n; ties are broken by name.
func largest(counts map[string]float64, n int) []string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case counts[a] > counts[b]:
			return -1
		case counts[a] < counts[b]:
			return 1
		}
		return 0
	})
	return names[:min(n, len(names))]
}
