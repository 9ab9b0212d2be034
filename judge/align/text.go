package align

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/stats"
)

// shownDisagreements is how many disagreements are shown per assertion.
const shownDisagreements = 10

// textView formats agreements for a person.
type textView struct {
	bytes.Buffer
	o   report.TerminalOptions
	all bool
}

// Text formats agreements for a person: every disagreement if all is set, otherwise the
// first ten per assertion.
func (a *Agreements) Text(o report.TerminalOptions, all bool) []byte {
	t := &textView{o: o, all: all}
	t.o.Width = max(t.o.Width, 60)
	for i := range a.Assertions {
		if i > 0 {
			t.line("")
		}
		t.assertion(&a.Assertions[i])
	}
	t.line("")
	if len(a.Assertions) > 1 {
		t.table(a.Assertions)
		t.line("")
	}
	t.line("%s", t.o.Paint(report.Dim, "Ranges in brackets are 95 % intervals."))
	return t.Bytes()
}

func (t *textView) line(format string, args ...any) {
	fmt.Fprintf(t, format, args...)
	t.WriteByte('\n')
}

func (t *textView) assertion(a *Agreement) {
	title := t.o.Paint(report.Bold, report.Line(a.Assertion, t.o.Width-10))
	if a.Judge != "" {
		title += t.o.Paint(report.Dim, "  judge "+report.Line(a.Judge, 60))
	}
	t.line("%s", title)
	for _, s := range sentences(a) {
		t.line("  %s", s)
	}
	if a.N == 0 {
		return
	}
	t.line("")
	t.line("                 judge: pass  judge: fail")
	t.line("  people: pass  %12d %12d", a.TP, a.FN)
	t.line("  people: fail  %12d %12d", a.FP, a.TN)
	t.line("")
	for _, m := range measures(a) {
		t.line("  %-10s %s", m.name, m.text)
	}
	t.disagreements(a.Disagreements)
}

func (t *textView) disagreements(list []Disagreement) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line("  To read: %s", plural.Of(len(list), "disagreement"))
	for i, d := range list {
		if i == shownDisagreements && !t.all {
			t.line("  … and %d more (--all)", len(list)-i)
			return
		}
		t.line("  %s %s", t.o.Paint(report.Yellow, caseName(d, 50)), said(d))
		if d.Reason != "" {
			t.line("      judge: %s", report.Line(d.Reason, 2*t.o.Width))
		}
		for _, quote := range d.Evidence[:min(len(d.Evidence), 3)] {
			t.line("      quote: %s", report.Line(quote, t.o.Width-15))
		}
		if d.Note != "" {
			t.line("      note: %s", report.Line(d.Note, 2*t.o.Width))
		}
	}
}

// table prints all assertions side by side.
func (t *textView) table(list []Agreement) {
	name := 9
	for i := range list {
		name = max(name, min(len([]rune(report.Line(list[i].Assertion, 30))), 30))
	}
	t.line("%s", t.o.Paint(report.Bold, fmt.Sprintf("%-*s %6s %6s %9s %6s %6s %6s %10s", name, "Assertion", "n", "errors", "agreement", "kappa", "TPR", "TNR", "corrected")))
	for i := range list {
		a := &list[i]
		label := report.Line(a.Assertion, 30)
		few := ""
		if a.N > 0 && !a.measured() {
			few = "  not measured yet"
		}
		t.line("%s%s %6d %6d %9s %6s %6s %6s %10s%s", label, strings.Repeat(" ", max(0, name-len([]rune(label)))), a.N, a.Errors,
			sharePointer(a.Agreement), plainEstimate(a.Kappa), shareEstimate(a.TPR), shareEstimate(a.TNR), shareEstimate(a.Corrected), few)
	}
}

// caseName returns a disagreement's case, with its row if there is a run.
func caseName(d Disagreement, cells int) string {
	name := report.Line(d.Case, cells)
	if d.Row >= 0 {
		name += fmt.Sprintf(" (row %d)", d.Row)
	}
	return name
}

func said(d Disagreement) string {
	if d.Judge == proviso.Pass {
		return "the judge passed what a person failed"
	}
	return "the judge failed what a person passed"
}

// sentences explain the quality of a judge.
func sentences(a *Agreement) []string {
	if a.N == 0 {
		return []string{fmt.Sprintf("No verdict to compare: the judge could not decide any of %s.", plural.Of(a.Errors, "labelled output"))}
	}
	good, bad := a.TP+a.FN, a.TN+a.FP
	var list []string
	switch {
	case a.Weighted:
		list = append(list, fmt.Sprintf("Catches about %s of the bad outputs; passes about %s of the good ones.", rangeOrNone(a.TNR), rangeOrNone(a.TPR)))
	case bad == 0:
		list = append(list, fmt.Sprintf("Passes %d of %s.", a.TP, plural.Of(good, "good output")))
	case good == 0:
		list = append(list, fmt.Sprintf("Catches %d of %s.", a.TN, plural.Of(bad, "bad output")))
	default:
		list = append(list, fmt.Sprintf("Catches %d of %s; passes %d of %s.", a.TN, plural.Of(bad, "bad output"), a.TP, plural.Of(good, "good one")))
	}
	if few := a.NotMeasured(); few != "" {
		list = append(list, few+".")
	}
	return list
}

// measure is a number with its name.
type measure struct{ name, text string }

// measures lists the figures of an agreement.
func measures(a *Agreement) []measure {
	labels := fmt.Sprint(a.N)
	if a.Errors > 0 {
		labels += fmt.Sprintf("; %d more that the judge could not decide", a.Errors)
	}
	if a.Weighted {
		labels += ", drawn from passes and fails apart; the rates are of all outputs that they stand for"
	}
	list := []measure{{"labels", labels}}
	if a.Agreement != nil {
		list = append(list, measure{"agreement", sharePointer(a.Agreement)})
	}
	kappa := "undefined: one verdict for everything"
	if a.Kappa != nil {
		kappa = fmt.Sprintf("%.2f (%.2f to %.2f)", a.Kappa.Value, a.Kappa.Low, a.Kappa.High)
	}
	list = append(list, measure{"kappa", kappa})
	if a.TNR != nil {
		list = append(list, measure{"TNR", rangeOf(a.TNR) + " of the bad outputs are caught"})
	}
	if a.TPR != nil {
		list = append(list, measure{"TPR", rangeOf(a.TPR) + " of the good outputs pass"})
	}
	if a.JudgePassRate != nil {
		list = append(list, measure{"pass rate", fmt.Sprintf("%s by the judge, over %s", report.Percent(*a.JudgePassRate), plural.Of(a.Judged.N, "output"))})
	}
	switch {
	case a.Corrected == nil:
		list = append(list, measure{"corrected", "not possible: the labels do not show that the judge is better than chance"})
	default:
		list = append(list, measure{"corrected", rangeOf(a.Corrected) + methodText(a)})
	}
	if more := moreText(a); more != "" {
		list = append(list, measure{"", more})
	}
	return list
}

// methodText describes how the pass rate was corrected.
func methodText(a *Agreement) string {
	switch a.Method {
	case MethodCounted:
		return ", as people say: every output is labelled"
	case MethodRoganGladen:
		return ", from the judge's error rates (Rogan–Gladen)"
	}
	text := ", from labels and verdicts together (prediction-powered)"
	if a.RoganGladen != nil {
		text += "; by Rogan–Gladen " + rangeOf(a.RoganGladen)
	}
	return text
}

// moreText estimates how many more labels would halve the interval.
func moreText(a *Agreement) string {
	if a.Halve == 0 {
		return ""
	}
	text := fmt.Sprintf("%s would halve that range", plural.Of(a.Halve, "more label"))
	if a.Halve > a.Judged.N-a.N && a.Method != MethodCounted {
		text += fmt.Sprintf("; the run has only %d without one", a.Judged.N-a.N)
	}
	return text
}

func rangeOf(e *stats.Estimate) string { return report.PercentRange(e.Value, e.Low, e.High) }

func rangeOrNone(e *stats.Estimate) string {
	if e == nil {
		return "–"
	}
	return rangeOf(e)
}

func shareEstimate(e *stats.Estimate) string {
	if e == nil {
		return "–"
	}
	return report.Percent(e.Value)
}

func sharePointer(f *float64) string {
	if f == nil {
		return "–"
	}
	return report.Percent(*f)
}

func plainEstimate(e *stats.Estimate) string {
	if e == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", e.Value)
}
