package suite_test

import (
	"slices"
	"testing"

	"github.com/proviso-eval/proviso/suite"
)

// TestLabelsOfCSVPrompts: rows of a CSV file get labels that differ, as
// promptfoo 0.123.1 makes them.
func TestLabelsOfCSVPrompts(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{}, map[string]string{
		"promptfooconfig.yaml": `
prompts:
  - file://lines.csv
  - file://table.csv
  - file://one.csv
  - {id: file://lines.csv, label: base}
  - {id: file://table.csv, label: base}
  - {id: file://one.csv, label: base}
providers: [echo]
tests: [{vars: {a: 1}}]
`,
		"lines.csv": "prompt\nhello\nbye\n  \"hello\nhello\n",
		"table.csv": "prompt,label\n\"hello, x\",L1\n\"bye, y\",\n\"hello, x\",\n\"bye, y\",L1\n,L9\n",
		"one.csv":   "prompt,label\n\"only, x\",\n",
	})
	want := []string{
		"Prompt 1 - hello", "Prompt 2 - bye", "Prompt 3 -   \"hello", "Prompt 4 - hello",
		"L1", "Prompt 2 - bye, y", "Prompt 3 - hello, x", "L1",
		"Prompt 1 - only, x",
		"base: hello", "base: bye", "base:   \"hello", "base: hello (row 4)",
		"L1", "base: bye, y", "base: hello, x", "L1",
		"base",
	}
	var got []string
	for _, p := range s.Prompts {
		got = append(got, p.Label)
	}
	if !slices.Equal(got, want) {
		t.Errorf("labels are\n%q, want\n%q", got, want)
	}
}
