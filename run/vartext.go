package run

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// The text of a variable is usually data, such as a page, code or LaTeX, and not a template.
// This file follows promptfoo's rules for what to render. They are rules of promptfoo, not of
// nunjucks.

// maxRounds limits how often variables are substituted into each other. Remaining references
// stay unchanged.
const maxRounds = 5

// space is \s of ECMAScript.
const space = `\t\n\v\f\r \x{00a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// patterns are compiled when a text first contains a tag.
var patterns = sync.OnceValue(func() (p struct{ plain, comment, tag, loop *regexp.Regexp }) {
	p.plain = regexp.MustCompile(`\{\{[` + space + `]*(\w+)[` + space + `]*\}\}`)
	p.comment = regexp.MustCompile(`(?s)\{#.*?#\}`)
	p.tag = regexp.MustCompile(`\{\{[` + space + `]*([^{}|` + space + `]+)[` + space + `]*(?:\|[^}]+)?\}\}` +
		`|\{%[` + space + `]*(?:if|for)[` + space + `]+([^{}` + space + `]+)[` + space + `]*[^\n\r\x{2028}\x{2029}]*?%\}`)
	p.loop = regexp.MustCompile(`\{%[` + space + `]*for[` + space + `]+(\w+)[` + space + `]+in[` + space + `]+(\w+)[` + space + `]*%\}`)
	return p
})

// resolveVars returns vars with one trailing line break of each text removed
// and plain {{ name }} in texts replaced by other variables. It returns vars
// itself if nothing changes. Foreign texts are not substituted here, because
// their content would then be rendered as a template.
func resolveVars(vars *value.Object, foreign map[string]bool) *value.Object {
	out, nested := vars, false
	for name, v := range vars.All() {
		text, ok := v.(string)
		if !ok {
			continue
		}
		nested = nested || !foreign[name] && strings.Contains(text, "{{")
		if cut := strings.TrimSuffix(text, "\n"); cut != text {
			if out == vars {
				out = vars.Clone()
			}
			out.Set(name, cut)
		}
	}
	if !nested {
		return out
	}
	if out == vars {
		out = vars.Clone()
	}
	for range maxRounds {
		if !resolveOnce(out, foreign) {
			break
		}
	}
	return out
}

// resolveOnce replaces the first plain name of each text if a variable has that
// name; false if none was replaced.
func resolveOnce(vars *value.Object, foreign map[string]bool) bool {
	again := false
	for _, name := range vars.Keys() {
		text, ok := vars.At(name).(string)
		if !ok || foreign[name] || !strings.Contains(text, "{{") {
			continue
		}
		m := patterns().plain.FindStringSubmatchIndex(text)
		if m == nil || foreign[text[m[2]:m[3]]] {
			continue
		}
		v, known := defined(vars, text[m[2]:m[3]])
		if !known {
			continue
		}
		if grown := len(text) + len(value.ToString(v)); grown > maxResolved {
			continue
		}
		vars.Set(name, text[:m[0]]+substitution(value.ToString(v), text, m[0], m[1])+text[m[1]:])
		again = true
	}
	return again
}

// maxResolved limits the size of a text after substitution: a text that contains itself twice
// would double each round.
const maxResolved = 16 << 20

func defined(vars *value.Object, name string) (any, bool) {
	v, ok := vars.Get(name)
	if _, undefined := v.(value.Undefined); undefined {
		return nil, false
	}
	return v, ok
}

// substitution returns the replacement for text[from:to], by the rules of ECMAScript's
// String.prototype.replace: $$ is a dollar, $& the replaced text, $` and $' the text before and
// after it.
func substitution(by, text string, from, to int) string {
	if !strings.Contains(by, "$") {
		return by
	}
	var b strings.Builder
	for i := 0; i < len(by); i++ {
		if by[i] != '$' || i+1 == len(by) {
			b.WriteByte(by[i])
			continue
		}
		i++
		switch by[i] {
		case '$':
			b.WriteByte('$')
		case '&':
			b.WriteString(text[from:to])
		case '`':
			b.WriteString(text[:from])
		case '\'':
			b.WriteString(text[to:])
		default:
			i--
			b.WriteByte('$')
		}
	}
	return b.String()
}

// renderVars renders variables that are templates themselves. A text that uses an undefined
// variable stays unchanged.
func (p *Plan) renderVars(ctx context.Context, vars *value.Object, foreign map[string]bool) (*value.Object, error) {
	out := vars
	for name, v := range vars.All() {
		text, ok := v.(string)
		if !ok || foreign[name] || !strings.ContainsAny(text, "{}") || namesUndefined(text, vars) {
			continue
		}
		rendered, err := renderText(ctx, p.o.Templates, text, vars)
		if err != nil {
			return nil, proviso.Errorf(proviso.Undecided, "variable %q: %w", name, err)
		}
		if rendered == text {
			continue
		}
		if out == vars {
			out = vars.Clone()
		}
		out.Set(name, rendered)
	}
	return out, nil
}

// renderText renders a text. A text with an unclosed tag stays unchanged as a whole.
func renderText(ctx context.Context, t Templates, text string, vars *value.Object) (string, error) {
	if partial(text) {
		if !strings.Contains(text, "raw") {
			return text, nil
		}
		if !wrapped(text) {
			text = "{% raw %}" + text + "{% endraw %}"
		}
	}
	return t.Render(ctx, text, vars)
}

// namesUndefined reports whether a tag of text uses an undefined variable. Like promptfoo it
// checks only the first word of {{ … }}, {% if … %} and {% for … in … %}.
func namesUndefined(text string, vars *value.Object) bool {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return false
	}
	p := patterns()
	text = p.comment.ReplaceAllString(text, "")
	found := map[string]bool{}
	for _, m := range p.tag.FindAllStringSubmatch(text, -1) {
		found[m[1]+m[2]] = true // one of them is empty
	}
	for _, m := range p.loop.FindAllStringSubmatch(text, -1) {
		delete(found, m[1])
		found[m[2]] = true
	}
	for name := range found {
		root := rootName(name)
		if _, known := defined(vars, root); root != "" && root != "env" && !known && !inherited(root) {
			return true
		}
	}
	return false
}

// rootName returns the ASCII identifier at the start of name, "" if there is none.
func rootName(name string) string {
	i := 0
	for i < len(name) && (name[i] == '_' || name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z' || i > 0 && name[i] >= '0' && name[i] <= '9') {
		i++
	}
	return name[:i]
}

// inherited reports whether every JavaScript object has a member of that name.
func inherited(name string) bool {
	switch name {
	case "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
		"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__":
		return true
	}
	return false
}

// partial reports whether text contains a tag that is not closed on its line, by promptfoo's
// rule: {{ without a following }, {% without %, {# without #.
func partial(text string) bool {
	at, closed := 0, map[byte]int{} // where the last checked tag of a kind ends
	for {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 || at+i+1 >= len(text) {
			return false
		}
		at += i + 1
		closer := text[at]
		switch closer {
		case '{':
			closer = '}'
		case '%', '#':
		default:
			continue
		}
		if at < closed[closer] {
			continue
		}
		rest := text[at+1:]
		end := strings.IndexByte(rest, closer)
		if end < 0 || hasLineBreak(rest[:end]) {
			return true
		}
		closed[closer] = at + 1 + end
	}
}

func hasLineBreak(text string) bool {
	return strings.ContainsAny(text, "\n\r") || strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029")
}

// wrapped reports whether text contains a raw block.
func wrapped(text string) bool {
	return hasWord(text, "raw") && hasWord(text, "endraw")
}

// hasWord reports whether text has a tag that consists of just a word.
func hasWord(text, word string) bool {
	for {
		_, rest, ok := strings.Cut(text, "{%")
		if !ok {
			return false
		}
		inner := strings.TrimLeftFunc(rest, value.IsSpace)
		if inner, ok = strings.CutPrefix(inner, word); ok && strings.HasPrefix(strings.TrimLeftFunc(inner, value.IsSpace), "%}") {
			return true
		}
		text = rest
	}
}
