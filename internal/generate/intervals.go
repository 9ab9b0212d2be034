package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
)

// example is a comparison of a suite with one assertion.
type example struct {
	cases, broke, fixed int
	want                gate.Outcome
	says                string // meaning of the decision
}

var examples = []example{
	{200, 1, 1, gate.Pass, "a drop by the margin is excluded"},
	{100, 2, 0, gate.Inconclusive, "it may be nothing, it may be bad"},
	{240, 12, 0, gate.Fail, "it is a drop"},
}

// run returns one side of the comparison.
func (e example) run(head bool) *gate.Run {
	run := &gate.Run{Name: "base", Columns: []gate.Column{{Prompt: "p", Provider: "m"}}}
	for i := range e.cases {
		status, score := proviso.Pass, 1.0
		if head && i < e.broke || !head && i >= e.broke && i < e.broke+e.fixed {
			status, score = proviso.Fail, 0
		}
		run.Rows = append(run.Rows, gate.Row{
			Index: i, Case: gate.Case{ID: strconv.Itoa(i)}, Status: status, Score: score,
			Verdicts: []gate.Verdict{{Assertion: "tone", Status: status, Score: score}},
		})
	}
	return run
}

// decide returns the suite's difference with its 95 % interval, in percentage points. It
// returns an error unless the gate decides as wanted and the interval shows why.
func (e example) decide() (value, low, high float64, err error) {
	c, err := gate.Compare(e.run(false), e.run(true), gate.Options{})
	if err != nil {
		return 0, 0, 0, err
	}
	d, err := gate.Decide(c, nil, gate.Options{})
	if err != nil {
		return 0, 0, 0, err
	}
	x := c.Suite.Difference
	shown := gate.Inconclusive
	switch {
	case x.High < 0:
		shown = gate.Fail
	case x.Low > -gate.DefaultMargin:
		shown = gate.Pass
	}
	if d.Outcome != e.want || shown != e.want {
		return 0, 0, 0, fmt.Errorf("%d cases, %d broke: expected %s, got %s, and the picture shows %s", e.cases, e.broke, e.want, d.Outcome, shown)
	}
	return 100 * x.Value, 100 * x.Low, 100 * x.High, nil
}

// drawIntervals shows three comparisons' intervals against the margin.
func drawIntervals(string) ([]byte, error) {
	c := newCanvas(740, 300, "Three intervals of the difference against a margin of 3 points: one lies above the margin and passes, one reaches over both marks and is inconclusive, one lies below 0 and fails.")
	x := func(points float64) float64 { return 616 + 36*points }
	const top, bottom = 44, 240
	c.line("a", x(-9), bottom, x(3), bottom)
	for p := -8.0; p <= 2; p += 2 {
		c.line("a", x(p), bottom, x(p), bottom+5)
		c.text("s m", x(p), bottom+22, "%s", strings.Replace(strconv.FormatFloat(p, 'g', -1, 64), "-", "−", 1))
	}
	c.text("s m", x(-2.5), bottom+42, "score of head − score of base, in percentage points")
	margin := -100 * gate.DefaultMargin
	c.line("d", x(margin), top, x(margin), bottom)
	c.line("d", x(0), top, x(0), bottom)
	c.text("m", x(margin), top-12, "−margin")
	c.text("m", x(0), top-12, "no change")
	classes := map[gate.Outcome]string{gate.Pass: "g", gate.Fail: "r", gate.Inconclusive: "y"}
	for i, e := range examples {
		value, low, high, err := e.decide()
		if err != nil {
			return nil, err
		}
		y, class := float64(84+i*62), classes[e.want]
		fmt.Fprintf(c, "<path class=\"k l%s\" d=\"M%.4g %gH%.4gM%.4g %gv14M%.4g %gv14\"/><circle class=\"%s\" cx=\"%.4g\" cy=\"%g\" r=\"5.5\"/>\n",
			class, x(low), y, x(high), x(low), y-7, x(high), y-7, class, x(value), y)
		c.text("h "+class, 24, y-12, "%s", e.want)
		c.text("", 24, y+6, "%d cases, %d broke, %d fixed:", e.cases, e.broke, e.fixed)
		c.text("s", 24, y+24, "%s", e.says)
	}
	return c.end(), nil
}
