package report

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
)

const (
	gutter   = "    "
	nameSize = 10 // of the widest name before a text, with a blank
	indent   = "      "
)

// row shows one failing or undecided row: which case, what went in, what came
// out, and each assertion that did not hold with its reason. It may stand for
// several rows that are undecided for the same reason.
func (p *printer) row(encoded []byte, status proviso.Status, rows int) error {
	v, err := proviso.ParseJSON(string(encoded))
	if err != nil {
		return fmt.Errorf("row of the run: %w", err)
	}
	row, _ := v.(*proviso.Object)
	word, color := "FAIL ", red
	if status == proviso.Errored {
		word, color = "ERROR", yellow
	}
	title := fmt.Sprintf("case %d", integer(row, "testIdx")+1)
	if r := obj(row, "repeat"); r != nil {
		title += fmt.Sprintf(" (repeat %d of %d)", integer(r, "index")+1, integer(r, "of"))
	}
	if d := str(obj(row, "testCase"), "description"); d != "" {
		title += ": " + cut(d, p.o.Width-cellsOf(title)-8)
	}
	p.line("%s %s", p.paint(color, word), p.paint(bold, title))
	p.field("prompt", column(row))
	p.field("vars", vars(obj(row, "vars")))
	p.outcome(row, status)
	if rows > 1 {
		p.line("%s%s", gutter, p.paint(dim, fmt.Sprintf("… and %s with this error", moreRows(rows-1))))
	}
	p.w.WriteByte('\n')
	return nil
}

// field shows a named text on one line.
func (p *printer) field(name, text string) {
	if text == "" {
		return
	}
	p.line("%s%s%s", gutter, p.paint(dim, pad(name, nameSize)), cut(text, p.room(gutter)))
}

func (p *printer) room(before string) int { return p.o.Width - len(before) - nameSize }

// column names the row's prompt and provider.
func column(row *proviso.Object) string {
	c := Column{PromptLabel: str(obj(row, "prompt"), "label"), ProviderID: str(obj(row, "provider"), "id"),
		ProviderLabel: str(obj(row, "provider"), "label")}
	return firstCells(c.prompt()) + " → " + c.provider()
}

// firstCells keeps a long prompt from pushing the provider out of the line.
func firstCells(s string) string { return cut(s, 48) }

// vars returns variables as name=value; long values are shortened each, so that
// all names are seen.
func vars(o *proviso.Object) string {
	var parts []string
	for name, v := range o.All() {
		if strings.HasPrefix(name, "_") {
			continue // promptfoo's own, such as _conversation
		}
		parts = append(parts, name+"="+cut(textOf(v), 60))
	}
	return strings.Join(parts, "  ")
}

// outcome shows the output and the assertions that did not hold.
func (p *printer) outcome(row *proviso.Object, status proviso.Status) {
	response := obj(row, "response")
	output, answered := response.Get("output")
	answered = answered && output != nil // a provider that failed has none
	list := broken(row)
	quoted := len(list) > 0
	for i := range list {
		list[i].parts = list[i].compare(output)
		quoted = quoted && list[i].parts != nil
	}
	if answered && !quoted {
		p.output(textOf(output))
	}
	for i := range list {
		p.assertion(&list[i])
	}
	if why := str(row, "error"); why != "" && !explained(list, why, status) {
		mark := "✗"
		if status == proviso.Errored {
			mark = "!"
		}
		p.reason(mark, why)
	}
}

// explained reports whether the reason of a row is that of an assertion shown
// already; a missed threshold, or a provider's error, is not.
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
		p.line("%s%s%s", gutter, p.paint(dim, pad(name, nameSize)), line)
		name = "│"
	}
}

// reason shows a mark and a text of several lines.
func (p *printer) reason(mark, text string) {
	color := red
	if mark == "!" {
		color = yellow
	}
	const limit = 8
	for i, line := range wrap(text, p.o.Width-len(indent), limit) {
		if i == 0 {
			p.line("%s%s %s", gutter, p.paint(color, mark), line)
			continue
		}
		p.line("%s%s %s", gutter, p.paint(dim, "│"), line)
	}
}

// brokenAssertion is an assertion of a row that failed or was not decided.
type brokenAssertion struct {
	kind, label, reason string
	undecided, info     bool
	value               any
	reshaped            bool // it saw something else than the output itself
	parts               []excerpt
	spans               []excerpt // the worst of a trace: name, and what is to be said of it
}

// broken returns the assertions that did not hold. Members of a set that held
// all the same are left out.
func broken(row *proviso.Object) []brokenAssertion {
	components, _ := obj(row, "gradingResult").At("componentResults").([]any)
	var list []brokenAssertion
	for i := 0; i < len(components); i++ {
		c, _ := components[i].(*proviso.Object)
		status := statusOf(str(c, "status"))
		if succeeded(status) {
			i += max(0, integer(c, "members"))
			continue
		}
		list = append(list, brokenOf(c, status))
	}
	return list
}

// brokenOf returns what a component says of its assertion.
func brokenOf(c *proviso.Object, status proviso.Status) brokenAssertion {
	a := obj(c, "assertion")
	b := brokenAssertion{kind: str(a, "type"), label: str(a, "metric"), reason: str(c, "reason"),
		undecided: status == proviso.Errored, info: str(a, "severity") == string(proviso.Info),
		reshaped: a.Has("transform") || a.Has("scope"), value: a.At("value")}
	if b.label == "" {
		b.label = str(a, "id")
	}
	if rendered, ok := obj(c, "metadata").At("renderedAssertionValue").(string); ok {
		b.value = rendered
	}
	b.spans = spansOf(c)
	return b
}

func (b *brokenAssertion) compare(output any) []excerpt {
	if b.undecided || b.reshaped {
		return nil
	}
	return compare(b.kind, b.value, output)
}

func (p *printer) assertion(b *brokenAssertion) {
	name := b.kind
	if name == "" {
		name = "part"
	}
	if b.label != "" {
		name += " (" + b.label + ")"
	}
	if b.info {
		name += ", for information only"
	}
	mark := "✗"
	if b.undecided {
		mark = "!"
		name += ", not decided"
	}
	p.reason(mark, name+": "+b.reason)
	for _, x := range b.parts {
		p.excerpt(&x)
	}
	for _, s := range b.spans {
		p.line("%s%s", indent, cut(s.name+"  "+s.text, p.o.Width-len(indent)))
	}
}

// spansOf returns the spans that a component rests on: evidence that stands nowhere
// in the output.
func spansOf(c *proviso.Object) []excerpt {
	list, _ := c.At("evidence").([]any)
	var spans []excerpt
	for _, e := range list {
		o, _ := e.(*proviso.Object)
		if note := str(o, "note"); note != "" && o.At("start") == -1.0 {
			spans = append(spans, excerpt{name: str(o, "quote"), text: note})
		}
	}
	return spans
}

// excerpt shows a text and, under it, a line that marks the part that matters.
func (p *printer) excerpt(x *excerpt) {
	line, at, n := x.show(p.room(indent))
	if line == "" {
		line = "(empty)"
	}
	p.line("%s%s%s", indent, p.paint(dim, pad(x.name, nameSize)), line)
	if n > 0 {
		p.line("%s%s%s", indent, strings.Repeat(" ", nameSize+at), p.paint(red, strings.Repeat("^", n)))
	}
}

// pad fills s, which is clean, with blanks.
func pad(s string, cells int) string {
	return s + strings.Repeat(" ", max(0, cells-cellsOf(s)))
}
