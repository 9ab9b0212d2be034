package monitor_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/monitor"
)

// observations returns n verdicts, one per minute.
func observations(r *rand.Rand, from, n int, fail float64) []monitor.Observation {
	list := make([]monitor.Observation, n)
	for i := range list {
		at := began.Add(time.Duration(from+i) * time.Minute)
		list[i] = monitor.Observation{
			Sequence: int64(from + i + 1), Event: fmt.Sprint("e", from+i), Conversation: fmt.Sprint("c", (from+i)/2), Assertion: "tone", Version: "v1",
			Segment: []string{"en", "de"}[r.IntN(2)], Time: at, At: at.Add(time.Second), Probability: .5, Status: proviso.Pass,
		}
		if r.Float64() < fail {
			list[i].Status = proviso.Fail
		}
	}
	return list
}

// TestChartsAreSaved: charts that are saved and loaded between calls return the same
// alarms as charts that stay in memory, however the verdicts are split among calls.
func TestChartsAreSaved(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	list := append(observations(r, 0, 2000, .05), observations(r, 2000, 1000, .4)...)
	list = append(list, observations(r, 3000, 1500, .02)...)
	whole := monitor.NewCharts(tone(), monitor.Options{})
	last := map[string]*monitor.Alarm{}
	for _, a := range whole.Observe(list, list[len(list)-1].At) {
		last[a.ID] = a
	}
	cut, got := monitor.NewCharts(tone(), monitor.Options{}), map[string]*monitor.Alarm{}
	for len(list) > 0 {
		n := min(len(list), 1+r.IntN(200))
		for _, a := range cut.Observe(list[:n], list[n-1].At) {
			got[a.ID] = a
		}
		list = list[n:]
		loaded, err := monitor.LoadCharts(tone(), cut.Save(), monitor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cut = loaded
	}
	if len(last) == 0 || len(got) != len(last) {
		t.Fatalf("%d and %d alarms", len(last), len(got))
	}
	for id, want := range last {
		g := got[id]
		if g == nil || g.State != want.State || !reflect.DeepEqual(g.Since, want.Since) || !reflect.DeepEqual(g.Now, want.Now) || g.State != monitor.StateClosed {
			t.Errorf("got %+v\nwant %+v", g, want)
		}
	}
	a, _ := json.Marshal(whole.View())
	b, _ := json.Marshal(cut.View())
	if string(a) != string(b) {
		t.Errorf("views differ:\n%s\n%s", a, b)
	}
}

// TestChartsAreBounded: neither endless traffic nor hostile names make the state grow
// without limit.
func TestChartsAreBounded(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	c := monitor.NewCharts(tone(), monitor.Options{})
	size := 0
	for n := range 40 {
		list := observations(r, n*1000, 1000, .3)
		for i := range list {
			list[i].Segment = fmt.Sprint("s", r.IntN(1000))
			list[i].Model, list[i].Prompt = fmt.Sprint("m", i), fmt.Sprint("p", i)
			if i%2 == 0 {
				list[i].Version = fmt.Sprint("v", n, "-", i)
			}
		}
		c.Observe(list, list[len(list)-1].At)
		if n == 19 {
			size = len(c.Save())
		}
	}
	if got := len(c.Save()); got > size*11/10 || got > 3<<20 || len(c.View()) > monitor.MaxCharts {
		t.Errorf("%d bytes after 20,000 verdicts, %d after 40,000; %d charts", size, got, len(c.View()))
	}
}

// TestDroppedChartsEndTheirAlarms: where every chart has an open alarm, the one that is dropped
// for a new version takes its alarm with it, also one about errors.
func TestDroppedChartsEndTheirAlarms(t *testing.T) {
	t.Parallel()
	c := monitor.NewCharts(tone(), monitor.Options{})
	for v := range monitor.MaxCharts + 20 {
		list := observations(rand.New(rand.NewPCG(4, 4)), v*40, 40, 0)
		for i := range list {
			list[i].Version, list[i].Status = fmt.Sprint("v", v), proviso.Errored
			list[i].Time = began.Add(time.Duration(v*40+i) * time.Second)
			list[i].At = list[i].Time
		}
		c.Observe(list, list[len(list)-1].At)
	}
	if n := len(c.Open()); n != monitor.MaxCharts {
		t.Errorf("%d alarms are open for %d charts", n, len(c.View()))
	}
}

func TestLoadChartsOfDamage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "null", "[]", `{"format": 2}`, `{"format": 1, "charts": [null]}`, `{"format": 1, "open": [null]}`, `{"format":1,"charts":[{"failures":[[1]]}]}`, `{"format":1,"charts":[{"seen":{"halves":["AA"]}}]}`} {
		if _, err := monitor.LoadCharts(tone(), []byte(text), monitor.Options{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzLoadCharts(f *testing.F) {
	c := monitor.NewCharts(tone(), monitor.Options{})
	c.Observe(observations(rand.New(rand.NewPCG(1, 1)), 0, 400, .1), began)
	f.Add(c.Save())
	f.Add([]byte(`{"format":1,"charts":[{"assertion":"tone","recovery":{"alarm":"x"}}],"open":[{"id":"x","kind":"agent"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := monitor.LoadCharts(tone(), data, monitor.Options{})
		if err != nil {
			return
		}
		c.Observe(observations(rand.New(rand.NewPCG(1, 1)), 0, 50, .5), began)
		c.Check(monitor.Health{}, began)
		c.View()
	})
}

func TestChartsOfAnotherObjective(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	c := monitor.NewCharts(tone(), monitor.Options{})
	c.Observe(observations(r, 0, 1000, .05), began)
	if v := c.View()[0]; v.Source != monitor.FromBaseline {
		t.Fatalf("%+v", v)
	}
	w := tone()
	w.Objectives = map[string]monitor.Objective{"tone": {MaxFail: .3}}
	c, err := monitor.LoadCharts(w, c.Save(), monitor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := c.View()[0]; v.Source != monitor.FromObjective || *v.InControl != .3 || v.N != 0 || v.Entered != 0 {
		t.Errorf("%+v", v)
	}
}

// TestObjectiveEndsAnAlarm: a new objective defines what is normal. The open alarm ends,
// once, and earlier data is not counted.
func TestObjectiveEndsAnAlarm(t *testing.T) {
	t.Parallel()
	for name, objectives := range map[string]map[string]monitor.Objective{"another": {"tone": {MaxFail: .8}}, "none": nil} {
		r := rand.New(rand.NewPCG(5, 6))
		before := tone()
		before.Objectives = map[string]monitor.Objective{"tone": {MaxFail: .08}}
		c := monitor.NewCharts(before, monitor.Options{})
		c.Observe(observations(r, 0, 1000, .05), began)
		opened := c.Observe(observations(r, 1000, 1000, .6), began)
		if len(opened) != 1 || opened[0].State != monitor.StateOpen {
			t.Fatalf("%s: %+v", name, opened)
		}
		after := tone()
		after.Objectives = objectives
		c, err := monitor.LoadCharts(after, c.Save(), monitor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		now := began.AddDate(0, 1, 0)
		got := c.Observe(observations(r, 2000, 3, .6), now)
		if len(got) != 1 || got[0].ID != opened[0].ID || got[0].State != monitor.StateClosed || !got[0].Closed.Equal(now) || !strings.Contains(got[0].Reason, "the objective has changed") {
			t.Fatalf("%s: %+v", name, got)
		}
		if c, err = monitor.LoadCharts(after, c.Save(), monitor.Options{}); err != nil {
			t.Fatal(err)
		}
		got = c.Observe(observations(r, 2003, 400, .6), now)
		if v := c.View()[0]; len(got) != 0 || len(c.Open()) != 0 || v.N != 403 || v.Source != monitor.FromBaseline || *v.InControl < .5 {
			t.Errorf("%s: %d alarms, %+v", name, len(got), v)
		}
	}
}

func TestBackfillIsOnlyABaseline(t *testing.T) {
	t.Parallel()
	list := observations(rand.New(rand.NewPCG(6, 6)), 0, 800, .9)
	for i := range list {
		list[i].Backfill, list[i].Conversation = true, ""
	}
	c := monitor.NewCharts(tone(), monitor.Options{})
	if got := c.Observe(list, began); len(got) > 0 {
		t.Errorf("%+v", got[0])
	}
	if v := c.View()[0]; v.Source != monitor.FromBaseline || *v.InControl < .85 {
		t.Errorf("%+v", v)
	}
}

func TestAck(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	c := monitor.NewCharts(tone(), monitor.Options{Corrected: func(_, _, _ string, _ monitor.Span) *float64 { f := .42; return &f }})
	c.Observe(observations(r, 0, 1000, .05), began)
	list := c.Observe(observations(r, 1000, 300, .6), began)
	if len(list) != 1 || list[0].State != monitor.StateOpen || *list[0].Now.Corrected != .42 || !c.Ack(list[0].ID) || c.Ack("no") {
		t.Fatalf("%+v", list)
	}
	list = c.Observe(observations(r, 1300, 10, .6), began)
	if len(list) != 1 || list[0].State != monitor.StateAcked || len(c.Open()) != 1 {
		t.Errorf("%+v", list)
	}
	list = c.Observe(observations(r, 1310, 1500, .02), began)
	if len(list) != 1 || list[0].State != monitor.StateClosed || len(c.Open()) != 0 {
		t.Errorf("%+v", list)
	}
}

// TestAlarmOfAGoneVersion: a version that has been replaced has no open alarm.
func TestAlarmOfAGoneVersion(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	c := monitor.NewCharts(tone(), monitor.Options{})
	c.Observe(observations(r, 0, 1000, .05), began)
	if list := c.Observe(observations(r, 1000, 400, .5), began); len(list) != 1 || list[0].State != monitor.StateOpen {
		t.Fatalf("%+v", list)
	}
	fixed := observations(r, 1400, 2000, .04)
	for i := range fixed {
		fixed[i].Version = "v2"
	}
	list := c.Observe(fixed, fixed[len(fixed)-1].At)
	if len(list) != 1 || list[0].Version != "v1" || list[0].State != monitor.StateClosed || !strings.Contains(list[0].Reason, "no more traffic of this version") {
		t.Errorf("%+v", list)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	at := func(h float64) time.Time { return began.Add(time.Duration(h * float64(time.Hour))) }
	for _, c := range []struct {
		name string
		h    []monitor.Health // one per hour, starting at hour 10
		want []monitor.Cause  // causes that are open at the end
	}{
		{"all is well", []monitor.Health{{LastEvent: at(9.9), LastVerdict: at(9.95)}}, nil},
		{"never an event", []monitor.Health{{}, {}, {}, {}, {}, {}, {}}, []monitor.Cause{monitor.NoTraffic}},
		{"no traffic", []monitor.Health{{LastEvent: at(3), LastVerdict: at(3)}, {LastEvent: at(3), LastVerdict: at(3)}, {LastEvent: at(3), LastVerdict: at(3)}, {}, {}, {}, {}, {}}, []monitor.Cause{monitor.NoTraffic}},
		{"no verdicts", []monitor.Health{{LastEvent: at(9.9), LastVerdict: at(9)}, {LastEvent: at(10.9), LastVerdict: at(9)}, {LastEvent: at(11.9), LastVerdict: at(9)}}, []monitor.Cause{monitor.NoVerdicts}},
		{"nothing was sampled", []monitor.Health{{LastEvent: at(9.9), LastSampled: at(5), LastVerdict: at(5.1)}, {LastEvent: at(11.9), LastSampled: at(5), LastVerdict: at(5.1)}}, nil},
		{"a dead key", []monitor.Health{{LastEvent: at(9.9), Pending: 10, Oldest: at(1), Trouble: monitor.NoKey, Why: "401"}}, []monitor.Cause{monitor.NoKey}},
		{"a retired model", []monitor.Health{{LastEvent: at(9.9), Trouble: monitor.NoModel}}, []monitor.Cause{monitor.NoModel}},
		{"no money", []monitor.Health{{LastEvent: at(9.9), Pending: 10, Oldest: at(1), Refused: true, Spent: 5}}, []monitor.Cause{monitor.NoBudget}},
		{"a growing queue", []monitor.Health{{LastEvent: at(9.9), LastVerdict: at(9.9), Pending: 1000, Oldest: at(7)}}, []monitor.Cause{monitor.NoRoom}},
		{"a full queue", []monitor.Health{{LastEvent: at(9.9), LastVerdict: at(9.9), Pending: 1000, Oldest: at(9.9), Dropped: 5}}, []monitor.Cause{monitor.NoRoom}},
		{"mended", []monitor.Health{{LastEvent: at(9.9), Trouble: monitor.NoKey}, {LastEvent: at(10.9), LastVerdict: at(10.95)}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			charts := monitor.NewCharts(tone(), monitor.Options{})
			told := map[string]bool{}
			for i, h := range c.h {
				for _, a := range charts.Check(h, at(10+float64(i))) {
					if key := a.ID + string(a.State); told[key] {
						t.Errorf("told twice: %+v", a)
					} else {
						told[key] = true
					}
				}
			}
			var got []monitor.Cause
			for _, a := range charts.Open() {
				got = append(got, a.Cause)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("open: %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	round := func(judge string, worse, better int) []monitor.AnchorResult {
		var list []monitor.AnchorResult
		for i := range 250 {
			r := monitor.AnchorResult{Anchor: fmt.Sprint("a", i), Assertion: "tone", Judge: judge, Before: proviso.Pass, Now: proviso.Pass}
			if i >= 200 {
				r.Before, r.Now = proviso.Fail, proviso.Fail
			}
			if i < worse {
				r.Now = proviso.Fail
			}
			if i >= 200 && i < 200+better {
				r.Now = proviso.Pass
			}
			list = append(list, r, monitor.AnchorResult{Anchor: fmt.Sprint("a", i), Assertion: "short", Before: proviso.Pass, Now: proviso.Errored})
		}
		return list
	}
	c := monitor.NewCharts(tone(), monitor.Options{})
	if got := c.Anchored(round("j1", 3, 2), began); len(got) != 0 {
		t.Errorf("noise: %+v", got[0])
	}
	got := c.Anchored(round("j2", 12, 0), began.AddDate(0, 0, 7))
	if len(got) != 1 || got[0].Kind != monitor.KindJudge || got[0].Judge != "j2" || len(got[0].Changed) != 1 || got[0].Changed[0].From != "j1" || got[0].Now.N != 250 || len(got[0].Examples) != 5 {
		t.Fatalf("%+v", got)
	}
	if got := c.Anchored(nil, began); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	got = c.Anchored(round("j2", 1, 1), began.AddDate(0, 0, 14))
	if len(got) != 1 || got[0].State != monitor.StateClosed {
		t.Errorf("%+v", got)
	}
}

// TestAlarmJSON pins the members of an alarm.
func TestAlarmJSON(t *testing.T) {
	t.Parallel()
	data, _ := json.Marshal(monitor.Alarm{Changed: []monitor.Change{{}}, Since: &monitor.Span{}, Baseline: &monitor.Baseline{}, Now: &monitor.Now{}, Statistic: &monitor.Statistic{}, Examples: []string{}})
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for member, below := range map[string][]string{
		"id": nil, "watch": nil, "kind": nil, "assertion": nil, "state": nil, "opened": nil, "closed": nil, "since": {"low", "high"}, "baseline": {"rate", "upper", "n"},
		"now": {"rate", "low", "high", "n", "corrected"}, "statistic": {"value", "threshold", "arl0_days"}, "version": nil, "judge": nil, "changed": nil, "examples": nil,
	} {
		v, ok := got[member]
		o, _ := v.(map[string]any)
		for _, name := range below {
			_, has := o[name]
			ok = ok && has
		}
		if !ok {
			t.Errorf("%s: %v", member, v)
		}
	}
}

// TestManyVersions: releases without a change do not lower the in-control rate, a better
// one does, and one that is worse again raises an alarm.
func TestManyVersions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	c, n, alarms := monitor.NewCharts(tone(), monitor.Options{}), 0, 0
	release := func(version int, fail float64) (control float64) {
		list := observations(r, n, 1500, fail)
		n += len(list)
		for i := range list {
			list[i].Version, list[i].Conversation = fmt.Sprint("v", version), ""
		}
		for _, a := range c.Observe(list, list[len(list)-1].At) {
			if a.Kind == monitor.KindAgent && a.Opened.After(list[0].At) {
				alarms++
			}
		}
		view := c.View()
		return *view[len(view)-1].InControl
	}
	control := 0.0
	for v := range 40 {
		control = release(v, .05)
	}
	if control < .045 || alarms > 2 {
		t.Errorf("after 40 releases %v is in control, with %d alarms", control, alarms)
	}
	if control = release(40, .01); control > .03 {
		t.Errorf("a better version is held against %v", control)
	}
	alarms = 0
	if release(41, .05); alarms != 1 {
		t.Errorf("a version that is worse again has %d alarms", alarms)
	}
}

// TestAlarmStaysWhileTheRateIsHigh: a rate that is lower than during the alarm but still
// far above the in-control rate does not close the alarm. A return to the in-control rate
// does, and the reason says what is known.
func TestAlarmStaysWhileTheRateIsHigh(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := monitor.NewCharts(tone(), monitor.Options{})
		list := append(observations(r, 0, 1600, .01), observations(r, 1600, 800, .5)...)
		c.Observe(append(list, observations(r, 2400, 2000, .12)...), began.Add(100*time.Hour))
		open := c.Open()
		if len(open) != 1 || open[0].Opened.After(began.Add(2400*time.Minute)) {
			t.Fatalf("seed %d: with 12 %% failures instead of 1 %%, open is %+v", seed, open)
		}
		var closed *monitor.Alarm
		for _, a := range c.Observe(observations(r, 4400, 4000, .01), began.Add(200*time.Hour)) {
			if a.ID == open[0].ID && a.State == monitor.StateClosed {
				closed = a
			}
		}
		if closed == nil || !strings.Contains(closed.Reason, "; the rate is surely below ") {
			t.Fatalf("seed %d: with 1 %% again, the alarm is %+v", seed, closed)
		}
	}
}
