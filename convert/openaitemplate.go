package convert

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/value"
)

// part is a piece of a template of OpenAI's graders: a text, or a reference such as
// {{ item.answer }} or {{ sample.output_text }}.
type part struct {
	text      string
	namespace string   // "item" or "sample"; "" for a text
	path      []string // path below the namespace
}

// template is a parsed template.
type template []part

// reference matches {{ namespace.path }}, the only form of a template that OpenAI's
// graders have (https://platform.openai.com/docs/guides/graders, Templating). A path
// has names, and indices in brackets or as names.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*(item|sample)((?:\s*\.\s*[\w-]+|\[\s*(?:\d+|"[^"\]{}]*"|'[^'\]{}]*')\s*\])*)\s*\}\}`)
})

// segment matches one step of a path.
var segment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.\s*([\w-]+)|\[\s*(?:(\d+)|"([^"]*)"|'([^']*)')\s*\]`)
})

// parseTemplate splits a template into its parts. Everything that is not a
// reference is text.
func parseTemplate(s string) template {
	var t template
	end := 0
	for _, m := range reference().FindAllStringSubmatchIndex(s, -1) {
		if m[0] > end {
			t = append(t, part{text: s[end:m[0]]})
		}
		p := part{namespace: s[m[2]:m[3]]}
		for _, step := range segment().FindAllStringSubmatch(s[m[4]:m[5]], -1) {
			p.path = append(p.path, step[1]+step[2]+step[3]+step[4])
		}
		t = append(t, p)
		end = m[1]
	}
	if end < len(s) {
		t = append(t, part{text: s[end:]})
	}
	return t
}

// uses reports whether a template refers to a namespace.
func (t template) uses(namespace string) bool {
	for _, p := range t {
		if p.namespace == namespace {
			return true
		}
	}
	return false
}

// isOutput reports whether a template is the output and nothing else.
func (t template) isOutput() bool {
	return len(t) == 1 && t[0].namespace == "sample" && len(t[0].path) == 1 && t[0].path[0] == "output_text"
}

// unknown returns the first reference to a part of the sample that a suite does not
// have, or "".
func (t template) unknown() string {
	for _, p := range t {
		if p.namespace != "sample" {
			continue
		}
		if len(p.path) == 0 || p.path[0] != "output_text" && p.path[0] != "output_json" && p.path[0] != "output_tools" {
			return strings.Join(append([]string{"sample"}, p.path...), ".")
		}
	}
	return ""
}

// nunjucks writes a template for a suite. Braces in its texts stay texts.
// structured reports whether a path below item leads to a list or an object, which
// is written as JSON. Only prompts of graders have the variable for the output.
func (t template) nunjucks(structured func(path []string) bool) string {
	var b strings.Builder
	for i, p := range t {
		switch {
		case p.namespace == "":
			text := escapeTemplate(p.text)
			if before, ok := strings.CutSuffix(text, "{"); ok && i+1 < len(t) { // it would join the braces of a reference
				text = before + `{{ "{" }}`
			}
			b.WriteString(text)
		case p.namespace == "item":
			b.WriteString("{{ item" + access(p.path, false))
			if structured(p.path) {
				b.WriteString(" | dump")
			}
			b.WriteString(" }}")
		case p.path[0] == "output_text":
			b.WriteString("{{ output }}")
		default:
			b.WriteString("{{ output" + access(p.path[1:], false) + " | dump }}")
		}
	}
	return b.String()
}

// escapeTemplate returns a template that renders as the given text. It escapes the
// nunjucks marks that open something, and the end of a comment, which nunjucks
// refuses without an opening mark.
func escapeTemplate(s string) string { return marks().ReplaceAllString(s, `{{ "$0" }}`) }

var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{|\{%|\{#|#\}`) })

// identifier matches a name that may follow a dot.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })

// access writes the steps of a path, for nunjucks, and for JavaScript, where a missing
// part is undefined.
func access(path []string, script bool) string {
	var b strings.Builder
	for _, step := range path {
		if script {
			b.WriteByte('?')
		}
		n, err := strconv.Atoi(step)
		switch {
		case identifier().MatchString(step):
			b.WriteString("." + step)
			continue
		case script:
			b.WriteByte('.')
		}
		if err == nil && strconv.Itoa(n) == step {
			b.WriteString("[" + step + "]")
		} else {
			b.WriteString("[" + quoteScript(step) + "]")
		}
	}
	return b.String()
}

// quoteScript quotes a text for JavaScript. Braces are escaped, because inline scripts of
// a suite are templates, too.
func quoteScript(s string) string {
	return strings.ReplaceAll(string(value.AppendQuoted(nil, s)), "{", `\u007b`)
}

// asText is a JavaScript function that writes a value as OpenAI's templates do: a
// text unchanged, others as JSON.
const asText = `(v => v == null ? "" : typeof v === "string" ? v : JSON.stringify(v))`

// script writes a template as a JavaScript expression over output and context.
func (t template) script() string {
	if len(t) == 0 {
		return `""`
	}
	var parts []string
	for _, p := range t {
		switch {
		case p.namespace == "":
			parts = append(parts, quoteScript(p.text))
		case p.namespace == "item":
			parts = append(parts, asText+"(context.vars.item"+access(p.path, true)+")")
		case p.path[0] == "output_text":
			parts = append(parts, asText+"(output)")
		default:
			parts = append(parts, asText+`((typeof output === "string" ? JSON.parse(output) : output)`+access(p.path[1:], true)+")")
		}
	}
	return strings.Join(parts, " + ")
}
