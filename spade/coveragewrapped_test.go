package spade_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/coverage"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
)

// wrap breaks the lines of a text at spaces; continuation lines of items are indented.
func wrap(text string, width int) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		row, indent := "", strings.Repeat(" ", delta.MarkerLength(line))
		if utf8.RuneCountInString(line) <= width || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "{%") {
			out = append(out, line)
			continue
		}
		for _, word := range strings.Fields(line) {
			switch {
			case row == "":
				row = word
			case utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > width:
				out, row = append(out, row), indent+word
			default:
				row += " " + word
			}
		}
		out = append(out, row)
	}
	return strings.Join(out, "\n")
}

// found is what rules and coverage find in a prompt.
func found(t *testing.T, prompt string, c *check.Compiler) (candidates, instructions []string) {
	t.Helper()
	h, err := delta.HistoryOf([]delta.Version{{Text: prompt}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Propose(t.Context(), h, rules.Options{Compiler: c})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Candidates {
		candidates = append(candidates, p.Candidates[i].Name+" "+candidate.Check(&p.Candidates[i])+" "+delta.Key(p.Candidates[i].Delta.Text))
	}
	cover, err := coverage.Of(t.Context(), prompt, p.Candidates, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range cover.Lines {
		if l.Instruction {
			instructions = append(instructions, l.Key+" "+strings.Join(l.Assertions, " "))
		}
	}
	return candidates, instructions
}

// TestWrappedPrompts: wrapping changes neither what rules propose nor what is covered.
func TestWrappedPrompts(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("delta/testdata/prompts/*.txt")
	if len(files) == 0 {
		t.Fatal("there are no prompts")
	}
	c, all := spadetest.Compiler(t), 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		candidates, instructions := found(t, text, c)
		all += len(candidates)
		for _, width := range []int{40, 60, 80} {
			if got, covered := found(t, wrap(text, width), c); !reflect.DeepEqual(got, candidates) || !reflect.DeepEqual(covered, instructions) {
				t.Errorf("%s at %d columns:\ngot  %q\nwant %q\ngot  %q\nwant %q", filepath.Base(file), width, got, candidates, covered, instructions)
			}
		}
	}
	if all == 0 {
		t.Error("rules propose nothing")
	}
}

// TestWrappedPromptsOfThePaper counts what is found again in the paper's prompts.
func TestWrappedPromptsOfThePaper(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../shared/spade/*/prompts.jsonl")
	if len(files) == 0 {
		t.Skip("the paper's data is not here")
	}
	c := spadetest.Compiler(t)
	for _, width := range []int{40, 60, 80} {
		var want, again [2]int
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			versions, _ := delta.ReadVersions(file, data)
			for _, v := range versions {
				var one, two [2][]string
				one[0], one[1] = found(t, v.Text, c)
				two[0], two[1] = found(t, wrap(v.Text, width), c)
				for k := range one {
					want[k] += len(one[k])
					for _, x := range one[k] {
						if strings.Contains(strings.Join(two[k], "\n"), x) {
							again[k]++
						}
					}
				}
			}
		}
		t.Logf("%d columns: %d of %d candidates, %d of %d instructions", width, again[0], want[0], again[1], want[1])
		if again[0]*100 < want[0]*90 || again[1]*100 < want[1]*90 {
			t.Errorf("%d columns: fewer than 90 %% are found again", width)
		}
	}
}
