package show

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Grid prints the results of trying candidates for people.
func Grid(g *matrix.Grid, rates []matrix.Rate, o report.TerminalOptions) []byte {
	t := &page{o: o}
	name := 9
	for _, n := range g.Names {
		name = max(name, min(cellsIn(n), 60))
	}
	t.line("%s", t.o.Paint(report.Bold, fmt.Sprintf("%s %7s %7s %7s %10s", pad("Candidate", name), "passes", "fails", "threw", "undecided")))
	for j, r := range rates {
		threw, undecided := fmt.Sprintf("%7d", r.Threw), fmt.Sprintf("%10d", r.Undecided)
		if r.Threw > 0 {
			threw = t.o.Paint(report.Yellow, threw)
		}
		if r.Undecided > 0 {
			undecided = t.o.Paint(report.Yellow, undecided)
		}
		t.line("%s %7d %7d %s %s", pad(g.Names[j], name), r.Passed, r.Failed, threw, undecided)
	}
	for i, line := range Troubles(g, rates) {
		if i == 0 {
			t.line("")
		}
		t.line("%s", line)
	}
	return t.Bytes()
}

// Troubles describes which candidates were undecided or threw, how often and why, one per
// line; candidates with the same reason share a line.
func Troubles(g *matrix.Grid, rates []matrix.Rate) []string {
	var lines []string
	by := map[string][]string{} // names by what happened
	add := func(name, what string) {
		if by[what] == nil {
			lines = append(lines, what)
		}
		by[what] = append(by[what], name)
	}
	for j, r := range rates {
		c, name := g.Columns[j], g.Names[j]
		switch {
		case c.NotRunnable != "":
			add(name, " cannot be run: "+report.Line(c.NotRunnable, 300))
		case r.Undecided > 0:
			add(name, fmt.Sprintf(": %d of %d undecided: %s", r.Undecided, len(g.Entries), report.Line(strings.Join(c.Why, "; "), 300)))
		}
		if r.Threw > 0 {
			add(name, fmt.Sprintf(": threw on %d of %d, which fails them: %s", r.Threw, len(g.Entries), report.Line(strings.Join(c.Thrown, "; "), 300)))
		}
	}
	for i, what := range lines {
		lines[i] = Names(by[what], namedInTroubles) + what
	}
	return lines
}

// namedInTroubles is the maximum number of names per trouble.
const namedInTroubles = 5

// GridLine summarises a matrix in a line.
func GridLine(g *matrix.Grid) string {
	n := trial.CountLabels(g.Entries)
	text := fmt.Sprintf("%s on %s: %d good, %d bad", plural.Of(len(g.Names), "candidate"), plural.Of(len(g.Entries), "output"), n.Good, n.Bad)
	if n.Left > 0 {
		text += fmt.Sprintf(", %d without a label", n.Left)
	}
	if kept := g.Kept(); kept > 0 {
		text += fmt.Sprintf("; %d of %s decided before", kept, plural.Of(len(g.Names)*len(g.Entries), "cell"))
	}
	return text
}
