package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// maxNested bounds how deep a body may be nested.
const maxNested = 200

// render renders one text.
func (t *requestTemplate) render(ctx context.Context, text string, vars *value.Object) (string, error) {
	if t.templates == nil || !isTemplate(text) {
		return text, nil
	}
	return t.templates.Render(ctx, text, vars)
}

func isTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#")
}

// renderURL renders the URL with its parameters.
func (t *requestTemplate) renderURL(ctx context.Context, vars *value.Object) (*url.URL, error) {
	text, err := t.render(ctx, t.url, vars)
	if err != nil {
		return nil, err
	}
	text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text) // WHATWG URL, section 4.4
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, proviso.Errorf(proviso.Invalid, "the URL is not one of http or https")
	}
	if t.query.Len() == 0 {
		return u, nil
	}
	q := url.Values{}
	for name, v := range t.query.All() {
		val, err := t.render(ctx, value.ToString(v), vars)
		if err != nil {
			return nil, err
		}
		q.Add(name, val)
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += q.Encode()
	return u, nil
}

// renderBody returns the body that is sent.
func (t *requestTemplate) renderBody(ctx context.Context, body any, vars *value.Object) ([]byte, error) {
	text, isText := body.(string)
	switch {
	case body == nil:
		return nil, nil
	case isText && t.json || isText && looksLikeJSON(text) && t.header.At("Content-Type") != typeForm:
		out, err := t.renderJSON(ctx, text, vars)
		return []byte(out), err
	case isText:
		out, err := t.render(ctx, text, vars)
		return []byte(out), err
	}
	v, err := t.renderValue(ctx, body, vars)
	if err != nil {
		return nil, err
	}
	return value.AppendJSON(nil, v), nil
}

// looksLikeJSON reports whether text could be a list or an object.
func looksLikeJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' && !strings.HasPrefix(text, "{{") && !strings.HasPrefix(text, "{%") || text[0] == '[')
}

// renderJSON renders a text that should become JSON. A text that is JSON is
// rendered as a structure, so that quotes in variables do not break it.
// Otherwise it is rendered as text, and if that fails, as text with escaped
// variables.
func (t *requestTemplate) renderJSON(ctx context.Context, text string, vars *value.Object) (string, error) {
	if v, err := value.ParseJSON(text); err == nil {
		v, err = t.renderValue(ctx, v, vars)
		return value.Stringify(v), err
	}
	out, err := t.render(ctx, text, vars)
	if err != nil {
		return "", err
	}
	if v, err := value.ParseJSON(out); err == nil {
		return value.Stringify(v), nil
	}
	if escaped, err := t.renderEscaped(ctx, text, vars); err == nil {
		if v, err := value.ParseJSON(escaped); err == nil {
			return value.Stringify(v), nil
		}
	}
	return out, nil
}

// renderEscaped renders a text that is JSON with variables inside its strings.
func (t *requestTemplate) renderEscaped(ctx context.Context, text string, vars *value.Object) (string, error) {
	if !looksLikeJSON(text) {
		return t.render(ctx, text, vars)
	}
	escaped := vars.Clone()
	for name, v := range vars.All() {
		if s, ok := v.(string); ok {
			quoted := value.AppendQuoted(nil, s)
			escaped.Set(name, string(quoted[1:len(quoted)-1]))
		}
	}
	return t.render(ctx, text, escaped)
}

// renderValue renders every text in a structure. A text that renders to a JSON
// list or object, such as {{messages | dump}} or a chat prompt, becomes that
// value.
func (t *requestTemplate) renderValue(ctx context.Context, v any, vars *value.Object) (any, error) {
	return rendered(v, 0, func(text string, _ int) (any, error) {
		out, err := t.render(ctx, text, vars)
		return parsed(out), err
	})
}

// parsed returns the JSON list or object in a text, or else the text.
func parsed(text string) any {
	if looksLikeJSON(text) {
		if v, err := value.ParseJSON(text); err == nil {
			return v
		}
	}
	return text
}

// rendered renders every text in a structure.
func rendered(v any, depth int, text func(text string, depth int) (any, error)) (any, error) {
	if depth > maxNested {
		return nil, proviso.Errorf(proviso.Limit, "it is nested more than %d deep", maxNested)
	}
	switch v := v.(type) {
	case literalValue:
		return v.v, nil
	case string:
		return text(v, depth)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var err error
			if list[i], err = rendered(e, depth+1, text); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *value.Object:
		o := value.NewObject(v.Len())
		for name, e := range v.All() {
			made, err := rendered(e, depth+1, text)
			if err != nil {
				return nil, err
			}
			o.Set(name, made)
		}
		return o, nil
	}
	return v, nil
}
