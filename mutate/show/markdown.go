package show

import (
	"bytes"
	"fmt"

	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/report"
)

// Markdown renders a report for a comment or a page. Untrusted text is only in code spans.
func Markdown(r *score.Report) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("## %s\n", Headline(r))
	for _, sentence := range about(r) {
		line("- %s", report.MarkdownCode(sentence, 400))
	}
	for _, p := range parts(r) {
		if len(p.List) == 0 {
			continue
		}
		line("\n### %s\n\n| Line | Instruction | Killed | Survived | Undecided | Killed by | Survivor | Next |\n|--:|---|--:|--:|--:|---|---|---|", p.Title)
		for _, in := range p.List {
			where, survivor, todo, killers := "", "", "", ""
			if in.Line > 0 {
				where = fmt.Sprint(in.Line)
			}
			if len(in.Survivors) > 0 {
				plain := &terminal{}
				e := in.Survivors[0]
				survivor = e.Operator + ": " + report.MarkdownCode(plain.change(e.Change), 200)
			}
			if text := next(r, in); text != "" {
				todo = report.MarkdownCode(text, 200)
			}
			if text := names(in.Killers); text != "" {
				killers = report.MarkdownCode(text, 160)
			}
			line("| %s | %s | %d | %d | %d | %s | %s | %s |", where, report.MarkdownCode(in.Text, 160), in.Killed, in.Survived, in.Undecided, killers, survivor, todo)
		}
	}
	if len(r.Assertions) > 0 {
		line("\n### Assertions\n\n| Assertion | Kills | Passes | Undecided | Note |\n|---|--:|--:|--:|---|")
		for i := range r.Assertions {
			a, text := &r.Assertions[i], ""
			if n := note(a); n != "" {
				text = report.MarkdownCode(n, 120)
			}
			line("| %s | %d | %d | %d | %s |", report.MarkdownCode(a.Name, 60), a.Killed, a.Survived, a.Counts.Undecided, text)
		}
	}
	if r.Decided() > 0 {
		line("\nThe range is a 95 %% interval (Wilson), which takes the mutants as independent.")
	}
	return b.Bytes()
}
