package report_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/proviso-eval/proviso/internal/harmless"
	"github.com/proviso-eval/proviso/report"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a.yaml:3: unknown key": "a.yaml:3: unknown key", "std::string and ## a": "std::string and ## a",
		"::error::no": `\::error::no`, "a\n \u00a0::stop-commands::x\nb": "a\n\\ \u00a0::stop-commands::x\nb",
		"a ##[error]b ##vso[task.x]": `a ##\[error]b ##vso\[task.x]`, "\x1b[31m": "\ufffd[31m",
	} {
		if got := report.Message(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{" ::error::no": `\::error::no`, "## Rules": "## Rules", "##[error]no": `##\[error]no`} {
		if got := report.Line(text, 40); got != want {
			t.Errorf("the line %q is %q, want %q", text, got, want)
		}
	}
}

// FuzzMessage checks that a message, a line and wrapped lines have no effect in a log,
// wherever they are, and that harmless text is unchanged.
func FuzzMessage(f *testing.F) {
	for _, text := range hostile {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Add("a\n\t::error::b\n##[group]c ##vso[d")
	f.Fuzz(func(t *testing.T, text string) {
		got := report.Message(text)
		if wrong := harmless.Commands(got); wrong != "" {
			t.Errorf("%q gives %q: %s", text, got, wrong)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
		}) {
			t.Errorf("%q gives %q", text, got)
		}
		if plain := report.Printable(text); strings.ReplaceAll(got, `\`, "") != strings.ReplaceAll(plain, `\`, "") || !strings.Contains(plain, "::") && !strings.Contains(plain, "##") && got != plain {
			t.Errorf("%q gives %q", text, got)
		}
		for _, line := range append(report.Lines(text, 30, 20), report.Line(text, 30)) {
			if wrong := harmless.Terminal(report.Opening(line)); wrong != "" {
				t.Errorf("%q has the line %q: %s", text, line, wrong)
			}
		}
		if wrong := harmless.Terminal(report.Line(text, 30)); wrong != "" {
			t.Errorf("%q as a line: %s", text, wrong)
		}
	})
}
