package proviso_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// avoided are words that this project does not use, because readers would have to guess
// their meaning, each with the replacement from docs/glossary.md or from the field.
var avoided = []struct {
	word *regexp.Regexp
	use  string
}{
	{word(`ask(s|ed|ing)? nobody|nobody (is|was|will be) asked`), "asks no model, sends no request"},
	{word(`ballots?`), "vote"},
	{word(`(is|are) going on`), "is running"},
	{word(`going on with`), "resuming"},
	{word(`names the flag that is nearest`), "suggests the nearest flag"},
	{word(`hang(s|ing)? on one answer`), "depends on one answer"},
	{word(`enter(s|ed|ing)? no figures?`), "is left out of the figures"},
	{word(`carried over as (it|they) (was|were)`), "converted exactly"},
	{word(`nobody's home`), "is not expanded"},
	{word(`purses?`), "budget"},
	{word(`rid(e|es|ing) along`), "is added"},
	{word(`talk(s|ed|ing)? (it|them|judges|(a|the) judge) over|talked over`), "prompt injection"},
	{word(`things of the house`), "types of this module"},
	{word(`tired`), "exhausted"},
	{word(`torn`), "contradictory"},
	{word(`turn(s|ed|ing)? (\w+ ){1,3}round|turned round`), "negate, invert"},
	{word(`vouch(es|ed)? for`), "untrusted"},
	{word(`what (became|becomes) of`), "the result of"},
	{word(`witness(es)?`), "evidence, quote checker, counterexample"},
}

// word returns a pattern that matches whole words, in any case.
func word(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`)
}

// avoidedIn returns the avoided words in a text, each with its replacement.
func avoidedIn(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	var found []string
	for _, a := range avoided {
		if m := a.word.FindString(text); m != "" {
			found = append(found, strconv.Quote(m)+": write "+a.use)
		}
	}
	return found
}

// TestWords keeps avoided words out of pages, comments and messages.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, name := range filesNamed(t, ".md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range prose(string(data)) {
			for _, found := range avoidedIn(line) {
				t.Errorf("%s:%d: %s", name, number, found)
			}
		}
	}
	for _, name := range goFiles(t) {
		if name == "words_test.go" {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.Comments {
			for _, found := range avoidedIn(group.Text()) {
				t.Errorf("%s: %s", set.Position(group.Pos()), found)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			continue // texts in tests are inputs
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				for _, found := range avoidedIn(text) {
					t.Errorf("%s: %s", set.Position(lit.Pos()), found)
				}
			}
			return true
		})
	}
}

// prose returns the lines of a page by number, without parts that are generated or code:
// fenced blocks, and parts between begin and end marks.
func prose(page string) map[int]string {
	lines := map[int]string{}
	fenced, made := false, false
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case strings.HasPrefix(line, "<!-- begin "):
			made = true
		case strings.HasPrefix(line, "<!-- end "):
			made = false
		case !fenced && !made:
			lines[i+1] = line
		}
	}
	return lines
}

// TestWordsAreFound checks that TestWords can fail.
func TestWordsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"The Purse of a key":                 1,
		"an attempt to talk the\njudge over": 1,
		"purses, which nobody vouches for":   2,
		"not- turns pass and fail round":     1,
		"retired, a turn, a round":           0,
	} {
		if got := avoidedIn(text); len(got) != want {
			t.Errorf("%q: found %q, want %d", text, got, want)
		}
	}
	if got := avoidedIn("~ is nobody's home"); len(got) != 1 {
		t.Errorf("found %q, want 1", got)
	}
	if got := prose("a\n```\nb\n```\n<!-- begin x -->\nc\n<!-- end x -->\nd"); len(got) != 2 || got[1] != "a" || got[8] != "d" {
		t.Errorf("prose is %v", got)
	}
}
