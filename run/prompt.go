package run

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso"
)

// maxRounds is how often variables are put into each other before what is left
// stays as it is.
const maxRounds = 5

// plainName is a variable in another variable.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`) })

// resolveVars returns vars with one trailing line break of each text removed and
// plain {{ name }} in texts replaced by other variables. It returns vars itself
// if nothing changes. Foreign texts are put nowhere here, since what they hold
// would then be taken for a template.
func resolveVars(vars *proviso.Object, foreign map[string]bool) *proviso.Object {
	out, nested := vars, false
	for name, v := range vars.All() {
		text, ok := v.(string)
		if !ok || foreign[name] {
			continue
		}
		nested = nested || strings.Contains(text, "{{")
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

// resolveOnce replaces the first plain name of each text; false if there was none.
func resolveOnce(vars *proviso.Object, foreign map[string]bool) bool {
	again := false
	for _, name := range vars.Keys() {
		text, ok := vars.At(name).(string)
		if !ok || foreign[name] || !strings.Contains(text, "{{") {
			continue
		}
		for _, m := range plainName().FindAllStringSubmatchIndex(text, -1) {
			v, known := vars.Get(text[m[2]:m[3]])
			if !known || text[m[2]:m[3]] == name || foreign[text[m[2]:m[3]]] {
				continue
			}
			vars.Set(name, text[:m[0]]+proviso.ToString(v)+text[m[1]:])
			again = true
			break
		}
	}
	return again
}

// render makes the prompt that is sent. Texts in a JSON prompt are rendered one
// by one, so that quotes in variables do not break it.
func (p *Plan) render(ctx context.Context, raw string, vars *proviso.Object, foreign map[string]bool) (string, error) {
	if p.o.PlainPrompts {
		return raw, nil
	}
	if v, ok := jsonPrompt(raw); ok && !p.o.PlainJSON {
		return p.renderJSON(ctx, v, vars)
	}
	if !strings.ContainsRune(raw, '{') {
		return raw, nil
	}
	rendered, err := p.renderVars(ctx, vars, foreign)
	if err != nil {
		return "", err
	}
	return p.o.Templates.Render(ctx, raw, rendered)
}

// renderVars renders variables that are templates themselves.
func (p *Plan) renderVars(ctx context.Context, vars *proviso.Object, foreign map[string]bool) (*proviso.Object, error) {
	out := vars
	for name, v := range vars.All() {
		text, ok := v.(string)
		if !ok || foreign[name] || !strings.Contains(text, "{{") && !strings.Contains(text, "{%") && !strings.Contains(text, "{#") {
			continue
		}
		rendered, err := p.o.Templates.Render(ctx, text, vars)
		if err != nil {
			return nil, proviso.Errorf(proviso.Undecided, "variable %q: %w", name, err)
		}
		if out == vars {
			out = vars.Clone()
		}
		out.Set(name, rendered)
	}
	return out, nil
}

// jsonPrompt reads a prompt that is JSON.
func jsonPrompt(raw string) (any, bool) {
	text := strings.TrimLeft(raw, " \t\r\n")
	if text == "" || !strings.ContainsRune(`{["-0123456789tfn`, rune(text[0])) || strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "{%") {
		return nil, false
	}
	v, err := proviso.ParseJSON(raw)
	return v, err == nil
}

func (p *Plan) renderJSON(ctx context.Context, v any, vars *proviso.Object) (string, error) {
	rendered, err := p.renderTexts(ctx, v, vars)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, proviso.AppendJSON(nil, rendered), "", "  "); err != nil {
		return "", err
	}
	return b.String(), nil
}

// renderTexts renders every text in v.
func (p *Plan) renderTexts(ctx context.Context, v any, vars *proviso.Object) (any, error) {
	switch v := v.(type) {
	case string:
		return p.o.Templates.Render(ctx, v, vars)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r, err := p.renderTexts(ctx, e, vars)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case *proviso.Object:
		out := proviso.NewObject(v.Len())
		for k, e := range v.All() {
			r, err := p.renderTexts(ctx, e, vars)
			if err != nil {
				return nil, err
			}
			out.Set(k, r)
		}
		return out, nil
	}
	return v, nil
}
