package monitor

import (
	"github.com/proviso-eval/proviso/stats"
)

// sightDays is the time within which [ChartView.SmallestChange] is detected.
const sightDays = 7

// ChartView is a chart in the form for pages and reports.
type ChartView struct {
	Assertion      string   `json:"assertion"`
	Version        string   `json:"version"`
	Judge          string   `json:"judge"`             // judge identity; "" if no model was called
	N              int      `json:"n"`                 // decided evaluations
	Entered        int      `json:"entered"`           // decided evaluations in the chart, one per conversation
	Errors         int      `json:"errors,omitempty"`  // undecided evaluations
	Skipped        int      `json:"skipped,omitempty"` // evaluations to which the assertion did not apply
	Rate           *float64 `json:"rate"`              // failure rate, weighted by the inverse sampling probabilities; null without evaluations
	Low            *float64 `json:"low"`               // lower limit of its 95 % interval
	High           *float64 `json:"high"`
	State          string   `json:"state"`            // learning, watching or alarm
	Source         Source   `json:"source,omitempty"` // origin of the in-control rate
	InControl      *float64 `json:"in_control"`       // mean failure rate in control, null while learning
	PerDay         float64  `json:"per_day"`          // evaluations per day that enter the chart
	SmallestChange *float64 `json:"smallest_change"`  // smallest rise of the rate that is detected within a week, on average; null if none is
	SmallestRate   *float64 `json:"smallest_rate"`    // rate after this rise
	Value          float64  `json:"value"`            // statistic, as a share of its threshold
	Alarm          string   `json:"alarm,omitempty"`  // id of the open alarm
}

// View returns the charts in the order of their creation.
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
