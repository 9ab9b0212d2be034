package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/selection"
	"github.com/proviso-eval/proviso/spade/update"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// Update is the data for the reports of spade update.
type Update struct {
	*update.Report
	Written string // folder that was written; "" if none
}

// section is a part of the report.
type section struct {
	title string
	lines []string
}

// said counts the opinions on the new outputs.
func (u Update) said() string {
	var good, bad, up, down, failed, nothing, known int
	for i := range u.Outputs {
		out := &u.Outputs[i]
		if out.Known {
			known++
		}
		switch {
		case out.By == update.People && out.Good:
			good++
		case out.By == update.People:
			bad++
		case out.By == update.Thumb && out.Good:
			up++
		case out.By == update.Thumb:
			down++
		case out.By == update.Failure:
			failed++
		default:
			nothing++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{good, "labelled good"}, {bad, "labelled bad"}, {up, "with a thumb up"}, {down, "with a thumb down"}, {failed, "failed in the run"}, {nothing, "without a label or thumb"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	text := strings.Join(parts, ", ")
	if known > 0 {
		text += fmt.Sprintf("; %d tried before, which are not tried again", known)
	}
	return text
}

func (u Update) sections() []section {
	list := []section{{fmt.Sprintf("%s: %s", plural.Of(len(u.Outputs), "output"), u.said()), u.notes()}}
	if len(u.Drift) > 0 {
		list = append(list, u.driftSection())
	}
	return append(list, u.uncaughtSection(), u.queueSection(), u.shiftSection())
}

// notes say how the opinions were used.
func (u Update) notes() []string {
	var list []string
	hints := 0
	for i := range u.Outputs {
		if by := u.Outputs[i].By; by == update.Thumb || by == update.Failure {
			hints++
		}
	}
	switch {
	case u.Thumbs > 0:
		list = append(list, fmt.Sprintf("%s count as labels here (--thumbs): they are what users say, not people who label.", plural.Of(u.Thumbs, "thumb")))
	case hints > 0:
		list = append(list, "Thumbs and failures of a run are hints, not labels: they choose what to look at, and change no selection.")
	}
	for i, id := range u.Renamed {
		if i == MaxNames {
			list = append(list, fmt.Sprintf("%d more ids are taken, too.", len(u.Renamed)-MaxNames))
			break
		}
		list = append(list, fmt.Sprintf("%s is the id of another output; the new one is %s.", report.Line(id[0], 60), report.Line(id[1], 60)))
	}
	return list
}

func (u Update) driftSection() section {
	s := section{title: "Drift: how often the selected fail outputs, before → now"}
	for _, d := range u.Drift {
		name := d.Name
		if name == "" {
			name = "all of them together"
		}
		mark := " "
		if update.Changed(d.Change) || update.Changed(d.Wrong) {
			mark = "!"
		}
		line := fmt.Sprintf("%s %s: %s", mark, report.Line(name, 60), ratesText(d.All))
		if d.Change != nil {
			line += ", " + pointsText(d.Change)
		}
		if d.Good.Before.N+d.Good.Now.N > 0 {
			line += "; good ones " + ratesText(d.Good)
			if update.Changed(d.Wrong) {
				line += ", " + pointsText(d.Wrong)
			}
		}
		if d.Bad.Before.N+d.Bad.Now.N > 0 {
			line += "; bad ones " + ratesText(d.Bad)
		}
		if d.Up.N+d.Down.N > 0 {
			line += fmt.Sprintf("; thumbs up %s, down %s", countText(d.Up), countText(d.Down))
		}
		s.lines = append(s.lines, line)
	}
	s.lines = append(s.lines, fmt.Sprintf("! is a change that chance does not explain: the interval of the difference (Newcombe, %.0f %% for all lines together) is without 0.", 100*update.Confidence))
	return s
}

func countText(c stats.Count) string { return fmt.Sprintf("%d of %d", c.Pass, c.N) }

func ratesText(r update.Rates) string { return countText(r.Before) + " → " + countText(r.Now) }

// pointsText formats a difference of shares in percentage points.
func pointsText(d *stats.Estimate) string {
	return fmt.Sprintf("%+.0f points (%+.0f to %+.0f)", 100*d.Value, 100*d.Low, 100*d.High)
}

// saidBy describes how each source marks an output as bad.
var saidBy = map[update.Source]string{update.People: "labelled bad", update.Thumb: "thumb down", update.Failure: "failed in the run"}

func (u Update) uncaughtSection() section {
	s := section{title: "Bad outputs that the selection does not catch"}
	for _, g := range u.Uncaught {
		title := "nothing in common that others rarely have"
		if g.Shared != "" {
			title = fmt.Sprintf("%s (in %d of %d others)", g.Shared, g.With, g.Others)
		}
		s.lines = append(s.lines, fmt.Sprintf("%s, %s", plural.Of(len(g.Members), "output"), report.Line(title, 160)))
		for i, m := range g.Members {
			if i == MaxNames && len(g.Members) > MaxNames+1 {
				s.lines = append(s.lines, fmt.Sprintf("    … and %d more", len(g.Members)-i))
				break
			}
			line := "    " + report.Line(m.ID, 60) + ", " + saidBy[m.By]
			if len(m.Caught) > 0 {
				line += "; not selected, and fails it: " + Names(m.Caught, 3)
			}
			s.lines = append(s.lines, line)
		}
	}
	if len(u.Uncaught) == 0 {
		s.lines = append(s.lines, "none")
	} else {
		s.lines = append(s.lines, "What outputs share need not be what is wrong with them.")
	}
	return s
}

func (u Update) queueSection() section {
	s := section{title: "What to label next"}
	for _, q := range u.Queue {
		s.lines = append(s.lines, report.Line(q.ID, 60)+"  "+report.Line(q.Why, 160))
	}
	if len(u.Queue) == 0 {
		s.lines = append(s.lines, "nothing: every new output has a label")
	}
	return s
}

func (u Update) shiftSection() section {
	s := section{title: "Selection"}
	now := Selection{Selection: u.After}
	if !u.After.Found() {
		s.lines = append(s.lines, Verdict(now)...)
		s.lines = append(s.lines, "selected.yaml stays as it is.")
	}
	s.lines = append(s.lines, SelectionLine(now))
	for _, c := range u.Shifts {
		s.lines = append(s.lines, shiftLine(c))
	}
	if len(u.Shifts) == 0 && u.Before != nil {
		s.lines = append(s.lines, "nothing changes")
	}
	if n := len(u.Contradicted); n > 0 {
		var pairs []string
		for _, p := range u.Contradicted {
			pairs = append(pairs, p.A+" → "+p.B)
		}
		s.lines = append(s.lines, fmt.Sprintf("%s left out, since a new output contradicts: %s", plural.Of(n, "implication"), Names(pairs, 5)))
	}
	return s
}

// shiftLine describes an added or removed candidate, with the cause.
func shiftLine(c selection.Shift) string {
	sign := "-"
	if c.Selected {
		sign = "+"
	}
	return fmt.Sprintf("%s %s  %s; %s", sign, report.Line(c.Name, 60), c.Cause, report.Line(c.Because, 300))
}

// UpdateText shows an update to a person.
func UpdateText(u Update, o report.TerminalOptions) []byte {
	t := &page{o: o}
	for i, s := range u.sections() {
		if i > 0 {
			t.line("")
		}
		t.line("%s", t.o.Paint(report.Bold, s.title))
		for _, line := range s.lines {
			t.line("  %s", line)
		}
	}
	return t.Bytes()
}

// UpdateMarkdown shows an update on a page. Untrusted text is escaped.
func UpdateMarkdown(u Update) []byte {
	var b bytes.Buffer
	b.WriteString("# Update of the selection\n")
	for _, s := range u.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", report.MarkdownSentence(s.title))
		for _, line := range s.lines {
			indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
			fmt.Fprintf(&b, "%s- %s\n", indent, report.MarkdownSentence(strings.TrimSpace(line)))
		}
	}
	return b.Bytes()
}

// UpdateJSON returns an update as one indented JSON object.
func UpdateJSON(u Update) ([]byte, error) {
	type m = map[string]any
	var drift, uncaught, queue, shifts []m
	count := func(c stats.Count) m { return m{"failed": c.Pass, "outputs": c.N} }
	rates := func(r update.Rates) m { return m{"before": count(r.Before), "now": count(r.Now)} }
	estimate := func(e *stats.Estimate) any {
		if e == nil {
			return nil
		}
		return m{"value": e.Value, "low": e.Low, "high": e.High, "changed": update.Changed(e)}
	}
	for _, d := range u.Drift {
		drift = append(drift, m{"assertion": d.Name, "all": rates(d.All), "good": rates(d.Good), "bad": rates(d.Bad),
			"thumbs_up": count(d.Up), "thumbs_down": count(d.Down), "change": estimate(d.Change), "change_on_good": estimate(d.Wrong)})
	}
	for _, g := range u.Uncaught {
		var members []m
		for _, one := range g.Members {
			members = append(members, m{"id": one.ID, "by": one.By, "caught_by_unselected": append([]string{}, one.Caught...)})
		}
		uncaught = append(uncaught, m{"shared": g.Shared, "others_with_it": g.With, "others": g.Others, "outputs": members})
	}
	for _, q := range u.Queue {
		queue = append(queue, m{"id": q.ID, "why": q.Why})
	}
	for _, c := range u.Shifts {
		shifts = append(shifts, m{"candidate": c.Name, "selected": c.Selected, "cause": c.Cause.String(), "because": c.Because})
	}
	says := map[update.Source]int{}
	known := 0
	for i := range u.Outputs {
		says[u.Outputs[i].By]++
		if u.Outputs[i].Known {
			known++
		}
	}
	list := func(l []m) []m { return append([]m{}, l...) }
	return value.EncodeJSON(m{
		"outputs": m{"total": len(u.Outputs), "tried_before": known, "labelled": says[update.People], "thumbs": says[update.Thumb], "failed_in_run": says[update.Failure]},
		"drift":   list(drift), "uncaught": list(uncaught), "label_next": list(queue), "shifts": list(shifts),
		"selected": u.After.Selected(), "status": u.After.Status().String(), "thumbs_as_labels": u.Thumbs, "written": u.Written != "",
		"contradicted_implications": len(u.Contradicted),
	}, "  ")
}
