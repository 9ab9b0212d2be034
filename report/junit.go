package report

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Limits of one row in a JUnit report. CI systems keep these files in memory; the JSON
// reports have the complete texts.
const (
	junitName    = 200      // cells per name
	junitMessage = 1000     // bytes of a message in lists
	junitText    = 16 << 10 // bytes of the reasons, and of each part of the output
)

// renderJUnit writes a test suite for each column and a test case for each row. Fail, error
// and skip become failure, error and skipped. Failures include the assertions' reasons.
func renderJUnit(ctx context.Context, w *bufio.Writer, in *Input) error {
	marks, err := survey(ctx, in.Rows)
	if err != nil {
		return err
	}
	// By column; within a column in survey order.
	slices.SortStableFunc(marks, func(a, b mark) int { return int(a.column) - int(b.column) })
	x := xmlWriter{w: w}
	w.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites")
	x.attribute("name", cut(in.Meta.Suite, junitName))
	x.counts(marks)
	x.attribute("time", seconds(in.Meta.Elapsed.Seconds()))
	w.WriteString(">\n")
	names := map[string]int{}
	x.rates = in.Summary.Assertions()
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && marks[n].column == marks[0].column {
			n++
		}
		if err := x.suite(ctx, in, marks[:n], names); err != nil {
			return err
		}
		marks = marks[n:]
	}
	_, err = w.WriteString("</testsuites>\n")
	return err
}

// suite writes the rows of a column.
func (x *xmlWriter) suite(ctx context.Context, in *Input, marks []mark, names map[string]int) error {
	column := int(marks[0].column)
	name := cut(in.Meta.columnName(column), junitName)
	if names[name]++; names[name] > 1 {
		name += fmt.Sprintf(" (%d)", names[name])
	}
	var sum ColumnSummary
	if list := in.Summary.Columns(); column < len(list) {
		sum = list[column]
	}
	x.w.WriteString("  <testsuite")
	x.attribute("name", name)
	x.counts(marks)
	x.attribute("time", seconds(sum.LatencyMS/1000))
	x.attribute("timestamp", in.Meta.Started.UTC().Format(time.RFC3339))
	x.w.WriteString(">\n")
	x.properties("    ", in, column, &sum)
	x.errors = map[string]string{}
	for i, m := range marks {
		if i&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row, err := viewAt(in.Rows, m)
		if err != nil {
			return err
		}
		x.testCase(name, row, m)
	}
	_, err := x.w.WriteString("  </testsuite>\n")
	return err
}

// properties writes the properties of a column: its names and metrics.
func (x *xmlWriter) properties(indent string, in *Input, column int, sum *ColumnSummary) {
	x.w.WriteString(indent + "<properties>\n")
	property := func(name, value string) { x.property(indent+"  ", name, value) }
	property("run", in.Meta.RunID)
	if column < len(in.Meta.Columns) {
		property("provider", in.Meta.Columns[column].ProviderID)
		property("prompt", clip(in.Meta.Columns[column].prompt(), junitMessage))
	}
	property("score", value.FormatNumber(sum.Score))
	property("cost", value.FormatNumber(sum.Cost))
	if sum.kept {
		property("incurredCost", value.FormatNumber(sum.Incurred))
	}
	property("tokens", strconv.FormatInt(sum.Usage.Total, 10))
	for _, m := range sum.Metrics() {
		property("metric."+clip(m.Name, junitName), value.FormatNumber(m.Sum/float64(m.Count)))
	}
	for _, d := range sum.Derived {
		property("derived."+clip(d.Name, junitName), clip(textOf(d.Value), junitMessage))
	}
	x.assertionRates(indent + "  ")
	x.w.WriteString(indent + "</properties>\n")
}

// assertionRates writes how often each assertion passed in the whole run, the worst first,
// as properties of the first column.
func (x *xmlWriter) assertionRates(indent string) {
	list := x.rates
	x.rates = nil
	for i := range list[:min(len(list), maxRates)] {
		a := &list[i]
		x.property(indent, "assertion."+clip(a.Name(), junitName), a.passedOf())
	}
	if more := leftOut(list, maxRates); more != "" {
		x.property(indent, "assertions", more)
	}
}

func (x *xmlWriter) testCase(class string, row view, m mark) {
	name := row.name()
	if d := row.description(); d != "" {
		name += ": " + d
	}
	x.w.WriteString("    <testcase")
	x.attribute("name", cut(name, junitName))
	x.attribute("classname", class)
	x.attribute("time", seconds(num(row.Object, "latencyMs")/1000))
	scores := row.Object.Object("namedScores")
	if scores.Len() == 0 && row.status == proviso.Pass && !m.forgiven {
		x.w.WriteString("/>\n")
		return
	}
	x.w.WriteString(">\n")
	if scores.Len() > 0 {
		x.w.WriteString("      <properties>\n")
		for name, v := range scores.All() {
			x.property("        ", "metric."+clip(name, junitName), textOf(v))
		}
		x.w.WriteString("      </properties>\n")
	}
	x.outcome(row, m)
	x.w.WriteString("    </testcase>\n")
}

// outcome writes the result of a row, unless it passed.
func (x *xmlWriter) outcome(row view, m mark) {
	switch {
	case m.forgiven:
		x.element("system-out", "failed, but its case passed as many repeats as it has to\n"+reasonsText(row.reasons()))
		return
	case row.status == proviso.Pass:
		return
	case row.status == proviso.Skip:
		x.w.WriteString("      <skipped message=\"no assertion applied\"/>\n")
		return
	}
	tag := "failure"
	if row.status == proviso.Errored {
		tag = "error"
	}
	reasons := row.reasons()
	if like := x.like(row); like != "" {
		x.w.WriteString("      <error")
		x.attribute("message", "as "+like+": "+clip(message(reasons), junitName))
		x.attribute("type", kinds(reasons))
		x.w.WriteString("/>\n")
		return
	}
	x.w.WriteString("      <" + tag)
	x.attribute("message", message(reasons))
	x.attribute("type", kinds(reasons))
	x.w.WriteByte('>')
	x.text(clip(reasonsText(reasons), junitText))
	x.w.WriteString("</" + tag + ">\n")
	x.element("system-out", transcript(row))
}

// like returns the name of an earlier row of the column with the same error; "" if there is
// none. An error such as a missing model is described only once.
func (x *xmlWriter) like(row view) string {
	text := row.Object.Text("error")
	if row.status != proviso.Errored || text == "" {
		return ""
	}
	text = clip(text, maxErrorText)
	first := x.errors[text]
	if first == "" && len(x.errors) < maxLabels {
		x.errors[text] = row.name()
	}
	return first
}

// message returns the reasons on one line, for lists.
func message(reasons []reason) string {
	var parts []string
	for i := range reasons {
		parts = append(parts, clip(reasons[i].String(), junitMessage))
	}
	return clip(strings.Join(parts, "; "), junitMessage)
}

// kinds returns the types of the assertions that did not pass, without duplicates.
func kinds(reasons []reason) string {
	var list []string
	for i := range reasons {
		kinds := reasons[i].kinds
		if len(kinds) == 0 {
			kinds = []string{"row"}
		}
		for _, kind := range kinds {
			if kind = clip(kind, junitName); !slices.Contains(list, kind) {
				list = append(list, kind)
			}
		}
	}
	return clip(strings.Join(list, ", "), junitMessage)
}

func reasonsText(reasons []reason) string {
	var b strings.Builder
	for i := range reasons {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(reasons[i].mark() + " " + reasons[i].String())
	}
	return b.String()
}

// transcript returns the input and the output.
func transcript(row view) string {
	var b strings.Builder
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, clip(text, junitText))
		}
	}
	part("prompt", brief(row.Object.Object("prompt").Text("raw")))
	part("vars", varsText(row))
	if text, answered := row.output(); answered {
		fmt.Fprintf(&b, "output: %s\n", clip(text, junitText))
	}
	return b.String()
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// xmlWriter writes elements and attributes with arbitrary text. Its bufio.Writer keeps the
// first error until Flush.
type xmlWriter struct {
	w      *bufio.Writer
	buf    []byte
	errors map[string]string  // the first row with each error of the column
	rates  []AssertionSummary // rates that are not written yet
}

// counts writes the number of rows for each result.
func (x *xmlWriter) counts(marks []mark) {
	var c Counts
	for _, m := range marks {
		c.add(m.shown())
	}
	for _, a := range [...]struct {
		name string
		n    int
	}{{"tests", len(marks)}, {"failures", c.Failed}, {"errors", c.Errors}, {"skipped", c.Skipped}} {
		x.attribute(a.name, strconv.Itoa(a.n))
	}
}

func (x *xmlWriter) attribute(name, value string) {
	x.w.WriteString(" " + name + `="`)
	x.escaped(value, true)
	x.w.WriteByte('"')
}

func (x *xmlWriter) property(indent, name, value string) {
	x.w.WriteString(indent + "<property")
	x.attribute("name", name)
	x.attribute("value", value)
	x.w.WriteString("/>\n")
}

func (x *xmlWriter) element(tag, text string) {
	x.w.WriteString("      <" + tag + ">")
	x.text(text)
	x.w.WriteString("</" + tag + ">\n")
}

func (x *xmlWriter) text(s string) { x.escaped(s, false) }

func (x *xmlWriter) escaped(s string, attribute bool) {
	x.buf = appendXML(x.buf[:0], s, attribute)
	x.w.Write(x.buf)
}

// appendXML appends s as the text of an element or of an attribute in double quotes. Code
// points that XML 1.0 does not permit are shown as escapes, as in a terminal. Line breaks
// in attributes and carriage returns become character references, because parsers turn the
// former into blanks and the latter into line feeds.
func appendXML(dst []byte, s string, attribute bool) []byte {
	runes(s, func(r rune, raw string) {
		switch {
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '"' && attribute:
			dst = append(dst, "&quot;"...)
		case r == '\r' || attribute && (r == '\n' || r == '\t'):
			dst = append(strconv.AppendInt(append(dst, "&#"...), int64(r), 10), ';')
		case r == '\n' || r == '\t':
			dst = append(dst, raw...)
		case len(raw) == 1 && (r < ' ' || r == utf8.RuneError):
			dst = append(dst, hexEscape(`\x`, rune(raw[0]), 2)...)
		case r == 0xfffe || r == 0xffff:
			dst = append(dst, hexEscape(`\u`, r, 4)...)
		default:
			dst = append(dst, raw...)
		}
	})
	return dst
}
