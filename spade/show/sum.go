package show

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/coverage"
)

// kindNames describe the sentences of a kind, singular and plural.
var kindNames = []struct {
	kind      coverage.Kind
	one, many string
}{
	{coverage.Covered, "is covered", "are covered"},
	{coverage.Unselected, "has candidates, but none is selected", "have candidates, but none is selected"},
	{coverage.Unproposed, "has no candidate", "have no candidate"},
	{coverage.Silent, "asks for nothing in an output", "ask for nothing in an output"},
}

// SumLines account for the sentences of a prompt, and for those without a check in the
// proposal, in a line each. A prompt whose sentences are all covered has none.
func SumLines(s *coverage.Sum) []string {
	var list []string
	if s.Of[coverage.Covered] < s.Sentences {
		list = append(list, fmt.Sprintf("%s: %s", plural.Of(s.Sentences, "sentence"), addends(s.Of[:], 0)))
	}
	n := s.Earlier
	for _, k := range s.Unchecked {
		n += k
	}
	if n > 0 {
		list = append(list, fmt.Sprintf("%s without a check: %s", plural.Of(n, "sentence"), addends(s.Unchecked[:], s.Earlier)))
	}
	return list
}

// addends lists the counts that are not 0.
func addends(of []int, earlier int) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	for _, k := range kindNames {
		add(of[k.kind], k.one, k.many)
	}
	add(earlier, "is in earlier versions only", "are in earlier versions only")
	return strings.Join(parts, ", ")
}

// SumMarkdown lists the uncovered sentences, each with its reason.
func SumMarkdown(s *coverage.Sum) []byte {
	var b bytes.Buffer
	b.WriteString("## Every sentence\n\n")
	if s.Of[coverage.Covered] == s.Sentences {
		b.WriteString("- Every sentence is covered.\n")
	}
	for _, line := range SumLines(s) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	first := true
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Kind == coverage.Covered {
			continue
		}
		if first {
			b.WriteString("\n| Line | Sentence | Why it is not covered |\n|--:|---|---|\n")
			first = false
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", l.Line.Line, report.MarkdownCode(l.Text, 160), whyUncovered(l))
	}
	return b.Bytes()
}

func whyUncovered(l *coverage.SumLine) string {
	switch l.Kind {
	case coverage.Unselected:
		names := make([]string, 0, MaxNames)
		for i, n := range l.Candidates {
			if i == MaxNames {
				break
			}
			names = append(names, report.MarkdownCode(n, 60))
		}
		return "not selected: " + strings.Join(names, ", ")
	case coverage.Unproposed:
		if l.Reason != "" {
			return "no candidate: " + report.MarkdownSentence(report.Line(l.Reason, 160))
		}
		return "no candidate"
	}
	return l.Silence()
}
