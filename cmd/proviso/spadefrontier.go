package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/solve"
)

// grid is a frontier as a table: a row for each alpha, a column for each tau.
type grid struct {
	alphas, taus []float64
	points       []selection.Point
}

func gridOf(points []selection.Point) grid {
	g := grid{points: points}
	for _, p := range points {
		if !slices.Contains(g.alphas, p.Alpha) {
			g.alphas = append(g.alphas, p.Alpha)
		}
		if !slices.Contains(g.taus, p.Tau) {
			g.taus = append(g.taus, p.Tau)
		}
	}
	return g
}

func (g grid) at(row, column int) selection.Point { return g.points[row*len(g.taus)+column] }

// cellText is one cell: the objective, with a tilde if it is not proven to be minimal,
// and the caught bad outputs.
func cellText(p selection.Point, bad int) string {
	switch p.Status {
	case solve.Infeasible:
		return "–"
	case solve.Unknown:
		return "?"
	}
	tilde := ""
	if p.Status == solve.Feasible {
		tilde = "~"
	}
	return fmt.Sprintf("%s%d / %.0f%%", tilde, p.Answer.Objective, 100*float64(p.Answer.Covered)/float64(max(1, bad)))
}

// frontierLegend explains the cells.
const frontierLegend = "Each cell: the smallest objective / the share of bad outputs caught. – no selection; ~ not proven; ? not known."

func (t *selectReport) frontier(s selected) {
	g := gridOf(s.points)
	t.line("%s", t.paint("1", "Frontier"))
	t.line("  %s", t.paint("2", frontierLegend))
	var head strings.Builder
	fmt.Fprintf(&head, "  %-10s", "alpha \\ tau")
	for _, tau := range g.taus {
		fmt.Fprintf(&head, " %11v", tau)
	}
	t.line("%s", t.paint("1", head.String()))
	for i, alpha := range g.alphas {
		var row strings.Builder
		fmt.Fprintf(&row, "  %-11v", alpha)
		for j, tau := range g.taus {
			text := cellText(g.at(i, j), s.Bad)
			text = strings.Repeat(" ", max(0, 11-len([]rune(text)))) + text
			if alpha == s.Options.Alpha && tau == s.Options.Tau {
				text = t.paint("7", text)
			}
			row.WriteString(" " + text)
		}
		t.line("%s", strings.TrimRight(row.String(), " "))
	}
}

func frontierMarkdown(b *bytes.Buffer, s selected) {
	g := gridOf(s.points)
	fmt.Fprintf(b, "\n### Frontier\n\n%s\n\n| alpha \\ tau |", frontierLegend)
	for _, tau := range g.taus {
		fmt.Fprintf(b, " %v |", tau)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(g.taus)) + "\n")
	for i, alpha := range g.alphas {
		fmt.Fprintf(b, "| %v |", alpha)
		for j, tau := range g.taus {
			text := cellText(g.at(i, j), s.Bad)
			if alpha == s.Options.Alpha && tau == s.Options.Tau {
				text = "**" + text + "**"
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteByte('\n')
	}
}

// Sizes of the picture of a frontier, in pixels.
const (
	frontierCell, frontierRow   = 76, 40
	frontierLeft, frontierAbove = 96, 92
)

// frontierSVG draws a frontier: the darker a cell, the larger the objective.
func frontierSVG(s selected) []byte {
	g := gridOf(s.points)
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
`, width, height, width, height, width, height, s.Options.Method, plural(len(s.Matrix.Names), "candidate"), plural(s.Good, "good output"), plural(s.Bad, "bad output"))
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

// selectMarkdown shows a selection in a comment or a page. Untrusted text is only in
// code spans.
func selectMarkdown(s selected) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("## %s (method %s)\n", headline(s), s.Options.Method)
	for _, sentence := range verdictOf(s) {
		line("%s", markdownText(sentence))
	}
	if s.Found() {
		line("")
		for _, m := range selectMeasures(s) {
			line("- **%s**: %s", m.name, markdownText(m.text))
		}
		accounts := s.Accounts()
		if len(s.Answer.Selected) > 0 {
			line("\n| Selected | Catches | Alone | False failures | Without it |\n|---|--:|--:|--:|---|")
			for i := range accounts {
				if a := &accounts[i]; a.Fate == selection.Selected {
					line("| %s | %d | %d | %s | %s |", report.MarkdownCode(a.Name, 60), a.Covered, len(a.Alone), falseText(a), markdownText(without(s, a)))
				}
			}
		}
		markdownExcluded(line, s, accounts)
	}
	if s.points != nil {
		frontierMarkdown(&b, s)
	}
	line("\nRanges in brackets are 95 %% intervals (Wilson).")
	return b.Bytes()
}

func markdownExcluded(line func(format string, args ...any), s selected, accounts []selection.Account) {
	for _, f := range fates {
		first := true
		for i := range accounts {
			a := &accounts[i]
			if a.Fate != f.fate {
				continue
			}
			if first {
				line("\n### %s\n", f.title)
				first = false
			}
			line("- %s: %s", report.MarkdownCode(a.Name, 60), markdownText(whyOut(s, a)))
		}
	}
}

// markdownText escapes Markdown in untrusted names.
func markdownText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<>|#@!&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
