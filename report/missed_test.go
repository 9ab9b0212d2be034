package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/report"
)

// missedOf is a section in which every untrusted text is the given one.
func missedOf(text string, instructions int) *report.Missed {
	s := &report.Missed{
		Headline: "Mutation score 50 % (1–99 %): 1 of 2 mutants killed, 1 survived", About: []string{"2 outputs, 2 used. " + text},
		Assertions: []report.MissedAssertion{{Name: text, Kills: 1, Passes: 1, Of: []string{text, text, text, text, text, text, text}, Note: text}},
		JSON:       []byte(`{"killed":1}`),
	}
	for i := range instructions {
		in := report.MissedInstruction{Group: report.MissedGroup{Title: "All mutants are killed", Killed: true}, Line: i + 1, Text: text, Result: "killed: 1 of 1 mutant, by " + text}
		if i < instructions/2 {
			in.Group = report.MissedGroup{Title: "Mutants survive", Missed: true}
			in.Next, in.Example = "add "+text, &report.MissedChange{Of: "pad, assumed, in " + text, Before: text, Removed: text, Added: text, After: text}
		}
		s.Instructions = append(s.Instructions, in)
	}
	return s
}

// TestReportShowsWhatIsMissed: every format for people has the section, and the formats for
// programs have its figures. Without the section, nothing changes.
func TestReportShowsWhatIsMissed(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	rows := keep(t, m, sum, results)
	for _, name := range []string{"html", "markdown", "json", "yaml", "terminal"} {
		if strings.Contains(shown(t, name, m, sum, rows), "would miss") {
			t.Errorf("%s has a section that was not measured", name)
		}
	}
	m.Missed = missedOf("Be kind", 2)
	for name, wants := range map[string][]string{
		"html": {
			`<p class="note"><a href="#h-missed">What this suite would miss</a>: Mutation score 50 %`, `<h2 id="h-missed">What this suite would miss</h2>`,
			`<h3>Mutants survive</h3>`, `<span class="hidden">Survives:</span></span> <b><bdi>Be kind</bdi></b> <span class="note">line 1</span>`,
			`Be kind <del>Be kind</del> <ins>Be kind</ins> Be kind`, `<code>add Be kind</code>`, `<span class="hidden">Killed:</span>`, `<bdi>Be kind</bdi><br>3 more`,
		},
		"markdown": {"### What this suite would miss\n", "| 1 | `Be kind` | ", "`Be kind [-Be kind-] {+Be kind+} Be kind` | `add Be kind` |", "| `Be kind` | 1 | 1 | 0 | `Be kind; Be kind; Be kind; Be kind; 3 more` |"},
		"terminal": {"\nWhat this suite would miss\n  Mutation score 50 %", "  ✗    1  Be kind\n", "Be kind [-Be kind-] {+Be kind+} Be kind\n", "\n1 passed, "},
		"yaml":     {`"mutation": {"killed": 1}`},
	} {
		text := shown(t, name, m, sum, rows)
		for _, want := range wants {
			if !strings.Contains(text, strings.ReplaceAll(want, "<bdi>Be kind</bdi><br>3 more", "<bdi>Be kind</bdi><br><bdi>3 more</bdi>")) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
	var doc struct {
		Proviso struct{ Mutation struct{ Killed int } }
	}
	if err := json.Unmarshal([]byte(shown(t, "json", m, sum, rows)), &doc); err != nil || doc.Proviso.Mutation.Killed != 1 {
		t.Errorf("%v %+v", err, doc)
	}
}

// TestMissedIsHarmless: the texts never act as markup, command or control character, and
// the section is bounded.
func TestMissedIsHarmless(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"markup": `</section><script>alert(1)</script><img src=x onerror=alert(1)>"'`, "table": "a | b\n\n# c\n[x](y) @all #1 `code` ::error::x"}
	for name, text := range hostile {
		texts[name] = text
	}
	for name, text := range texts {
		m, sum, results := sample(t)
		rows := keep(t, m, sum, results)
		m.Missed = missedOf(text, 120)
		page := shown(t, "html", m, sum, rows)
		_, section, _ := strings.Cut(page, `<section aria-labelledby="h-missed"`)
		section, _, _ = strings.Cut(section, `<section aria-labelledby="h-produced"`)
		if strings.Count(section, "</section>") != 1 || strings.Contains(section, "<script") || strings.Contains(section, "<img") || !strings.Contains(section, "… and 20 instructions more") {
			t.Errorf("%s: the page has markup of a text", name)
		}
		if len(section) > 1<<20 {
			t.Errorf("%s: the section has %d bytes", name, len(section))
		}
		text := shown(t, "markdown", m, sum, rows)
		if len(text) > 60_000 || strings.Contains(text, "\n# ") || strings.Contains(text, "\n::") {
			t.Errorf("%s: Markdown has %d bytes, or a text in it is markup", name, len(text))
		}
		var b bytes.Buffer
		if err := report.Terminal(&b, report.TerminalOptions{Width: 60, Summary: true}, m, sum, rows); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\x00\u202e\u2028") || !strings.Contains(b.String(), "… and 50 instructions more") {
			t.Errorf("%s: the terminal gets %q", name, b.String())
		}
	}
}

// TestMissedInBrowser opens the section at phone and desktop size, with and without the
// script: nothing is wider than the window, no text runs, and the link leads to the
// section.
func TestMissedInBrowser(t *testing.T) {
	b := openBrowser(t)
	m, sum, rows := wideRun(t, 4)
	m.Missed = missedOf(`<img src=x onerror=alert(1)> `+strings.Repeat("unbroken", 60), 6)
	page := shown(t, "html", m, sum, rows)
	for width, scheme := range map[int]string{390: "dark", 1280: "light"} {
		b.size(width, 844, scheme)
		for _, script := range []bool{false, true} {
			b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !script}, nil)
			b.open(page)
			if script {
				b.until("document.documentElement.classList.contains('live') && document.querySelector('#app h2')")
			}
			b.want("document.documentElement.scrollWidth <= innerWidth", true)
			b.want("document.querySelectorAll('[aria-labelledby=h-missed] img, [aria-labelledby=h-missed] script').length", 0)
			b.want("document.querySelectorAll('[aria-labelledby=h-missed] li b').length", 6)
			b.want("(document.querySelector('a[href=\"#h-missed\"]').click(), document.querySelector('#h-missed').getBoundingClientRect().top < innerHeight)", true)
			b.screenshot(fmt.Sprintf("missed-%d-%s-%t", width, scheme, script))
			if trouble := b.trouble(); len(trouble) > 0 {
				t.Errorf("%d %s: %v", width, scheme, trouble)
			}
		}
	}
}
