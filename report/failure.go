package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

const (
	gutter   = "    "
	nameSize = 10 // cells of the widest name before a text, with a blank
	indent   = "      "
)

// row shows one failing or undecided row: its case, the input, the output, and each
// assertion that did not pass, with its reason. rows is the number of rows that it
// represents, if several are undecided for the same reason.
func (p *printer) row(encoded []byte, status proviso.Status, rows int) error {
	row, err := viewOf(encoded)
	if err != nil {
		return err
	}
	word, color := "FAIL ", Red
	if status == proviso.Errored {
		word, color = "ERROR", Yellow
	}
	title := row.name()
	if d := row.description(); d != "" {
		title += ": " + d
	}
	for i, line := range wrap(clean(title), p.o.Width-len(indent), nameLines) {
		if i > 0 {
			word = strings.Repeat(" ", len(word))
		}
		p.line("%s %s", p.o.Paint(color, word), p.o.Paint(Bold, opening(line)))
	}
	p.field("prompt", p.column(row.Object))
	p.field("vars", varsText(row))
	p.outcome(row, status)
	if rows > 1 {
		p.line("%s%s", gutter, p.o.Paint(Dim, fmt.Sprintf("… and %s with this error", moreRows(rows-1))))
	}
	p.w.WriteByte('\n')
	return nil
}

// field shows a text with its name.
func (p *printer) field(name, text string) {
	for _, line := range wrap(clean(text), p.room(gutter), nameLines) {
		p.line("%s%s%s", gutter, p.o.Paint(Dim, pad(name, nameSize)), opening(line))
		name = ""
	}
}

func (p *printer) room(before string) int { return p.o.Width - len(before) - nameSize }

// promptCells limits the prompt, so that the provider after it stays visible.
const promptCells = 48

// column names the row's prompt and provider.
func (p *printer) column(row *value.Object) string {
	if i := integer(row, "promptIdx"); i >= 0 && i < len(p.prompts) {
		return p.columnName(i)
	}
	c := Column{PromptLabel: row.Object("prompt").Text("label"), ProviderID: row.Object("provider").Text("id"),
		ProviderLabel: row.Object("provider").Text("label")}
	return cut(c.prompt(), promptCells) + " → " + c.provider()
}

// varsText formats the variables as name=value. It shortens long values, so that all names
// are visible.
func varsText(row view) string {
	var parts []string
	for name, v := range row.vars().All() {
		parts = append(parts, name+"="+cut(shownOf(v), 60))
	}
	return strings.Join(parts, "  ")
}

// outcome shows the output and the assertions that did not pass.
func (p *printer) outcome(row view, status proviso.Status) {
	p.field("score", comparedScore(row.Object))
	output := row.Object.Object("response").At("output")
	text, answered := row.output()
	list := broken(row.Object)
	quoted := len(list) > 0
	for i := range list {
		list[i].parts = list[i].compare(p.meta.Types, output)
		quoted = quoted && list[i].parts != nil
	}
	if answered && !quoted {
		p.output(text)
	}
	for i := range list {
		p.assertion(&list[i], textOf(output))
	}
	if why := row.Object.Text("error"); why != "" && !explained(list, why, status) {
		p.reason(status, why)
	}
}

// explained reports whether the reason of a row is that of an assertion already shown. A
// missed threshold or a provider's error is not.
func explained(list []brokenAssertion, why string, status proviso.Status) bool {
	for i := range list {
		if list[i].reason == why || status == proviso.Errored && list[i].undecided {
			return true
		}
	}
	return false
}

func (p *printer) output(text string) {
	const limit = 3
	if text == "" {
		p.field("output", "(empty)")
		return
	}
	name := "output"
	for _, line := range wrap(text, p.room(gutter), limit) {
		p.line("%s%s%s", gutter, p.o.Paint(Dim, pad(name, nameSize)), line)
		name = "│"
	}
}

// reason shows a mark and a text of several lines.
func (p *printer) reason(status proviso.Status, text string) {
	p.signed(gutter, status.String(), text)
}

// brokenAssertion is an assertion of a row that failed or was not decided, or several that
// were not decided for the same reason.
type brokenAssertion struct {
	about     about
	names     []string // assertion names; several if they share the reason
	kinds     []string // assertion types
	reason    string
	undecided bool
	note      string // a note by this package
	score     string // score with its threshold, unless the reason contains it
	value     any
	reshaped  bool // decided on a transformed output
	parts     []passage
	spans     []passage // the worst spans of a trace: name and note
	judged    *Judgement
}

// broken returns the assertions that did not pass. It leaves out the members of a set that
// passed, and combines assertions that are undecided for the same reason.
func broken(row *value.Object) []brokenAssertion {
	components, _ := row.Object("gradingResult").At("componentResults").([]any)
	var list []brokenAssertion
	first := map[string]int{} // positions of undecided assertions in the list, by note and reason
	for i := 0; i < len(components); i++ {
		c, _ := components[i].(*value.Object)
		status := proviso.StatusNamed(c.Text("status"))
		if succeeded(status) {
			i += max(0, integer(c, "members"))
			continue
		}
		b := brokenOf(c, status)
		key := b.note + "\x00" + b.reason
		at, again := first[key]
		switch {
		case again && b.undecided && b.judged == nil:
			list[at].names = append(list[at].names, b.names...)
			list[at].kinds = append(list[at].kinds, b.kinds...)
			continue
		case b.undecided && b.judged == nil:
			first[key] = len(list)
		}
		list = append(list, b)
	}
	return list
}

// brokenOf reads a component of a row.
func brokenOf(c *value.Object, status proviso.Status) brokenAssertion {
	a := c.Object("assertion")
	x := aboutRaw(a, c.Has("threshold"))
	b := brokenAssertion{about: x, names: []string{x.title()}, kinds: []string{cmp.Or(x.kind, "part")}, reason: c.Text("reason"),
		undecided: status == proviso.Errored, score: scoreNote(c, status),
		reshaped: a.Has("transform") || a.Has("scope"), value: a.At("value")}
	if a.Text("severity") == string(proviso.Info) {
		b.note += ", for information only"
	}
	if b.undecided {
		b.note += ", error"
	}
	if rendered, ok := c.Object("metadata").At("renderedAssertionValue").(string); ok {
		b.value = rendered
	}
	b.spans, b.judged = spansOf(c), judgementOf(c)
	return b
}

func (b *brokenAssertion) compare(types proviso.Types, output any) []passage {
	if b.undecided || b.reshaped {
		return nil
	}
	return compare(types, b.about.kind, b.value, output)
}

func (p *printer) assertion(b *brokenAssertion, output string) {
	status := proviso.Fail
	if b.undecided {
		status = proviso.Errored
	}
	p.reason(status, strings.Join(b.names, ", ")+b.note+": "+b.reason+b.score)
	if b.judged != nil {
		p.criteria(gutter, b.judged, output)
	}
	for _, x := range b.parts {
		p.marked(indent, &x)
	}
	for _, s := range b.spans {
		p.line("%s%s", indent, cut(s.name+"  "+s.text, p.o.Width-len(indent)))
	}
}

// spansOf returns the trace spans that support a component: evidence that is not in the
// output.
func spansOf(c *value.Object) []passage {
	list, _ := c.At("evidence").([]any)
	var spans []passage
	for _, e := range list {
		o, _ := e.(*value.Object)
		if note := o.Text("note"); note != "" && o.At("start") == -1.0 {
			spans = append(spans, passage{name: o.Text("quote"), text: note})
		}
	}
	return spans
}

// marked shows a text and, under it, a line that marks its marked part.
func (p *printer) marked(before string, x *passage) {
	line, at, n := x.show(p.room(before))
	if line == "" {
		line = "(empty)"
	}
	p.line("%s%s%s", before, p.o.Paint(Dim, pad(x.name, nameSize)), line)
	if n > 0 {
		p.line("%s%s%s", before, strings.Repeat(" ", nameSize+at), p.o.Paint(Red, strings.Repeat("^", n)))
	}
}

// pad pads s, which is clean, with blanks on the right.
func pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-cellsOf(s)))
}
