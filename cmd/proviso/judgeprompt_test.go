package main

import (
	"strings"
	"testing"
)

// TestDocsOfJudgePrompt compares the prompt in the manual with the one that is sent,
// and requires a reason for each sentence of it.
func TestDocsOfJudgePrompt(t *testing.T) {
	system := strings.TrimSpace(readDoc(t, "judge/wording/system.txt"))
	closing := strings.TrimSpace(readDoc(t, "judge/wording/closing.txt"))
	wantBlock(t, "docs/judge.md", "judge prompt", fenced(system)+"\nEvery message ends with:\n\n"+fenced(closing))

	_, rest, _ := strings.Cut(readDoc(t, "docs/judge.md"), "<!-- begin judge prompt reasons -->\n")
	table, _, _ := strings.Cut(rest, "<!-- end judge prompt reasons -->")
	rules, examples, _ := strings.Cut(system, "\nFour examples\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cells) != 2 || cells[0] == "it says" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		if input, ok := strings.CutPrefix(cells[0], `the example "`); ok {
			before, after, found := strings.Cut(examples, "Input: "+strings.TrimSuffix(input, `"`)+"\n")
			if !found || strings.Contains(before, "Input: ") {
				t.Errorf("the prompt has no example %s, or it is not the next one", input)
			}
			_, examples, _ = strings.Cut(after, "\nAnswer: ")
			continue
		}
		if cells[0] == closing {
			closing = ""
			continue
		}
		before, after, found := strings.Cut(rules, cells[0])
		if !found {
			t.Errorf("the manual gives a reason for %q, which the prompt does not say there", cells[0])
			continue
		}
		checkReasonless(t, before)
		rules = after
	}
	checkReasonless(t, rules)
	if strings.Contains(examples, "Input: ") || closing != "" {
		t.Errorf("the manual gives no reason for %s%s", examples, closing)
	}
}

// checkReasonless requires that a text contains only headings, list marks and the form of the
// answer.
func checkReasonless(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.Trim(line, "-0123456789. \n")
		if strings.Contains(line, ".") && !strings.HasPrefix(line, "{") {
			t.Errorf("the manual gives no reason for %q", line)
		}
	}
}
