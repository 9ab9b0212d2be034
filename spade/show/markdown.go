package show

import (
	"bytes"
	"fmt"

	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/selection"
)

// SelectionMarkdown shows a selection in a comment or a page. Untrusted text is only in
// code spans.
func SelectionMarkdown(s Selection) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("## %s (method %s)\n", headline(s), s.Options.Method)
	for _, sentence := range Verdict(s) {
		line("%s", report.MarkdownSentence(sentence))
	}
	if s.Found() {
		line("")
		for _, m := range measures(s) {
			name := m.name
			if name == "" {
				name = "FFR"
			}
			line("- **%s**: %s", name, report.MarkdownSentence(m.text))
		}
		accounts := s.Accounts()
		if len(s.Answer.Selected) > 0 {
			line("\n| Selected | Catches | Alone | False failures | Without it |\n|---|--:|--:|--:|---|")
			for i := range accounts {
				if a := &accounts[i]; a.Fate == selection.Selected {
					line("| %s | %d | %d | %s | %s |", report.MarkdownCode(a.Name, 60), a.Covered, len(a.Alone), falseText(a), report.MarkdownSentence(without(s, a)))
				}
			}
		}
		markdownExcluded(line, s, accounts)
	}
	line("\nRanges in brackets are 95 %% intervals (Wilson).")
	return b.Bytes()
}

func markdownExcluded(line func(format string, args ...any), s Selection, accounts []selection.Account) {
	for _, f := range fates {
		first := true
		for i := range accounts {
			a := &accounts[i]
			if a.Fate != f.fate {
				continue
			}
			if first {
				line("\n### %s\n", f.title)
				first = false
			}
			line("- %s: %s", report.MarkdownCode(a.Name, 60), report.MarkdownSentence(whyOut(s, a)))
		}
	}
	for i, name := range s.Banned {
		if i == 0 {
			line("\n### Banned\n")
		}
		line("- %s", report.MarkdownCode(name, 60))
	}
}
