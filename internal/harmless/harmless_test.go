package harmless_test

import (
	"testing"

	"github.com/proviso-eval/proviso/internal/harmless"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\x1b[31m", "a\rb", "a\u202eb", "\u2028", "\xff", "a\n ::error::no", "a ##[error]no", "##vso[task]"} {
		if harmless.Terminal(bad) == "" {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
	for _, good := range []string{"", "a\n# b\n", "a :: b", "👩\u200d🚀 café"} {
		if wrong := harmless.Terminal(good); wrong != "" {
			t.Errorf("%q: %s", good, wrong)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const plain = "# a\n\n<details><summary>b</summary>\n\n`c`\n</details>\n\n<https://proviso.example>\n"
	for _, bad := range []string{"[a](/b)", "![a](/b)", "<https://other.example> <https://proviso.example>", "www.evil.example", "@team", "see #12", "a !3", "GH-4", "<img src=x>", "a <img src=x>", "<!-- hidden",
		"<details>", "\n# another\n\n# and another", "`a @b", "&#64;team", "\x1b", "a\n\n<script>x</script>"} {
		if harmless.Markdown(bad, "# a\n") == "" {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
	for _, good := range []string{plain, "`@team <img>`", "```\n@team\n```\n", "\\<img>", "``a `@b`", `\&lt;b&gt; \\@`} {
		if wrong := harmless.Markdown(good, plain); wrong != "" {
			t.Errorf("%q: %s", good, wrong)
		}
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	const plain = `<!doctype html><style>a{}</style><p class="b">c</p><a href="https://proviso.example">d</a><script>e()</script>`
	for _, bad := range []string{"<img src=x>", `<p class="b" onclick=x>`, `<a href="javascript:x">`, "<script>f()</script>", "<!-- a -->", `<p style="x">`, "\x1b", "\xff"} {
		if harmless.HTML(plain+bad, plain) == "" {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
	for _, good := range []string{"&lt;img src=x&gt;", `<p class="other">x`, "<p>" /* without its class */} {
		if wrong := harmless.HTML(plain+good, plain+"<p>"); wrong != "" {
			t.Errorf("%q: %s", good, wrong)
		}
	}
}
