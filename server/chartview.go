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

// falseAlarms says what a rate of false alarms means for a month.
func falseAlarms(days float64) string {
	if !(days > 0) {
		return ""
	}
	return fmt.Sprintf("One false alarm in %.4g days or less often, on average, over all charts of the project: in %.0f %% of all months there is at least one, although nothing has changed.", days, 100*monitor.FalseMonths(days))
}
