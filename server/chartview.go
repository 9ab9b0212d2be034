package server

import (
	"context"
)

// ChartView is a chart of a watch: one assertion, version of the agent and judge.
type ChartView struct {
	Assertion string `json:"assertion"`
}

func (m *monitoring) chartsOf(ctx context.Context, live *liveWatch) ([]ChartView, string, error) {
	return []ChartView{}, "", nil
}
