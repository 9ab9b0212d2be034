package report_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
)

// block returns the text between two markers, each of which must occur exactly once.
func block(t testing.TB, page, from, to string) string {
	t.Helper()
	before, after, found := strings.Cut(page, from)
	content, _, ended := strings.Cut(after, to)
	if !found || !ended || strings.Contains(before, from) {
		t.Fatalf("the page has no %s", from)
	}
	return content
}

// unpacked returns the text of a data block.
func unpacked(t testing.TB, block string) string {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.Trim(block, `"`))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks matches the data blocks of a page: base64 in quotes.
var blocks = regexp.MustCompile(`<script type="application/json" ([a-z]+="[a-z]+")>("[A-Za-z0-9+/=]*")</script>`)

// pageData is the data of a page besides its markup.
type pageData struct {
	Run struct {
		Progress map[string]int
		Results  struct {
			Passed int `json:"passed_cases"`
			Failed int `json:"failed_cases"`
			Total  int `json:"total_cases"`
		}
	}
	Rows, Held int
	First      [2][]int

	matrix  map[string]any
	details []report.Detail
}

// dataOf reads the data of a page, as its script does.
func dataOf(t testing.TB, page string) pageData {
	t.Helper()
	var d pageData
	for _, m := range blocks.FindAllStringSubmatch(page, -1) {
		text := unpacked(t, m[2])
		switch m[1] {
		case `id="head"`:
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
		case `id="matrix"`:
			if err := json.Unmarshal([]byte(text), &d.matrix); err != nil {
				t.Fatal(err)
			}
		default:
			d.details = append(d.details, detailsIn(t, text)...)
		}
	}
	return d
}

// detailsIn reads the rows of a block. Its first line has the verdicts that several rows
// share.
func detailsIn(t testing.TB, text string) []report.Detail {
	t.Helper()
	var shared [][]report.DetailAssertion
	var list []report.Detail
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if shared == nil {
			if err := json.Unmarshal(lines.Bytes(), &shared); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var row struct {
			report.Detail
			Assertions json.RawMessage `json:"assertions"`
		}
		err := json.Unmarshal(lines.Bytes(), &row)
		at := 0
		if err == nil && json.Unmarshal(row.Assertions, &at) == nil {
			row.Detail.Assertions = shared[at]
		} else if err == nil {
			err = json.Unmarshal(row.Assertions, &row.Detail.Assertions)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row.Detail)
	}
	return list
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
	if overhead := len(blocks.ReplaceAllString(page, "")); overhead > 200_000 {
		t.Errorf("the page has %d bytes besides its data", overhead)
	}
}

// TestHTMLHoldsAllRows: the page has each of 5,000 rows, and the counts of the run.
func TestHTMLHoldsAllRows(t *testing.T) {
	t.Parallel()
	m, sum := meta(), report.NewSummary(1)
	var kept memoryRows
	for i := range 5000 {
		c := caseOf(t, i, `{"vars":{},"assert":[{"type":"contains","value":"a"}]}`)
		status := [...]proviso.Status{proviso.Pass, proviso.Pass, proviso.Errored, proviso.Pass, proviso.Fail}[i%5]
		r := resultOf(c, fmt.Sprint("b", i), status)
		sum.Add(i, r)
		kept = append(kept, report.AppendRow(nil, i, r, m))
	}
	m.RunFile, m.Folder = "/private-folder/runs/run.jsonl", "/private-folder/suite"
	page := shown(t, "html", m, sum, kept)
	d := dataOf(t, page)
	count := map[string]int{}
	for _, one := range d.details {
		count[one.Status]++
		if want := fmt.Sprint("b", one.Index); *one.Output != want || one.Assertions[0].Name != "contains a" {
			t.Fatalf("row %d is %+v", one.Index, one)
		}
	}
	if d.Rows != 5000 || d.Held != 5000 || fmt.Sprint(count) != "map[error:1000 fail:1000 pass:3000]" ||
		fmt.Sprint(d.Run.Progress) != "map[errors:1000 failed:1000 finished:5000 passed:3000 rows:5000 skipped:0]" || d.Run.Results.Failed != 1000 {
		t.Errorf("%d rows of %d: %v, %+v", d.Held, d.Rows, count, d.Run)
	}
	if strings.Contains(page, `class="note lacks"`) || strings.Contains(page, "private-folder") || !strings.Contains(page, "<code>proviso show ") {
		t.Error("the page has a path, or says that it lacks something")
	}
	if n := strings.Count(page, `<details class="failure"`); n != 50 || !strings.Contains(page, "These are the worst 50 of 2000 results that did not pass.") {
		t.Errorf("%d rows without a script", n)
	}
}

// letters returns a text that does not compress.
func letters(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'A' + byte(r.IntN(58))
	}
	return string(b)
}

// TestHTMLIsBounded: texts are shortened before rows are left out, starting with the rows
// that passed. The page reports this, and counts the whole run.
func TestHTMLIsBounded(t *testing.T) {
	t.Parallel()
	if os.Getenv("PROVISO_TEST_SLOW") == "" {
		t.Skip("`make test-slow` writes 30 MB of results")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		rows, output, id int
		want             string
	}{
		"long texts": {1500, 12_000, 1, "The page holds all 1,500 results, with long texts shortened."},
		"rows":       {24_000, 10, 500, `The counts are those of the whole run\. The page holds (1\d|2[0-3]),\d\d\d of 24,000 results; those that did not pass come first\.`},
	} {
		m, sum := meta(), report.NewSummary(1)
		var kept memoryRows
		for i := range c.rows {
			status := proviso.Pass
			if i%100 == 99 {
				status = proviso.Fail
			}
			one := resultOf(caseOf(t, i, `{"assert":[{"type":"contains","metric":"`+strings.ReplaceAll(letters(r, c.id), `\`, "")+`","value":"a"}]}`), letters(r, c.output), status)
			sum.Add(i, one)
			kept = append(kept, report.AppendRow(nil, i, one, m))
		}
		page := shown(t, "html", m, sum, kept)
		d := dataOf(t, page)
		if len(page) > 10_000_000 || !regexp.MustCompile(c.want).MatchString(page) || d.Run.Progress["passed"] != c.rows*99/100 || d.Held != len(d.details) {
			t.Errorf("%s: the page has %d bytes, %d rows, %v\n%s", name, len(page), d.Held, d.Run.Progress, block(t, page, `<main id="main" tabindex="-1">`, "<div"))
		}
		failed, shortest := 0, c.output
		for _, one := range d.details {
			if one.Status == "fail" {
				failed++
				shortest = min(shortest, len(*one.Output))
			}
		}
		if failed != c.rows/100 || shortest < c.output {
			t.Errorf("%s: %d rows that failed, with outputs of %d bytes", name, failed, shortest)
		}
	}
}

// markup matches the tags of a page, ignoring the text between quotes.
var markup = regexp.MustCompile(`<[^>]*>?`)

// plainTag matches the permitted tags, whose attributes contain no text of the run.
var plainTag = regexp.MustCompile(`^</?[a-z]+[0-9]?( (class|id|scope|lang|tabindex|role|aria-[a-z]+|open|type|viewBox|preserveAspectRatio|width|height|x|d|href|name|content|charset|http-equiv)(="[-A-Za-z0-9 .%#',;:/+=]*")?)*/?>$`)

func checkHTML(t testing.TB, text string) string {
	t.Helper()
	m, sum, rows := everywhere(t, text)
	page := shown(t, "html", m, sum, rows)
	d := dataOf(t, page)
	if d.Held != 4 || d.matrix["finished"] != 4.0 {
		t.Errorf("the page holds %d rows", d.Held)
	}
	page = strings.Replace(page, block(t, page, "<script>", "</script>"), "", 1)
	for _, tag := range markup.FindAllString(page, -1) {
		if tag != "<!doctype html>" && !plainTag.MatchString(tag) {
			t.Errorf("the page has the tag %s", tag)
		}
	}
	if !utf8.ValidString(page) {
		t.Error("not UTF-8")
	}
	if n := strings.Count(page, "<script"); n != 5 { // three kinds of data, and rows of two groups
		t.Errorf("the page has %d scripts", n)
	}
	return page
}

func TestHTMLIsHarmless(t *testing.T) {
	t.Parallel()
	eachHostile(t, func(t *testing.T, text string) { checkHTML(t, text) })
}

// Hostile text neither runs nor loads anything in a browser, with or without the script.
func TestHTMLInABrowser(t *testing.T) {
	b := openBrowser(t)
	for name, text := range nasty {
		m, sum, rows := everywhere(t, text)
		b.open(shown(t, "html", m, sum, rows))
		b.until("document.documentElement.classList.contains('live') && document.querySelector('[role=grid]')")
		b.want("window.owned === undefined && document.querySelectorAll('img, iframe, object, script:not([type])').length", 1)
		b.want("document.getElementById('static')", "<nil>")
		if list := b.trouble(); list != nil {
			t.Errorf("%s: %s", name, list)
		}
	}
	b.size(1280, 720, "light")
	judgedCase(t, b)
	printed(b)
	withoutUnpacking(t, b)
}

// judgedCase checks what the page shows at first, with or without the script: the worst
// case with its instruction, its criteria, the reason, and its evidence marked in the
// output, even after characters whose length differs in JavaScript.
func judgedCase(t *testing.T, b *browser) {
	t.Helper()
	m, sum, results := judgedRun(t)
	results[2].Output.Value = "\U0001f375 é A drink [1]. [1]"
	results[2].SetVerdict[0].Criteria[0].Evidence = []proviso.Evidence{{Quote: "[1]", Start: 16}}
	results[2].SetVerdict[0].Evidence = nil
	page := shown(t, "html", m, sum, keep(t, m, sum, results))
	for _, script := range []bool{false, true} {
		b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !script}, nil)
		b.open(page)
		if script {
			b.until("document.documentElement.classList.contains('live') && document.querySelector('#app mark')")
		}
		for _, text := range []string{"Cite sources.", "Every claim names its source.", "No source is named.", "(votes: 2 met, 1 not) (one quote does not occur in the output)"} {
			// The last element that has the text is the innermost one.
			b.want(fmt.Sprintf("(() => { const all = [...document.querySelectorAll('#static *, #app *')].filter((one) => one.textContent.includes(%q) && one.checkVisibility()); "+
				"return all.some((one) => { const box = one.getBoundingClientRect(); return box.height > 0 && box.bottom <= 720 && box.right <= 1280; }); })()", text), true)
		}
		b.want("(() => { const one = document.querySelector('#static mark, #app .output mark'); return one.textContent + '|' + one.nextSibling.textContent + '|' + (one.getBoundingClientRect().bottom < 720); })()", "[1]|. [1]|true")
		b.want("document.documentElement.scrollWidth <= innerWidth", true)
	}
	if list := b.trouble(); list != nil {
		t.Errorf("%s", list)
	}
}

// printed checks that the printed page is the static part, which has no controls.
func printed(b *browser) {
	b.t.Helper()
	b.eval("dispatchEvent(new Event('beforeprint'))")
	b.want("document.querySelectorAll('#static .failure').length + ' ' + document.getElementById('app').hidden", "2 true")
	b.eval("dispatchEvent(new Event('afterprint'))")
	b.want("document.getElementById('static') === null && !document.getElementById('app').hidden", true)
}

// withoutUnpacking tests a browser that cannot unpack the data: the static page stays, and
// says so.
func withoutUnpacking(t *testing.T, b *browser) {
	t.Helper()
	m, sum, results := judgedRun(t)
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "delete globalThis.DecompressionStream"}, nil)
	b.open(shown(t, "html", m, sum, keep(t, m, sum, results)))
	b.until("document.getElementById('needs').textContent.includes('this browser cannot unpack the data')")
	b.want("document.querySelectorAll('#static .failure').length", 2)
}

func FuzzHTML(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHTML(t, text) })
}
