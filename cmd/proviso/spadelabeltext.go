package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/label"
	"github.com/proviso-eval/proviso/value"
)

// labelView shows the output to label.
type labelView struct {
	o      report.TerminalOptions
	screen bool // clear the screen for each output
	height int  // of the screen, in lines; 0 without a screen
	open   bool // prompt and variables are shown in full
	top    int  // the first visible line of the output
	more   bool // there are lines below
	page   int  // visible lines
	hint   string
}

// Limits of what is shown of one output, in lines.
const (
	maxOutputLines = 2000
	maxFolded      = 1
	minPage        = 5
)

// act applies a key that changes the view, and reports whether it did.
func (v *labelView) act(key byte) bool {
	switch key {
	case 'p', 'P':
		v.open = !v.open
	case 'm', 'M', ' ':
		if v.top += v.page; !v.more {
			v.top = 0
		}
	default:
		return false
	}
	return true
}

// whole returns the complete view: position, folded prompt and variables, output,
// progress and keys.
func (v *labelView) whole(s *labelSession, asked label.Asked) []byte {
	v.o.Width = max(v.o.Width, 40)
	head, foot := v.head(s, asked), v.foot(s)
	body := report.Lines(asked.Trial.Text(), v.o.Width-2, maxOutputLines)
	if len(body) == 0 {
		body = []string{v.paint("2", "(empty)")}
	}
	v.page = len(body)
	if v.height > 0 {
		v.page = max(minPage, v.height-len(head)-len(foot)-3)
	}
	v.top = min(v.top, max(0, len(body)-1))
	end := min(len(body), v.top+v.page)
	v.more = end < len(body)
	var b bytes.Buffer
	if v.screen {
		b.WriteString("\x1b[H\x1b[2J")
	}
	for _, line := range head {
		b.WriteString(line + "\n")
	}
	b.WriteByte('\n')
	for _, line := range body[v.top:end] {
		b.WriteString("  " + line + "\n")
	}
	if v.more || v.top > 0 {
		b.WriteString(v.paint("2", fmt.Sprintf("  lines %d to %d of %d (m shows more)", v.top+1, end, len(body))) + "\n")
	}
	b.WriteByte('\n')
	for _, line := range foot {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// head identifies the output and its prompt.
func (v *labelView) head(s *labelSession, asked label.Asked) []string {
	t := asked.Trial
	title := v.paint("1", report.Line(t.ID, 60))
	if asked.Why != "" {
		title += "  " + v.paint("2", asked.Why)
	}
	lines := []string{title}
	if asked.Label != "" {
		lines = append(lines, "labelled "+map[string]string{"1": v.paint("32", "good"), "0": v.paint("31", "bad")}[asked.Label])
	}
	if asked.Note != "" {
		lines = append(lines, v.field("note", asked.Note, maxFolded)...)
	}
	folded := maxFolded
	if v.open {
		folded = maxOutputLines
	}
	var vars []string
	for name, val := range t.Vars.All() {
		text, ok := val.(string)
		if !ok {
			text = value.Stringify(val)
		}
		vars = append(vars, name+": "+text)
	}
	separator := " · "
	if v.open {
		separator = "\n"
	}
	if len(vars) > 0 {
		lines = append(lines, v.field("vars", strings.Join(vars, separator), folded)...)
	}
	if t.Prompt != "" {
		lines = append(lines, v.field("prompt", t.Prompt, folded)...)
	}
	if s.f.verdicts && t.Said != "" {
		lines = append(lines, v.field("verdict", t.Said, maxFolded)...)
	}
	return lines
}

// field prints a named text, up to a number of lines.
func (v *labelView) field(name, text string, limit int) []string {
	const room = 9
	if limit == 1 {
		return []string{v.paint("2", fmt.Sprintf("%-*s", room, name)) + report.Line(text, v.o.Width-room)}
	}
	lines := report.Lines(text, v.o.Width-room, limit)
	for i := range lines {
		label := ""
		if i == 0 {
			label = name
		}
		lines[i] = v.paint("2", fmt.Sprintf("%-*s", room, label)) + lines[i]
	}
	return lines
}

// foot prints the progress and the keys.
func (v *labelView) foot(s *labelSession) []string {
	n := s.log.Labels()
	lines := []string{fmt.Sprintf("%d good, %d bad, %d left · %s", n.Good, n.Bad, s.l.Left(), s.enough(n))}
	if !v.screen {
		return append(lines, "")
	}
	keys := "g good  b bad  s skip  u undo  n note  m more  p prompt and vars  q quit"
	if s.f.review != "" {
		keys = strings.Replace(keys, "s skip", "s keep", 1)
	}
	lines = append(lines, v.paint("2", keys))
	if v.hint != "" {
		lines = append(lines, v.paint("33", v.hint))
	}
	return lines
}

func (v *labelView) paint(color, text string) string {
	if !v.o.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
