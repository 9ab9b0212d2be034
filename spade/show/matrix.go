package show

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
)

// Grid prints the results of trying candidates for a person.
func Grid(g *matrix.Grid, rates []matrix.Rate, o report.TerminalOptions) []byte {
	t := &page{o: o}
	name := 9
	for _, n := range g.Names {
		name = max(name, min(cellsIn(n), 60))
	}
	t.line("%s", t.paint("1", fmt.Sprintf("%s %7s %7s %7s %10s", pad("Candidate", name), "passes", "fails", "threw", "undecided")))
	for j, r := range rates {
		threw, undecided := fmt.Sprintf("%7d", r.Threw), fmt.Sprintf("%10d", r.Undecided)
		if r.Threw > 0 {
			threw = t.paint("33", threw)
		}
		if r.Undecided > 0 {
			undecided = t.paint("33", undecided)
		}
		t.line("%s %7d %7d %s %s", pad(g.Names[j], name), r.Passed, r.Failed, threw, undecided)
	}
	first := true
	for j, r := range rates {
		for _, line := range Troubles(g, j, r) {
			if first {
				t.line("")
				first = false
			}
			t.line("%s", line)
		}
	}
	return t.Bytes()
}

// Troubles describes how often a candidate was undecided or threw, and why.
func Troubles(g *matrix.Grid, j int, r matrix.Rate) []string {
	c, name := g.Columns[j], report.Line(g.Names[j], 80)
	var list []string
	switch {
	case c.NotRunnable != "":
		list = append(list, fmt.Sprintf("%s cannot be run here: %s", name, report.Line(c.NotRunnable, 300)))
	case r.Undecided > 0:
		list = append(list, fmt.Sprintf("%s: %d of %d undecided: %s", name, r.Undecided, len(g.Entries), report.Line(strings.Join(c.Why, "; "), 300)))
	}
	if r.Threw > 0 {
		list = append(list, fmt.Sprintf("%s: threw on %d of %d, which fails them: %s", name, r.Threw, len(g.Entries), report.Line(strings.Join(c.Thrown, "; "), 300)))
	}
	return list
}

// GridLine summarises a matrix in a line.
func GridLine(g *matrix.Grid) string {
	n := trial.CountLabels(g.Entries)
	text := fmt.Sprintf("%s on %s: %d good, %d bad", report.Plural(len(g.Names), "candidate"), report.Plural(len(g.Entries), "output"), n.Good, n.Bad)
	if n.Left > 0 {
		text += fmt.Sprintf(", %d without a label", n.Left)
	}
	if kept := g.Kept(); kept > 0 {
		text += fmt.Sprintf("; %d of %s decided before", kept, report.Plural(len(g.Names)*len(g.Entries), "cell"))
	}
	return text
}
