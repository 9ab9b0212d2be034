package show_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/harmless"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/mutate/score"
	"github.com/proviso-eval/proviso/mutate/show"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/spade/candidate"
)

var update = flag.Bool("update", false, "write the golden files anew")

const hostile = "<script>alert(1)</script> [x](http://a.test) \x1b[31m ::error::x | `code` @team"

// sample is a report with every kind of result, and a hostile text in every place that
// untrusted text can reach.
func sample(t testing.TB, hostile string) *score.Report {
	t.Helper()
	list, mistakes := candidate.Read("add.yaml", []byte("- {id: short, description: It is short., type: word-count, value: {max: 9}}\n"))
	if mistakes.Err() != nil {
		t.Fatal(mistakes)
	}
	by := func(b mutate.Basis, c score.Counts) map[mutate.Basis]score.Counts {
		return map[mutate.Basis]score.Counts{b: c}
	}
	example := score.Example{Output: hostile, Operator: "lengthen", Basis: mutate.Checked, Change: score.Change{Before: "…" + hostile, Removed: hostile, Added: hostile, After: hostile}}
	return &score.Report{
		Outputs: score.Outputs{Given: 12, Bad: 1, Unfit: 1, Failing: 2, Undecided: 1, Usable: 6},
		Counts:  score.Counts{Killed: 9, Survived: 5, Undecided: 2},
		By: map[mutate.Basis]score.Counts{
			mutate.Checked: {Killed: 4, Survived: 3}, mutate.Assumed: {Killed: 5, Survived: 1, Undecided: 2}, mutate.Claimed: {Survived: 1},
		},
		Instructions: []score.Instruction{
			{Text: "At most 9 words. " + hostile, Line: 2, Counts: score.Counts{Survived: 3}, By: by(mutate.Checked, score.Counts{Survived: 3}), Survivors: []score.Example{example}, Add: &list[0], Broken: 1},
			{Text: "Be kind.", Line: 3, Counts: score.Counts{Killed: 1, Survived: 1, Undecided: 1}, Killers: []string{hostile}, Survivors: []score.Example{{Output: "o1", Operator: "break-topic", Basis: mutate.Assumed}}},
			{Text: "Be brief.", Line: 4, Counts: score.Counts{Survived: 1}, Assertions: []string{"brief"}, Judged: 1},
			{Text: "Never say no.", Line: 5, Counts: score.Counts{Killed: 8}, Killers: []string{"a", "b", "c", "d", "e", "f"}, Also: 2},
			{Text: "Be neutral.", Line: 6, Counts: score.Counts{Undecided: 1}},
			{Text: "Think.", Line: 7},
			{Text: "Use no digits.", Line: 8, Broken: 6},
		},
		AnyAnswer: score.Instruction{Text: mutate.AnyAnswer.Text, Counts: score.Counts{Killed: 3, Survived: 1}, Killers: []string{"a"}, Survivors: []score.Example{{Output: "o1", Operator: "repeat", Basis: mutate.Assumed, Change: score.Change{Added: "again"}}}},
		Assertions: []score.Assertion{
			{Name: hostile, Type: "contains", Counts: score.Counts{Killed: 9, Survived: 7}, Kills: map[int]int{-1: 1, 1: 1, 3: 7}, Failing: 2},
			{Name: "brief", Type: "llm-rubric", Judged: true, NotRun: "it asks a model"},
			{Name: "quick", Type: "latency", Why: "the response has no latency"},
			{Name: "idle", Type: "contains", Counts: score.Counts{Survived: 16}},
			{Name: "worst", Type: "max-score", NotRun: "it compares several outputs"},
		},
		NotRun: 1, Model: "openai:gpt", Refuted: 2, ModelErrs: []string{"it refused: " + hostile}, Questions: 3, Unanswered: 2,
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	r := sample(t, hostile)
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{
		"report.txt": show.Text(r, report.TerminalOptions{Width: 100}), "color.txt": show.Text(r, report.TerminalOptions{Width: 60, Color: true}),
		"report.md": show.Markdown(r), "report.html": show.HTML(r), "report.json": data,
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s differs; see the change with -update and git diff\n%s", file, got)
		}
		if name == "report.json" {
			continue
		}
		if name != "color.txt" && strings.Contains(string(got), "\x1b") || strings.Contains(string(got), "<script>alert") && name == "report.html" || strings.Contains(string(got), "\n::error") {
			t.Errorf("%s passes hostile text on:\n%s", name, got)
		}
	}
}

// TestHeadline checks the explanation of a missing score.
func TestHeadline(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]*score.Report{
		"there are no outputs":   {},
		"no output can be used":  {Outputs: score.Outputs{Given: 3, Bad: 2, Unfit: 1}},
		"every output fails an ": {Outputs: score.Outputs{Given: 3, Failing: 3}},
		"no assertion could be ": {Outputs: score.Outputs{Given: 3, Undecided: 3}},
		"2 mutants, all undecid": {Outputs: score.Outputs{Given: 3, Usable: 3}, Counts: score.Counts{Undecided: 2}},
		"the rules break no ins": {Outputs: score.Outputs{Given: 3, Usable: 3}},
	} {
		if got := show.Headline(r); !strings.HasPrefix(got, "No mutation score: "+want) {
			t.Errorf("%+v: %q, want %q", r.Outputs, got, want)
		}
	}
}

// TestAdd checks that the missing check is proposed in the form of a suite.
func TestAdd(t *testing.T) {
	t.Parallel()
	text := string(show.Text(sample(t, hostile), report.TerminalOptions{Width: 100}))
	if want := `→ add {"id":"short","type":"word-count","value":{"max":9}}`; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}

// FuzzShow: text of a suite or a model has no effect where a report is shown.
func FuzzShow(f *testing.F) {
	for _, text := range []string{hostile, "", "GH-12", "`", "a`b``", "| a |", "\\`@b`", "```\n<img>\n````", "<details><summary>", "&lt;img&gt; &#64;user", "a\n\n> b\n\n- c", "\xff\u202e", "\r\n::error::no\n##[error]no"} {
		f.Add(text)
	}
	plain := sample(f, "x")
	markdown, page := string(show.Markdown(plain)), string(show.HTML(plain))
	f.Fuzz(func(t *testing.T, text string) {
		r := sample(t, text)
		if got := string(show.Text(r, report.TerminalOptions{Width: 60})); harmless.Terminal(got) != "" {
			t.Errorf("for a terminal: %s\n%s", harmless.Terminal(got), got)
		}
		if got := string(show.Markdown(r)); harmless.Markdown(got, markdown) != "" {
			t.Errorf("in Markdown: %s\n%s", harmless.Markdown(got, markdown), got)
		}
		if got := string(show.HTML(r)); harmless.HTML(got, page) != "" {
			t.Errorf("in a page: %s\n%s", harmless.HTML(got, page), got)
		}
	})
}
