package template

import (
	"context"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// Mark renders the template with a marker in place of each value that it prints,
// and returns the values by the names in the markers: {{ user.name | upper }}
// leaves {{user.name | upper}} and its value. Values that are not printed, such as
// the condition of an if, affect the text as in [Template.Render]. The error is
// that of Render, or is about a missing value.
func (e *Engine) Mark(ctx context.Context, text string, vars *value.Object) (string, *value.Object, error) {
	if !Has(text) {
		return text, nil, nil
	}
	t, err := e.compile(ctx, text)
	if err != nil {
		return "", nil, err
	}
	if t.parts != nil {
		values := value.NewObject(0)
		if marked, ok, err := t.markPlain(values, vars); ok {
			return marked, values, err
		}
	}
	v, err := e.library.Call(ctx, "markTemplate", t.text, t.subset(vars))
	if err != nil {
		return "", nil, wrap(err)
	}
	o, _ := v.(*value.Object)
	marked, ok := o.At("text").(string)
	if !ok {
		return "", nil, mistake(proviso.Undecided, v)
	}
	if missing, ok := o.At("missing").(string); ok {
		return "", nil, noValue(missing)
	}
	values, _ := o.At("values").(*value.Object)
	return marked, values, nil
}

// MarkNames is [Engine.Mark] for texts from people who may not use the template
// engine: {{ name }}, {{ a.b }} and {{ a[0] }} are markers, and {% and {# are text.
func MarkNames(text string, vars *value.Object) (string, *value.Object, error) {
	parts, err := namesIn(text)
	if err != nil {
		return "", nil, err
	}
	t := &Template{engine: &Engine{env: func() *value.Object { return nil }}, parts: parts}
	values := value.NewObject(0)
	marked, ok, err := t.markPlain(values, vars)
	if err == nil && !ok {
		err = proviso.Errorf(proviso.Invalid, "a value in double braces is not a text, a number or a list")
	}
	return marked, values, err
}

// Names returns the names of the variables that a text for [MarkNames] uses. env is
// a name like any other, because such a text reads no environment. The error is
// about double braces that contain anything else.
func Names(text string) ([]string, error) {
	parts, err := namesIn(text)
	names := rootsOf(parts)
	if slices.ContainsFunc(parts, func(p part) bool { return p.root == "env" }) {
		names = append(names, "env")
	}
	return names, err
}

// namesIn splits a text at {{ name }}.
func namesIn(text string) ([]part, error) {
	var parts []part
	for {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			parts = append(parts, part{text: before})
		}
		if !found {
			return parts, nil
		}
		p, after, ok := parseVariable(rest)
		if !ok {
			inside, _, _ := strings.Cut(rest, "}}")
			return nil, proviso.Errorf(proviso.Invalid, "double braces hold the name of a variable, such as {{name}} or {{user.name}}, not %q; to ask about braces themselves, put them into a variable", shortened(inside))
		}
		parts = append(parts, p)
		text = after
	}
}

// shortened is the beginning of a text, for messages.
func shortened(text string) string { return excerpt.Runes(text, 40) }

// markPlain marks a template without nunjucks; ok is false if only JavaScript can
// compute a value.
func (t *Template) markPlain(values, vars *value.Object) (text string, ok bool, err error) {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		if p.root == "" {
			b.WriteString(p.text)
			continue
		}
		v, ok := t.find(p, vars)
		if !ok {
			return "", false, nil
		}
		if _, none := v.(value.Undefined); none {
			return "", true, noValue(p.source)
		}
		val, ok := t.value(p, vars)
		if !ok {
			return "", false, nil
		}
		values.Set(p.source, val) // one name has one value in a plain template
		b.WriteString("{{" + p.source + "}}")
	}
	return b.String(), true, nil
}

// noValue is the error for a missing value.
func noValue(name string) error {
	return proviso.Errorf(proviso.Undecided, "{{%s}} has no value: there is no such variable", shortened(name))
}
