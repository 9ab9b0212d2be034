package show

import (
	"bufio"
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/plainpage"
	"github.com/proviso-eval/proviso/internal/plural"
)

var (
	//go:embed html/page.css
	pageCSS string
	//go:embed html/page.html
	pageHTML string
)

// Limits of a page.
const (
	pageCases = 200 // cases with their texts
	pageRows  = 500 // rows in the table
	pageText  = 32 << 10
)

var pageTemplate = sync.OnceValue(func() *template.Template {
	return plainpage.New(pageHTML, pageCSS, pageText, template.FuncMap{
		"needed":   func(d *gate.Decision) string { return neededOf(d).String() },
		"sentence": suiteSentence, "figure": figure, "points": points, "plural": plural.Of, "measures": measures, "marked": marked, "join": strings.Join,
	})
})

// HTML writes a comparison, and the decision on it unless d is nil, as one page that
// loads nothing and has no script.
func HTML(w io.Writer, c *gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	return htmlPage(w, []*gate.Comparison{c}, d, texts, o)
}

// ColumnsHTML writes the comparisons of one column of a run with each other column as one
// page.
func ColumnsHTML(w io.Writer, list []*gate.Comparison, texts Texts, o Options) error {
	return htmlPage(w, list, nil, texts, o)
}

func htmlPage(w io.Writer, list []*gate.Comparison, d *gate.Decision, texts Texts, o Options) error {
	p := page{Options: o.withDefaults(), D: d}
	for _, c := range list {
		p.Results = append(p.Results, p.result(c, &shower{c, texts}))
	}
	b := bufio.NewWriter(w)
	err := pageTemplate().Execute(b, &p)
	if p.err != nil {
		return p.err
	}
	if err = cmp.Or(err, b.Flush()); err != nil {
		return proviso.Errorf(proviso.Unavailable, "write the comparison: %w", err)
	}
	return nil
}

// page is the data of the page template.
type page struct {
	Options
	D       *gate.Decision
	Results []result
	err     error // error from reading a case
}

// Title returns the name of the suite.
func (p *page) Title() string { return cmp.Or(excerpt.Line(p.Suite, 200), "Comparison") }

// Run returns the address of the run, as a link if it is a web address.
func (p *page) Run() template.HTML {
	text := plainpage.Text(p.Link, pageText)
	if isLink(p.Link) {
		return `<a rel="noreferrer" href="` + text + `">` + text + `</a>`
	}
	return text
}

// result is a comparison on the page: only the headline if there was nothing to compare.
type result struct {
	Sign, Headline, Class string
	C                     *gate.Comparison
	Warnings              []string
	Rows                  []row // rows for the suite and for each assertion
	More                  int   // assertions without a row
	Prompts               []promptChange
	Cases                 iter.Seq[item]
	Rest                  string
}

// row is a row of the table of figures.
type row struct {
	Name string
	*gate.Effect
	Flips string
	Notes []string
}

func (p *page) result(c *gate.Comparison, s *shower) result {
	r := result{C: c}
	r.Sign, r.Headline = headline(c, p.D)
	r.Class = cmp.Or(map[string]string{"✗": "fail", "✓": "pass"}[r.Sign], "inconclusive")
	if c == nil {
		return r
	}
	r.Warnings = c.Warnings[:min(len(c.Warnings), pageRows)]
	r.Rows = []row{{"Suite", &c.Suite, "", suiteNotes(c)}}
	list, more := shown(c, pageRows)
	for _, a := range list {
		r.Rows = append(r.Rows, row{a.Assertion, &a.Effect, flips(a), notes(a)})
	}
	r.More, r.Prompts, r.Rest = more, s.promptChanges(), strings.Join(rest(c), ", ")
	r.Cases = func(yield func(item) bool) {
		more := true
		put := func(i item) bool { more = more && yield(i); return more }
		p.err = cmp.Or(p.err, s.cases(max(pageCases, p.Options.Cases), func(title string) { put(item{Title: title}) },
			func(d *detail) bool { return put(item{Case: d}) }, func(others []gate.CasePair) { put(item{Others: len(others)}) }))
	}
	return r
}

// Class returns the CSS class for the difference.
func (r row) Class() string {
	switch {
	case r.Difference.High < 0:
		return "n fail"
	case r.Difference.Low > 0:
		return "n pass"
	}
	return "n"
}

// item is a group's title, one of its cases, or the number of its remaining cases.
type item struct {
	Title  string
	Case   *detail
	Others int
}

// marked formats the parts of a diff that are equal or have one of the operations.
func marked(parts []part, operations string) template.HTML {
	var b strings.Builder
	for _, x := range parts {
		text := string(plainpage.Text(x.text, pageText))
		switch {
		case x.op == ' ':
			b.WriteString(text)
		case !strings.Contains(operations, string(x.op)):
		case x.op == '-':
			b.WriteString("<del>" + text + "</del>")
		default:
			b.WriteString("<ins>" + text + "</ins>")
		}
	}
	return template.HTML(b.String())
}
