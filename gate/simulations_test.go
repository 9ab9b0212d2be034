package gate

import (
	"cmp"
	_ "embed" // the text above the tables
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

var simulateAll = flag.Bool("simulate", false, "write docs/gate-simulations.md, in some minutes")

// TestOrderOfTheRules simulates the extreme cases in which a wrong order or a wrong limit
// of the rules shows.
func TestOrderOfTheRules(t *testing.T) {
	t.Parallel()
	const rounds = 150
	none, one20, all3 := scenarios[0], scenarios[2], scenarios[3]
	for _, c := range []struct {
		name string
		cell
		holds func(shares) bool
	}{
		{"25 cases never pass", cell{population: populations[2], scenario: none, cases: 25, repeats: 1, assertions: 20}, func(s shares) bool { return s.pass == 0 }},
		{"no change rarely fails", cell{population: populations[1], scenario: none, cases: 100, repeats: 1, assertions: 20, shared: true}, func(s shares) bool { return s.fail < 0.12 && s.pass > 0.5 }},
		{"no change rarely fails with repeats", cell{population: populations[1], scenario: none, cases: 100, repeats: 3, assertions: 20, shared: true}, func(s shares) bool { return s.fail < 0.12 && s.pass > 0.6 }},
		{"a drop by the margin rarely passes", cell{population: populations[1], scenario: all3, cases: 100, repeats: 1, assertions: 20, shared: true}, func(s shares) bool { return s.pass < 0.11 }},
		{"whole cases that break too rarely to be seen do not pass", cell{population: populations[2], scenario: all3, cases: 60, repeats: 3, assertions: 20, shared: true}, func(s shares) bool { return s.pass == 0 }},
		{"one broken assertion fails, though the mean passes", cell{population: populations[1], scenario: one20, cases: 100, repeats: 1, assertions: 20, shared: true}, func(s shares) bool { return s.fail > 0.65 }},
		{"one broken assertion fails below the least number of cases", cell{population: populations[0], scenario: scenario{"", 0.5, 1}, cases: 40, repeats: 1, assertions: 20}, func(s shares) bool { return s.fail > 0.9 }},
		{"a small drop in many cases passes", cell{population: populations[1], scenario: scenario{"", 0.01, 0}, cases: 2000, repeats: 1, assertions: 5, shared: true}, func(s shares) bool { return s.pass > 0.85 }},
		{"a corrected drop by the margin rarely passes", cell{population: populations[1], scenario: all3, cases: 200, repeats: 1, assertions: 5, shared: true, tpr: 0.95, tnr: 0.85, good: 200, bad: 100}, func(s shares) bool { return s.pass < 0.11 }},
	} {
		if got := c.operate(rounds, 7, orders[0])[0]; !c.holds(got) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestSimulations writes the tables, if requested.
func TestSimulations(t *testing.T) {
	if !*simulateAll {
		t.Skip("run make simulate")
	}
	var b strings.Builder
	b.WriteString(simulationsHead)
	table := orderTable{}
	for i, s := range scenarios {
		fmt.Fprintf(&b, "### %s\n\n| cases | assertions | repeats | 25 | 50 | 100 | 200 | 400 |\n|---|---|---|---|---|---|---|---|\n", capital(s.name))
		for _, p := range populations {
			for _, shared := range []bool{false, true} {
				for _, repeats := range []int{1, 3, 5} {
					fmt.Fprintf(&b, "| %s | %s | %d |", p.name, map[bool]string{false: "independent", true: "shared"}[shared], repeats)
					for _, n := range []int{25, 50, 100, 200, 400} {
						x := cell{population: p, scenario: s, cases: n, repeats: repeats, assertions: cmp.Or(p.assertions, 20), shared: shared}
						got := x.operate(simulationRounds(n), uint64(i+1), orders...)
						fmt.Fprintf(&b, " %v |", got[0])
						table.add(i, n, got)
					}
					b.WriteString("\n")
				}
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(table.markdown())
	b.WriteString(largeTable())
	b.WriteString(judgeTable())
	if err := os.WriteFile("../docs/gate-simulations.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// simulationRounds returns a number of rounds that takes about the same time for each
// size.
func simulationRounds(cases int) int { return min(1000, 120*1000/cases) }

//go:embed testdata/simulations.md
var simulationsHead string

// orderTable compares orders of the rules over all cells with at least 50 cases.
type orderTable struct {
	falseFail, falsePass [8]float64 // highest shares
	passes               [8]mean
	power                [8][2]mean // one assertion drops by 10 and by 20 points
}

type mean struct{ sum, n float64 }

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

func (m mean) String() string { return fmt.Sprintf("%.3f", m.sum/m.n) }

func (t *orderTable) add(scenario, cases int, got []shares) {
	if cases < 50 {
		return
	}
	for i, s := range got {
		switch scenario {
		case 0:
			t.falseFail[i] = math.Max(t.falseFail[i], s.fail)
			t.passes[i].add(s.pass)
		case 1, 2:
			t.power[i][scenario-1].add(s.fail)
		case 3:
			t.falsePass[i] = math.Max(t.falsePass[i], s.pass)
		}
	}
}

func (t *orderTable) markdown() string {
	var b strings.Builder
	b.WriteString("## Other orders\n\nThis table covers all cells above with at least 50 cases. The first two columns are the worst cell; the others are means.\n\n| order | false fail, worst | pass at a drop by the margin, worst | pass without a change | fail, one assertion −10 | fail, one assertion −20 |\n|---|---|---|---|---|---|\n")
	for i, o := range orders {
		fmt.Fprintf(&b, "| %s | %.3f | %.3f | %v | %v | %v |\n", o.name, t.falseFail[i], t.falsePass[i], t.passes[i], t.power[i][0], t.power[i][1])
	}
	return b.String() + "\n"
}

// largeTable simulates a drop of 1 point in 2,000 cases.
func largeTable() string {
	var b strings.Builder
	b.WriteString("## 2,000 cases and a drop of 1 point\n\nA real drop that is smaller than the margin passes with a note. Without the least drop of an assertion, or with the test of the suite first, the gate would block it.\n\n| cases | assertions | as built | assertions fail for a drop of any size | … of the margin | the test of the suite before the margin |\n|---|---|---|---|---|---|\n")
	for _, p := range populations {
		for _, shared := range []bool{false, true} {
			x := cell{population: p, scenario: scenario{"", 0.01, 0}, cases: 2000, repeats: 1, assertions: cmp.Or(p.assertions, 20), shared: shared}
			got := x.operate(100, 21, orders[:4]...)
			fmt.Fprintf(&b, "| %s | %s | %v | %v | %v | %v |\n", p.name, map[bool]string{false: "independent", true: "shared"}[shared], got[0], got[1], got[2], got[3])
		}
	}
	return b.String() + "\n"
}

// judgeTable simulates a judge with errors, decided by raw and by corrected verdicts.
func judgeTable() string {
	var b strings.Builder
	b.WriteString("## A judge with errors\n\nThere are five judged assertions, flaky cases and one repeat. The judge passes .95 of the good outputs and fails .85 of the bad ones, measured with 200 good and 100 bad labels. It shows .8 of a drop, so raw verdicts pass too often at the margin.\n\n| assertions | truth | cases | raw | corrected |\n|---|---|---|---|---|\n")
	for _, shared := range []bool{false, true} {
		for _, s := range []scenario{scenarios[0], {"all −2 points", 0.02, 0}, scenarios[3], scenarios[4]} {
			for _, n := range []int{100, 200, 400, 1000} {
				x := cell{population: populations[1], scenario: s, cases: n, repeats: 1, assertions: 5, shared: shared, tpr: 0.95, tnr: 0.85, good: 200, bad: 100}
				corrected := x.operate(600, 31, orders[0])[0]
				x.rawVerdict = true
				fmt.Fprintf(&b, "| %s | %s | %d | %v | %v |\n", map[bool]string{false: "independent", true: "shared"}[shared], s.name, n, x.operate(600, 31, orders[0])[0], corrected)
			}
		}
	}
	return b.String()
}
