package monitor

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
)

// Verdict is a verdict on one assertion for an event.
type Verdict struct {
	Assertion string
	Judge     string // judge identity, "" if no model was called
	Status    proviso.Status
	Cost      float64 // US dollars
}

// ReplayOptions configure the evaluation of recorded events.
type ReplayOptions struct {
	// Evaluate decides the watch's assertions on an event. It is called from up to
	// Workers goroutines. An error ends the replay; an undecided assertion is a verdict.
	Evaluate func(ctx context.Context, e *ingest.Event) ([]Verdict, error)
	Workers  int       // 1 if 0
	Salt     string    // salt of the sampling
	Others   int       // charts of other watches, as in [Options]
	Now      time.Time // events after this time have a wrong clock; zero means no limit
}

// ReplayResult is what a watch would have reported.
type ReplayResult struct {
	Alarms []*Alarm     `json:"alarms"` // in the order of opening
	Charts []ChartView  `json:"charts"`
	Counts ReplayCounts `json:"counts"`
}

// ReplayCounts counts the events of a replay by outcome.
type ReplayCounts struct {
	Events     int       `json:"events"`
	Matched    int       `json:"matched"`               // matched by the watch
	Others     int       `json:"other_agents"`          // from an agent other than the watch's
	Outside    int       `json:"outside"`               // the watch's condition is false
	Unclear    int       `json:"unclear"`               // the condition could not be evaluated
	Why        string    `json:"unclear_why,omitempty"` // the first such error
	Sampled    int       `json:"sampled"`               // matched and sampled
	Duplicate  int       `json:"duplicate,omitempty"`   // same id as an earlier event; omitted
	Future     int       `json:"future,omitempty"`      // clock is ahead; omitted
	Late       int       `json:"late,omitempty"`        // came more than an hour late; evaluated when they came
	Unanswered int       `json:"unanswered,omitempty"`  // the agent gave no answer or only a partial one, so there is nothing to evaluate
	Unpaid     int       `json:"unpaid,omitempty"`      // not evaluated because the day's budget was spent
	Undecided  int       `json:"undecided,omitempty"`   // verdicts that are errors
	Decided    int       `json:"decided"`               // verdicts that pass or fail
	Cost       float64   `json:"cost"`                  // US dollars
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
}

// replay is the state of a replay.
type replay struct {
	o       ReplayOptions
	watch   *Watch
	matcher *Matcher
	sampler *Sampler
	charts  *Charts
	ids     recentIDs
	mix     mixLog
	health  Health
	clock   time.Time
	batch   []sampledEvent
	alarms  map[string]*Alarm
	out     *ReplayResult

	sequence  int64
	today     time.Time
	spent     float64 // US dollars today
	evaluated int
}

// sampledEvent is an event to evaluate.
type sampledEvent struct {
	event       ingest.Event
	at          time.Time
	probability float64
}

// Replay runs a watch over recorded events, in order and by their own clock, and returns
// what the watch would have reported. It needs no server. An error in events ends it.
func Replay(ctx context.Context, events iter.Seq2[ingest.Event, error], w *Watch, o ReplayOptions) (*ReplayResult, error) {
	matcher, err := w.Compile()
	if err != nil {
		return nil, err
	}
	o.Workers = max(1, o.Workers)
	r := &replay{
		o: o, watch: w, matcher: matcher, sampler: NewSampler(w, o.Salt), charts: NewCharts(w, Options{Others: o.Others}), alarms: map[string]*Alarm{}, out: &ReplayResult{},
	}
	for e, err := range inOrder(events, o.Now, &r.out.Counts) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = r.event(ctx, e)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.flush(ctx); err != nil {
		return nil, err
	}
	if !r.clock.IsZero() {
		r.check(r.clock)
	}
	r.out.Counts.To = r.clock
	r.out.Alarms = []*Alarm{}
	for _, a := range r.alarms {
		r.out.Alarms = append(r.out.Alarms, a)
	}
	slices.SortFunc(r.out.Alarms, func(a, b *Alarm) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	r.out.Charts = r.charts.View()
	return r.out, nil
}

// event processes the next event.
func (r *replay) event(ctx context.Context, e *ingest.Event) error {
	counts := &r.out.Counts
	if !r.ids.add(e.ID) {
		counts.Duplicate++
		return nil
	}
	if isLate(e, r.clock) {
		counts.Late++
	}
	if err := r.advance(ctx, e.Time); err != nil {
		return err
	}
	if !r.matched(e) {
		return nil
	}
	counts.Matched++
	r.health.LastEvent = r.clock
	r.mix.add(r.clock, e.Segment[r.watch.Sample.Segment])
	if !e.Answered() {
		counts.Unanswered++
		return nil
	}
	p, taken := r.sampler.Take(e)
	if !taken {
		return nil
	}
	counts.Sampled++
	r.batch = append(r.batch, sampledEvent{*e, r.clock, p})
	if len(r.batch) >= 8*r.o.Workers || r.watch.Sample.BudgetPerDay > 0 && len(r.batch) >= r.o.Workers {
		return r.flush(ctx)
	}
	return nil
}

// matched reports whether the watch covers an event, and otherwise counts the reason. An
// event for which the condition cannot be evaluated does not match.
func (r *replay) matched(e *ingest.Event) bool {
	counts := &r.out.Counts
	match, err := r.matcher.Match(e)
	switch {
	case match:
		return true
	case e.Agent != r.watch.Match.Agent:
		counts.Others++
	case err == nil:
		counts.Outside++
	default:
		if counts.Unclear++; counts.Why == "" {
			counts.Why = err.Error()
		}
	}
	return false
}

// advance moves the clock forward. At each hour it plans the sampling and checks for
// silence.
func (r *replay) advance(ctx context.Context, to time.Time) error {
	if r.clock.IsZero() {
		r.clock, r.out.Counts.From = to, to
		r.newDay()
		r.charts.Check(r.health, to)
	}
	if !to.After(r.clock) {
		return nil
	}
	hour := r.clock.Truncate(time.Hour).Add(time.Hour)
	if to.Before(hour) {
		r.clock = to
		return nil
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	step := max(time.Hour, (to.Sub(hour) / 240).Truncate(time.Hour)) // a long silence is checked at a limited number of hours
	for at := hour; !at.After(to); at = at.Add(step) {
		r.clock = at
		r.newDay()
		r.check(at)
	}
	r.clock = to
	r.newDay()
	cost := 0.0
	if r.evaluated > 0 {
		cost = r.out.Counts.Cost / float64(r.evaluated)
	}
	r.sampler.Plan(Forecast{Now: to, Traffic: r.mix.traffic(to), Cost: cost, Free: r.evaluated > 0 && cost == 0, Spent: r.spent})
	return nil
}

// newDay resets the day's budget.
func (r *replay) newDay() {
	if today := r.clock.UTC().Truncate(day); !today.Equal(r.today) {
		r.today, r.spent, r.health.Refused = today, 0, false
	}
}

func (r *replay) check(at time.Time) {
	r.health.Spent, r.health.Mix = r.spent, r.mix.complete(at)
	r.said(r.charts.Check(r.health, at))
}

func (r *replay) said(list []*Alarm) {
	for _, a := range list {
		r.alarms[a.ID] = a
	}
}

// flush evaluates the waiting events.
func (r *replay) flush(ctx context.Context) error {
	batch := r.batch
	r.batch = nil
	if limit := r.watch.Sample.BudgetPerDay; limit > 0 && r.spent >= limit && len(batch) > 0 {
		r.health.Refused = true
		r.out.Counts.Unpaid += len(batch)
		return nil
	}
	verdicts, errs := make([][]Verdict, len(batch)), make([]error, len(batch))
	slots := make(chan struct{}, r.o.Workers)
	var all sync.WaitGroup
	for i := range batch {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			verdicts[i], errs[i] = r.o.Evaluate(ctx, &batch[i].event)
		})
	}
	all.Wait()
	var list []Observation
	for i := range batch {
		if errs[i] != nil {
			return errs[i]
		}
		list = r.observed(list, &batch[i], verdicts[i])
	}
	r.said(r.charts.Observe(list, r.clock))
	return nil
}

// observed adds the verdicts on an event.
func (r *replay) observed(list []Observation, s *sampledEvent, verdicts []Verdict) []Observation {
	e := &s.event
	r.health.LastSampled = s.at
	r.evaluated++
	for _, v := range verdicts {
		switch v.Status {
		case proviso.Errored:
			r.out.Counts.Undecided++
		case proviso.Pass, proviso.Fail:
			r.out.Counts.Decided++
			r.health.LastVerdict = s.at
		}
		r.spent += v.Cost
		r.out.Counts.Cost += v.Cost
		r.sequence++
		list = append(list, Observation{
			Sequence: r.sequence, Event: e.ID, Conversation: e.Conversation, Assertion: v.Assertion, Version: e.Version, Judge: v.Judge, Model: e.Model,
			Prompt: ingest.PromptHash(e.Prompt), Segment: e.Segment[r.watch.Sample.Segment], Time: e.Time, At: s.at, Probability: s.probability, Status: v.Status,
		})
	}
	return list
}
