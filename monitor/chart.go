package monitor

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/stats"
)

// errDamaged is the error for charts that cannot be read.
var errDamaged = errors.New("the saved charts are damaged")

const (
	maxFailures = 160 // failures kept to find a change point
	maxExamples = 5
	// errorRate is the acceptable share of undecided evaluations, and errorShare the
	// share of the false alarms allotted to charts of errors.
	errorRate, errorShare = 0.1, 0.02
	// These set for how many evaluations, on average, an alarm stays open at least if the
	// rate has not fallen: the chart's evaluations in closeDays, but at least closeAfter
	// and at most closeAfterMost.
	closeAfter, closeAfterMost, closeDays = 1000, 100_000, 90
	// betterConfidence is the confidence required to accept that a version is better than
	// the previous one, so that later versions are compared with its own rate.
	betterConfidence = 0.999
	// leastChange is the smallest odds ratio for which an alarm can detect that a rise is
	// over.
	leastChange = 1.5
	// mostChange limits the odds ratio used to detect the end of an alarm. After a large
	// rise, a rate that is lower than during the alarm may still be far too high.
	mostChange = 4.0
	// minSuspect is the number of evaluations after which an alarm estimates its rate,
	// and suspectConfidence the confidence of its limits.
	minSuspect, suspectConfidence = 50, 0.999
)

// chart monitors one assertion on one version of an agent, as decided by one judge.
type chart struct {
	Assertion string         `json:"assertion"`
	Version   string         `json:"version,omitempty"`
	Judge     string         `json:"judge,omitempty"`
	All       stats.Weighted `json:"all"` // all decided evaluations
	Errors    int            `json:"errors,omitempty"`
	Skipped   int            `json:"skipped,omitempty"`

	// Entered counts the evaluations in the chart, one per conversation.
	Entered  int             `json:"entered"`
	Items    int             `json:"items"`    // evaluations since the sequence below began
	Expected float64         `json:"expected"` // expected failures among Items in control
	Weights  stats.Weighted  `json:"weights"`  // sampling weights of Items
	Failures []failure       `json:"failures,omitempty"`
	Before   time.Time       `json:"before"` // time of the last failure that is no longer kept, or of the first item
	First    time.Time       `json:"first"`
	Last     time.Time       `json:"last"`           // latest time that the clock has reached
	Owed     float64         `json:"owed,omitempty"` // days to add to the weight of the next decided item
	Latest   []string        `json:"latest,omitempty"`
	Seen     seen            `json:"seen"`
	Baseline baseline        `json:"baseline"`
	Model    model           `json:"model"`
	Detector stats.EDetector `json:"detector"`
	Undecide stats.EDetector `json:"undecided"` // detector for errors
	Recovery *recovery       `json:"recovery,omitempty"`
	Mended   *recovery       `json:"mended,omitempty"` // end of an alarm about errors
}

// failure is one failure in a chart, with the totals before it.
type failure struct {
	Before   int
	Expected float64
	Time     time.Time      // event time
	Weights  stats.Weighted // sampling weights of the items before it
}

// MarshalJSON encodes a failure as a list, to save space.
func (f failure) MarshalJSON() ([]byte, error) {
	w := f.Weights
	return json.Marshal([]any{f.Before, short(f.Expected), f.Time.UnixMilli(), short(w.Weight), short(w.Yes), short(w.Squares), short(w.SquaresOfYes)})
}

// short rounds a number to 9 significant digits.
func short(f float64) float64 {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(f))))
	if math.IsInf(scale, 0) || scale == 0 {
		return f
	}
	return math.Round(f*scale) / scale
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (f *failure) UnmarshalJSON(data []byte) error {
	var list []float64
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) != 7 {
		return errDamaged
	}
	*f = failure{Before: int(list[0]), Expected: list[1], Time: time.UnixMilli(int64(list[2])).UTC(),
		Weights: stats.Weighted{N: int(list[0]), Weight: list[3], Yes: list[4], Squares: list[5], SquaresOfYes: list[6]}}
	return nil
}

// recovery detects the end of an alarm: a Shiryaev-Roberts sum that tests the in-control
// rate against the alarm's rate.
type recovery struct {
	Alarm string    `json:"alarm"` // alarm id
	Odds  float64   `json:"odds"`  // odds during the alarm, as a multiple of the odds in control
	Sum   float64   `json:"sum"`
	From  failure   `json:"from"`  // likeliest start of the rise
	Early failure   `json:"early"` // earliest possible start of the rise
	Since Span      `json:"since"`
	Model model     `json:"model"` // model with which the alarm was opened
	At    time.Time `json:"at"`    // when the alarm was opened
}

// risen returns the failure rate that the alarm must have fallen below before it closes,
// given the rate p in control.
func (r *recovery) risen(p float64) float64 { return r.Odds * p / (1 - p + r.Odds*p) }

// add adds the next item, and reports whether the rise is over.
func (r *recovery) add(failed bool, p float64, limit float64) bool {
	risen := r.risen(p)
	f := (1 - p) / (1 - risen)
	if failed {
		f = p / risen
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 1
	}
	r.Sum = (r.Sum + 1) * f
	return r.Sum >= limit
}

func (c *chart) is(o *Observation) bool {
	return c.Assertion == o.Assertion && c.Version == o.Version && c.Judge == o.Judge
}

// live reports whether the chart can raise an alarm.
func (c *chart) live() bool { return c.Model.Source != FromNothing }

// clock returns when the observation was committed, or the event time if that is unknown.
// Charts weight items by this time.
func (o *Observation) clock() time.Time {
	if o.At.IsZero() {
		return o.Time
	}
	return o.At
}

// elapsed advances the chart's clock, and returns the number of days that it moved.
func (c *chart) elapsed(to time.Time) float64 {
	if c.First.IsZero() {
		c.First, c.Last, c.Before = to, to, to
	}
	if !to.After(c.Last) {
		return 0
	}
	d := to.Sub(c.Last)
	c.Last = to
	return d.Hours() / 24
}

// happened is the effect of a verdict on the alarms of a chart.
type happened struct {
	risen, recovered  bool
	broken, decidable bool // the same for errors
}

// observe adds the next verdict. charts is the number of live charts in the project, and
// perDays the number of days per false alarm in all of them.
func (c *chart) observe(o *Observation, charts int, perDays float64) happened {
	switch o.Status {
	case proviso.Skip:
		c.Skipped++
		return happened{}
	case proviso.Errored:
		c.Errors++
	default:
		c.All.Add(o.Status == proviso.Fail, o.Probability)
	}
	if o.Conversation != "" && !c.Seen.add(o.Conversation+"\x00"+errorMark(o)) {
		return happened{}
	}
	if o.Backfill {
		if o.Status != proviso.Errored {
			c.learn(o)
		}
		return happened{}
	}
	days := c.elapsed(o.clock()) / float64(max(1, charts))
	c.Owed += days
	var h happened
	h.broken, h.decidable = c.decided(o, days, perDays)
	if o.Status != proviso.Errored {
		h.risen, h.recovered = c.enter(o, c.Owed, perDays)
		c.Owed = 0
	}
	return h
}

// errorMark separates a conversation's errors from its verdicts, so that an error does
// not take the place of a verdict.
func errorMark(o *Observation) string {
	if o.Status == proviso.Errored {
		return "error"
	}
	return ""
}

// decided monitors how often the assertion cannot be decided.
func (c *chart) decided(o *Observation, days, perDays float64) (broken, decidable bool) {
	failed := o.Status == proviso.Errored
	if c.Mended != nil {
		return false, c.Mended.add(failed, errorRate, closeAfter/10)
	}
	c.Undecide.Add(failed, errorRate, days*errorShare)
	return c.Undecide.Value() >= perDays, false
}

// enter adds a decided item to the chart.
func (c *chart) enter(o *Observation, days, perDays float64) (risen, recovered bool) {
	failed := o.Status == proviso.Fail
	c.Entered++
	if c.live() {
		p := c.Model.at(o.Segment, o.Time)
		if c.Recovery != nil {
			c.suspect()
			recovered = c.Recovery.add(failed, p, min(closeAfterMost, max(closeAfter, closeDays*c.perDay())))
		} else {
			c.Detector.Add(failed, p, days*(1-errorShare))
			risen = c.Detector.Value() >= perDays
		}
		if failed {
			c.keep(o)
		}
		c.Items++
		c.Expected += p
		c.Weights.Add(failed, o.Probability)
	}
	if c.Recovery == nil && !risen {
		c.learn(o)
	}
	return risen, recovered
}

// keep records a failure.
func (c *chart) keep(o *Observation) {
	if len(c.Failures) >= maxFailures {
		c.Before = c.Failures[0].Time
		c.Failures = slices.Delete(c.Failures, 0, 1)
	}
	c.Failures = append(c.Failures, failure{Before: c.Items, Expected: c.Expected, Time: o.Time.UTC(), Weights: c.Weights})
	if c.Latest = append(c.Latest, o.Event); len(c.Latest) > maxExamples {
		c.Latest = slices.Delete(c.Latest, 0, 1)
	}
}

// learn adds an item to the baseline. An in-control rate from the previous version is
// kept, because a version that is worse than the previous one is not in control, unless
// this version's rate is certainly lower. Taking the lower of two limits each time would
// fall below the true rate after some versions.
func (c *chart) learn(o *Observation) {
	m := c.Baseline.add(o.Status == proviso.Fail, o.Segment, o.Time)
	if m == nil {
		return
	}
	if c.Model.Source == FromEarlier {
		strict, err := stats.UpperJeffreys(stats.Count{Pass: c.Baseline.X, N: c.Baseline.N}, betterConfidence)
		if err != nil || strict > c.Model.Upper {
			return
		}
	}
	c.Model = *m
}

// forget drops the data that only a chart with traffic needs.
func (c *chart) forget() {
	if c.Recovery == nil && c.Mended == nil && len(c.Failures)+c.Seen.n > 0 {
		c.restart(c.Last)
		c.Seen = seen{}
	}
}

// restart starts a new sequence, after an alarm.
func (c *chart) restart(at time.Time) {
	c.Items, c.Expected, c.Weights, c.Failures, c.Latest, c.Before = 0, 0, stats.Weighted{}, nil, nil, at
	c.Detector = stats.EDetector{}
}

// rise locates the change behind an alarm: the failures with which it started, and the
// interval between the last item that is certainly before it and the first that is
// certainly after.
func (c *chart) rise() (best, early failure, since Span) {
	list := make([]stats.Failure, len(c.Failures))
	for i, f := range c.Failures {
		list[i] = stats.Failure{Before: f.Before, Expected: f.Expected}
	}
	// Failures that are not kept are not part of the sequence: it starts with the first
	// kept failure.
	r, err := stats.LocateRise(list, c.Items, c.Expected)
	if err != nil {
		return failure{Time: c.Last}, failure{Time: c.Last}, Span{c.Last, c.Last}
	}
	low := c.Before
	if r.Low > 0 {
		low = c.Failures[r.Low-1].Time
	}
	// Events are evaluated only roughly in order of time. The interval covers the times
	// of all failures between its ends.
	high := low
	for _, f := range c.Failures[r.Low : r.High+1] {
		if f.Time.Before(low) {
			low = f.Time
		}
		if f.Time.After(high) {
			high = f.Time
		}
	}
	return c.Failures[r.Best], c.Failures[r.Low], Span{low.UTC(), high.UTC()}
}

// suspect raises the rate used to detect the end of an alarm, as more data arrives. It
// uses a lower limit of the rate since the earliest possible start of the rise, which is
// less biased than the rate since the likeliest start. The limit is strict, because the
// highest of many limits counts.
func (c *chart) suspect() {
	r := c.Recovery
	w := c.since(r.Early)
	expected := c.Expected - r.Early.Expected
	if w.N < minSuspect || expected <= 0 {
		return
	}
	if e, err := w.Hajek(suspectConfidence); err == nil {
		r.Odds = min(mostChange, max(r.Odds, odds(e.Low)/odds(expected/float64(w.N))))
	}
}

// since returns the totals of the items since a failure.
func (c *chart) since(f failure) stats.Weighted {
	w := c.Weights
	w.N -= f.Weights.N
	w.Weight -= f.Weights.Weight
	w.Yes -= f.Weights.Yes
	w.Squares -= f.Weights.Squares
	w.SquaresOfYes -= f.Weights.SquaresOfYes
	w.Yes, w.SquaresOfYes = min(w.Yes, w.Weight), min(w.SquaresOfYes, w.Squares)
	return w
}

// perDay returns the number of items per day that enter the chart.
func (c *chart) perDay() float64 {
	return float64(c.Entered) / max(1.0/24, c.Last.Sub(c.First).Hours()/24)
}
