package template

import (
	"slices"
	"strconv"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// part is a piece of a plain template: text, or a variable with members to follow.
type part struct {
	text    string
	root    string // "" for text
	members []member
	source  string // the variable as written, without the space around it
}

// member is one step into a value: .key, ["key"] or [index].
type member struct {
	key   string
	index int // -1 for a key that is not a number
}

// parsePlain splits a template that contains only text and {{ name }}, {{ a.b }},
// {{ a[0] }} or {{ a["k"] }}, at any depth. It returns false for all others,
// including mistakes: nunjucks handles those.
func parsePlain(text string) ([]part, bool) {
	if strings.Contains(text, "#}") {
		return nil, false
	}
	parts := make([]part, 0, 2*strings.Count(text, "{{")+1)
	for text != "" {
		start := tagStart(text)
		if start < 0 {
			return append(parts, part{text: text}), true
		}
		if text[start+1] != '{' {
			return nil, false
		}
		if start > 0 {
			parts = append(parts, part{text: text[:start]})
		}
		p, rest, ok := parseVariable(text[start+2:])
		if !ok {
			return nil, false
		}
		parts = append(parts, p)
		text = rest
	}
	return parts, true
}

// tagStart returns the offset of the first {{, {% or {#, or -1.
func tagStart(text string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 || at+i+1 >= len(text) {
			return -1
		}
		at += i
		switch text[at+1] {
		case '{', '%', '#':
			return at
		}
	}
}

// variable matches the text between {{ and }}, and step one of its members.
var (
	variable = pattern.Of(`^[ \t\r\n]*((` + name + `)((?:` + stepText + `)*))[ \t\r\n]*\}\}`)
	step     = pattern.Of(stepText)
)

const (
	name     = `[_a-zA-Z][_a-zA-Z0-9]*`
	stepText = `\.(` + name + `)|\[(?:"([^"\\]*)"|'([^'\\]*)'|(0|[1-9][0-9]{0,8}))\]`
)

// parseVariable reads from after {{ to after }}.
func parseVariable(s string) (p part, rest string, ok bool) {
	m := variable.Get().FindStringSubmatch(s)
	if m == nil || isReserved(m[2]) || isGlobal(m[2]) || isInherited(m[2]) {
		return p, "", false
	}
	p.source, p.root = m[1], m[2]
	for _, one := range step.Get().FindAllStringSubmatch(m[3], -1) {
		n := member{key: one[1] + one[2] + one[3] + one[4], index: -1}
		if isReserved(one[1]) || isInherited(n.key) {
			return p, "", false
		}
		if one[4] != "" {
			n.index, _ = strconv.Atoi(one[4])
		}
		p.members = append(p.members, n)
	}
	return p, s[len(m[0]):], true
}

// isReserved reports whether nunjucks may read name as something other than a
// variable.
func isReserved(name string) bool {
	switch name {
	case "true", "false", "none", "null", "not", "and", "or", "in", "is", "if", "else":
		return true
	}
	return false
}

// isGlobal reports whether nunjucks has a function with that name.
func isGlobal(name string) bool {
	return name == "range" || name == "cycler" || name == "joiner"
}

// isInherited reports whether every JavaScript object has a member with that name.
func isInherited(name string) bool {
	switch name {
	case "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
		"toLocaleString", "toString", "valueOf":
		return true
	}
	return strings.HasPrefix(name, "__")
}

// rootsOf returns the names of the variables, each once, without env.
func rootsOf(parts []part) []string {
	var names []string
	var seen map[string]bool // only for many parts; for a few a linear search is as fast
	for i := range parts {
		root := parts[i].root
		if root == "" || root == "env" || seen[root] || seen == nil && slices.Contains(names, root) {
			continue
		}
		names = append(names, root)
		if len(names) == 32 {
			seen = make(map[string]bool, len(parts))
			for _, name := range names {
				seen[name] = true
			}
		} else if seen != nil {
			seen[root] = true
		}
	}
	return names
}

// plain renders the template in Go. It returns false if only JavaScript can compute
// the result, for example for members of a text.
func (t *Template) plain(vars *value.Object) (string, bool) {
	if len(t.parts) == 1 {
		return t.value(&t.parts[0], vars)
	}
	var room [16]string
	texts, size := room[:0], 0
	for i := range t.parts {
		text, ok := t.value(&t.parts[i], vars)
		if !ok {
			return "", false
		}
		texts = append(texts, text)
		size += len(text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, text := range texts {
		b.WriteString(text)
	}
	return b.String(), true
}

// value returns the text of one part.
func (t *Template) value(p *part, vars *value.Object) (string, bool) {
	if p.root == "" {
		return p.text, true
	}
	v, ok := t.find(p, vars)
	if !ok {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case nil, value.Undefined:
		return "", true
	}
	if !printable(v, 0) {
		return "", false
	}
	return value.ToString(v), true
}

// find returns the value of a part that is a variable; undefined if there is none.
func (t *Template) find(p *part, vars *value.Object) (any, bool) {
	v, found := vars.Get(p.root)
	if !found {
		if p.root != "env" {
			return value.Undefined{}, true
		}
		v = t.engine.env()
	}
	for i := range p.members {
		var ok bool
		if v, ok = follow(v, &p.members[i]); !ok {
			return nil, false
		}
	}
	return v, true
}

// follow returns a member of v. It returns false for members that values of that
// kind may have in JavaScript but not here.
func follow(v any, m *member) (any, bool) {
	switch v := v.(type) {
	case nil, value.Undefined:
		return value.Undefined{}, true
	case *value.Object:
		if w, ok := v.Get(m.key); ok {
			return w, true
		}
		return value.Undefined{}, true
	case []any:
		if m.index < 0 {
			return nil, false
		}
		if m.index < len(v) {
			return v[m.index], true
		}
		return value.Undefined{}, true
	}
	return nil, false
}

// printable reports whether [value.ToString] prints v as JavaScript does: an object
// must not replace the methods that JavaScript calls for printing.
func printable(v any, depth int) bool {
	switch v := v.(type) {
	case *value.Object:
		return !v.Has("toString") && !v.Has("valueOf")
	case []any:
		if depth > 100 {
			return false
		}
		for _, e := range v {
			if !printable(e, depth+1) {
				return false
			}
		}
	}
	return true
}
