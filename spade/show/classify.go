package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/classify"
	"github.com/proviso-eval/proviso/stats"
)

// shownUndecided is the maximum number of changes without an answer that the terminal lists.
const shownUndecided = 10

// Score shows a comparison to a person.
func Score(s *classify.Score, o report.TerminalOptions) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %d with exactly the categories that people gave\n\n", plural.Of(s.Rows, "change"), s.Exact)
	fmt.Fprintf(&b, "%-22s %5s   %-18s  %-18s  %4s  %10s  %11s\n", "category", "F1", "precision", "recall", "both", "model only", "people only")
	for _, c := range s.Categories {
		classRow(&b, c.Category, c, o)
	}
	for _, g := range s.Groups {
		classRow(&b, g.Category+" (micro)", g, o)
	}
	classRow(&b, "all (micro)", s.Micro, o)
	b.WriteString("\nRanges in brackets are 95 % intervals (Wilson).\n")
	if len(s.Undecided) > 0 {
		var names []string
		for _, n := range s.Undecided[:min(len(s.Undecided), shownUndecided)] {
			names = append(names, report.Line(n, 60))
		}
		if n := len(s.Undecided) - shownUndecided; n > 0 {
			names = append(names, fmt.Sprintf("and %d more", n))
		}
		fmt.Fprintf(&b, "Undecided and not counted: %s.\n", strings.Join(names, ", "))
	}
	return b.Bytes()
}

func classRow(b *bytes.Buffer, name string, c classify.CategoryScore, o report.TerminalOptions) {
	f1 := "-"
	if f, ok := c.F1(); ok {
		f1 = fmt.Sprintf("%.3f", f)
	}
	row := fmt.Sprintf("%-22s %5s   %-18s  %-18s  %4d  %10d  %11d", report.Line(name, 60), f1, shareText(c.Precision()), shareText(c.Recall()), c.Both, c.Model, c.People)
	if c.Category == "" {
		row = o.Paint(report.Bold, row)
	}
	b.WriteString(row + "\n")
}

func shareText(e stats.Estimate, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.2f–%.2f)", e.Value, e.Low, e.High)
}
