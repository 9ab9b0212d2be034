package report

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
)

// renderGitHub writes the summary of a job of GitHub Actions, which takes up to
// 1 MiB from a step.
func renderGitHub(ctx context.Context, w *bufio.Writer, in *Input) error {
	return writeMarkdown(ctx, w, in, markdownLimits{bytes: 1_000_000, rows: 200, text: 8000, lines: 200})
}

// shownAnnotations is how many errors, and how many warnings, GitHub shows of a
// step.
const shownAnnotations = 10

// AnnotationOptions say how many annotations there are, and where they stand.
// The zero value is right for GitHub.
type AnnotationOptions struct {
	Max int // of errors, and of warnings; 0 means as many as GitHub shows, 10

	// Place returns the file and the line, from 1, of an assertion of a case, as the
	// repository has them: "" if they are not known. The assertion is the first that
	// did not hold, as [AssertionJSON] has it, nil if what is wrong is the case as a
	// whole. Nil knows no places.
	Place func(test int, assertion []byte) (file string, line int)
}

// AssertionJSON returns an assertion as rows have it, without the members of a
// set.
func AssertionJSON(a *proviso.Assertion) []byte {
	var e encoder
	e.assertion(a)
	return e.b
}

// Annotations writes workflow commands of GitHub Actions, which make it show what
// did not pass beside the suite's file: failed rows as errors, undecided ones as
// warnings, worst first; one stands for all rows that are undecided for the same
// reason. They work on standard output only, and only where each begins a line.
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

// dataText and propertyText escape what follows a workflow command and the value
// of a property of it, as the runner's toolkit does.

func dataText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func propertyText(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(dataText(clean(s)))
}

// culprit returns the assertion that keeps a row from passing: the first that did
// not hold and counts, or, of a set, its first such member. Of a row that failed it
// is one that failed, if there is any. It is nil if there is none.
func culprit(row view) []byte {
	if row.status == proviso.Fail {
		if found := firstOf(row.Object, func(s proviso.Status) bool { return s == proviso.Fail }); found != nil {
			return found
		}
	}
	return firstOf(row.Object, func(s proviso.Status) bool { return !succeeded(s) })
}

// firstOf returns the first assertion that counts and has a status that is meant.
func firstOf(row *proviso.Object, meant func(proviso.Status) bool) []byte {
	components, _ := obj(row, "gradingResult").At("componentResults").([]any)
	var found []byte
	for i, end := 0, len(components); i < end; i++ {
		c, _ := components[i].(*proviso.Object)
		a := obj(c, "assertion")
		members := max(0, integer(c, "members"))
		if !meant(statusOf(str(c, "status"))) || a == nil || str(a, "severity") == string(proviso.Info) {
			i += members
			continue
		}
		found = proviso.AppendJSON(nil, a)
		end = min(end, i+1+members) // its own members say more, others do not matter
	}
	return found
}
