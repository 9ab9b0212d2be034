package report

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
)

// markdownLimits limit a Markdown report, depending on where it is shown.
type markdownLimits struct {
	bytes int // whole report
	rows  int // rows in detail
	text  int // bytes per output
	lines int // lines per table
}

// renderMarkdown writes a summary for a pull request comment. GitHub accepts comments of up
// to 65,536 characters.
func renderMarkdown(ctx context.Context, w *bufio.Writer, in *Input) error {
	return writeMarkdown(ctx, w, in, markdownLimits{bytes: 60_000, rows: 50, text: 1500, lines: 40})
}

func writeMarkdown(ctx context.Context, w *bufio.Writer, in *Input, limits markdownLimits) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	m := markdown{in: in, limits: limits, prompts: in.Meta.promptNames(promptCells)}
	m.head()
	m.decision()
	m.columns()
	m.assertions()
	m.judges()
	m.missed()
	if err := m.failures(marks); err != nil {
		return err
	}
	_, err = w.Write(m.b.Bytes())
	return err
}

// markdown collects a report of limited size. It puts untrusted input only in code spans
// and fences, where Markdown recognises no markup, links, mentions or references.
type markdown struct {
	b      bytes.Buffer
	in     *Input
	limits markdownLimits

	prompts []string // prompt names of the columns
}

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format, args...)
	m.b.WriteByte('\n')
}

// head writes the totals.
func (m *markdown) head() {
	t := m.in.Summary.Totals()
	sign := "✓"
	if t.Failed > 0 {
		sign = "✗"
	} else if t.Errors > 0 {
		sign = "!"
	}
	name := ""
	if m.in.Meta.Suite != "" {
		name = ": " + code(m.in.Meta.Suite, 100)
	}
	m.line("## %s proviso%s\n", sign, name)
	text := fmt.Sprintf("**%d passed, %d failed, %s**", t.Passed, t.Failed, plural.Of(t.Errors, "error"))
	if t.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	if c := m.in.Summary.rows; c.Decided() > 0 {
		text += fmt.Sprintf(" · pass rate %s (95 %% interval %s, n = %d)", c.percent(" "), c.intervalText(), c.Asked())
	}
	parts := append([]string{text, duration(m.in.Meta.Elapsed)}, spent(t)...)
	m.line("%s\n", strings.Join(parts, " · "))
	if text := m.in.Summary.allSkipped(); text != "" {
		m.line("%s.\n", text)
	}
	if r := m.in.Summary.Repeats(); r.Groups > 0 {
		m.line("%d of %s both passed and failed; %d passed as often as the suite asks for.\n", r.Flaky, plural.Of(r.Groups, "repeated case"), r.Met)
	}
}

// table writes a table of counts, whose names are Markdown, and returns its number of
// lines.
func (m *markdown) table(title string, n int, row func(i int) (name string, c Counts)) int {
	m.line("| %s | Pass rate | 95 %% interval | Passed | Failed | Errors | Skipped |", title)
	m.line("|---|--:|--:|--:|--:|--:|--:|")
	shown := 0
	for shown < min(n, m.limits.lines) && m.b.Len() < m.limits.bytes/3 {
		name, c := row(shown)
		shown++
		m.line("| %s | %s | %s | %d | %d | %d | %d |", name, c.percent(" "), c.intervalText(), c.Passed, c.Failed, c.Errors, c.Skipped)
	}
	m.line("")
	return shown
}

// columns compares prompts and providers, if there are several.
func (m *markdown) columns() {
	list := m.in.Summary.Columns()
	if len(list) < 2 {
		return
	}
	shown := m.table("Provider and prompt", len(list), func(i int) (string, Counts) { return cell(m.columnName(i), 100), list[i].Rows })
	if len(list) > shown {
		m.line("… and %d more in the JSON report.\n", len(list)-shown)
	}
}

// columnName returns the name of a column for people.
func (m *markdown) columnName(i int) string {
	if i < 0 || i >= len(m.prompts) {
		return m.in.Meta.columnName(i)
	}
	return m.in.Meta.Columns[i].provider() + " · " + m.prompts[i]
}

func (m *markdown) assertions() {
	list := m.in.Summary.Assertions()
	if len(list) == 0 {
		return
	}
	shown := m.table("Assertion", len(list), func(i int) (string, Counts) {
		name := cell(list[i].Name(), 100)
		if unsure := list[i].unsure(); unsure != "" {
			name += " (" + unsure + ")"
		}
		if trust := m.in.Meta.trustText(&list[i]); trust != "" {
			name += " (" + trust + ")"
		}
		return name, list[i].Counts
	})
	if more := leftOut(list, shown); more != "" {
		m.line("%s (in the JSON report).\n", more)
	}
}

// failures shows as many of the worst rows as fit.
func (m *markdown) failures(marks []mark) error {
	all := worst(marks, len(marks))
	if len(all) == 0 {
		return nil
	}
	list := m.in.Summary.distinct(all)
	const footer = 400 // maximum bytes of the text after the rows
	m.line("### What did not pass, worst first\n")
	shown := 0
	for _, one := range list[:min(len(list), m.limits.rows)] {
		row, err := viewAt(m.in.Rows, one.mark)
		if err != nil {
			return err
		}
		before := m.b.Len()
		m.row(row, one.rows)
		if m.b.Len() > m.limits.bytes-footer {
			m.b.Truncate(before)
			break
		}
		shown += one.rows
	}
	if more := len(all) - shown; more > 0 {
		m.line("… and %d more, see %s", more, code("proviso show "+m.in.Meta.RunID, 80))
	}
	return nil
}

// row shows one row: its case, why it did not pass, and the output. The row may represent
// several rows with the same error.
func (m *markdown) row(row view, rows int) {
	sign := "✗"
	reasons := row.reasons()
	if urgency(mark{status: row.status}) == 1 {
		sign = "!"
	}
	title := "**" + sign + " " + row.name() + "**"
	if d := row.description(); d != "" {
		title += " " + code(d, 100)
	}
	if len(m.in.Meta.Columns) > 1 {
		title += " at " + code(m.columnName(integer(row.Object, "promptIdx")), 100)
	}
	m.line("%s\n", title)
	if score := comparedScore(row.Object); score != "" {
		m.line("Score %s\n", score)
	}
	const most = 10
	for i := range reasons[:min(len(reasons), most)] {
		if reasons[i].judged == nil { // reasons with criteria are shown below
			m.line("- %s", m.reason(&reasons[i]))
		}
	}
	if len(reasons) > most {
		m.line("- … and %d more", len(reasons)-most)
	}
	if rows > 1 {
		m.line("- … and %s with this error", moreRows(rows-1))
	}
	m.line("")
	text, answered := row.output()
	m.judgements(reasons[:min(len(reasons), most)], text)
	input := varsText(row)
	switch {
	case answered:
		m.line("<details><summary>Input and output</summary>\n")
	case input != "":
		m.line("<details><summary>Input</summary>\n")
	default:
		return
	}
	if input != "" {
		m.fence(clip(input, m.limits.text))
	}
	if answered {
		m.fence(clip(text, m.limits.text))
	}
	m.line("</details>\n")
}

// judgements writes the results of criteria as in a terminal.
func (m *markdown) judgements(reasons []reason, output string) {
	var list []Judgement
	for i := range reasons {
		if reasons[i].judged != nil {
			list = append(list, *reasons[i].judged)
		}
	}
	if len(list) == 0 {
		return
	}
	var b strings.Builder
	if Judgements(&b, TerminalOptions{}, list, output) == nil { // a Builder never fails
		m.fence(clip(strings.TrimSuffix(b.String(), "\n"), 4*m.limits.text))
	}
}

// reason returns one reason as the text of a list item.
func (m *markdown) reason(r *reason) string {
	name := ""
	if r.name != "" {
		name = code(r.name, 200) + r.note + ": "
	}
	return r.mark() + " " + name + code(r.text, 400)
}

// fence writes a text of several lines as a fenced block.
func (m *markdown) fence(text string) {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = clean(strings.TrimSuffix(lines[i], "\r"))
	}
	m.line("%s", fenced("text", lines))
}

// fenced returns clean lines in a fence that is longer than any run of backticks in them.
func fenced(language string, lines []string) string {
	text := strings.Join(lines, "\n")
	bar := strings.Repeat("`", max(3, longestRun(text)+1))
	if len(lines) > 0 {
		text += "\n"
	}
	return bar + language + "\n" + text + bar + "\n"
}

// code returns s as a code span on one line of at most the given cells. Its delimiter has
// more backticks than any run of them in s.
func code(s string, cells int) string {
	s = cut(s, cells)
	if s == "" {
		return "` `"
	}
	bar := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " " // Markdown strips one blank on either side
	}
	return bar + s + bar
}

// cell returns s as a code span in a table. A bar ends a table cell even within code, and
// implementations differ on a backslash before it.
func cell(s string, cells int) string {
	return code(strings.ReplaceAll(cut(s, cells), "|", `\x7c`), 4*cells)
}

// longestRun returns the length of the longest run of backticks.
func longestRun(s string) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
