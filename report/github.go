package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// renderGitHub writes a GitHub Actions job summary, which is limited to 1 MiB per step.
func renderGitHub(ctx context.Context, w *bufio.Writer, in *Input) error {
	return writeMarkdown(ctx, w, in, markdownLimits{bytes: 1_000_000, rows: 200, text: 8000, lines: 200})
}

// shownAnnotations is how many errors, and how many warnings, GitHub shows per step.
const shownAnnotations = 10

// AnnotationOptions limit annotations and give their places. The zero value suits GitHub.
type AnnotationOptions struct {
	Max int // maximum errors, and maximum warnings; 0 means GitHub's limit, 10

	// Only reports whether a row, by its index, is annotated; nil means every row that did
	// not pass. The gate annotates the rows that the change broke.
	Only func(index int) bool

	// Place returns the file in the repository and the line, from 1, of an assertion of a
	// case; "" if they are unknown. The assertion is the first that did not pass, in the
	// form of [AssertionJSON]; nil means the case as a whole. If Place is nil, no place is
	// known.
	Place func(test int, assertion []byte) (file string, line int)
}

// AssertionJSON returns an assertion as written in rows, without the members of a set.
func AssertionJSON(a *proviso.Assertion) []byte {
	var e encoder
	e.assertion(a)
	return e.b
}

// Annotations writes workflow commands of GitHub Actions, which show results in the suite's
// file: failed rows as errors, undecided ones as warnings, worst first. One annotation
// represents all rows that are undecided for the same reason. Commands work only on
// standard output, and only at the beginning of a line.
func Annotations(ctx context.Context, w io.Writer, o AnnotationOptions, sum *Summary, rows Rows) error {
	if o.Max <= 0 {
		o.Max = shownAnnotations
	}
	marks, err := survey(ctx, rows)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	written := [2]int{}
	if o.Only != nil {
		marks = slices.DeleteFunc(marks, func(m mark) bool { return !o.Only(m.index) })
	}
	for _, m := range sum.distinct(worst(marks, len(marks))) {
		level := urgency(m.mark)
		if written[level] == o.Max {
			continue
		}
		written[level]++
		row, err := viewAt(rows, m.mark)
		if err != nil {
			return err
		}
		annotation(b, &o, row, [...]string{"error", "warning"}[level], m.rows)
	}
	return b.Flush()
}

func annotation(w *bufio.Writer, o *AnnotationOptions, row view, level string, rows int) {
	var place string
	if o.Place != nil {
		if file, line := o.Place(integer(row.Object, "testIdx"), culprit(row)); file != "" {
			place = "file=" + propertyText(file) + ","
			if line > 0 {
				place += fmt.Sprintf("line=%d,", line)
			}
		}
	}
	title := row.name()
	if d := row.description(); d != "" {
		title += ": " + cut(d, 100)
	}
	const most = 10
	var lines []string
	reasons := row.reasons()
	for i := range reasons[:min(len(reasons), most)] {
		lines = append(lines, reasons[i].mark()+" "+cut(reasons[i].String(), 400))
	}
	if len(reasons) > most {
		lines = append(lines, fmt.Sprintf("… and %d more", len(reasons)-most))
	}
	if rows > 1 {
		lines = append(lines, "… and "+moreRows(rows-1)+" with this error")
	}
	fmt.Fprintf(w, "::%s %stitle=%s::%s\n", level, place, propertyText(title), dataText(strings.Join(lines, "\n")))
}

// dataText and propertyText escape the message and a property value of a workflow command,
// as the runner's toolkit does.

func dataText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func propertyText(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(dataText(clean(s)))
}

// culprit returns the assertion that prevents a row from passing: the first counting
// assertion that did not pass or, for a set, the first such member. For a failed row it
// prefers a failed assertion. It is nil if there is none.
func culprit(row view) []byte {
	if row.status == proviso.Fail {
		if found := firstOf(row.Object, func(s proviso.Status) bool { return s == proviso.Fail }); found != nil {
			return found
		}
	}
	return firstOf(row.Object, func(s proviso.Status) bool { return !succeeded(s) })
}

// firstOf returns the first counting assertion whose status matches.
func firstOf(row *value.Object, meant func(proviso.Status) bool) []byte {
	components, _ := row.Object("gradingResult").At("componentResults").([]any)
	var found []byte
	for i, end := 0, len(components); i < end; i++ {
		c, _ := components[i].(*value.Object)
		a := c.Object("assertion")
		members := max(0, integer(c, "members"))
		if !meant(proviso.StatusNamed(c.Text("status"))) || a == nil || a.Text("severity") == string(proviso.Info) {
			i += members
			continue
		}
		found = value.AppendJSON(nil, a)
		end = min(end, i+1+members) // the set's own members are more specific
	}
	return found
}
