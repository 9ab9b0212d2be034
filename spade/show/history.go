package show

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/delta"
)

// Limits of what the terminal shows of a version without --all.
const (
	shownChanges     = 60 // changes of a version
	shownChangeLines = 12 // lines of one change
)

// History shows a history, with the categories of its changes if there are any.
func History(h *delta.History, classes []delta.Classes, o report.TerminalOptions, all bool) []byte {
	t := newPage(o, 40)
	t.all = all
	for i := range h.Changes {
		if i > 0 {
			t.WriteByte('\n')
		}
		class := &delta.Classes{Deltas: make([]string, len(h.Changes[i].Deltas))}
		if i < len(classes) {
			class = &classes[i]
		}
		t.version(&h.Changes[i], class)
	}
	return t.Bytes()
}

func (t *page) version(c *delta.Change, class *delta.Classes) {
	title := fmt.Sprintf("Version %d", c.Number)
	about := report.Line(c.Name, max(20, t.o.Width-45))
	if strings.EqualFold(about, title) {
		about = ""
	}
	if !c.Time.IsZero() {
		about = c.Time.Format("2006-01-02") + "  " + about
	}
	counts := map[string]int{}
	for _, d := range c.Deltas {
		counts[delta.Kind(d)]++
	}
	var parts []string
	for _, kind := range []string{"added", "removed", "moved"} {
		if counts[kind] > 0 {
			parts = append(parts, t.o.Paint(changeSigns[kind].color, fmt.Sprintf("%d %s", counts[kind], kind)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "only blanks or list markers changed")
	}
	if about != "" {
		title += "  "
	}
	fmt.Fprintf(t, "%s%s  %s\n", t.o.Paint(report.Bold, title), about, strings.Join(parts, ", "))
	if len(class.Whole) > 0 {
		fmt.Fprintf(t, "         %s\n", t.o.Paint("35", grouped(class.Whole)))
	}
	shown := 0
	stayed := t.stayed(c)
	for i, d := range c.Deltas {
		if !t.all && shown == shownChanges {
			fmt.Fprintf(t, "   … and %d more (--all)\n", len(c.Deltas)-shown)
			return
		}
		if d.Added {
			for len(stayed) > 0 && stayed[0].Line <= d.Line {
				t.unit(" ", "2", stayed[0].Line, stayed[0].Text, "")
				stayed = stayed[1:]
			}
		}
		t.delta(d, class.Deltas[i])
		shown++
	}
	for _, u := range stayed {
		t.unit(" ", "2", u.Line, u.Text, "")
	}
}

// grouped lists categories by taxonomy group.
func grouped(categories []string) string {
	var parts []string
	for _, g := range slices.Concat(delta.Groups, []string{""}) {
		if list := delta.InGroup(categories, g); len(list) > 0 {
			text := strings.Join(list, ", ")
			if g != "" {
				text = g + ": " + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// stayed prints the unchanged units of a version, with --all.
func (t *page) stayed(c *delta.Change) []delta.Unit {
	if !t.all {
		return nil
	}
	type at struct {
		line int
		text string
	}
	brought := map[at]int{}
	for _, d := range c.Deltas {
		if d.Added {
			brought[at{d.Line, d.Text}]++
		}
	}
	var list []delta.Unit
	for _, u := range delta.Split(c.Text) {
		if key := (at{u.Line, u.Text}); brought[key] > 0 {
			brought[key]--
			continue
		}
		list = append(list, u)
	}
	return list
}

// changeSigns are the marks for the kinds of change, with their colours.
var changeSigns = map[string]struct{ sign, color string }{
	"added": {"+", "32"}, "removed": {"-", "31"}, "moved": {"~", "33"},
}

func (t *page) delta(d proviso.Delta, category string) {
	look := changeSigns[delta.Kind(d)]
	note := ""
	switch {
	case d.Moved:
		note = fmt.Sprintf(" (was line %d)", d.From)
	case d.Former != "":
		note = fmt.Sprintf(" (rewords line %d)", d.From)
	}
	if d.Condition != "" {
		note += " (if " + report.Line(d.Condition, 60) + ")"
	}
	if category != "" {
		note += "  [" + category + "]"
	}
	t.unit(look.sign, look.color, d.Line, d.Text, note)
}

// variables are the template variables that the terminal highlights.
var variables = pattern.Of(`\{\{[^{}]*\}\}|\{%[^{}]*%\}|\{[^{}]*\}`)

// unit prints one sentence, line or block, wrapped.
func (t *page) unit(sign, color string, line int, text, note string) {
	lead := fmt.Sprintf(" %s %4d  ", sign, line)
	rows := t.wrap(text, t.o.Width-len(lead))
	for i, row := range rows {
		if !t.all && i == shownChangeLines {
			fmt.Fprintf(t, "         … %d more lines (--all)\n", len(rows)-i)
			break
		}
		if t.o.Color && row != "" {
			row = t.o.Paint(color, variables.Get().ReplaceAllString(row, "\x1b[36m$0\x1b[0;"+color+"m"))
		}
		if i == 0 {
			fmt.Fprintf(t, " %s %s  %s", t.o.Paint(color, sign), t.o.Paint(report.Dim, fmt.Sprintf("%4d", line)), row)
		} else if row != "" {
			fmt.Fprintf(t, "%s%s", strings.Repeat(" ", len(lead)), row)
		}
		if i == 0 && note != "" {
			t.WriteString(t.o.Paint(report.Dim, note))
		}
		t.WriteByte('\n')
	}
}

// wrap breaks text at spaces into lines that fit and are safe to print.
func (t *page) wrap(text string, cells int) []string {
	var rows []string
	for line := range strings.Lines(text) {
		row, used := "", 0
		for word := range strings.FieldsSeq(line) {
			for first := true; first || word != ""; first = false {
				shown := report.Line(word, cells)
				if cut := strings.HasSuffix(shown, "…") && !strings.HasSuffix(word, "…"); cut {
					shown, word = report.Line(chunk(word, cells/2), cells), word[len(chunk(word, cells/2)):]
				} else {
					word = ""
				}
				n := len([]rune(shown))
				if used > 0 && used+1+n > cells {
					rows = append(rows, row)
					row, used = "", 0
				}
				if used > 0 {
					row, used = row+" ", used+1
				}
				row, used = row+shown, used+n
				if !t.all && len(rows) > shownChangeLines+1000 {
					return rows
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// chunk returns the first characters of a word that is too long for a line.
func chunk(word string, n int) string {
	count := 0
	for i := range word {
		if count == max(1, n/6) { // an escape takes up to ten cells
			return word[:i]
		}
		count++
	}
	return word
}

// HistoryMarkdown shows a history in a comment or a page, with the categories of its changes
// if there are any. Untrusted text is only in code spans.
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
