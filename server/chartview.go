package server

import (
	"context"
	"fmt"

	"github.com/proviso-eval/proviso/monitor"
)

// chartsOf are the charts of a watch as clients see them, and what the design of its alarms
// means.
func (m *monitoring) chartsOf(ctx context.Context, live *liveWatch) ([]monitor.ChartView, string, error) {
	list, err := m.of(ctx, live.key.project)
	if err != nil {
		return nil, "", err
	}
	x, err := m.openCharts(ctx, live, m.othersOf(live, list))
	if err != nil {
		return nil, "", err
	}
	return x.charts.View(), falseAlarms(live.conf.FalseAlarms.PerDays), nil
}

// chartStates counts the charts of a watch by their states, as they were when charts were
// brought up to date last.
func (m *monitoring) chartStates(ctx context.Context, live *liveWatch) (map[string]int, error) {
	if states := m.workOf(live.key).now().states; states != nil {
		return states, nil
	}
	charts, _, err := m.chartsOf(ctx, live)
	return countStates(charts), err
}

func countStates(charts []monitor.ChartView) map[string]int {
	states := map[string]int{}
	for _, c := range charts {
		states[c.State]++
	}
	return states
}

// falseAlarms says what a rate of false alarms means for a month.
func falseAlarms(days float64) string {
	if !(days > 0) {
		return ""
	}
	in := fmt.Sprintf("in %.4g days", days)
	if days == 1 {
		in = "a day"
	}
	return fmt.Sprintf("At most one false alarm %s, on average, over all charts of the project: if nothing changes, %.0f %% of all months have at least one.", in, 100*monitor.FalseMonths(days))
}
