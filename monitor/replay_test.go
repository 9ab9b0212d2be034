package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/monitor"
)

var began = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// traffic returns perDay events a day. An output is "bad" with the probability that rate
// returns for the day.
func traffic(days, perDay int, rate func(day float64) float64, change func(i int, e *ingest.Event)) []ingest.Event {
	r := rand.New(rand.NewPCG(42, uint64(perDay)))
	list := make([]ingest.Event, days*perDay)
	for i := range list {
		at := float64(i) / float64(perDay)
		output := "good"
		if r.Float64() < rate(at) {
			output = "bad"
		}
		list[i] = ingest.Event{ID: fmt.Sprint("e", i), Agent: "support", Time: began.Add(time.Duration(at * float64(24*time.Hour))), Output: output, Version: "v1", Segment: map[string]string{"lang": "en"}}
		if change != nil {
			change(i, &list[i])
		}
	}
	return list
}

func sequence(list []ingest.Event) iter.Seq2[ingest.Event, error] {
	return func(yield func(ingest.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func constant(p float64) func(float64) float64 { return func(float64) float64 { return p } }

func step(p, q, at float64) func(float64) float64 {
	return func(day float64) float64 {
		if day < at {
			return p
		}
		return q
	}
}

// decides evaluates an event without a model.
func decides(_ context.Context, e *ingest.Event) ([]monitor.Verdict, error) {
	v := monitor.Verdict{Assertion: "tone", Status: proviso.Pass}
	switch e.Output {
	case "bad":
		v.Status = proviso.Fail
	case "broken":
		v.Status = proviso.Errored
	case "other":
		v.Status = proviso.Skip
	}
	return []monitor.Verdict{v}, nil
}

// tone returns a watch over all events.
func tone() *monitor.Watch {
	return &monitor.Watch{
		Name: "tone", Match: monitor.Match{Agent: "support"}, Assertions: "set:tone", Sample: monitor.Sample{Rate: 1, Segment: "lang"}, FalseAlarms: monitor.FalseAlarms{PerDays: 30},
		Silence: monitor.Silence{Traffic: 6 * time.Hour, Verdicts: 2 * time.Hour},
	}
}

func replay(t *testing.T, w *monitor.Watch, list []ingest.Event) *monitor.ReplayResult {
	t.Helper()
	got, err := monitor.Replay(t.Context(), sequence(list), w, monitor.ReplayOptions{Evaluate: decides, Workers: 4, Salt: "salt"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// only returns the only alarm.
func only(t *testing.T, got *monitor.ReplayResult) *monitor.Alarm {
	t.Helper()
	if len(got.Alarms) != 1 {
		data, _ := json.MarshalIndent(got, "", " ")
		t.Fatalf("%d alarms: %s", len(got.Alarms), data)
	}
	return got.Alarms[0]
}

// TestCutOffAnswers: a partial answer before an error is not evaluated, because the agent
// had no chance to keep its promises.
func TestCutOffAnswers(t *testing.T) {
	t.Parallel()
	list := traffic(4, 500, constant(.05), func(i int, e *ingest.Event) {
		if i >= 1000 {
			e.Output, e.Error = "bad", "the client left"
		}
	})
	got := replay(t, tone(), list)
	if c := got.Counts; c.Unanswered != 1000 || c.Decided != 1000 {
		t.Errorf("%+v", c)
	}
	for _, a := range got.Alarms {
		if a.Kind == monitor.KindAgent {
			t.Errorf("%+v", a)
		}
	}
}

func TestReplayFindsAChange(t *testing.T) {
	t.Parallel()
	change := began.AddDate(0, 0, 7)
	list := traffic(9, 500, step(.05, .2, 7), func(i int, e *ingest.Event) {
		if e.Model = "small-1"; i >= 7*500 {
			e.Model = "small-2"
		}
	})
	a := only(t, replay(t, tone(), list))
	if a.Kind != monitor.KindAgent || a.State != monitor.StateOpen || a.Assertion != "tone" || a.Version != "v1" || a.Watch != "tone" {
		t.Errorf("%+v", a)
	}
	if a.Opened.Before(change) || a.Opened.After(change.Add(12*time.Hour)) {
		t.Errorf("opened %v", a.Opened)
	}
	if a.Since.Low.After(change) || a.Since.High.Before(change) || a.Since.High.Sub(a.Since.Low) > 24*time.Hour {
		t.Errorf("since %+v", a.Since)
	}
	if b := a.Baseline; b.N < 3000 || b.Rate < .04 || b.Rate > .06 || b.Upper < b.Rate || b.Upper > .065 {
		t.Errorf("baseline %+v", b)
	}
	if n := a.Now; n.Low > .2 || n.High < .2 || n.N < 500 || n.Corrected != nil {
		t.Errorf("now %+v", n)
	}
	if s := a.Statistic; s.Value < s.Threshold || s.ARL0Days != 30 || s.Threshold < 14_000 || s.Threshold > 16_000 {
		t.Errorf("statistic %+v", s)
	}
	if len(a.Changed) != 1 || a.Changed[0].What != "model" || a.Changed[0].From != "small-1" || a.Changed[0].To != "small-2" || !a.Changed[0].At.Equal(change) {
		t.Errorf("changed %+v", a.Changed)
	}
	if len(a.Examples) != 5 {
		t.Errorf("examples %v", a.Examples)
	}
}

func TestReplayClosesAnAlarm(t *testing.T) {
	t.Parallel()
	list := traffic(12, 500, func(day float64) float64 {
		if day > 7 && day < 8 {
			return .3
		}
		return .05
	}, nil)
	a := only(t, replay(t, tone(), list))
	if a.State != monitor.StateClosed || a.Closed == nil || a.Closed.Before(began.AddDate(0, 0, 8)) || a.Closed.After(began.AddDate(0, 0, 9)) {
		t.Errorf("%+v", a)
	}
}

func TestReplayOfAWorseVersion(t *testing.T) {
	t.Parallel()
	list := traffic(10, 500, step(.05, .15, 6), func(i int, e *ingest.Event) {
		if i >= 6*500 {
			e.Version = "v2"
		}
	})
	a := only(t, replay(t, tone(), list))
	if a.Version != "v2" || len(a.Changed) != 1 || a.Changed[0].What != "version" || a.Changed[0].From != "v1" || a.Baseline.N < 1000 {
		t.Errorf("%+v", a)
	}
}

// TestReplayOfOtherJudge: another judge fails more outputs from its start. Its charts
// learn their own baseline, and there is no alarm about the agent.
func TestReplayOfOtherJudge(t *testing.T) {
	t.Parallel()
	list := traffic(12, 310, step(.05, .15, 6), nil)
	got, err := monitor.Replay(t.Context(), sequence(list), tone(), monitor.ReplayOptions{Evaluate: func(ctx context.Context, e *ingest.Event) ([]monitor.Verdict, error) {
		v, err := decides(ctx, e)
		if v[0].Judge = "judge-1"; !e.Time.Before(began.AddDate(0, 0, 6)) {
			v[0].Judge = "judge-2"
		}
		return v, err
	}})
	if err != nil || len(got.Alarms) != 0 || len(got.Charts) != 2 || got.Charts[1].Source != monitor.FromBaseline {
		data, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("%v %s", err, data)
	}
}

func TestReplayOfBadInput(t *testing.T) {
	t.Parallel()
	healthy := func() []ingest.Event { return traffic(3, 400, constant(.05), nil) }
	t.Run("future", func(t *testing.T) {
		t.Parallel()
		list := healthy()
		for _, i := range []int{0, 200, 201, 500, 1199} {
			list[i].Time = list[i].Time.AddDate(70, 0, 0)
		}
		got, err := monitor.Replay(t.Context(), sequence(list), tone(), monitor.ReplayOptions{Evaluate: decides, Now: began.AddDate(1, 0, 0)})
		if err != nil || len(got.Alarms) != 0 || got.Counts.Future != 5 || got.Counts.Matched != 1195 {
			t.Errorf("%v %+v", err, got.Counts)
		}
		if got := replay(t, tone(), list[:1199]); len(got.Alarms) != 0 || got.Counts.Future != 4 { // no clock to compare with
			t.Errorf("%+v", got.Counts)
		}
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		list := healthy()
		got := replay(t, tone(), append(list, list...))
		if got.Counts.Duplicate != 1200 || got.Charts[0].N != 1200 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("late by a day", func(t *testing.T) {
		t.Parallel()
		list := healthy()
		for i := range list {
			if i%3 == 0 {
				list[i].Time = list[i].Time.Add(-24 * time.Hour)
			}
		}
		w := tone()
		w.Silence.Traffic = 0
		got := replay(t, w, list)
		if len(got.Alarms) != 0 || got.Counts.Late != 399 || got.Charts[0].N != 1200 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("always an error", func(t *testing.T) {
		t.Parallel()
		list := traffic(3, 400, constant(.05), func(i int, e *ingest.Event) {
			if i > 400 {
				e.Output = "broken"
			}
		})
		got := replay(t, tone(), list)
		if a := only(t, got); a.Cause != monitor.NoDecision || a.Opened.After(list[420].Time) || got.Charts[0].Errors != 799 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a baseline of 3", func(t *testing.T) {
		t.Parallel()
		got := replay(t, tone(), healthy()[:3])
		if c := got.Charts[0]; len(got.Alarms) != 0 || c.State != "learning" || c.N != 3 || c.SmallestChange != nil {
			t.Errorf("%+v", c)
		}
	})
	t.Run("one conversation", func(t *testing.T) {
		t.Parallel()
		list := healthy()
		for i := range list {
			list[i].Conversation, list[i].Output = "c", "bad"
		}
		got := replay(t, tone(), list)
		if c := got.Charts[0]; len(got.Alarms) != 0 || c.N != 1200 || c.Entered != 1 || c.State != "learning" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no events", func(t *testing.T) {
		t.Parallel()
		if got := replay(t, tone(), nil); len(got.Alarms) != 0 || len(got.Charts) != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("all fail", func(t *testing.T) {
		t.Parallel()
		w := tone()
		w.Objectives = map[string]monitor.Objective{"tone": {MaxFail: .1}}
		a := only(t, replay(t, w, traffic(1, 400, constant(1), nil)))
		if a.Opened.Sub(began) > 2*time.Hour || a.Baseline.N != 0 || a.Baseline.Upper != .1 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("the evaluation ends", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("broken")
		_, err := monitor.Replay(t.Context(), sequence(healthy()), tone(), monitor.ReplayOptions{Evaluate: func(context.Context, *ingest.Event) ([]monitor.Verdict, error) { return nil, broken }})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	t.Run("a condition that fails", func(t *testing.T) {
		t.Parallel()
		w := tone()
		w.Match.Where = "segment.region == 'eu'"
		if got := replay(t, w, healthy()); got.Counts.Matched != 0 {
			t.Errorf("%+v", got.Counts)
		}
	})
}

func TestReplayOfSilence(t *testing.T) {
	t.Parallel()
	list := traffic(4, 400, constant(.05), nil)
	gap := append(list[:400:400], list[800:]...)
	a := only(t, replay(t, tone(), gap))
	if a.Kind != monitor.KindSilent || a.Cause != monitor.NoTraffic || a.State != monitor.StateClosed || a.Closed.Sub(a.Opened) > 20*time.Hour {
		t.Errorf("%+v", a)
	}
}

func TestReplayOfABudget(t *testing.T) {
	t.Parallel()
	paid := func(ctx context.Context, e *ingest.Event) ([]monitor.Verdict, error) {
		v, err := decides(ctx, e)
		v[0].Cost = 0.01
		return v, err
	}
	w := tone()
	w.Sample.BudgetPerDay = 1
	list := traffic(5, 1000, constant(.05), nil)
	got, err := monitor.Replay(t.Context(), sequence(list), w, monitor.ReplayOptions{Evaluate: paid})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Counts; c.Cost > 5.06 || c.Cost < 3.5 {
		t.Errorf("spent %v in 5 days of $1: %+v", c.Cost, c)
	}
	for _, a := range got.Alarms {
		if a.Cause != monitor.NoBudget {
			t.Errorf("%+v", a)
		}
	}
}

func TestReplayOfAMix(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	list := traffic(12, 400, constant(.05), func(i int, e *ingest.Event) {
		share := .3
		if i >= 9*400 {
			share = .6
		}
		if r.Float64() < share {
			e.Segment["lang"] = "de"
		}
	})
	a := only(t, replay(t, tone(), list))
	if a.Kind != monitor.KindMix || !a.Since.Low.Equal(began.AddDate(0, 0, 9)) || len(a.Changed) != 1 || !strings.Contains(a.Changed[0].To, "de 5") && !strings.Contains(a.Changed[0].To, "de 6") {
		t.Errorf("%+v", a)
	}
}
