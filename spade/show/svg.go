package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/selection"
)

// Sizes of the picture of a frontier, in pixels.
const (
	frontierCell, frontierRow   = 76, 40
	frontierLeft, frontierAbove = 96, 92
)

// FrontierSVG draws a frontier: the darker a cell, the larger the objective.
func FrontierSVG(s Selection) []byte {
	g := gridOf(s.Points)
	low, high := -1, 0
	for _, p := range g.points {
		if p.Found() {
			high = max(high, p.Answer.Objective)
			if low < 0 || p.Answer.Objective < low {
				low = p.Answer.Objective
			}
		}
	}
	var b bytes.Buffer
	width, height := max(620, frontierLeft+frontierCell*len(g.taus)+20), frontierAbove+frontierRow*len(g.alphas)+44
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="Frontier of the thresholds alpha and tau">
<style>
text{fill:#1f2328;font:13px system-ui,sans-serif;text-anchor:middle}.h{font-weight:bold;font-size:15px}.l{text-anchor:start}.s{fill:#59636e;font-size:11px}
.p{fill:#ffffff}.c{fill:#0969da}.n{fill:none;stroke:#d0d7de}.o{fill:none;stroke:#cf222e;stroke-width:3}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.p{fill:#0d1117}.c{fill:#4493f8}.n{stroke:#3d444d}.o{stroke:#ff7b72}}
</style>
<rect class="p" width="%d" height="%d"/>
<text class="h l" x="16" y="26">Smallest objective under alpha and tau, method %s</text>
<text class="s l" x="16" y="46">%s, %s, %s. In each cell: objective, and bad outputs caught.</text>
`, width, height, width, height, width, height, s.Options.Method, report.Plural(len(s.Matrix.Names), "candidate"), report.Plural(s.Good, "good output"), report.Plural(s.Bad, "bad output"))
	for j, tau := range g.taus {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%v</text>\n", frontierLeft+frontierCell*j+frontierCell/2, frontierAbove-10, tau)
	}
	fmt.Fprintf(&b, "<text class=\"s\" x=\"%d\" y=\"%d\">tau: good outputs that may be failed</text>\n", frontierLeft+frontierCell*len(g.taus)/2, frontierAbove-28)
	for i, alpha := range g.alphas {
		y := frontierAbove + frontierRow*i
		fmt.Fprintf(&b, "<text class=\"l\" x=\"16\" y=\"%d\">alpha %v</text>\n", y+25, alpha)
		for j, tau := range g.taus {
			chosen := alpha == s.Options.Alpha && tau == s.Options.Tau
			svgCell(&b, g.at(i, j), frontierLeft+frontierCell*j, y, low, high, s.Bad, chosen)
		}
	}
	fmt.Fprintf(&b, "<text class=\"s l\" x=\"16\" y=\"%d\">– no selection is within the thresholds; ~ not proven to be the smallest; framed: alpha %v, tau %v.</text>\n</svg>\n",
		height-16, s.Options.Alpha, s.Options.Tau)
	return b.Bytes()
}

func svgCell(b *bytes.Buffer, p selection.Point, x, y, low, high, bad int, chosen bool) {
	middle := x + frontierCell/2
	box := func(class string, opacity string) {
		fmt.Fprintf(b, "<rect class=%q x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"%s/>\n", class, x+2, y+2, frontierCell-4, frontierRow-4, opacity)
	}
	if p.Found() {
		shade := 0.08 + 0.42*float64(p.Answer.Objective-low)/float64(max(1, high-low))
		box("c", fmt.Sprintf(" fill-opacity=\"%.2f\"", shade))
		first, second, _ := strings.Cut(cellText(p, bad), " / ")
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text><text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", middle, y+18, first, middle, y+32, second)
	} else {
		box("n", "")
		fmt.Fprintf(b, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", middle, y+25, cellText(p, bad))
	}
	if chosen {
		box("o", "")
	}
}
