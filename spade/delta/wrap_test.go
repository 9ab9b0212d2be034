package delta_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso/spade/delta"
)

// wrapLines wraps the long lines of a prompt as an editor does: list items with their
// continuation indented, fenced blocks, tables, headings and tags as they are.
func wrapLines(text string, width int) string {
	var out []string
	fenced := false
	for _, line := range strings.Split(text, "\n") {
		if mark, _ := delta.FenceMark(line); mark != "" {
			fenced = !fenced
		}
		trimmed := strings.TrimSpace(line)
		if fenced || utf8.RuneCountInString(line) <= width || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "<") {
			out = append(out, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		hanging := indent + strings.Repeat(" ", max(0, delta.MarkerLength(line)-len(indent)))
		row := indent
		for i, word := range strings.Fields(line) {
			switch {
			case i == 0:
				row += word
			case utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > width:
				out, row = append(out, row), hanging+word
			default:
				row += " " + word
			}
		}
		out = append(out, row)
	}
	return strings.Join(out, "\n")
}

// promptsOfFixtures returns the prompts in the repository, and those of the paper if
// available.
func promptsOfFixtures(t *testing.T) map[string]string {
	t.Helper()
	prompts := map[string]string{}
	for _, pattern := range []string{"../../examples/*/prompts/*.txt", "../../examples/*/*.txt", "../../../shared/spade/*/prompts.jsonl", "../../../shared/spade/taxonomy.jsonl", "testdata/prompts/*.txt"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			versions, mistakes := delta.ReadVersions(file, data)
			if mistakes.Err() != nil {
				t.Fatal(mistakes)
			}
			for i, v := range versions {
				prompts[fmt.Sprintf("%s#%d", file, i+1)] = v.Text
			}
		}
	}
	if len(prompts) == 0 {
		t.Fatal("there are no prompts")
	}
	return prompts
}

func keys(text string) []string {
	var list []string
	for _, u := range delta.Split(text) {
		list = append(list, string(u.Part)+"|"+u.Key)
	}
	return list
}

// leastUnwrapped is the minimum share of sentences in real prompts that are found again when
// each prompt is wrapped at a width.
var leastUnwrapped = map[int]float64{40: 0.95, 60: 0.98, 80: 0.98}

// TestWrappedPrompts: a wrapped prompt has the same sentences as the unwrapped prompt.
func TestWrappedPrompts(t *testing.T) {
	t.Parallel()
	prompts := promptsOfFixtures(t)
	for width, least := range leastUnwrapped {
		same, units, lost := 0, 0, 0
		for name, text := range prompts {
			want, got := keys(text), keys(wrapLines(text, width))
			found := map[string]int{}
			for _, k := range got {
				found[k]++
			}
			before := lost
			for _, k := range want {
				if found[k]--; found[k] < 0 {
					lost++
					if !strings.Contains(name, "shared") && strings.Contains(name, "testdata") {
						t.Errorf("%s at %d columns: %q is lost", name, width, k)
					}
				}
			}
			if units += len(want); lost == before {
				same++
			}
		}
		share := 1 - float64(lost)/float64(units)
		t.Logf("%d columns: %d of %d prompts, %d of %d sentences", width, same, len(prompts), units-lost, units)
		if share < least {
			t.Errorf("%d columns: %.3f of the sentences are found again, less than %.3f", width, share, least)
		}
	}
}
