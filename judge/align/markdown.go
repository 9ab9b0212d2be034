package align

import (
	"bytes"
	"fmt"

	"github.com/proviso-eval/proviso/report"
)

// Markdown formats agreements for a comment or a page. Untrusted text appears only in
// code spans.
func (a *Agreements) Markdown(all bool) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("## Agreement of the judge with people\n")
	line("| Assertion | Judge | n | Errors | Agreement | Kappa | TPR | TNR | Judge's pass rate | Corrected |")
	line("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i := range a.Assertions {
		a := &a.Assertions[i]
		name := "–"
		if a.Judge != "" {
			name = report.MarkdownCode(a.Judge, 60)
		}
		kappa, tpr, tnr, corrected := "–", "–", "–", "–"
		if a.Kappa != nil {
			kappa = fmt.Sprintf("%.2f (%.2f to %.2f)", a.Kappa.Value, a.Kappa.Low, a.Kappa.High)
			if !a.measured() {
				kappa += ", not measured yet"
			}
		}
		if a.TPR != nil {
			tpr = rangeOf(a.TPR)
		}
		if a.TNR != nil {
			tnr = rangeOf(a.TNR)
		}
		if a.Corrected != nil {
			corrected = rangeOf(a.Corrected)
		}
		line("| %s | %s | %d | %d | %s | %s | %s | %s | %s | %s |", report.MarkdownCode(a.Assertion, 60), name, a.N, a.Errors,
			sharePointer(a.Agreement), kappa, tpr, tnr, sharePointer(a.JudgePassRate), corrected)
	}
	for i := range a.Assertions {
		markdownDetails(line, &a.Assertions[i], all)
	}
	return b.Bytes()
}

func markdownDetails(line func(format string, args ...any), a *Agreement, all bool) {
	line("\n### %s\n", report.MarkdownCode(a.Assertion, 80))
	for _, s := range sentences(a) {
		line("%s", s)
	}
	if a.N == 0 {
		return
	}
	line("\n| | Judge: pass | Judge: fail |\n|---|--:|--:|\n| People: pass | %d | %d |\n| People: fail | %d | %d |", a.TP, a.FN, a.FP, a.TN)
	if more := moreText(a); more != "" {
		line("\nCorrected pass rate %s%s. %s.", rangeOf(a.Corrected), methodText(a), more)
	}
	if len(a.Disagreements) == 0 {
		return
	}
	line("\nTo read:\n")
	for i, d := range a.Disagreements {
		if i == shownDisagreements && !all {
			line("- … and %d more (`--all`)", len(a.Disagreements)-i)
			return
		}
		text := fmt.Sprintf("- %s: %s", report.MarkdownCode(caseName(d, 60), 80), said(d))
		if d.Reason != "" {
			text += ". Judge: " + report.MarkdownCode(d.Reason, 300)
		}
		for _, quote := range d.Evidence[:min(len(d.Evidence), 3)] {
			text += ". Quote: " + report.MarkdownCode(quote, 200)
		}
		if d.Note != "" {
			text += ". Note: " + report.MarkdownCode(d.Note, 300)
		}
		line("%s", text)
	}
}
