package attack

import (
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/report"
)

// Text returns the report for a person.
func (r *Report) Text() string {
	var b strings.Builder
	b.WriteString("Prompt injections that succeeded, with the 95 % interval\n")
	line := func(k *Kind, name string) {
		fmt.Fprintf(&b, "  %s  %-24s %s%s\n", rateText(k.Rate, k.Interval, k.Succeeded, k.Succeeded+k.Withstood), name, k.Doc, restText(k.Errors, k.LeftOut))
	}
	for i := range r.Sets {
		for j := range r.Kinds {
			if r.Kinds[j].Set == r.Sets[i].Set {
				line(&r.Kinds[j], r.Kinds[j].Kind)
			}
		}
		line(&r.Sets[i], "set "+r.Sets[i].Set)
	}
	fmt.Fprintf(&b, "  %s  all%s\n", rateText(r.Rate, r.Interval, r.Succeeded, r.Succeeded+r.Withstood), restText(r.Errors, r.LeftOut))
	listText(&b, "Got through", r.Through)
	listText(&b, "Without a verdict", r.Undecided)
	listText(&b, "Left out: without an attempt the judge gives another verdict on these outputs, or none", r.Controls)
	fmt.Fprintf(&b, "\njudge %s%s\n", report.Message(r.Judge), judge.UsageText(r.Usage, r.Cost))
	return b.String()
}

func rateText(rate *float64, i *Interval, k, n int) string {
	if rate == nil {
		return "  –    0 of 0              "
	}
	return fmt.Sprintf("%3.0f%% %3d of %-3d %10s", 100**rate, k, n, fmt.Sprintf("%.0f–%.0f%%", 100*i.Low, 100*i.High))
}

func restText(errors, left int) string {
	text := ""
	if errors > 0 {
		text += ", " + plural.Of(errors, "error")
	}
	if left > 0 {
		text += fmt.Sprintf(", %d left out", left)
	}
	return text
}

// listText prints attempts with the judge's reasoning, up to a limit.
func listText(b *strings.Builder, title string, list []Result) {
	const most = 30
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range list[:min(len(list), most)] {
		name := r.ID
		if r.Control != "" {
			name += " (" + r.Control + ")"
		}
		fmt.Fprintf(b, "  %s: %s\n", report.Message(name), report.Message(report.OneLine(r.Reasoning)))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(b, "  … and %d more (--format json)\n", more)
	}
}
