package main

import (
	"strings"
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
		"4/200 rows · 1 failed · 2 errors · 2/s · $0.02": {proviso.Totals{Passed: 1, Failed: 1, Errors: 2, Incurred: 0.02}, 2 * time.Second},
		"50/200 rows · 5/s · $0.25 of about $1.0":        {proviso.Totals{Passed: 50, Incurred: 0.25}, 10 * time.Second},
		"200/200 rows · 5/s · $1":                        {proviso.Totals{Passed: 200, Incurred: 1}, 40 * time.Second},
	} {
		if got := p.line(tt.totals, tt.elapsed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProgressNamesWhatIsSlow has two rows under way, one of them for long.
func TestProgressNamesWhatIsSlow(t *testing.T) {
	t.Parallel()
	p := &progress{rows: 2, waiting: map[int]underway{}}
	endFirst := p.begin(&proviso.Case{Description: "a long\x1b[2J one"}, &proviso.ProviderSpec{ID: "openai:chat:gpt-5", Label: "big"})
	p.begin(&proviso.Case{Index: 1}, &proviso.ProviderSpec{ID: "echo"})
	if got := p.slowest(time.Now()); got != "" {
		t.Errorf("got %q at once", got)
	}
	u := p.waiting[0]
	u.since = u.since.Add(-12 * time.Second)
	p.waiting[0] = u
	got := p.slowest(u.since.Add(12 * time.Second))
	if !strings.HasPrefix(got, " · 12 s on case 1 (a long") || !strings.HasSuffix(got, ") → big") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	endFirst()
	if got := p.slowest(time.Now()); got != "" {
		t.Errorf("got %q after its end", got)
	}
}
