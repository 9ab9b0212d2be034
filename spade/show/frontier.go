package show

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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

func (t *page) frontier(s Selection) {
	g := gridOf(s.Points)
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

func frontierMarkdown(b *bytes.Buffer, s Selection) {
	g := gridOf(s.Points)
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
