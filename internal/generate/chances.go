package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// simulationsFile is the output of `make simulate`.
const simulationsFile = "docs/gate-simulations.md"

// chance is one row of the simulations: how often a decision occurs, by number of cases.
type chance struct {
	heading string // heading above the table
	answer  int    // index in the cells: 0 for pass, 1 for fail
	class   string
	label   string
}

// chanceRow is the simulated population: flaky cases, shared by the assertions, asked once.
const chanceRow = "| flaky | shared | 1 |"

var chances = []chance{
	{"### No change", 0, "g", "nothing changed: pass"},
	{"### One assertion −20 points", 1, "r", "an assertion fell by 20 points: fail"},
	{"### One assertion −10 points", 1, "y", "an assertion fell by 10 points: fail"},
}

// read finds the shares and their numbers of cases in the simulations page.
func (h chance) read(page string) (cases, shares []float64, err error) {
	_, table, found := strings.Cut(page, h.heading+"\n")
	if !found {
		return nil, nil, fmt.Errorf("%s has no %q", simulationsFile, h.heading)
	}
	head, _, _ := strings.Cut(strings.TrimSpace(table), "\n")
	_, row, found := strings.Cut(table, chanceRow)
	row, _, _ = strings.Cut(row, "\n")
	cells, columns := strings.Split(strings.Trim(row, " |"), " | "), strings.Split(strings.Trim(head, " |"), " | ")
	if !found || len(columns) != len(cells)+3 {
		return nil, nil, fmt.Errorf("%s has no row %q under %q", simulationsFile, chanceRow, h.heading)
	}
	for i, cell := range cells {
		n, err := strconv.ParseFloat(columns[i+3], 64)
		if err != nil {
			return nil, nil, err
		}
		parts := strings.Split(cell, "/")
		if len(parts) != 3 {
			return nil, nil, fmt.Errorf("%s: expected three shares, got %q", simulationsFile, cell)
		}
		share, err := strconv.ParseFloat(parts[h.answer], 64)
		if err != nil {
			return nil, nil, err
		}
		cases, shares = append(cases, n), append(shares, share)
	}
	return cases, shares, nil
}

// drawCases shows how the chance of the right decision grows with the number of cases.
func drawCases(root string) ([]byte, error) {
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(simulationsFile)))
	if err != nil {
		return nil, err
	}
	c := newCanvas(740, 322, "How often the gate gives the right answer, by the number of cases: with 25 cases rarely, with 200 cases nearly always if nothing changed or the drop is large.")
	x := func(n float64) float64 { return 70 + 100*math.Log2(n/25) }
	y := func(share float64) float64 { return 262 - 210*share }
	c.text("h", 24, 30, "How often the gate gives the right answer")
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.line("a", x(25), y(share), x(400), y(share))
		c.text("s e", x(25)-8, y(share)+5, "%g %%", 100*share)
	}
	for _, h := range chances {
		cases, shares, err := h.read(string(page))
		if err != nil {
			return nil, err
		}
		path := ""
		for i := range cases {
			path += fmt.Sprintf("%s%g %.4g", map[bool]string{true: "M", false: "L"}[i == 0], x(cases[i]), y(shares[i]))
			fmt.Fprintf(c, "<circle class=%q cx=\"%g\" cy=\"%.4g\" r=\"4\"/>\n", h.class, x(cases[i]), y(shares[i]))
			if h == chances[0] {
				c.text("s m", x(cases[i]), y(0)+22, "%g", cases[i])
			}
		}
		fmt.Fprintf(c, "<path class=\"k l%s\" d=%q/>\n", h.class, path)
	}
	c.text("s m", x(100), y(0)+44, "cases in the suite")
	for i, h := range chances {
		at := y(1) + 8 + float64(i)*44
		fmt.Fprintf(c, "<path class=\"k l%s\" d=\"M490 %gh18\"/>\n", h.class, at)
		subject, answer, _ := strings.Cut(h.label, ": ")
		c.text("", 516, at+5, "%s", subject)
		c.text("h "+h.class, 516, at+23, "%s", answer)
	}
	return c.end(), nil
}
