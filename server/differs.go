package server

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// WatchDifferences compares a range of time with the time before it.
type WatchDifferences struct {
	Watch      string                `json:"watch"`
	From       time.Time             `json:"from"`
	To         time.Time             `json:"to"`
	Before     time.Time             `json:"before" doc:"Where the time before begins, which ends at from"`
	Traffic    TrafficDifference     `json:"traffic"`
	Assertions []AssertionDifference `json:"assertions" doc:"Those that changed most come first"`
	Mix        []MixDifference       `json:"mix" doc:"Values whose share of the traffic changed, the most changed first"`
}

// TrafficDifference compares the traffic as a whole.
type TrafficDifference struct {
	Before TrafficFigures `json:"before"`
	Within TrafficFigures `json:"within"`
}

// TrafficFigures describe traffic.
type TrafficFigures struct {
	Events    int      `json:"events"`
	PerHour   float64  `json:"per_hour"`
	Failed    *float64 `json:"failed" doc:"Share of events without an answer"`
	Tokens    *float64 `json:"tokens" doc:"Of an event"`
	Cost      *float64 `json:"cost" doc:"Of an event, in US dollars"`
	LatencyMS *float64 `json:"latency_ms" doc:"Mean"`
}

// AssertionDifference is how often an assertion fails before and within a range.
type AssertionDifference struct {
	Assertion string        `json:"assertion"`
	Before    SeriesBucket  `json:"before"`
	Within    SeriesBucket  `json:"within"`
	Change    *RateInterval `json:"change,omitempty" doc:"Within minus before, with its 95 % interval"`
	By        []ValueRate   `json:"by,omitempty" doc:"The rate within by version and by segment, the worst first"`
}

// ValueRate is the failure rate for one version or segment.
type ValueRate struct {
	What  string       `json:"what" enum:"version,segment"`
	Value string       `json:"value"`
	Rate  SeriesBucket `json:"rate"`
}

// MixDifference is a value whose share of the traffic changed.
type MixDifference struct {
	What   string  `json:"what" doc:"version, model, prompt, or the name of a segment"`
	Value  string  `json:"value"`
	Before float64 `json:"before" doc:"Its share of the events"`
	Within float64 `json:"within"`
	Events int     `json:"events" doc:"Within"`
	New    bool    `json:"new,omitempty" doc:"It did not occur before"`
}

const (
	mixShown  = 40
	leastMix  = 0.01 // smallest change of a share to show
	ratesMost = 12   // at most this many values per assertion
)

func (s *Server) watchDifferences(c *call) error {
	from, to := s.rangeOf(&c.q, 24*time.Hour)
	if c.q.err != nil {
		return c.q.err
	}
	live, err := s.liveWatch(c)
	if err != nil {
		return err
	}
	return c.send(differencesOf(c.r.Context(), c.kept, live, from.Truncate(time.Hour), to))
}

func differencesOf(ctx context.Context, in store.ProjectStore, live *liveWatch, from, to time.Time) (*WatchDifferences, error) {
	hours := max(1, (to.Sub(from)+time.Hour-1)/time.Hour)
	to = from.Add(hours * time.Hour)
	out := &WatchDifferences{Watch: live.Name, From: from, To: to, Before: from.Add(-hours * time.Hour), Assertions: []AssertionDifference{}, Mix: []MixDifference{}}
	if err := out.assertions(ctx, in, live.Name); err != nil {
		return nil, err
	}
	by := []store.TrafficBy{store.ByAll, store.ByAgentVersion, store.ByModel, store.ByPrompt}
	names := []string{"", "version", "model", "prompt"}
	if segment := live.conf.Sample.Segment; segment != "" {
		by, names = append(by, store.BySegmentOf(segment)), append(names, segment)
	}
	for i := range by {
		before, err := counted(ctx, in, live.conf.Match.Agent, by[i], out.Before, from)
		if err != nil {
			return nil, err
		}
		within, err := counted(ctx, in, live.conf.Match.Agent, by[i], from, to)
		if err != nil {
			return nil, err
		}
		if by[i] == store.ByAll {
			out.Traffic = TrafficDifference{figuresOf(before[""], hours), figuresOf(within[""], hours)}
			continue
		}
		out.Mix = append(out.Mix, mixOf(names[i], before, within)...)
	}
	slices.SortStableFunc(out.Mix, func(a, b MixDifference) int {
		return cmp.Compare(math.Abs(b.Within-b.Before), math.Abs(a.Within-a.Before))
	})
	out.Mix = out.Mix[:min(len(out.Mix), mixShown)]
	return out, nil
}

// counted sums up traffic by value.
func counted(ctx context.Context, in store.ProjectStore, agent string, by store.TrafficBy, from, to time.Time) (map[string]store.TrafficCount, error) {
	list, err := in.CountTraffic(ctx, store.TrafficFilter{Agent: agent, By: by, From: from, To: to, Step: to.Sub(from)})
	sum := map[string]store.TrafficCount{}
	for _, c := range list { // a step may start before the range
		of := sum[c.Value]
		of.Events, of.Failed, of.Tokens, of.Cost, of.Latency = of.Events+c.Events, of.Failed+c.Failed, of.Tokens+c.Tokens, of.Cost+c.Cost, of.Latency+c.Latency
		sum[c.Value] = of
	}
	return sum, err
}

func figuresOf(c store.TrafficCount, hours time.Duration) TrafficFigures {
	out := TrafficFigures{Events: c.Events, PerHour: float64(c.Events) / float64(hours)}
	if c.Events == 0 {
		return out
	}
	n := float64(c.Events)
	failed, tokens, cost, latency := float64(c.Failed)/n, float64(c.Tokens)/n, c.Cost/n, float64(c.Latency.Microseconds())/1000/n
	out.Failed, out.Tokens, out.Cost, out.LatencyMS = &failed, &tokens, &cost, &latency
	return out
}

// mixOf compares the shares of values in the traffic.
func mixOf(what string, before, within map[string]store.TrafficCount) []MixDifference {
	all := func(m map[string]store.TrafficCount) float64 {
		n := 0
		for _, c := range m {
			n += c.Events
		}
		return max(1, float64(n))
	}
	var list []MixDifference
	for _, v := range namesIn(before, within) {
		d := MixDifference{What: what, Value: v, Before: float64(before[v].Events) / all(before), Within: float64(within[v].Events) / all(within), Events: within[v].Events}
		d.New = before[v].Events == 0 && d.Events > 0
		if d.New || math.Abs(d.Within-d.Before) >= leastMix {
			list = append(list, d)
		}
	}
	return list
}

// namesIn returns the keys of both maps, sorted.
func namesIn[T any](a, b map[string]T) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b)))))
}

// assertions compares the rates of assertions.
func (d *WatchDifferences) assertions(ctx context.Context, in store.ProjectStore, watch string) error {
	step := d.To.Sub(d.From)
	sums := func(from, to time.Time, by store.SeriesBy) (map[string]map[string]*store.Bucket, error) {
		list, err := in.Series(ctx, store.SeriesFilter{Watch: watch, From: from, To: to, Step: step, By: by})
		of := map[string]map[string]*store.Bucket{}
		for i := range list {
			b := &list[i]
			if of[b.Assertion] == nil {
				of[b.Assertion] = map[string]*store.Bucket{}
			}
			value := b.Version + b.Segment // one of the two is empty
			if of[b.Assertion][value] == nil {
				of[b.Assertion][value] = &store.Bucket{Start: from}
			}
			addBucket(of[b.Assertion][value], b)
		}
		return of, err
	}
	before, err := sums(d.Before, d.From, "")
	if err != nil {
		return err
	}
	within, err := sums(d.From, d.To, "")
	if err != nil {
		return err
	}
	byVersion, err := sums(d.From, d.To, store.ByVersion)
	if err != nil {
		return err
	}
	bySegment, err := sums(d.From, d.To, store.BySegment)
	if err != nil {
		return err
	}
	for _, name := range namesIn(before, within) {
		a, b := &store.Bucket{Start: d.Before}, &store.Bucket{Start: d.From}
		if before[name] != nil {
			a = before[name][""]
		}
		if within[name] != nil {
			b = within[name][""]
		}
		one := AssertionDifference{Assertion: name, Before: bucketOf(a), Within: bucketOf(b), Change: changeOf(a, b)}
		one.By = append(ratesOf("version", byVersion[name]), ratesOf("segment", bySegment[name])...)
		d.Assertions = append(d.Assertions, one)
	}
	slices.SortFunc(d.Assertions, func(a, b AssertionDifference) int {
		return cmp.Or(cmp.Compare(changeIn(b.Change), changeIn(a.Change)), cmp.Compare(a.Assertion, b.Assertion))
	})
	return nil
}

func changeIn(i *RateInterval) float64 {
	if i == nil {
		return math.Inf(-1)
	}
	return i.Rate
}

// changeOf returns the difference of two rates with Newcombe's interval, computed from the
// effective sample sizes.
func changeOf(before, within *store.Bucket) *RateInterval {
	a, n, ok := failingShare(before)
	b, m, also := failingShare(within)
	if !ok || !also {
		return nil
	}
	count := func(rate, n float64) stats.Count {
		size := max(1, int(math.Round(n)))
		return stats.Count{Pass: int(math.Round(rate * float64(size))), N: size}
	}
	e, err := stats.Newcombe(count(b, m), count(a, n), seriesConfidence)
	if err != nil {
		return nil
	}
	return &RateInterval{Rate: b - a, Low: min(e.Low, b-a), High: max(e.High, b-a)}
}

// ratesOf returns the failure rates by value, the worst first.
func ratesOf(what string, by map[string]*store.Bucket) []ValueRate {
	var list []ValueRate
	for value, b := range by {
		if value != "" {
			list = append(list, ValueRate{what, value, bucketOf(b)})
		}
	}
	rate := func(v *ValueRate) float64 {
		if v.Rate.Rate == nil {
			return -1
		}
		return *v.Rate.Rate
	}
	slices.SortFunc(list, func(a, b ValueRate) int {
		return cmp.Or(cmp.Compare(rate(&b), rate(&a)), cmp.Compare(a.Value, b.Value))
	})
	return list[:min(len(list), ratesMost)]
}
