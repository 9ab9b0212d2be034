package rules_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/rules"
)

var update = flag.Bool("update", false, "write testdata/read.txt anew; read every check in it")

// TestRead compares the checks for many sentences with testdata/read.txt, in which a person
// has read every check. A line that starts with "# " sets the context of the following
// sentences, \n is a line break, and the lines with => are the checks.
func TestRead(t *testing.T) {
	t.Parallel()
	const file = "testdata/read.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := spadetest.Compiler(t)
	var got strings.Builder
	around := "%s"
	for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		text, isSentence := strings.CutPrefix(line, "* ")
		switch {
		case strings.HasPrefix(line, "# "):
			around = strings.ReplaceAll(line[2:], `\n`, "\n")
			fallthrough
		case !isSentence:
			if !strings.HasPrefix(line, "  => ") {
				got.WriteString(line + "\n")
			}
			continue
		}
		got.WriteString(line + "\n")
		p := propose(t, rules.Options{Compiler: c}, strings.Replace(around, "%s", strings.ReplaceAll(text, `\n`, "\n"), 1))
		for i := range p.Candidates {
			a := p.Candidates[i].Assertion
			got.WriteString("  => " + shownAssertion(a))
			if a.WholeWords {
				got.WriteString(" whole words")
			}
			if a.When != "" {
				got.WriteString(" when " + a.When)
			}
			got.WriteString("\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(data) {
		a, b := strings.Split(got.String(), "\n"), strings.Split(string(data), "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("%s is not what is made today, from line %d on: %q; run go test ./spade/rules -update, and read what differs", file, i+1, a[i])
			}
		}
		t.Fatalf("%s has more than is made today", file)
	}
}

// demandsOfItems are items with their check under a neutral heading and the opposite check
// under a forbidding one, or "" for none.
var demandsOfItems = []struct{ item, plain, barred string }{
	{"use emojis", `chars {"class":"emoji","min":1}`, `not-chars {"class":"emoji","min":1}`},
	{"use at least 2 hashtags", `count {"regex":"#[A-Za-z_]\\w*","min":2}`, ""},
	{"write more than 3 sentences", `sentence-count {"min":4}`, `sentence-count {"max":3}`},
	{"write fewer than 3 sentences", `sentence-count {"max":2}`, `sentence-count {"min":3}`},
	{`say "alas"`, `icontains "alas"`, `not-icontains-any ["alas"]`},
	{`say "alas" or "sadly"`, `icontains-any ["alas","sadly"]`, `not-icontains-any ["alas","sadly"]`},
	{`begin with "Well"`, `starts-with "Well"`, `not-starts-with "Well"`},
	{`end with "Cheers"`, `ends-with "Cheers"`, `not-ends-with "Cheers"`},
	{"use exclamation marks", `contains "!"`, `not-contains "!"`},
	{"return HTML", `contains-html undefined`, `not-contains-html undefined`},
}

// TestListsAndSections: an item never means the opposite of what its heading or the line above
// makes it mean.
func TestListsAndSections(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	neutral := []string{"Rules:", "## Requirements", "**Style**", "Always:", "Your answer must:", "<rules>", "Please follow these rules:", "# Assistant of a bakery\n\n## Output format"}
	barring := []string{"Never:", "## Never", "**Don't**", "DO NOT", "You must not:", "Avoid:", "<dont>", "### What not to do", "Forbidden:", "Please do not do any of the following:", "# Assistant of a bakery\n\n## Don'ts\n\nNote:"}
	unread := []string{"You may:", "You can optionally:", "If somebody is angry:", "## When somebody complains", "For complaints:", "Bad answers:", "## Title", "Our competitors:", "Only on Sundays:", "## Never\n\nAvoid:", "Never:\n- Avoid:\n  - short answers", "Some ideas:"}
	for i, x := range demandsOfItems {
		for _, way := range []struct {
			leads []string
			want  string
		}{{neutral, x.plain}, {barring, x.barred}, {unread, ""}} {
			for j, lead := range way.leads {
				form := []string{"\n- ", "\n\n1. ", "\n* "}[(i+j)%3]
				if strings.Contains(lead, "\n  - ") {
					form = "\n  - "
				}
				p := propose(t, rules.Options{Compiler: c}, "You answer people.\n\n"+lead+form+x.item)
				got := ""
				for i := range p.Candidates {
					got += shownAssertion(p.Candidates[i].Assertion)
				}
				if got != way.want {
					t.Errorf("%q under %q: got %q, want %q", x.item, lead+form, got, way.want)
				}
			}
		}
	}
}

// TestTakenBack: the text after a sentence may say when the sentence does not apply.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	c := spadetest.Compiler(t)
	for text, want := range map[string]int{
		"No emojis.\n- except in greetings":                                 0,
		"- No emojis.\n  - except in greetings":                             0,
		"No emojis. Except in greetings.":                                   0,
		"Use at most 3 sentences. For complaints, use 5.":                   0,
		"- Use at most 3 sentences.\n  - when asked for details, say more":  0,
		"Use at most 3 sentences.\nIf you do not know, ask a colleague.":    1,
		"- Use at most 3 sentences.\n- Be kind.":                            1,
		"<!-- Use at most 3 sentences. -->":                                 0,
		"<!--\nUse at most 3 sentences.\nNo emojis.\n-->\nUse no hashtags.": 1,
		"No emojis.\n\n## Complaints\nUse at most 3 sentences.":             1,
		"Never:\n- use emojis\n\n## Rules\n- use hashtags":                  2,
		"Rules:\n- Never: use emojis\n- use hashtags":                       1,
		"- No emojis.\n\nComplaints:\n- No emojis.":                         0,
		"Do not use\nemojis.":                                               1,
		"Avoid\nMarkdown.":                                                  1,
		"Answers must not contain\nHTML.":                                   1,
		"emojis.":                                                           0,
		"JSON.":                                                             0,
		"{% for x in list %}\nMention \"{{ x }}\".\n{% endfor %}":           0,
	} {
		if p := propose(t, rules.Options{Compiler: c}, text); len(p.Candidates) != want {
			t.Errorf("%q has %d candidates, want %d: %+v", text, len(p.Candidates), want, p.Unproposed)
		}
	}
}
