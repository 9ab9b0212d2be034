package show_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/internal/harmless"
)

// FuzzShow: no text from a suite or a model has an effect where a comparison is shown.
func FuzzShow(f *testing.F) {
	for _, text := range append(strings.Split(hostile, "\n"), hostile, "", "GH-12", "`", "a`b``", "| a |", "\\`@b`", "```\n<img>\n````", "<details><summary>", "&lt;img&gt; &#64;user", "a\n\n> b\n\n- c", "\xff\u202e") {
		f.Add(text)
	}
	var plain [2]string
	f.Fuzz(func(t *testing.T, text string) {
		if plain[0] == "" {
			plain = [2]string{render(t, "md", "x", show.Options{}), render(t, "html", "x", show.Options{})}
		}
		if len(text) > 2000 {
			return
		}
		terminal, markdown, page := render(t, "txt", text, show.Options{}), render(t, "md", text, show.Options{}), render(t, "html", text, show.Options{})
		if wrong := harmless.Terminal(terminal); wrong != "" {
			t.Errorf("for a terminal: %s\n%s", wrong, terminal)
		}
		if wrong := harmless.Markdown(markdown, plain[0]); wrong != "" {
			t.Errorf("in Markdown: %s\n%s", wrong, markdown)
		}
		if wrong := harmless.HTML(page, plain[1]); wrong != "" {
			t.Errorf("in a page: %s\n%s", wrong, page)
		}
	})
}
