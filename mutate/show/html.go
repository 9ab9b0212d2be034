package show

import (
	"bytes"
	_ "embed"
	"html/template"
	"sync"

	"github.com/proviso-eval/proviso/internal/plainpage"
	"github.com/proviso-eval/proviso/mutate/score"
)

var (
	//go:embed html/page.css
	pageCSS string
	//go:embed html/page.html
	pageHTML string
)

// maxPageText limits a text of the page, in bytes.
const maxPageText = 2000

var page = sync.OnceValue(func() *template.Template {
	return plainpage.New(pageHTML, pageCSS, maxPageText, template.FuncMap{
		"headline": Headline, "about": about, "parts": parts, "result": result, "next": next, "note": note,
	})
})

// HTML renders a report as one page that loads nothing and has no script.
func HTML(r *score.Report) []byte {
	var b bytes.Buffer
	if err := page().Execute(&b, r); err != nil {
		panic(err) // the template does not match the report
	}
	return b.Bytes()
}
