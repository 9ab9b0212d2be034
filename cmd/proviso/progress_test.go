package main

import (
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	p := &progress{rows: 200}
	for want, tt := range map[string]struct {
		totals  proviso.Totals
		elapsed time.Duration
	}{
		"0/200 rows":            {proviso.Totals{}, 0},
		"3/200 rows · 1 failed": {proviso.Totals{Passed: 2, Failed: 1}, time.Millisecond},
		"4/200 rows · 1 failed · 2 errors · 2/s · $0.02": {proviso.Totals{Passed: 1, Failed: 1, Errors: 2, Cost: 0.02}, 2 * time.Second},
		"50/200 rows · 5/s · $0.25 of about $1.0":        {proviso.Totals{Passed: 50, Cost: 0.25}, 10 * time.Second},
		"200/200 rows · 5/s · $1":                        {proviso.Totals{Passed: 200, Cost: 1}, 40 * time.Second},
	} {
		if got := p.line(tt.totals, tt.elapsed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
