package main

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	const none, quarter, full = "░░░░░░░░░░░░░░░░░░░░ ", "█████░░░░░░░░░░░░░░░ ", "████████████████████ "
	for want, tt := range map[string]struct {
		totals  proviso.Totals
		elapsed time.Duration
	}{
		none + "0/200 rows · 0 failed":                                                   {proviso.Totals{}, 0},
		none + "3/200 rows · 1 failed":                                                   {proviso.Totals{Passed: 2, Failed: 1}, time.Millisecond},
		none + "4/200 rows · 1 failed · 2 errors · 2/s · 98 s left · $0.02":              {proviso.Totals{Passed: 1, Failed: 1, Errors: 2, Incurred: 0.02}, 2 * time.Second},
		quarter + "50/200 rows · 0 failed · 5/s · 30 s left · $0.25 of about $1.0":       {proviso.Totals{Passed: 50, Incurred: 0.25}, 10 * time.Second},
		quarter + "50/200 rows · 0 failed · 0.125/s · 20 min left · $0.25 of about $1.0": {proviso.Totals{Passed: 50, Incurred: 0.25}, 400 * time.Second},
		quarter + "50/200 rows · 0 failed · 0.01/s · 5 h left · $0.25 of about $1.0":     {proviso.Totals{Passed: 50, Incurred: 0.25}, 5000 * time.Second},
		full + "200/200 rows · 0 failed · 5/s · $1":                                      {proviso.Totals{Passed: 200, Incurred: 1}, 40 * time.Second},
	} {
		p := &progress{rows: 200, next: 1}
		if got := p.line(tt.totals, tt.elapsed); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProgressAfterResume: rows of an earlier run affect neither the rate of this run nor the
// remaining time.
func TestProgressAfterResume(t *testing.T) {
	t.Parallel()
	p := &progress{rows: 1000}
	p.take(proviso.Totals{Passed: 890, Failed: 10})
	p.next = 1
	want := "██████████████████░░ 920/1000 rows · 10 failed · 2/s · 40 s left"
	if got := p.line(proviso.Totals{Passed: 910, Failed: 10}, 10*time.Second); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestProgressFits: a wrapped line could not be overwritten.
func TestProgressFits(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := &progress{w: &b, rows: 200, cells: 50, next: 1, waiting: map[int]underway{1: {"case 1 (" + strings.Repeat("long ", 20) + ") → echo", time.Now().Add(-time.Minute)}}}
	p.totals = proviso.Totals{Passed: 3, Incurred: 0.5}
	p.show(time.Now())
	if got := strings.TrimSpace(b.String()); len([]rune(got)) > 49 || !strings.HasPrefix(got, "3/200 rows · 0 failed") {
		t.Errorf("got %q", got)
	}
}

// TestProgressNamesWhatIsSlow has two rows in progress, one of them slow.
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
