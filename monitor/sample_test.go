package monitor_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/monitor"
)

func sampled(s *monitor.Sampler, segment string, n int) (share, probability float64) {
	taken := 0
	for i := range n {
		p, ok := s.Take(&ingest.Event{ID: fmt.Sprint(segment, i), Segment: map[string]string{"lang": segment}})
		if probability = p; ok {
			taken++
		}
	}
	return float64(taken) / float64(n), probability
}

func TestSampler(t *testing.T) {
	t.Parallel()
	w := tone()
	w.Sample = monitor.Sample{Rate: .1, Floor: 60, Segment: "lang"}
	s := monitor.NewSampler(w, "salt")
	if share, p := sampled(s, "en", 20_000); p != .1 || math.Abs(share-.1) > .01 {
		t.Errorf("before a plan: %v at %v", share, p)
	}
	s.Plan(monitor.Forecast{Now: began, Traffic: map[string]float64{"en": 10_000, "de": 200, "fr": 30, "none": 0}})
	for segment, want := range map[string]float64{"en": .1, "de": .3, "fr": 1, "it": .1, "none": .1} {
		if share, p := sampled(s, segment, 20_000); math.Abs(p-want) > 1e-9 || math.Abs(share-want) > .015 {
			t.Errorf("%s: %v at %v, want %v", segment, share, p, want)
		}
	}
}

func TestSamplerKeepsConversations(t *testing.T) {
	t.Parallel()
	low, high, other := tone(), tone(), tone()
	low.Sample, high.Sample, other.Sample = monitor.Sample{Rate: .1}, monitor.Sample{Rate: .3}, monitor.Sample{Rate: .1}
	a, again, b, c := monitor.NewSampler(low, "salt"), monitor.NewSampler(low, "salt"), monitor.NewSampler(high, "salt"), monitor.NewSampler(other, "pepper")
	differ := 0
	for i := range 5000 {
		first := &ingest.Event{ID: fmt.Sprint("x", i), Conversation: fmt.Sprint("c", i)}
		second := &ingest.Event{ID: fmt.Sprint("y", i), Conversation: fmt.Sprint("c", i)}
		_, in := a.Take(first)
		if _, both := a.Take(second); both != in {
			t.Fatal("a conversation is cut")
		}
		if _, same := again.Take(first); same != in {
			t.Fatal("two processes decide otherwise")
		}
		if _, more := b.Take(first); in && !more {
			t.Fatal("a higher rate loses a conversation")
		}
		if _, salted := c.Take(first); salted != in {
			differ++
		}
	}
	if differ < 500 {
		t.Errorf("another salt differs in %d of 5000", differ)
	}
}

func TestSamplerBudget(t *testing.T) {
	t.Parallel()
	w := tone()
	w.Sample = monitor.Sample{Rate: .1, Segment: "lang", BudgetPerDay: 5}
	s := monitor.NewSampler(w, "")
	plan := func(hour int, cost, spent float64) float64 {
		s.Plan(monitor.Forecast{Now: began.Add(time.Duration(hour) * time.Hour), Traffic: map[string]float64{"en": 24_000}, Cost: cost, Spent: spent})
		p, _ := s.Take(&ingest.Event{ID: "x", Segment: map[string]string{"lang": "en"}})
		return p
	}
	for _, c := range []struct {
		hour              int
		cost, spent, want float64
	}{
		{0, .001, 0, .1},          // 2400 evaluations cost $2.40
		{0, .01, 0, .1 * 5. / 24}, // $24
		{12, .01, 2.5, .1 * 2.5 / 12},
		{23, .01, 5, .001}, // spent: a hundredth remains
		{12, 0, 0, .02},    // price unknown: 20 evaluations this hour
	} {
		if got := plan(c.hour, c.cost, c.spent); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestSamplerOfManySegments(t *testing.T) {
	t.Parallel()
	w := tone()
	w.Sample = monitor.Sample{Rate: .1, Floor: 60, Segment: "lang"}
	s := monitor.NewSampler(w, "")
	traffic := map[string]float64{}
	for i := range 10_000 {
		traffic[fmt.Sprint(i)] = 1
	}
	traffic["en"] = 100
	s.Plan(monitor.Forecast{Now: began, Traffic: traffic})
	if _, p := sampled(s, "en", 1); p != .6 {
		t.Error(p)
	}
	if _, p := sampled(s, "9999", 1); p != .1 {
		t.Error("a segment beyond the limit has a floor:", p)
	}
}
