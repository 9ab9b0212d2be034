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
	maxFailures = 160 // that are kept to find a change point
	maxExamples = 5
	// errorRate is the share of undecided evaluations that is in order, and errorShare the
	// share of the false alarms that charts of errors may have.
	errorRate, errorShare = 0.1, 0.02
	// closeAfter is how many evaluations, on average, an alarm stays open at least while the
	// rate has not fallen: as many as so many days of the chart have, within these bounds.
	closeAfter, closeAfterMost, closeDays = 1000, 100_000, 90
	// betterConfidence is that with which a version is better than the one before, so that
	// its own rate is what later versions are held against.
	betterConfidence = 0.999
	// leastChange is the odds ratio from which an alarm can tell that a rise is over.
	leastChange = 1.5
	// mostChange bounds the odds ratio that the end of an alarm is told from. After a large
	// rise, a rate that is lower than during the alarm may still be far too high.
	mostChange = 4.0
	// minSuspect is the number of evaluations from which an alarm knows its rate, and
	// suspectConfidence that of its limits.
	minSuspect, suspectConfidence = 50, 0.999
)

// chart watches one assertion on one version of an agent, as one judge sees it.
type chart struct {
	Assertion string         `json:"assertion"`
	Version   string         `json:"version,omitempty"`
	Judge     string         `json:"judge,omitempty"`
	All       stats.Weighted `json:"all"` // every evaluation that was decided
	Errors    int            `json:"errors,omitempty"`
	Skipped   int            `json:"skipped,omitempty"`

	// Entered counts the evaluations in the chart, one of each conversation.
	Entered  int             `json:"entered"`
	Items    int             `json:"items"`    // of these, since the sequence below began
	Expected float64         `json:"expected"` // failures among Items in control
	Weights  stats.Weighted  `json:"weights"`  // of Items
	Failures []failure       `json:"failures,omitempty"`
	Before   time.Time       `json:"before"` // of the last failure that is not kept, or of the first item
	First    time.Time       `json:"first"`
	Last     time.Time       `json:"last"`           // as far as the clock has come
	Owed     float64         `json:"owed,omitempty"` // days that the next decided item weighs more
	Latest   []string        `json:"latest,omitempty"`
	Seen     seen            `json:"seen"`
	Baseline baseline        `json:"baseline"`
	Model    model           `json:"model"`
	Detector stats.EDetector `json:"detector"`
	Undecide stats.EDetector `json:"undecided"` // of errors
	Recovery *recovery       `json:"recovery,omitempty"`
	Mended   *recovery       `json:"mended,omitempty"` // of errors
}

// failure is one failure in a chart, with what was before it.
type failure struct {
	Before   int
	Expected float64
	Time     time.Time      // of the event
	Weights  stats.Weighted // of the items before it
}

// MarshalJSON writes a failure as a list, which is short.
func (f failure) MarshalJSON() ([]byte, error) {
	w := f.Weights
	return json.Marshal([]any{f.Before, short(f.Expected), f.Time.UnixMilli(), short(w.Weight), short(w.Yes), short(w.Squares), short(w.SquaresOfYes)})
}

// short rounds a number to 9 digits.
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

// UnmarshalJSON reads what MarshalJSON wrote.
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

// recovery looks for the end of an alarm: a Shiryaev-Roberts sum that bets on the rate in
// control against that of the alarm.
type recovery struct {
	Alarm string    `json:"alarm"` // id
	Odds  float64   `json:"odds"`  // of the alarm, times those in control
	Sum   float64   `json:"sum"`
	From  failure   `json:"from"`  // where the rise began
	Early failure   `json:"early"` // the first place where it may have begun
	Since Span      `json:"since"`
	Model model     `json:"model"` // that the alarm was opened with
	At    time.Time `json:"at"`    // when it was opened
}

// risen is the rate that is surely no longer reached when the alarm closes, for a rate p in
// control.
func (r *recovery) risen(p float64) float64 { return r.Odds * p / (1 - p + r.Odds*p) }

// add takes the next item; true if the rise is over.
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

// clock returns when an observation came. Charts weigh items by it.
func (o *Observation) clock() time.Time {
	if o.At.IsZero() {
		return o.Time
	}
	return o.At
}

// elapsed moves the clock of the chart on, and returns by how many days.
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

// happened is what a verdict means for the alarms of a chart.
type happened struct {
	risen, recovered  bool
	broken, decidable bool // about errors
}

// observe takes the next verdict. charts is the number of live charts of the project, and
// perDays the days to one false alarm in all of them.
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

// errorMark keeps the errors of a conversation apart from its verdicts, so that an error
// does not use up the place of a verdict.
func errorMark(o *Observation) string {
	if o.Status == proviso.Errored {
		return "error"
	}
	return ""
}

// decided watches how often the assertion cannot be decided.
func (c *chart) decided(o *Observation, days, perDays float64) (broken, decidable bool) {
	failed := o.Status == proviso.Errored
	if c.Mended != nil {
		return false, c.Mended.add(failed, errorRate, closeAfter/10)
	}
	c.Undecide.Add(failed, errorRate, days*errorShare)
	return c.Undecide.Value() >= perDays, false
}

// enter takes a decided item into the chart.
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

// keep remembers a failure.
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

// learn counts an item for the baseline. An in-control rate from the version before stays,
// because a version that is worse than the one before is not in control, unless the rate
// of this one is surely lower. Taking the lower of two limits each time would go below the
// truth after some versions.
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

// forget drops what only a chart with traffic needs.
func (c *chart) forget() {
	if c.Recovery == nil && c.Mended == nil && len(c.Failures)+c.Seen.n > 0 {
		c.restart(c.Last)
		c.Seen = seen{}
	}
}

// restart begins a new sequence, after an alarm.
func (c *chart) restart(at time.Time) {
	c.Items, c.Expected, c.Weights, c.Failures, c.Latest, c.Before = 0, 0, stats.Weighted{}, nil, nil, at
	c.Detector = stats.EDetector{}
}

// rise locates the change that an alarm is about: the failures with which it began, and the
// time between the last item that was surely before it and the first that was surely after.
func (c *chart) rise() (best, early failure, since Span) {
	list := make([]stats.Failure, len(c.Failures))
	for i, f := range c.Failures {
		list[i] = stats.Failure{Before: f.Before, Expected: f.Expected}
	}
	// Failures that are not kept are no part of the sequence: it begins with the first that is.
	r, err := stats.LocateRise(list, c.Items, c.Expected)
	if err != nil {
		return failure{Time: c.Last}, failure{Time: c.Last}, Span{c.Last, c.Last}
	}
	low := c.Before
	if r.Low > 0 {
		low = c.Failures[r.Low-1].Time
	}
	// Events are evaluated in about the order of their times, and not in it: the interval
	// holds the times of all failures between its ends.
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

// suspect raises the rate that the end of an alarm is told from, as more is known of it:
// a lower limit of the rate since the first place where the rise may have begun, which is
// less biased than the rate since the likeliest place. It is strict, because the highest of
// many limits counts.
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

// since adds up the items since a failure.
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

// perDay is how many items enter the chart a day.
func (c *chart) perDay() float64 {
	return float64(c.Entered) / max(1.0/24, c.Last.Sub(c.First).Hours()/24)
}
