package monitor

import (
	"github.com/proviso-eval/proviso/stats"
)

// sightDays is the time within which [ChartView.SmallestChange] is seen.
const sightDays = 7

// ChartView is a chart as pages and reports show it.
type ChartView struct {
	Assertion      string   `json:"assertion"`
	Version        string   `json:"version"`
	Judge          string   `json:"judge"`             // identity of the judge; "" if none was asked
	N              int      `json:"n"`                 // evaluations that were decided
	Entered        int      `json:"entered"`           // of these, in the chart: one of each conversation
	Errors         int      `json:"errors,omitempty"`  // evaluations that were not decided
	Skipped        int      `json:"skipped,omitempty"` // evaluations that did not apply
	Rate           *float64 `json:"rate"`              // of failures, weighted by the probabilities of sampling; null without evaluations
	Low            *float64 `json:"low"`               // its 95 % interval
	High           *float64 `json:"high"`
	State          string   `json:"state"`            // learning, watching or alarm
	Source         Source   `json:"source,omitempty"` // of the in-control rate
	InControl      *float64 `json:"in_control"`       // what may fail on average, null while learning
	PerDay         float64  `json:"per_day"`          // evaluations a day that enter the chart
	SmallestChange *float64 `json:"smallest_change"`  // rise of the rate that is seen within a week, on average; null if none is
	SmallestRate   *float64 `json:"smallest_rate"`    // the rate after this rise
	Value          float64  `json:"value"`            // of the statistic, as a share of its threshold
	Alarm          string   `json:"alarm,omitempty"`  // id of the open one
}

// View shows the charts in the order in which they began.
func (c *Charts) View() []ChartView {
	list := make([]ChartView, 0, len(c.state.Charts))
	family := float64(max(1, c.o.Others+c.Live()))
	for _, one := range c.state.Charts {
		v := ChartView{
			Assertion: one.Assertion, Version: one.Version, Judge: one.Judge, N: one.All.N, Entered: one.Entered, Errors: one.Errors, Skipped: one.Skipped,
			State: "learning", Source: one.Model.Source, PerDay: short(one.perDay()), Alarm: one.alarm(),
		}
		if e, err := one.All.Hajek(confidence); err == nil {
			v.Rate, v.Low, v.High = rounded(e.Value), rounded(e.Low), rounded(e.High)
		}
		if one.live() {
			v.State, v.InControl = "watching", rounded(one.Model.Upper)
			v.Value = short(one.Detector.Value() / c.watch.FalseAlarms.PerDays)
			threshold := c.watch.FalseAlarms.PerDays * family * one.perDay() / (1 - errorShare)
			if p, ok := stats.SmallestChange(one.Model.Upper, threshold, sightDays*one.perDay()); ok {
				v.SmallestRate, v.SmallestChange = rounded(p), rounded(p-min(p, one.Model.Rate))
			}
		}
		if one.Recovery != nil {
			v.State = "alarm"
		}
		list = append(list, v)
	}
	return list
}

func rounded(f float64) *float64 {
	f = short(f)
	return &f
}
