// Package plainpage writes HTML pages that load nothing and have no script.
package plainpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"html/template"
	"strings"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/report"
)

//go:embed page.html
var frame string

// New parses the templates of a page: "title", "main", and "footer" for the text below.
// Their function text shows a text of at most the given number of bytes. The page is the
// template itself. Its content security policy permits only its style, by its hash.
func New(templates, style string, bytes int, funcs template.FuncMap) *template.Template {
	style = strings.ReplaceAll(style, "\r\n", "\n") // browsers hash the style with these line endings
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	own := template.FuncMap{
		"text":   func(text string) template.HTML { return Text(text, bytes) },
		"style":  func() template.CSS { return template.CSS(style) },
		"policy": func() template.HTMLAttr { return template.HTMLAttr(`content="` + policy + `"`) },
	}
	source := strings.ReplaceAll(frame+templates, "\r\n", "\n")
	return template.Must(template.New("").Funcs(own).Funcs(funcs).Parse(source)).Lookup("page")
}

// Text returns markup that shows a text. It escapes control characters, and commands that a
// CI system would execute if its log contained the page.
func Text(text string, bytes int) template.HTML {
	text = html.EscapeString(report.Printable(strings.ToValidUTF8(excerpt.Bytes(text, bytes), "\ufffd")))
	return template.HTML(strings.NewReplacer("::", ":&#58;", "##[", "#&#35;[").Replace(text))
}
