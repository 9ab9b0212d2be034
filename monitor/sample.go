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
	// maxSegments bounds the segments of a watch that are told apart; the others are
	// otherSegment.
	maxSegments = 50
	// otherSegment stands for the segments beyond maxSegments.
	otherSegment = "other"
	// leastShare is the share of the planned probabilities that is left when the budget is
	// used up, so that no segment has a probability of 0. The caller keeps the events
	// that it cannot pay for waiting.
	leastShare = 0.01
	// hourWithoutPrice bounds the events that are sampled in an hour under a budget while
	// the price of one is not known.
	hourWithoutPrice = 20
)

// Forecast is what a [Sampler] plans an hour with. Nothing in it depends on verdicts.
type Forecast struct {
	Now     time.Time
	Traffic map[string]float64 // matching events a day, by segment
	Cost    float64            // US dollars of one evaluated event, on average; 0 if unknown
	Free    bool               // evaluations cost nothing
	Spent   float64            // US dollars of today (UTC)
}

// Sampler decides which events are evaluated: by a hash of their conversation, so that
// conversations are in or out as a whole, with the same decision in each process, and so
// that a higher probability keeps what was in. It is safe for concurrent use.
type Sampler struct {
	sample Sample
	salt   string

	mu      sync.Mutex
	planned map[string]float64 // probabilities by segment
	others  float64            // of segments without a plan
}

// NewSampler makes the sampler of a watch. The salt is that of the watch: another one
// samples other conversations.
func NewSampler(w *Watch, salt string) *Sampler {
	return &Sampler{sample: w.Sample, salt: salt, others: w.Sample.Rate}
}

// Plan fixes the probabilities of the hour that begins. Each segment has the rate of the
// watch, or what gives its floor a day if that is more. If the budget of the day would not
// last, all are lowered by the same factor for the hours that are left.
func (s *Sampler) Plan(f Forecast) {
	planned := map[string]float64{}
	evaluations := 0.0 // a day
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

// affordable is the share of the planned evaluations that the budget pays for.
func (s *Sampler) affordable(f *Forecast, evaluations float64) float64 {
	if s.sample.BudgetPerDay <= 0 || f.Free || evaluations <= 0 {
		return 1
	}
	now := f.Now.UTC()
	left := 24 - float64(now.Hour()) // hours, with this one
	expected := evaluations * left / 24
	if f.Cost <= 0 {
		return min(1, max(leastShare, hourWithoutPrice/(evaluations/24)))
	}
	return min(1, max(leastShare, (s.sample.BudgetPerDay-f.Spent)/(f.Cost*expected)))
}

// Take reports whether an event is evaluated, and with which probability it was chosen.
func (s *Sampler) Take(e *ingest.Event) (probability float64, taken bool) {
	s.mu.Lock()
	p, ok := s.planned[e.Segment[s.sample.Segment]]
	if !ok {
		p = s.others
	}
	s.mu.Unlock()
	return p, p >= 1 || s.place(e.Group()) < p
}

// place is where a conversation is between 0 and 1.
func (s *Sampler) place(group string) float64 {
	sum := sha256.Sum256([]byte(s.salt + "\x00" + group))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// largest returns the names with the largest counts, at most n; of equal ones, the first
// by name.
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
