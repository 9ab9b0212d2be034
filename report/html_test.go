package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// block returns the text between two texts, each of which occurs once.
func block(t testing.TB, page, from, to string) string {
	t.Helper()
	before, after, found := strings.Cut(page, from)
	content, _, ended := strings.Cut(after, to)
	if !found || !ended || strings.Contains(before, from) {
		t.Fatalf("the page has no %s", from)
	}
	return content
}

const dataRows = `<script type="application/json" id="rows">`

// pageRows returns the rows in a page.
func pageRows(t testing.TB, page string) []map[string]any {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal([]byte(block(t, page, dataRows, "</script>")), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestHTMLPolicyHasTheHashes(t *testing.T) {
	t.Parallel()
	m, sum, results := sample(t)
	page := shown(t, "html", m, sum, keep(t, m, sum, results))
	policy := block(t, page, `Content-Security-Policy" content="`, `"`)
	for directive, content := range map[string]string{
		"style-src":  block(t, page, "<style>", "</style>"),
		"script-src": block(t, page, "<script>", "</script>"),
	} {
		hash := sha256.Sum256([]byte(content))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"; !strings.Contains(policy, want) {
			t.Errorf("%s is not in %s", want, policy)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(page, " style=") {
		t.Errorf("the policy is %s", policy)
	}
	if overhead := len(page) - len(block(t, page, dataRows, "</script>")); overhead > 60<<10 {
		t.Errorf("the page has %d bytes besides its rows", overhead)
	}
}

func TestHTMLChoosesWhatFailed(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(1)
	var kept memoryRows
	for i := range 5000 {
		c := caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"a"}]}`)
		status := [...]proviso.Status{proviso.Pass, proviso.Pass, proviso.Errored, proviso.Pass, proviso.Fail}[i%5]
		r := resultOf(c, "b", status)
		sum.Add(i, r)
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	m.RunFile = "/runs/<x>/run.jsonl"
	page := shown(t, "html", m, sum, kept)
	rows := pageRows(t, page)
	count := map[any]int{}
	for _, r := range rows {
		count[r["s"]]++
	}
	if len(rows) != 2000 || count["fail"] != 1000 || count["error"] != 1000 {
		t.Errorf("%d rows: %v", len(rows), count)
	}
	if !strings.Contains(page, "The page has 2000 of 5000 rows") || !strings.Contains(page, "All of them are in the run: <code>proviso show ") || strings.Contains(page, "run.jsonl") {
		t.Error("the page does not say where the rest is")
	}
}

func TestHTMLIsBounded(t *testing.T) {
	t.Parallel()
	m, sum, rows := many(t, 2000, strings.Repeat("<&\u2028", 5000))
	page := shown(t, "html", m, sum, rows)
	if len(page) > 9<<20 || !regexp.MustCompile(`The page has \d+ of 2000 rows`).MatchString(page) {
		t.Errorf("the page has %d bytes", len(page))
	}
	pageRows(t, page)
}

// tags matches all tags of the page; those that the script adds are not included.
var tags = regexp.MustCompile(`<[^>]*>?`)

func checkHTML(t testing.TB, text string) string {
	t.Helper()
	var skeleton [2][]string
	var page string
	for i, text := range []string{"x", text} {
		m, sum, rows := everywhere(t, text)
		page = shown(t, "html", m, sum, rows)
		pageRows(t, page)
		for _, tag := range tags.FindAllString(page, -1) {
			if strings.HasPrefix(tag, "<th scope=\"row\"") {
				tag = "<th>"
			}
			skeleton[i] = append(skeleton[i], tag)
		}
	}
	if !utf8.ValidString(page) {
		t.Error("not UTF-8")
	}
	// The page's markup is the same for any text, but the order in a table of
	// assertions may differ, and a label may be missing.
	if text != "" && text != "equals" && fmt.Sprint(skeleton[0]) != fmt.Sprint(skeleton[1]) {
		t.Errorf("the text changes the markup to\n%s", skeleton[1])
	}
	return page
}

func TestHTMLIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) { checkHTML(t, text) })
}

// Hostile text neither runs nor loads anything in a browser, and every part of
// the page works from the keyboard.
func TestHTMLInABrowser(t *testing.T) {
	b := openBrowser(t)
	for name, text := range nasty {
		m, sum, rows := everywhere(t, text)
		b.open(shown(t, "html", m, sum, rows))
		b.want("window.owned === undefined && document.querySelectorAll('img, iframe, object, script:not([type])').length", 1)
		b.want("document.querySelectorAll('.cell').length", 4)
		b.eval("document.querySelectorAll('.cell').forEach((one) => one.click())")
		b.want("document.querySelectorAll('.panel').length", 1)
		if list := b.trouble(); list != nil {
			t.Errorf("%s: %s", name, list)
		}
	}
	m, sum, results := sample(t)
	b.size(1280, 900, "light")
	b.open(shown(t, "html", m, sum, keep(t, m, sum, results)))
	keyboard(b)
	filters(b)
	judgedPanel(t, b)
	if list := b.trouble(); list != nil {
		t.Errorf("%s", list)
	}
}

// judgedPanel checks a judged assertion in the page: its id, its requirement, each
// criterion with its reason, and its evidence marked in the output, even after
// characters that have another length in JavaScript.
func judgedPanel(t *testing.T, b *browser) {
	t.Helper()
	m, sum, results := judgedRun(t)
	results[2].Output.Value = "\U0001f375 é A drink [1]. [1]"
	results[2].SetVerdict[0].Criteria[0].Evidence = []proviso.Evidence{{Quote: "[1]", Start: 16}}
	b.open(shown(t, "html", m, sum, keep(t, m, sum, results)))
	b.eval("document.querySelector('.cell.fail').click()")
	b.want("document.querySelector('.cell.fail .why').textContent", "cites: No source is named.")
	b.want("[...document.querySelectorAll('.panel pre mark')].map((one) => one.textContent + '|' + one.nextSibling.textContent).join()", "[1]|. [1]")
	b.want("document.querySelector('.panel .asks').textContent", "Asks: Cite sources.")
	b.want("document.querySelector('.panel .criteria').textContent", "✗ FailEvery claim names its source.It does. (votes: 2 met, 1 not) (one quote does not occur in the output)“[1]”")
	b.want("document.querySelector('.panel .facts').textContent", "echo · score 0.5 (threshold 1)")
}

const focused = "document.activeElement.dataset.cell || document.activeElement.id || document.activeElement.tagName"

func keyboard(b *browser) {
	b.t.Helper()
	b.eval("document.getElementById('search').focus()")
	b.press("Tab", "Tab") // the scrolling region, then the only cell in the tab order
	b.want(focused, "0.0")
	b.press("ArrowDown")
	b.want(focused, "1.0")
	b.press("End", "Home", "j")
	b.want(focused, "2.0")
	b.press("k", "k")
	b.want(focused, "0.0")
	b.press("Enter")
	b.want("document.activeElement.getAttribute('aria-expanded')", "true")
	b.want("document.querySelector('#panel mark').textContent", "Ann")
	b.want("location.hash", "#open=0.0")
	b.press("Tab")
	b.want("document.activeElement.textContent", "Close")
	b.press("Escape")
	b.want(focused, "0.0")
	b.want("document.querySelectorAll('#panel').length + document.querySelectorAll('[aria-expanded=true]').length", 0)
}

func filters(b *browser) {
	b.t.Helper()
	rows := "document.querySelectorAll('.matrix tbody tr').length + ' ' + document.getElementById('status').textContent"
	b.want(rows, "8 8 cases")
	b.eval("document.querySelector('button[value=fail]').click()")
	b.want(rows, "5 5 cases of 8")
	b.want("location.hash", "#show=fail")
	b.eval("(async () => { const s = document.getElementById('search'); s.value = 'ROME'; s.dispatchEvent(new Event('input')); await new Promise((r) => setTimeout(r, 200)); })()")
	b.want(rows, "1 1 case of 8")
	b.eval("document.querySelector('button[value=error]').click()")
	b.want("document.getElementById('none').textContent", "No case matches these filters.")
	b.eval("(async () => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); await new Promise((r) => setTimeout(r, 200)); })()")
	b.want(rows, "2 2 cases of 8")
	b.eval(`[...document.querySelectorAll('th[data-name] .link')].find((one) => one.textContent === 'greeting: contains "Hello Ann"').click()`)
	b.want(rows, "1 1 case of 8")
	b.want("document.activeElement.id", "cases")
}

func FuzzHTML(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHTML(t, text) })
}
