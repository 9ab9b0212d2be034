package show

import (
	"bytes"
	"fmt"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/delta"
)

// HistoryMarkdown shows a history in a comment or a page, with the categories of its
// changes if there are any. Untrusted text is only in code spans.
func HistoryMarkdown(h *delta.History, classes []delta.Classes) []byte {
	var b bytes.Buffer
	for i := range h.Changes {
		c := &h.Changes[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## Version %d", c.Number)
		if c.Name != "" {
			fmt.Fprintf(&b, ": %s", report.MarkdownCode(c.Name, 80))
		}
		b.WriteString("\n\n")
		class := &delta.Classes{}
		if i < len(classes) {
			class = &classes[i]
		}
		if len(class.Whole) > 0 {
			fmt.Fprintf(&b, "%s\n\n", grouped(class.Whole))
		}
		if len(c.Deltas) == 0 {
			b.WriteString("Only blanks or list markers changed.\n")
			continue
		}
		b.WriteString("| Change | Line | Text | Note |\n|---|--:|---|---|\n")
		for k, d := range c.Deltas {
			kind, note := delta.Kind(d), ""
			switch {
			case d.Moved:
				note = fmt.Sprintf("was line %d", d.From)
			case d.Former != "":
				kind, note = "reworded", fmt.Sprintf("line %d was %s", d.From, report.MarkdownCode(d.Former, 160))
			}
			if d.Condition != "" {
				note = joined(note, "if "+report.MarkdownCode(d.Condition, 60))
			}
			if k < len(class.Deltas) {
				note = joined(note, class.Deltas[k])
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", kind, d.Line, report.MarkdownCode(d.Text, 200), note)
		}
	}
	return b.Bytes()
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
