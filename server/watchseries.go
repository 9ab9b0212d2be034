package server

import (
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/duration"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
)

// WatchSeries is how often assertions failed in the traffic of a watch, by time.
type WatchSeries struct {
	Watch string       `json:"watch"`
	From  time.Time    `json:"from"`
	To    time.Time    `json:"to"`
	StepS int64        `json:"step_s" doc:"Seconds of a bucket"`
	By    string       `json:"by,omitempty" enum:"version,segment"`
	Lines []SeriesLine `json:"lines"`
}

// SeriesLine is the series of one assertion, and of one version and judge, or of one
// segment.
type SeriesLine struct {
	Assertion string        `json:"assertion"`
	Version   string        `json:"version,omitempty" doc:"Of the agent"`
	Judge     string        `json:"judge,omitempty" doc:"Its identity"`
	Segment   string        `json:"segment,omitempty"`
	Total     SeriesBucket  `json:"total" doc:"The whole range"`
	Note      string        `json:"note,omitempty" doc:"Says that the rate is the judge's, where no label corrects it"`
	Buckets   SeriesBuckets `json:"buckets" doc:"One for each step; null where nothing was evaluated"`
}

// SeriesBuckets are the buckets of a line; a gap is nil.
type SeriesBuckets []*SeriesBucket

// SeriesBucket sums up the verdicts in a span of time.
type SeriesBucket struct {
	Start     time.Time     `json:"start"`
	N         int           `json:"n" doc:"Verdicts that are pass or fail"`
	Fail      int           `json:"fail"`
	Errors    int           `json:"errors,omitempty"`
	Skipped   int           `json:"skipped,omitempty"`
	Rate      *float64      `json:"rate" doc:"The share that fails, weighted by the inverse of the probabilities of sampling; null if nothing is decided"`
	Low       *float64      `json:"low" doc:"Lower limit of its 95 % interval"`
	High      *float64      `json:"high" doc:"Upper limit of its 95 % interval"`
	Corrected *RateInterval `json:"corrected,omitempty" doc:"The share that fails by what people say: the judge's rate, corrected by labels of a random sample"`
	Cost      float64       `json:"cost,omitempty" doc:"US dollars"`
}

// RateInterval is an estimate with its 95 % interval.
type RateInterval struct {
	Rate   float64 `json:"rate"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Labels int     `json:"labels,omitempty" doc:"Labels that it comes from"`
}

const (
	seriesConfidence = 0.95
	seriesBuckets    = 120 // approximate number, if a request names no step
	seriesMost       = 5000
	seriesLines      = 2000
	notCorrected     = "judge's rate, not corrected"
)

func (s *Server) watchSeries(c *call) error {
	f := store.SeriesFilter{Watch: c.r.PathValue("watch"), Assertion: c.q.Get("assertion"), By: choice(&c.q, "by", store.ByVersion, store.BySegment)}
	f.From, f.To = s.rangeOf(&c.q, 30*24*time.Hour)
	f.Step = stepOf(&c.q, f.From, f.To, s.o.Now())
	if c.q.err != nil {
		return c.q.err
	}
	out, err := s.monitor.series(c.r.Context(), c.project, f)
	if err != nil {
		return c.nearestWatch(f.Watch, err)
	}
	return c.json(http.StatusOK, out)
}

// rangeOf reads a range of time. By default it ends now and has the given length.
func (s *Server) rangeOf(q *query, usual time.Duration) (from, to time.Time) {
	if from, to = q.time("from"), q.time("to"); to.IsZero() {
		to = s.o.Now()
	}
	if from.IsZero() {
		from = to.Add(-usual)
	}
	if from, to = from.UTC(), to.UTC(); !from.Before(to) {
		q.wrong(proviso.Errorf(proviso.Invalid, "from has to be before to"))
	}
	return from, to
}

// The steps for requests that name none.
var seriesSteps = []time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// stepOf reads the length of a bucket.
func stepOf(q *query, from, to, now time.Time) time.Duration {
	if text := q.Get("step"); text != "" {
		step, err := duration.Parse(text)
		if err != nil {
			q.wrong(proviso.Errorf(proviso.Invalid, "step has to be a time such as 10m, 6h or 1d, not %q", shortened(text)))
		}
		if step > 0 && to.Sub(from)/step > seriesMost {
			q.wrong(proviso.Errorf(proviso.Limit, "the series has more than %d steps; choose longer ones", seriesMost))
		}
		return step
	}
	for _, step := range seriesSteps {
		if to.Sub(from)/step <= seriesBuckets && (step >= time.Hour || from.After(now.Add(-47*time.Hour))) {
			return step
		}
	}
	return 30 * 24 * time.Hour
}

// series reads a series and splits it into lines.
func (m *monitoring) series(ctx context.Context, p store.Project, f store.SeriesFilter) (*WatchSeries, error) {
	in := m.s.o.Store.In(p)
	buckets, err := in.Series(ctx, f)
	if err != nil {
		return nil, err
	}
	said, err := m.labelled(ctx, p, f)
	if err != nil {
		return nil, err
	}
	first := f.From.Truncate(f.Step)
	n := int((f.To.Sub(first) + f.Step - 1) / f.Step)
	out := &WatchSeries{Watch: f.Watch, From: f.From, To: f.To, StepS: int64(f.Step / time.Second), By: string(f.By), Lines: []SeriesLine{}}
	at := map[seriesKey]int{}
	totals := []store.Bucket{}
	for _, b := range buckets {
		key := seriesKey{b.Assertion, b.Version, b.Judge, b.Segment}
		i, ok := at[key]
		if !ok {
			if len(out.Lines) == seriesLines {
				return nil, proviso.Errorf(proviso.Limit, "the series has more than %d lines; name an assertion, or a shorter range", seriesLines)
			}
			i = len(out.Lines)
			at[key] = i
			out.Lines = append(out.Lines, SeriesLine{Assertion: b.Assertion, Version: b.Version, Judge: b.Judge, Segment: b.Segment, Buckets: make([]*SeriesBucket, n)})
			totals = append(totals, store.Bucket{Start: f.From})
		}
		addBucket(&totals[i], &b)
		if slot := int(b.Start.Sub(first) / f.Step); slot >= 0 && slot < n {
			shown := bucketOf(&b)
			shown.Corrected = said.corrected(key, &b, b.Start, b.Start.Add(f.Step))
			out.Lines[i].Buckets[slot] = &shown
		}
	}
	for key, i := range at {
		line := &out.Lines[i]
		line.Total = bucketOf(&totals[i])
		if line.Total.Corrected = said.corrected(key, &totals[i], f.From, f.To); line.Total.Corrected == nil {
			line.Note = notCorrected
		}
	}
	return out, nil
}

// seriesKey identifies a line of a series.
type seriesKey struct{ assertion, version, judge, segment string }

// addBucket adds the counts and sums of b.
func addBucket(to, b *store.Bucket) {
	to.Pass, to.Fail, to.Errors, to.Skipped = to.Pass+b.Pass, to.Fail+b.Fail, to.Errors+b.Errors, to.Skipped+b.Skipped
	to.Weight, to.Failing, to.Squares, to.Cost = to.Weight+b.Weight, to.Failing+b.Failing, to.Squares+b.Squares, to.Cost+b.Cost
}

// bucketOf converts a bucket for clients.
func bucketOf(b *store.Bucket) SeriesBucket {
	out := SeriesBucket{Start: b.Start.UTC(), N: b.Pass + b.Fail, Fail: b.Fail, Errors: b.Errors, Skipped: b.Skipped, Cost: b.Cost}
	rate, n, ok := failingShare(b)
	if !ok {
		return out
	}
	out.Rate = &rate
	if i, err := stats.WilsonEffective(rate, n, seriesConfidence); err == nil {
		out.Low, out.High = &i.Low, &i.High
	}
	return out
}

// failingShare returns the weighted share of failing verdicts, and the effective sample size;
// ok is false if nothing is decided.
func failingShare(b *store.Bucket) (rate, n float64, ok bool) {
	if b.Weight <= 0 || b.Squares <= 0 {
		return 0, 0, false
	}
	return min(1, max(0, b.Failing/b.Weight)), min(float64(b.Pass+b.Fail), b.Weight*b.Weight/b.Squares), true
}

// spoken are the human labels on randomly drawn events of a range.
type spoken []spokenOf

// spokenOf is a human label beside the verdict on the same assertion.
type spokenOf struct {
	seriesKey    // version, judge and segment of the verdict
	at           time.Time
	judged, said bool // true is pass: by the judge, and by people
}

// corrected corrects a failure rate by the labels in a range; nil if there are none. It uses
// prediction-powered inference, which for pass and fail is post-stratification.
func (list spoken) corrected(key seriesKey, b *store.Bucket, from, to time.Time) *RateInterval {
	var c stats.Confusion
	for _, l := range list {
		if l.assertion != key.assertion || key.version != "" && l.version != key.version || key.judge != "" && l.judge != key.judge || key.segment != "" && l.segment != key.segment {
			continue
		}
		if l.at.Before(from) || !l.at.Before(to) {
			continue
		}
		switch {
		case l.judged && l.said:
			c.TP++
		case l.judged:
			c.FP++
		case l.said:
			c.FN++
		default:
			c.TN++
		}
	}
	rate, n, ok := failingShare(b)
	labels := c.TP + c.FP + c.FN + c.TN
	if !ok || labels == 0 {
		return nil
	}
	size := max(int(math.Round(n)), labels)
	judged := stats.Count{Pass: int(math.Round((1 - rate) * float64(size))), N: size}
	judged.Pass = min(max(judged.Pass, c.TP+c.FP), size-c.FN-c.TN)
	passed, failed := c.Strata()
	e, err := stats.PostStratified(judged, passed, failed, seriesConfidence)
	if err != nil {
		return nil
	}
	return &RateInterval{Rate: 1 - e.Value, Low: 1 - e.High, High: 1 - e.Low, Labels: labels}
}

// maxSpoken limits the labels that correct a series.
const maxSpoken = 10_000

// labelled reads the human labels on randomly drawn events of a range, each beside the verdict
// of the watch. If several people labelled the same subject, the majority counts.
func (m *monitoring) labelled(ctx context.Context, p store.Project, f store.SeriesFilter) (spoken, error) {
	in := m.s.o.Store.In(p)
	lf := store.LabelFilter{Events: true}
	if f.Assertion != "" {
		lf.Assertion = &f.Assertion
	}
	said := map[[2]string][]*label.Label{} // by event and assertion
	n := 0
	for l, err := range all(ctx, in.ListLabels, lf) {
		if err != nil {
			return nil, err
		}
		if l.Stratum != label.Random || l.Assertion == "" {
			continue
		}
		if n++; n > maxSpoken {
			break
		}
		key := [2]string{l.Event, l.Assertion}
		said[key] = append(said[key], &l.Label)
	}
	if len(said) == 0 {
		return nil, nil
	}
	return besideVerdicts(ctx, in, f, said)
}

// besideVerdicts finds the verdicts on the labelled subjects.
func besideVerdicts(ctx context.Context, in store.ProjectStore, f store.SeriesFilter, said map[[2]string][]*label.Label) (spoken, error) {
	var events []string
	for key := range said {
		events = append(events, key[0])
	}
	slices.Sort(events)
	var out spoken
	for some := range slices.Chunk(slices.Compact(events), thumbsAtOnce) {
		if err := verdictsOn(ctx, in, f.Watch, some, func(v *store.WatchVerdict) {
			verdict, ok, _ := label.Majority(said[[2]string{v.Event, v.Assertion}])
			if !ok || v.Status != proviso.Pass && v.Status != proviso.Fail || v.Time.Before(f.From) || !v.Time.Before(f.To) {
				return
			}
			out = append(out, spokenOf{seriesKey{v.Assertion, v.Version, v.Judge, v.Segment}, v.Time, v.Status == proviso.Pass, verdict == label.Pass})
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// correctedRate returns a chart's failure rate since a change, corrected by labels; nil if
// there are none.
func (m *monitoring) correctedRate(ctx context.Context, live *liveWatch, assertion, version, judge string, since monitor.Span) *float64 {
	f := store.SeriesFilter{Watch: live.Name, Assertion: assertion, From: since.Low, To: m.now(), By: store.ByVersion}
	if !f.From.Before(f.To) {
		return nil
	}
	f.Step = (f.To.Sub(f.From)/time.Hour + 2) * time.Hour
	said, err := m.labelled(ctx, live.key.project, f)
	if err != nil || len(said) == 0 {
		return nil
	}
	buckets, err := m.s.o.Store.In(live.key.project).Series(ctx, f)
	if err != nil {
		return nil
	}
	var sum store.Bucket
	for i := range buckets {
		if b := &buckets[i]; b.Version == version && b.Judge == judge {
			addBucket(&sum, b)
		}
	}
	if i := said.corrected(seriesKey{assertion: assertion, version: version, judge: judge}, &sum, f.From, f.To); i != nil {
		return &i.Rate
	}
	return nil
}
