package show_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/stats"
)

var update = flag.Bool("update", false, "write the golden files")

// source has the same texts for every row.
type source struct {
	row    runs.Row
	prompt string
	read   int
}

func (s *source) Row(int) (*runs.Row, error)  { s.read++; return &s.row, nil }
func (s *source) Prompt(_ gate.Column) string { return s.prompt }

func estimate(value, low, high float64) stats.Estimate {
	return stats.Estimate{Value: value, Interval: stats.Interval{Low: low, High: high}}
}

func effect(base, head float64, pairs int) gate.Effect {
	around := func(v float64) gate.Figure {
		return gate.Figure{Estimate: estimate(v, max(0, v-0.05), min(1, v+0.05)), N: pairs}
	}
	d := head - base
	return gate.Effect{Base: around(base), Head: around(head), Difference: estimate(d, d-0.03, d+0.03), Pairs: pairs}
}

// sample is a comparison that contains text wherever text from a suite or a model can
// occur.
func sample(text string) (*gate.Comparison, *gate.Decision, show.Texts) {
	column := gate.Column{Prompt: "p " + text, Provider: "m " + text}
	other := gate.Column{Prompt: "q", Provider: "m"}
	corrected := effect(0.94, 0.8, 120)
	cost := gate.Effect{Base: gate.Figure{Estimate: estimate(0.0012, 0.001, 0.002), N: 120}, Head: gate.Figure{Estimate: estimate(0.0015, 0.001, 0.002), N: 120},
		Difference: estimate(0.0003, 0.0001, 0.0004), Pairs: 120}
	c := &gate.Comparison{
		Base: gate.Side{Name: "base " + text}, Head: gate.Side{Name: "head " + text},
		Suite: effect(0.96, 0.9, 120), Pairs: 120, LeftOut: 1, Cost: &cost,
		Assertions: []gate.AssertionEffect{
			{Assertion: "tone " + text, Effect: effect(0.95, 0.85, 120), Broke: 9, Fixed: 1, P: 0.021484375, PAdjusted: 0.04296875, Judged: true, Corrected: &corrected},
			{Assertion: "a name that is far too long for the column of names", Effect: effect(0.97, 0.95, 120), Judged: true, OnlyHead: 2, P: 1, PAdjusted: 1},
			{Assertion: "new", Effect: gate.Effect{Difference: estimate(math.NaN(), math.NaN(), math.NaN())}, P: math.NaN(), PAdjusted: math.NaN(), OnlyHead: 120},
		},
		Cases: gate.Cases{
			Broke:        []gate.CasePair{{Name: "one " + text, Base: []int{0}, Head: []int{0}, Change: -0.5, Broke: []string{"tone " + text}}},
			Fixed:        []gate.CasePair{{Name: "two", Base: []int{1}, Head: []int{1}, Change: 0.5, Fixed: []string{"tone " + text}}},
			StillFailing: []gate.CasePair{{Name: "three", Base: []int{2}, Head: []int{2}}},
			Flaky:        []gate.CasePair{{Name: "four", Base: []int{3, 4}, Head: []int{3, 4}}},
			Same:         115, OnlyHead: []gate.CasePair{{Name: "five", Head: []int{5}, Change: math.NaN()}},
			Undecided: []gate.CasePair{{Name: "six", Base: []int{6}, Head: []int{6}, Change: math.NaN()}},
		},
		Columns:  []gate.ColumnPair{{Base: column, Head: column}, {Base: other, Head: other}},
		Warnings: []string{"The judge of the assertion " + text + " differs."},
	}
	d := &gate.Decision{Outcome: gate.Fail, Reasons: []gate.Reason{{Rule: "assertions", Assertion: "tone " + text, Message: "The assertion " + text + " fell by 10 pp."}},
		Needed: &gate.Needed{Cases: 400, Repeats: 3}}
	row := func(status proviso.Status, word string) runs.Row {
		return runs.Row{Prompt: "Be " + word + " " + text, Input: "who: " + text, Output: "Dear all,\nthis is " + word + " text with " + text + "\nGoodbye", Answered: true,
			Verdicts: []runs.VerdictText{{Assertion: "tone " + text, Status: status, Reason: "it is " + word + " " + text, Evidence: []string{"this is " + word + " " + text}}}}
	}
	return c, d, show.Texts{Base: &source{row: row(proviso.Pass, "kind"), prompt: "Be kind to {{who}}. " + text}, Head: &source{row: row(proviso.Fail, "rude"), prompt: "Be short to {{who}}. " + text}}
}

// render calls the function for one format.
func render(t *testing.T, format, text string, o show.Options) string {
	t.Helper()
	c, d, texts := sample(text)
	var b bytes.Buffer
	var err error
	o.Suite, o.Link, o.Reproduce = "suite "+text, "https://proviso.example/v1/runs/run_1", []string{"proviso compare 1 2"}
	switch format {
	case "md":
		err = show.Markdown(&b, c, d, texts, o)
	case "txt":
		err = show.Terminal(&b, c, d, texts, o)
	case "html":
		err = show.HTML(&b, c, d, texts, o)
	case "json":
		err = show.JSON(&b, c, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"md", "txt", "html", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			got := withoutStyle(t, render(t, format, "x", show.Options{}))
			name := filepath.Join("testdata", "fail."+format)
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("differs from %s (-update writes it):\n%s", name, got)
			}
		})
	}
}

// withoutStyle removes the style and its hash from a page, so that a golden file contains
// only the content. It checks that the hash belongs to the style.
func withoutStyle(t *testing.T, page string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, "<style>")
	if !found {
		return page
	}
	style, after, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if strings.Count(before, hash) != 1 || style == "" {
		t.Errorf("the policy does not have the hash of the style, %s:\n%s", hash, before)
	}
	return strings.Replace(before, hash, "'sha256-…'", 1) + "<style></style>" + after
}

// hostile contains everything that must never come through unchanged, in each format.
const hostile = "\x1b[31mred\x07 @octocat #12 [a](http://evil.example) ![i](http://evil.example/i.png) <img src=x onerror=alert(1)> " +
	"<!-- marker --> </details> | a | ``` ```` `c` www.evil.example https://evil.example\r\n```\n::error::no\n##[error]no\n# title\n/close\n\u202egnp.exe {{who}} ${{ secrets }} &lt;"

func TestHostileTerminal(t *testing.T) {
	t.Parallel()
	got := render(t, "txt", hostile, show.Options{})
	for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "##[error]"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q comes through", bad)
		}
	}
	for line := range strings.SplitSeq(got, "\n") {
		if rest := strings.TrimSpace(line); strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "##") {
			t.Errorf("a CI system would run %q", line)
		}
		if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "The run: ") {
			t.Errorf("%d cells: %q", utf8.RuneCountInString(line), line)
		}
	}
}

// outside returns Markdown without its code spans and fences.
func outside(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	for len(text) > 0 {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		if at > 0 && text[at-1] == '\\' { // escaped
			out.WriteByte('`')
			text = text[at+1:]
			continue
		}
		bar := text[at : at+len(text[at:])-len(strings.TrimLeft(text[at:], "`"))]
		text = text[at+len(bar):]
		for { // the closing run of backticks has the same length
			end := strings.Index(text, bar)
			if end < 0 {
				t.Fatalf("code that begins with %s does not end: %q", bar, text)
			}
			rest := strings.TrimLeft(text[end:], "`")
			n := len(text[end:]) - len(rest)
			text = rest
			if n == len(bar) {
				break
			}
		}
	}
	return out.String() + text
}

func TestHostileMarkdown(t *testing.T) {
	t.Parallel()
	got := render(t, "md", hostile, show.Options{})
	for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q comes through", bad)
		}
	}
	for line := range strings.SplitSeq(got, "\n") {
		if rest := strings.TrimSpace(line); strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "##[") {
			t.Errorf("a CI system would run %q", line)
		}
	}
	plain := outside(t, got)
	plain = strings.ReplaceAll(plain, "<https://proviso.example/v1/runs/run_1>", "")
	for _, bad := range []string{"@o", "#1", "](", "<img", "<!--", "://evil", "www.e", "{{", "${{", "\n/"} {
		if strings.Contains(strings.ReplaceAll(plain, `\<`, ""), bad) {
			t.Errorf("%q is outside of code:\n%s", bad, plain)
		}
	}
	if a, b := strings.Count(plain, "<details>"), strings.Count(plain, "</details>"); a != b || a < 2 {
		t.Errorf("%d <details> and %d </details>", a, b)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(line, "|")-strings.Count(line, `\|`) != 7 {
			t.Errorf("a row of the table has another number of cells: %s", line)
		}
	}
}

func TestHostileHTML(t *testing.T) {
	t.Parallel()
	got := strings.Replace(render(t, "html", hostile, show.Options{}), `<a rel="noreferrer" href="https://proviso.example/v1/runs/run_1">`, "", 1)
	for _, bad := range []string{"\n::error", "##[error]", "\x1b", "\x07", "\u202e", "<img", "<!--", "onerror=alert(1)>", "<script", "href=", "src=\""} {
		if strings.Contains(got, bad) {
			t.Errorf("%q comes through", bad)
		}
	}
	if !strings.Contains(got, "default-src 'none'; style-src 'sha256-") {
		t.Error("no policy")
	}
}

// TestLink: only an address of the web is a link.
func TestLink(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"https://a.example/1": true, "http://a": true, "javascript:alert(1)": false, "https://a\"b": false, "https://a<b>": false, "": false} {
		c, d, texts := sample("x")
		var page, text strings.Builder
		o := show.Options{Link: address}
		if err := errors.Join(show.HTML(&page, c, d, texts, o), show.Markdown(&text, c, d, texts, o)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(page.String(), "href=") != want || strings.Contains(text.String(), "The run: <") != want {
			t.Errorf("%q: %s\n%s", address, page.String(), text.String())
		}
	}
}

// TestLimit: the text is cut between entries, and the remaining entries are complete.
func TestLimit(t *testing.T) {
	t.Parallel()
	whole := render(t, "md", "ü", show.Options{})
	for limit := 800; limit < utf8.RuneCountInString(whole)+2_100; limit += 97 {
		got := render(t, "md", "ü", show.Options{Limit: limit})
		if n := utf8.RuneCountInString(got); n > limit {
			t.Errorf("%d characters, limit %d", n, limit)
		}
		outside(t, got)
		if strings.Count(got, "<details>") != strings.Count(got, "</details>") {
			t.Errorf("limit %d cuts a block:\n%s", limit, got)
		}
		if !strings.Contains(got, "fail") {
			t.Errorf("limit %d loses the decision", limit)
		}
		if cut := strings.Contains(got, "left out, because the length is limited"); cut != (len(got) < len(whole)) {
			t.Errorf("limit %d: cut is %v", limit, cut)
		}
	}
}

// TestOnlyShownRowsAreRead: with a thousand broken cases, only the rows shown are read.
func TestOnlyShownRowsAreRead(t *testing.T) {
	t.Parallel()
	c, d, texts := sample("x")
	for i := range 1000 {
		c.Cases.Broke = append(c.Cases.Broke, gate.CasePair{Name: fmt.Sprint("n", i), Base: []int{i}, Head: []int{i}, Broke: []string{"tone x"}})
	}
	var b bytes.Buffer
	if err := show.Markdown(&b, c, d, texts, show.Options{}); err != nil {
		t.Fatal(err)
	}
	if n := texts.Head.(*source).read; n != 10 {
		t.Errorf("%d rows were read", n)
	}
	if !strings.Contains(b.String(), "1001 cases broke") || !strings.Contains(b.String(), "and 971 more") {
		t.Error(b.String())
	}
}

// TestWithoutTexts: a baseline file has no outputs.
func TestWithoutTexts(t *testing.T) {
	t.Parallel()
	c, d, texts := sample("x")
	texts.Base = nil
	for _, f := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return show.Markdown(b, c, d, texts, show.Options{}) },
		func(b *bytes.Buffer) error { return show.Terminal(b, c, d, texts, show.Options{}) },
		func(b *bytes.Buffer) error { return show.HTML(b, c, d, texts, show.Options{}) },
		func(b *bytes.Buffer) error { return show.Markdown(b, nil, d, show.Texts{}, show.Options{}) },
		func(b *bytes.Buffer) error { return show.Terminal(b, nil, d, show.Texts{}, show.Options{}) },
		func(b *bytes.Buffer) error { return show.HTML(b, nil, d, show.Texts{}, show.Options{}) },
		func(b *bytes.Buffer) error { return show.JSON(b, nil, d) },
	} {
		var b bytes.Buffer
		if err := f(&b); err != nil || !strings.Contains(b.String(), "fell by 10 pp") && !strings.Contains(b.String(), "rude") {
			t.Errorf("%v: %s", err, b.String())
		}
	}
}
