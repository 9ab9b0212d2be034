package report_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// outside returns the parts of a Markdown text that are not in a fence or a code
// span: the rules of CommonMark 0.31, sections 4.5 and 6.1.
func outside(t testing.TB, text string) string {
	t.Helper()
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if fence != "" {
			rest := strings.TrimLeft(line, " ")
			if n := len(rest) - len(strings.TrimLeft(rest, "`")); len(line)-len(rest) < 4 && n >= len(fence) && strings.TrimLeft(rest, "` \t") == "" {
				fence = ""
			}
			continue
		}
		if n := len(line) - len(strings.TrimLeft(line, "`")); n >= 3 && !strings.Contains(line[n:], "`") {
			fence = line[:n]
			continue
		}
		b.WriteString(outsideSpans(line) + "\n")
	}
	if fence != "" {
		t.Fatal("a fence is not closed")
	}
	return b.String()
}

func outsideSpans(line string) string {
	var b strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return b.String() + line
		}
		b.WriteString(line[:at])
		line = line[at:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		end := closing(line[n:], n)
		if end < 0 {
			b.WriteString(line[:n])
			line = line[n:]
			continue
		}
		line = line[n+end+n:]
	}
	return b.String()
}

// closing returns the offset of the run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] == '`' {
			end++
		}
		if end-i == n {
			return i
		}
		i = end
	}
	return -1
}

// own matches the report's own lines once code is removed.
var own = regexp.MustCompile(`^(|## [✓✗!] proviso(: )?|\*\*\d+ passed, \d+ failed, \d+ errors?\*\*[^<>@\[\]]*|\d+ of \d+ repeated cases? both .*|\d+ (case|row)s? skipped: no assertion applied\.|` +
	`\| (Assertion|Provider and prompt) \|.*|\|---\|[-:|]+|\|\s+(\(judge unvalidated\) )?\|( (–|[<> \d–%]+) \|){6}|### What did not pass, worst first|` +
	`\*\*[✗!] case \d+( \(repeat \d+ of \d+\))?\*\*( +at)? *|- [✗!] *(, for information only|, error)*:? *|- … and \d+ more|` +
	`<details><summary>Input and output</summary>|</details>|… and \d+ more.*|` +
	`Judge +: \d+ verdicts?[\w ,.%$()]*|\*\*judge unvalidated\*\*: its verdicts have not been compared .*)$`)

func checkMarkdown(t testing.TB, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatal("not UTF-8")
	}
	for _, r := range text {
		if r != '\n' && r != 0x200d && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Fatalf("the report holds %U", r)
		}
	}
	for line := range strings.Lines(outside(t, text)) {
		if !own.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Fatalf("outside of code there is %q in\n%s", line, text)
		}
	}
}

func TestMarkdownIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		for _, name := range []string{"markdown", "github"} {
			got := shown(t, name, m, sum, rows)
			checkMarkdown(t, got)
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "| `") && strings.Count(line, "|") != 8 {
					t.Errorf("a row of a table has other cells: %q", line)
				}
			}
		}
	})
}

// many is a run of n rows with long texts.
func many(t testing.TB, n int, text string) (*report.Meta, *report.Summary, report.Rows) {
	m, sum := meta(), report.NewSummary(1)
	var kept memoryRows
	for i := range n {
		c := caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"a"},{"type":"equals","value":"b"}]}`)
		c.Assert[0].Metric = fmt.Sprintf("%s %d", text, i)
		status := [...]proviso.Status{proviso.Fail, proviso.Errored}[i%2]
		r := resultOf(c, text, status, status)
		r.Vars = value.ObjectOf("v", text)
		r.Aggregate.Score = float64(n - i)
		if status == proviso.Errored {
			r.Error = fmt.Sprintf("error %d", i)
		}
		sum.Add(i, r)
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	return m, sum, kept
}

func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"markdown": 65536, "github": 1 << 20} {
		for _, text := range []string{strings.Repeat("a\u0301\u0302\u0303\u0304\u0305\u0306", 500), strings.Repeat("`", 5000), strings.Repeat("x\n", 5000)} {
			m, sum, rows := many(t, 1000, text)
			got := shown(t, name, m, sum, rows)
			checkMarkdown(t, got)
			if len(got) > limit || !strings.Contains(got, "… and ") {
				t.Errorf("%s has %d bytes", name, len(got))
			}
		}
	}
}

func TestMarkdownWorstFirst(t *testing.T) {
	t.Parallel()
	m, sum, rows := many(t, 7, "x")
	got := shown(t, "markdown", m, sum, rows)
	last := -1
	for _, n := range []int{7, 5, 3, 1, 2, 4, 6} { // failures by score, then rows with errors
		at := strings.Index(got, fmt.Sprintf("case %d*", n))
		if at <= last {
			t.Errorf("case %d stands at %d, after %d", n, at, last)
		}
		last = at
	}
}

func annotations(t testing.TB, o report.AnnotationOptions, sum *report.Summary, rows report.Rows) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Annotations(context.Background(), &b, o, sum, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	rows := keep(t, m, sum, results)
	golden(t, "sample.annotations", []byte(annotations(t, report.AnnotationOptions{Place: func(test int, _ []byte) (string, int) {
		return [...]string{"evals/a,b:c.yaml", ""}[test%2], test + 10
	}}, sum, rows)))
	_, sum2, rows2 := many(t, 100, "x")
	for limit, want := range map[int]int{0: 10, 3: 3} {
		got := annotations(t, report.AnnotationOptions{Max: limit}, sum2, rows2)
		if strings.Count(got, "::error ") != want || strings.Count(got, "::warning ") != want || !strings.HasPrefix(got, "::error title=case 99::") {
			t.Errorf("of at most %d there are\n%s", limit, got)
		}
	}
}

var command = regexp.MustCompile(`^::(error|warning) file=[^:,\n]*,line=7,title=case \d+[^:,\n]*::[^\n]+\n$`)

func checkAnnotations(t testing.TB, text string) {
	t.Helper()
	_, sum, rows := everywhere(t, text)
	got := annotations(t, report.AnnotationOptions{Place: func(int, []byte) (string, int) { return "x" + text, 7 }}, sum, rows)
	n := 0
	for line := range strings.Lines(got) {
		n++
		if !command.MatchString(line) || strings.ContainsAny(line, "\r\x1b\x00") {
			t.Errorf("not a command: %q", line)
		}
	}
	if n != 2 {
		t.Errorf("%d commands", n)
	}
}

func TestAnnotationsAreHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) { checkAnnotations(t, text) })
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, sum, rows := everywhere(t, text)
		checkMarkdown(t, shown(t, "markdown", m, sum, rows))
		checkAnnotations(t, text)
	})
}
