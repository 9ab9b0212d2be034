package show

import (
	"bytes"
	"fmt"
	"html"
	"strings"

	"github.com/proviso-eval/proviso/report"
)

// Sizes of the picture of trade-offs, in pixels.
const (
	tradeStep, tradeHigh   = 84, 240
	tradeLeft, tradeAbove  = 64, 84
	tradeBelow, tradeShift = 116, 10
)

// SVG draws the trade-offs: for each point the share of bad outputs caught, down to its
// lower limit, and the share of good outputs failed, up to its upper limit.
func (t Trades) SVG() []byte {
	var b bytes.Buffer
	width, height := max(620, tradeLeft+tradeStep*len(t.List)+20), tradeAbove+tradeHigh+tradeBelow
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="Size, coverage, false failures and cost of sets of assertions">
<style>
text{fill:#1f2328;font:13px system-ui,sans-serif;text-anchor:middle}.h{font-weight:bold;font-size:15px}.l{text-anchor:start}.e{text-anchor:end}.s{fill:#59636e;font-size:11px}
.p{fill:#ffffff}.g{stroke:#d0d7de}.c{fill:#0969da;stroke:#0969da}.f{fill:#cf222e;stroke:#cf222e}.d{opacity:.45}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117}.g{stroke:#3d444d}.c{fill:#4493f8;stroke:#4493f8}.f{fill:#ff7b72;stroke:#ff7b72}}
</style>
<rect class="p" width="%d" height="%d"/>
<text class="h l" x="16" y="26">%s</text>
<text class="s l" x="16" y="46">Blue: bad outputs caught, down to the lower limit of their share. Red: good outputs failed, up to the upper limit. Limits of 95 %%.</text>
<text class="s l" x="16" y="62">Below: size, cost and time for one output. Faint: another set is nowhere worse.</text>
`, width, height, width, height, width, height, html.EscapeString(report.Line(t.title(), 200)))
	y := func(share float64) int { return tradeAbove + tradeHigh - int(share*tradeHigh+0.5) }
	for tenth := 0; tenth <= 10; tenth += 2 {
		at := y(float64(tenth) / 10)
		fmt.Fprintf(&b, "<path class=\"g\" d=\"M%d %dH%d\"/><text class=\"s e\" x=\"%d\" y=\"%d\">%d %%</text>\n", tradeLeft, at, width-16, tradeLeft-8, at+4, 10*tenth)
	}
	for i, x := range t.List {
		at := tradeLeft + tradeStep*i + tradeStep/2
		under := tradeAbove + tradeHigh + 20
		fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", at, under, html.EscapeString(strings.Replace(pointText(x), "at most ", "≤ ", 1)))
		if !x.Found() {
			fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">no selection</text>\n", at, under+18)
			continue
		}
		faint := ""
		if x.Dominated {
			faint = " d"
		}
		bar := func(class string, x, seen, limit int) {
			fmt.Fprintf(&b, "<g class=\"%s%s\"><circle cx=\"%d\" cy=\"%d\" r=\"5\"/><path d=\"M%d %dV%d\" stroke-width=\"2\"/></g>\n", class, faint, x, seen, x, seen, limit)
		}
		bar("c", at-tradeShift, y(share(x.Covered, t.Bad)), y(atLeast(x.Covered, t.Bad)))
		bar("f", at+tradeShift, y(share(x.False, t.Good)), y(atMost(x.False, t.Good)))
		cells := t.cells(x)
		for k, text := range []string{cells[1] + " selected", cells[4], cells[5]} {
			fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", at, under+18*(k+1), html.EscapeString(text))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func share(k, n int) float64 { return float64(k) / float64(max(1, n)) }
