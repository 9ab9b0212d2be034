package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/value"
)

// Output shows an output to label.
type Output struct {
	Options report.TerminalOptions
	Screen  bool // clear the screen for each output
	Height  int  // screen height in lines; 0 without a screen
	Open    bool // the prompt and the variables are unfolded
	Top     int  // first visible line of the output
	more    bool // there are more lines below
	page    int  // number of visible lines
	Hint    string
	// Verdicts shows the run's verdicts on the output; Review shows the keys of a review.
	Verdicts, Review bool
}

// Limits of what is shown of one output, in lines.
const (
	maxOutputLines = 2000
	maxFolded      = 1
	minPage        = 5
)

// Act handles a key that changes the view, and reports whether it did.
func (v *Output) Act(key byte) bool {
	switch key {
	case 'p', 'P':
		v.Open = !v.Open
	case 'm', 'M', ' ':
		if v.Top += v.page; !v.more {
			v.Top = 0
		}
	default:
		return false
	}
	return true
}

// Show returns the complete view: position, folded prompt and variables, output,
// progress and keys.
func (v *Output) Show(asked label.Asked, progress string) []byte {
	v.Options.Width = max(v.Options.Width, 40)
	head, foot := v.head(asked), v.foot(progress)
	body := report.Lines(asked.Trial.Text(), v.Options.Width-2, maxOutputLines)
	if len(body) == 0 {
		body = []string{v.Options.Paint(report.Dim, "(empty)")}
	}
	v.page = len(body)
	if v.Height > 0 {
		v.page = max(minPage, v.Height-len(head)-len(foot)-3)
	}
	v.Top = min(v.Top, max(0, len(body)-1))
	end := min(len(body), v.Top+v.page)
	v.more = end < len(body)
	var b bytes.Buffer
	if v.Screen {
		b.WriteString("\x1b[H\x1b[2J")
	}
	for _, line := range head {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	for _, line := range body[v.Top:end] {
		b.WriteString("  " + line + "\n")
	}
	if v.more || v.Top > 0 {
		b.WriteString(v.Options.Paint(report.Dim, fmt.Sprintf("  lines %d to %d of %d (m shows more)", v.Top+1, end, len(body))) + "\n")
	}
	b.WriteByte('\n')
	for _, line := range foot {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// head identifies the output and its prompt.
func (v *Output) head(asked label.Asked) []string {
	t := asked.Trial
	title := v.Options.Paint(report.Bold, report.Line(t.ID, 60))
	if asked.Why != "" {
		title += "  " + v.Options.Paint(report.Dim, asked.Why)
	}
	lines := []string{title}
	if asked.Label != "" {
		lines = append(lines, "labelled "+map[string]string{"1": v.Options.Paint(report.Green, "good"), "0": v.Options.Paint(report.Red, "bad")}[asked.Label])
	}
	if asked.Note != "" {
		lines = append(lines, v.field("note", asked.Note, maxFolded)...)
	}
	folded := maxFolded
	if v.Open {
		folded = maxOutputLines
	}
	var vars []string
	for name, val := range t.Vars.All() {
		vars = append(vars, name+": "+value.Text(val))
	}
	separator := " · "
	if v.Open {
		separator = "\n"
	}
	if len(vars) > 0 {
		lines = append(lines, v.field("vars", strings.Join(vars, separator), folded)...)
	}
	if t.Prompt != "" {
		lines = append(lines, v.field("prompt", t.Prompt, folded)...)
	}
	if v.Verdicts && t.Said != "" {
		lines = append(lines, v.field("verdict", t.Said, maxFolded)...)
	}
	return lines
}

// field prints a named text, up to a number of lines.
func (v *Output) field(name, text string, limit int) []string {
	const room = 9
	if limit == 1 {
		return []string{v.Options.Paint(report.Dim, fmt.Sprintf("%-*s", room, name)) + report.Line(text, v.Options.Width-room)}
	}
	lines := report.Lines(text, v.Options.Width-room, limit)
	for i := range lines {
		label := ""
		if i == 0 {
			label = name
		}
		lines[i] = v.Options.Paint(report.Dim, fmt.Sprintf("%-*s", room, label)) + lines[i]
	}
	return lines
}

// foot prints the progress and the keys.
func (v *Output) foot(progress string) []string {
	lines := []string{progress}
	if !v.Screen {
		return append(lines, "")
	}
	keys := "g good  b bad  s skip  u undo  n note  m more  p prompt and vars  q quit"
	if v.Review {
		keys = strings.Replace(keys, "s skip", "s keep", 1)
	}
	lines = append(lines, v.Options.Paint(report.Dim, keys))
	if v.Hint != "" {
		lines = append(lines, v.Options.Paint(report.Yellow, v.Hint))
	}
	return lines
}
