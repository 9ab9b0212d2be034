package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/proviso-eval/proviso/report"
)

// reference is a word that GitHub or GitLab would link, notify or fetch.
var reference = regexp.MustCompile(`(?i)@\w|[#!]\d|://|www\.\w|\bgh-\d`)

// ownTags matches the only HTML that a safe text may contain.
var ownTags = regexp.MustCompile(`^(<details><summary>[^<>]*</summary>|</details>)\n*$`)

// checkSafe parses a text as GitHub does, with a third-party parser.
func checkSafe(t testing.TB, page string) {
	t.Helper()
	source := []byte(page)
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	depth := 0
	var words strings.Builder // of a block, with a mark between parts that are not adjacent for a reader
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindEmphasis {
			words.WriteByte(0)
		}
		if n.Type() == ast.TypeBlock && !entering {
			if found := reference.FindString(words.String()); found != "" {
				t.Errorf("%q is live in\n%s", found, page)
			}
			words.Reset()
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML:
			t.Errorf("a %s in\n%s", n.Kind(), page)
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(source))
			if n.HasClosure() || !ownTags.MatchString(html) || reference.MatchString(html) {
				t.Errorf("the HTML %q in\n%s", html, page)
			}
			depth += strings.Count(html, "<details>") - strings.Count(html, "</details>")
		case *ast.FencedCodeBlock:
			if info := string(n.Language(source)); !slices.Contains([]string{"text", "diff", "json", "sh"}, info) {
				t.Errorf("a fence of %q in\n%s", info, page)
			}
		case *ast.CodeSpan:
			words.WriteString("\x00")
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			words.Write(unescaped.ReplaceAll(n.Segment.Value(source), []byte("$1")))
			if n.SoftLineBreak() || n.HardLineBreak() {
				words.WriteByte('\n')
			}
		case *ast.String:
			words.Write(n.Value)
		}
		return ast.WalkContinue, nil
	})
	if err != nil || depth != 0 {
		t.Errorf("%v, %d collapsed parts are open in\n%s", err, depth, page)
	}
}

// unescaped removes the backslashes that a reader does not see.
var unescaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")

func TestUntrustedMarkdown(t *testing.T) {
	t.Parallel()
	const end = "\nthe footer\n"
	for _, page := range []string{
		"ping @team, see #12, !3 and GH-4", "![x](http://evil/p.png) [y](javascript:z) <http://evil> http://evil www.evil.com a@b.co",
		"<img src=x onerror=alert(1)>", "<details>", "<details><summary>a</summary>\n\nopen", "<details><summary><img src=x></summary>\n</details>",
		"<!-- hidden", "`a @b", "``a `@b` ``", "`a\\`@b`", "\\`@b`", "\\\\`@b`", "| `a | @b` |\n|---|---|\n| `c | @d` |", "```\n<img>", "~~~ `x`\n@a", "- ```\n  <img>\n<img>",
		"> ```\n<img>", "```mermaid\nclick A href \"http://evil\"\n```", "<div>\n```\n<img src=x>\n```\n", "[a]: http://evil\n[a]", "&lt;img&gt; &#64;user", "a\r<img>\r\n@b",
		"\\<img>", "\\@user \\#1", "@\\_user", "\t```\n\t@a", "a\n===\n#1", "* - + > # @a", "\x1b[31m\u202e@a", "<details><summary>x</summary>\n```\n</details>", "@*user* *@*user", "[x][y]\n\n[y]: /z",
		"````\n```\n````\n@a", "``` a`b\n@c", strings.Repeat("<details><summary>a</summary>\n\n", 9), "\x00<b>", "xmpp:a@b.c mailto:d@e.f", "@\u200bfine", "&commat;user",
	} {
		checkSafe(t, report.UntrustedMarkdown(page)+end)
	}
}

// TestUntrustedMarkdownKeeps: the output of this package does not change.
func TestUntrustedMarkdownKeeps(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		page := shown(t, "markdown", m, sum, rows)
		if got := report.UntrustedMarkdown(page); strings.TrimSpace(got) != strings.TrimSpace(page) {
			t.Errorf("changed:\n%s\nbecomes\n%s", page, got)
		}
		checkSafe(t, page)
	})
}

// TestUntrustedMarkdownIsLinear: the time for a megabyte of text is linear in its size.
func TestUntrustedMarkdownIsLinear(t *testing.T) {
	t.Parallel()
	var runs strings.Builder
	for n := 1; runs.Len() < 1<<20; n++ {
		runs.WriteString(strings.Repeat("`", n) + "x")
	}
	for _, page := range []string{runs.String(), strings.Repeat("`a", 1<<19), strings.Repeat("`` `", 1<<18), strings.Repeat("\\", 1<<20), strings.Repeat("```\n", 1<<18), "`" + strings.Repeat("[", 1<<20) + "`"} {
		if got := report.UntrustedMarkdown(page); len(got) > 4<<20 {
			t.Errorf("%d bytes", len(got))
		}
	}
}

func FuzzUntrustedMarkdown(f *testing.F) {
	f.Add("a `b` @c\n\n```diff\n- d\n```\n<details><summary>e</summary>\n\n| `f` |\n|---|\n</details>")
	f.Fuzz(func(t *testing.T, page string) {
		checkSafe(t, report.UntrustedMarkdown(page)+"\nthe footer\n")
	})
}
