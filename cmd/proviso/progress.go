package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
)

// progress is one line on a terminal that says how far a run is and what it waits
// for. It is called with the run's lock held, so it does no more than write now
// and then.
type progress struct {
	w       io.Writer
	rows    int
	started time.Time
	stop    chan struct{}

	mu      sync.Mutex
	shown   time.Time
	width   int // of the line that stands there
	totals  proviso.Totals
	waiting map[int]underway
	next    int
}

// underway is a row that has begun and is not done.
type underway struct {
	what  string
	since time.Time
}

// slow is how long a row takes before the line names it.
const slow = 5 * time.Second

// every is how long a line stands before it is written anew.
const every = 100 * time.Millisecond

// telling is from how many rows on their cost says something of the others.
const telling = 10

// newProgress returns nil where nobody watches: not on a terminal, or not wanted.
func (a *app) newProgress(rows int, quiet bool) *progress {
	if quiet || !a.watchedByPerson() {
		return nil
	}
	p := &progress{w: a.err, rows: rows, started: time.Now(), shown: time.Now(), stop: make(chan struct{}), waiting: map[int]underway{}}
	go p.watch()
	return p
}

// watch writes the line anew while no row is done.
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

// begin notes that a row has begun; what it returns notes that it is done.
func (p *progress) begin(c *proviso.Case, spec *proviso.ProviderSpec) func() {
	what := fmt.Sprintf("case %d", c.Index+1)
	if c.Description != "" {
		what += " (" + excerpt(c.Description) + ")"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.next
	p.next++
	p.waiting[id] = underway{what + " → " + excerpt(spec.Name()), time.Now()}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, id)
	}
}

// excerpt is the beginning of a name, fit for a line of a terminal.
func excerpt(s string) string {
	const most = 30
	s = printable(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// slowest names the row that takes longest, "" if none takes long.
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

// watchedByPerson reports whether somebody is there to read what is printed, and
// to end it.
func (a *app) watchedByPerson() bool {
	f, ok := a.err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && !envTrue(a.env, "CI")
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

// show writes the line; p.mu is held.
func (p *progress) show(now time.Time) {
	p.shown = now
	line := p.line(p.totals, now.Sub(p.started)) + p.slowest(now)
	fmt.Fprint(p.w, "\r", line, strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}

func (p *progress) line(t proviso.Totals, elapsed time.Duration) string {
	done := t.Rows()
	parts := []string{fmt.Sprintf("%d/%d rows", done, p.rows)}
	if t.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.Failed))
	}
	if t.Errors > 0 {
		parts = append(parts, plural(t.Errors, "error"))
	}
	if s := elapsed.Seconds(); s >= 1 {
		parts = append(parts, fmt.Sprintf("%.3g/s", float64(done)/s))
	}
	if t.Incurred > 0 {
		cost := fmt.Sprintf("$%.4g", t.Incurred)
		if done >= telling && done < p.rows {
			cost += " of about " + roughly(t.Incurred/float64(done)*float64(p.rows))
		}
		parts = append(parts, cost)
	}
	return strings.Join(parts, " · ")
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
