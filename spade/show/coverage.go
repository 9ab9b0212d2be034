package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/coverage"
)

// CoverLine summarises a cover in one line.
func CoverLine(c *coverage.Cover) string {
	return fmt.Sprintf("%d of %s covered (%s)", c.Covered, plural.Of(c.Total, "instruction"), report.Percent(c.Share()))
}

// Cover prints the prompt with a mark before each sentence.
func Cover(c *coverage.Cover, o report.TerminalOptions) []byte {
	t := newPage(o, 40)
	t.all = true
	t.line("%s\n", t.o.Paint(report.Bold, CoverLine(c)))
	for _, l := range c.Lines {
		switch {
		case len(l.Assertions) > 0:
			t.unit("✓", "32", l.Line, l.Text, "")
			fmt.Fprintf(t, "         %s\n", t.o.Paint(report.Dim, "by "+Names(l.Assertions, MaxNames)))
		case l.Instruction:
			t.unit("✗", "31", l.Line, l.Text, "")
		default:
			t.unit(" ", "2", l.Line, l.Text, "")
		}
	}
	if len(c.Former) > 0 {
		fmt.Fprintf(t, "\n%s: %s\n", t.o.Paint(report.Yellow, "Assertions of what the prompt no longer asks"), Names(c.Former, 50))
	}
	if c.Unread != "" {
		fmt.Fprintf(t, "\n%s\n", t.o.Paint(report.Yellow, sentenceOf(c.Unread)))
	}
	if len(c.Orphans) > 0 {
		fmt.Fprintf(t, "\n%s: %s\n", t.o.Paint(report.Yellow, "Assertions of nothing that the prompt says"), Names(c.Orphans, 50))
	}
	return t.Bytes()
}

// CoverMarkdown shows the instructions of a prompt with their assertions as Markdown.
func CoverMarkdown(c *coverage.Cover) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n\n| Line | Instruction | Category | Assertions |\n|--:|---|---|---|\n", CoverLine(c))
	for _, l := range c.Lines {
		if !l.Instruction {
			continue
		}
		names := "**none**"
		for i, n := range l.Assertions {
			if i == 0 {
				names = ""
			} else {
				names += ", "
			}
			names += report.MarkdownCode(n, 60)
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", l.Line, report.MarkdownCode(l.Text, 160), report.MarkdownSentence(l.Category), names)
	}
	if c.Unread != "" {
		fmt.Fprintf(&b, "\n%s\n", sentenceOf(c.Unread))
	}
	if len(c.Former) > 0 {
		b.WriteString("\nAssertions of what the prompt no longer asks:\n\n")
		for _, n := range c.Former {
			fmt.Fprintf(&b, "- %s\n", report.MarkdownCode(n, 60))
		}
	}
	if len(c.Orphans) > 0 {
		b.WriteString("\nAssertions of nothing that the prompt says:\n\n")
		for _, n := range c.Orphans {
			fmt.Fprintf(&b, "- %s\n", report.MarkdownCode(n, 60))
		}
	}
	return b.Bytes()
}

// sentenceOf formats a clause as a sentence.
func sentenceOf(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }
