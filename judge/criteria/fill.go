package criteria

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/proviso-eval/proviso/internal/pattern"
	"github.com/proviso-eval/proviso/value"
)

// placeholder matches a parameter in a template: {{name}}, or {{name|pattern}} for a
// regular expression that matches any of the texts in a list.
var placeholder = pattern.Of(`\{\{(\w+)(\|pattern)?\}\}`)

// fillText replaces the placeholders in a text.
func fillText(text string, values *value.Object) string {
	var b strings.Builder
	last := 0
	for _, m := range placeholder.Get().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[0]])
		v := values.At(text[m[2]:m[3]])
		if m[4] >= 0 {
			b.WriteString(alternatives(v))
		} else {
			b.WriteString(inWords(v))
		}
		last = m[1]
	}
	return b.String() + text[last:]
}

// inWords formats a value for use in a sentence.
func inWords(v any) string {
	list, ok := v.([]any)
	if !ok {
		return value.ToString(v)
	}
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = value.ToString(e)
	}
	return strings.Join(words, ", ")
}

// alternatives returns an ECMAScript pattern that matches any of the texts in a list.
func alternatives(v any) string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	quoted := make([]string, len(list))
	for i, e := range list {
		quoted[i] = regexp.QuoteMeta(value.ToString(e))
	}
	return strings.Join(quoted, "|")
}

// fillValue replaces the placeholders in the texts of a value. A text that is exactly one
// placeholder becomes the parameter's value itself.
func fillValue(v any, values *value.Object) any {
	switch v := v.(type) {
	case string:
		if m := placeholder.Get().FindStringSubmatch(v); m != nil && m[0] == v && m[2] == "" {
			return values.At(m[1])
		}
		return fillText(v, values)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = fillValue(e, values)
		}
		return out
	case *value.Object:
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			out.Set(k, fillValue(e, values))
		}
		return out
	}
	return v
}

// Text formats templates and their parameters for a person.
func Text(list []Template) string {
	var b strings.Builder
	for i, t := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n    %s\n", t.Name, t.Doc)
		for _, p := range t.Params {
			fmt.Fprintf(&b, "    %-12s %s\n", p.Name, p.Text())
		}
		if len(t.OneOf) > 0 {
			fmt.Fprintf(&b, "    exactly one of %s\n", strings.Join(t.OneOf, ", "))
		}
	}
	return b.String()
}

// Text returns the type and the valid values of a parameter, and its doc.
func (p Param) Text() string {
	kind := p.Type
	switch {
	case len(p.Values) > 0:
		kind = strings.Join(p.Values, " | ")
	case p.Min != nil:
		kind += " from " + value.FormatNumber(*p.Min)
	}
	switch {
	case p.Required:
		kind += ", required"
	case p.Default != nil:
		kind += ", default " + value.Stringify(p.Default)
	}
	return fmt.Sprintf("(%s) %s", kind, p.Doc)
}
