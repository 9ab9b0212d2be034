package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
)

// progress is one line on a terminal that says how far a run is. It is called
// with the run's lock held, so it does no more than write now and then.
type progress struct {
	w       io.Writer
	rows    int
	started time.Time
	shown   time.Time
	width   int // of the line that stands there
}

// every is how long a line stands before it is written anew.
const every = 100 * time.Millisecond

// telling is from how many rows on their cost says something of the others.
const telling = 10

// newProgress returns nil where nobody watches: not on a terminal, or not wanted.
func (a *app) newProgress(rows int, quiet bool) *progress {
	if quiet || !a.watchedByPerson() {
		return nil
	}
	return &progress{w: a.err, rows: rows, started: time.Now(), shown: time.Now()}
}

// watchedByPerson reports whether somebody is there to read what is printed, and
// to end it.
func (a *app) watchedByPerson() bool {
	f, ok := a.err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && !envTrue(a.env, "CI")
}

// tick shows the totals so far.
func (p *progress) tick(t proviso.Totals) {
	now := time.Now()
	if now.Sub(p.shown) < every {
		return
	}
	p.shown = now
	line := p.line(t, now.Sub(p.started))
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
	if t.Cost > 0 {
		cost := fmt.Sprintf("$%.4g", t.Cost)
		if done >= telling && done < p.rows {
			cost += " of about " + roughly(t.Cost/float64(done)*float64(p.rows))
		}
		parts = append(parts, cost)
	}
	return strings.Join(parts, " · ")
}

// end removes the line.
func (p *progress) end() {
	if p != nil && p.width > 0 {
		fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.width), "\r")
	}
}
