package main

import (
	"fmt"
	"math"

	"github.com/proviso-eval/proviso/stats"
)

// Sizes of the pairs picture, in pixels and cases.
const (
	pairWidth, pairHeight = 26, 20
	pairColumns, pairRows = 12, 10
)

// drawPairs shows two comparisons of 120 cases. Both lose by the same number of broken
// cases, but only one has fixed cases as evidence against the loss.
func drawPairs(string) ([]byte, error) {
	c := newCanvas(740, 356, "Two comparisons of 120 cases, base and head of each case side by side. 8 broke and 0 were fixed: strong evidence. 8 broke and 7 were fixed: no evidence.")
	fmt.Fprintf(c, "<defs><pattern id=\"q\" width=\"%d\" height=\"%d\" patternUnits=\"userSpaceOnUse\"><path class=\"n\" d=\"M2 2h10v14h-10zM13 2h10v14h-10z\"/></pattern></defs>\n", pairWidth, pairHeight)
	for i, fixed := range []int{0, 7} {
		fmt.Fprintf(c, "<g transform=\"translate(%d 0)\">\n", 24+i*370)
		if err := c.pairs(8, fixed); err != nil {
			return nil, err
		}
		c.WriteString("</g>\n")
	}
	return c.end(), nil
}

// pairs draws one comparison. The flipped cases are spread evenly and alternate.
func (c *canvas) pairs(broke, fixed int) error {
	p, err := stats.McNemar(broke, fixed, stats.FirstMore, false)
	if err != nil {
		return err
	}
	const cases = pairColumns * pairRows
	c.text("h", 2, 32, "%d broke, %d fixed", broke, fixed)
	c.text("s", 2, 54, "left half: base, right half: head")
	fmt.Fprintf(c, "<g transform=\"translate(0 66)\"><rect fill=\"url(#q)\" width=\"%d\" height=\"%d\"/>\n", pairColumns*pairWidth, pairRows*pairHeight)
	flips := broke + fixed
	for i := range flips {
		at := (2*i + 1) * cases / (2 * flips)
		x, y := at%pairColumns*pairWidth, at/pairColumns*pairHeight
		left, right := "g", "r"
		tick, cross := 2, 13
		if fixed > 0 && i%2 == 1 {
			left, right, tick, cross = right, left, cross, tick
		}
		fmt.Fprintf(c, "<path class=\"%s\" d=\"M%d %dh10v14h-10z\"/><path class=\"%s\" d=\"M%d %dh10v14h-10z\"/><path class=\"w\" d=\"M%d %dl2 2 4-5M%d %dl5 5m0-5l-5 5\"/>\n",
			left, x+2, y+2, right, x+13, y+2, x+tick+2, y+9, x+cross+2, y+7)
	}
	c.WriteString("</g>\n")
	c.text("s", 2, 292, "%d cases did not change. They say nothing.", cases-flips)
	c.text("", 2, 314, "%d coins, %d or more heads by chance:", flips, broke)
	class := "h r"
	meaning := "strong evidence"
	if p > 0.05 {
		class, meaning = "h y", "no evidence"
	}
	c.text(class, 2, 336, "1 in %.0f, %s", math.Round(1/p), meaning)
	return nil
}
