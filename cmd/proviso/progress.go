package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/suite"
)

// progress is one line on a terminal that shows the progress of a run and the rows that it waits
// for. It is called with the run's lock held, so it writes only at intervals.
type progress struct {
	w       io.Writer
	rows    int
	cells   int // width of the terminal; 0 if unknown
	started time.Time
	stop    chan struct{}

	mu      sync.Mutex
	shown   time.Time
	width   int // width of the current line
	totals  proviso.Totals
	before  int // rows that were finished before the run was resumed
	waiting map[int]underway
	next    int
}

// underway is a row in progress.
type underway struct {
	what  string
	since time.Time
}

// slow is the duration from which the line names a row.
const slow = 5 * time.Second

// every is the minimum interval between updates of the line.
const every = 100 * time.Millisecond

// telling is the number of finished rows from which the cost of the rest is predicted.
const telling = 10

// newProgress returns nil without a terminal, or if quiet is set.
func (a *app) newProgress(rows int, quiet bool) *progress {
	if quiet || !a.watchedByPerson() {
		return nil
	}
	p := &progress{w: a.err, rows: rows, started: time.Now(), shown: time.Now(), stop: make(chan struct{}), waiting: map[int]underway{}}
	if f := fileOf(a.err); f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.cells = w
		}
	}
	go p.watch()
	return p
}

// watch updates the line while no row finishes.
func (p *progress) watch() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			p.mu.Lock()
			p.show(now)
			p.mu.Unlock()
		case <-p.stop:
			return
		}
	}
}

// begin records the start of a row. The returned function records its end.
func (p *progress) begin(c *proviso.Case, spec *proviso.ProviderSpec) func() {
	what := fmt.Sprintf("case %d", c.Index+1)
	if c.Description != "" {
		what += " (" + shortName(c.Description) + ")"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.next
	p.next++
	p.waiting[id] = underway{what + " → " + shortName(spec.Name()), time.Now()}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, id)
	}
}

// shortName returns the beginning of a name, safe for a line of a terminal.
func shortName(s string) string {
	return printable(excerpt.Line(s, 30))
}

// slowest names the row that has been running longest; "" if none is slow.
func (p *progress) slowest(now time.Time) string {
	oldest := underway{since: now}
	for _, u := range p.waiting {
		if u.since.Before(oldest.since) {
			oldest = u
		}
	}
	if took := now.Sub(oldest.since); took >= slow {
		return fmt.Sprintf(" · %.0f s on %s", took.Seconds(), oldest.what)
	}
	return ""
}

// watchedByPerson reports whether a person can read the output and end the command.
func (a *app) watchedByPerson() bool {
	return isTerminal(a.err) && !suite.Switch(a.env, "CI")
}

// tick shows the totals so far.
func (p *progress) tick(t proviso.Totals) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals = t
	if now := time.Now(); now.Sub(p.shown) >= every {
		p.show(now)
	}
}

// take records what an earlier run had finished, which must not affect this run's speed.
func (p *progress) take(t proviso.Totals) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals, p.before = t, t.Rows()
}

// show writes the line; p.mu is held.
func (p *progress) show(now time.Time) {
	p.shown = now
	line := p.line(p.totals, now.Sub(p.started)) + p.slowest(now)
	if p.cells > 0 { // a wrapped line could not be overwritten
		line = report.Line(line, p.cells-1)
	}
	n := utf8.RuneCountInString(line)
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.width-n)))
	p.width = n
}

// barCells is the length of the bar.
const barCells = 20

// bar draws the share of finished rows. It is left out if there is no room for it beside the
// figures.
func (p *progress) bar(done int) string {
	if p.rows <= 0 || p.cells > 0 && p.cells < besideBar {
		return ""
	}
	full := min(barCells, barCells*done/p.rows)
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full) + " "
}

// besideBar is the minimum width of a terminal with a bar.
const besideBar = 70

func (p *progress) line(t proviso.Totals, elapsed time.Duration) string {
	done := t.Rows()
	parts := []string{fmt.Sprintf("%s%d/%d rows", p.bar(done), done, p.rows)}
	if t.Failed > 0 || p.next > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Errors > 0 {
		parts = append(parts, plural.Of(t.Errors, "error"))
	}
	if s := elapsed.Seconds(); s >= 1 {
		rate := float64(done-p.before) / s
		parts = append(parts, fmt.Sprintf("%.3g/s", rate))
		if left := p.rows - done; rate > 0 && left > 0 {
			parts = append(parts, leftText(time.Duration(float64(left)/rate*float64(time.Second)))+" left")
		}
	}
	if t.Incurred > 0 {
		cost := usd.Text(t.Incurred)
		if done >= telling && done < p.rows {
			cost += " of about " + report.RoughCost(t.Incurred/float64(done)*float64(p.rows))
		}
		parts = append(parts, cost)
	}
	return strings.Join(parts, " · ")
}

// leftText formats a duration in a suitable unit, rounded up.
func leftText(d time.Duration) string {
	switch seconds := int(math.Ceil(d.Seconds())); {
	case seconds < 100:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%d min", (seconds+59)/60)
	default:
		return fmt.Sprintf("%d h", (seconds+3599)/3600)
	}
}

// end removes the line.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.stop)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
	}
}
