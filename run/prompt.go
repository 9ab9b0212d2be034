package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// source is the text of a prompt and its origin.
type source struct {
	raw string
	// lax means that a text with an unclosed tag is sent unchanged: the suite has promptfoo's
	// format, or code produced the text.
	lax bool
	// written means that the suite alone wrote the text, without code or a part from a case.
	// Only such a text may include files.
	written bool
}

// promptTemplates returns the templates for prompts from the suite.
func (p *Plan) promptTemplates() Templates {
	if p.o.PromptTemplates == nil {
		return p.o.Templates
	}
	return p.o.PromptTemplates
}

// templates returns the templates for a prompt.
func (p *Plan) templates(s source) Templates {
	if s.written {
		return p.promptTemplates()
	}
	return p.o.Templates
}

// render renders the prompt that is sent. Texts in a JSON prompt are rendered
// one by one, so that quotes in variables do not break it. If that fails, the
// prompt is rendered as one text.
func (p *Plan) render(ctx context.Context, s source, vars *value.Object, foreign map[string]bool) (string, error) {
	if p.o.PlainPrompts {
		return s.raw, nil
	}
	if p.o.PlainJSON {
		if text, err := p.renderSource(ctx, s, vars); err == nil {
			return text, nil
		}
	} else if v, ok := jsonPrompt(s.raw); ok {
		if text, err := renderJSON(ctx, p.templates(s), v, vars); err == nil {
			return text, nil
		}
	}
	rendered, err := p.renderVars(ctx, vars, foreign)
	if err != nil {
		return "", err
	}
	return p.renderSource(ctx, s, rendered)
}

func (p *Plan) renderSource(ctx context.Context, s source, vars *value.Object) (string, error) {
	if s.lax {
		return renderText(ctx, p.templates(s), s.raw, vars)
	}
	return p.templates(s).Render(ctx, s.raw, vars)
}

// checkPrompt finds mistakes in the template of a prompt.
func (p *Plan) checkPrompt(c *column) {
	prompt := c.prompt
	if v, ok := jsonPrompt(prompt.Raw); ok && !p.o.PlainJSON {
		err := p.checkTexts(v)
		if err == nil {
			c.uses = p.promptTemplates().Variables(prompt.Raw)
			return
		}
		if e := (*proviso.Error)(nil); errors.As(err, &e) && e.Code != proviso.Invalid { // from an included file
			p.mistake(proviso.WithPointer(prompt.Pointer, fmt.Errorf("prompt %q: %w", short(prompt.Label), err)))
			return
		}
	}
	if p.Suite.Lenient && partial(prompt.Raw) && !wrapped(prompt.Raw) {
		e := proviso.Errorf(proviso.Invalid, "prompt %q has a tag that is not closed on its line: like promptfoo, proviso sends the whole prompt unchanged", short(prompt.Label))
		e.Warning = true
		p.mistake(proviso.WithPointer(prompt.Pointer, e))
		return
	}
	c.uses = p.promptTemplates().Variables(prompt.Raw)
	if err := p.promptTemplates().Check(prompt.Raw); err != nil {
		p.mistake(proviso.WithPointer(prompt.Pointer, fmt.Errorf("prompt %q: %w", short(prompt.Label), err)))
	}
}

// checkTexts finds a mistake in the texts of a JSON prompt.
func (p *Plan) checkTexts(v any) error {
	switch v := v.(type) {
	case string:
		return p.promptTemplates().Check(v)
	case []any:
		for _, e := range v {
			if err := p.checkTexts(e); err != nil {
				return err
			}
		}
	case *value.Object:
		for _, e := range v.All() {
			if err := p.checkTexts(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonPrompt reads a prompt that is JSON.
func jsonPrompt(raw string) (any, bool) {
	text := strings.TrimLeft(raw, " \t\r\n")
	if text == "" || !strings.ContainsRune(`{["-0123456789tfn`, rune(text[0])) || strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "{%") {
		return nil, false
	}
	v, err := value.ParseJSON(raw)
	return v, err == nil
}

func renderJSON(ctx context.Context, t Templates, v any, vars *value.Object) (string, error) {
	rendered, err := renderTexts(ctx, t, v, vars)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, value.AppendJSON(nil, rendered), "", "  "); err != nil {
		return "", err
	}
	return b.String(), nil
}

// renderTexts renders every text in v.
func renderTexts(ctx context.Context, t Templates, v any, vars *value.Object) (any, error) {
	switch v := v.(type) {
	case string:
		return t.Render(ctx, v, vars)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r, err := renderTexts(ctx, t, e, vars)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case *value.Object:
		out := value.NewObject(v.Len())
		for k, e := range v.All() {
			r, err := renderTexts(ctx, t, e, vars)
			if err != nil {
				return nil, err
			}
			out.Set(k, r)
		}
		return out, nil
	}
	return v, nil
}

// assertionsName is the variable in which prompts find the instructions of their assertions: {{
// assertions.instructions }}. A variable of the case with this name takes precedence.
const assertionsName = "assertions"

// withInstructions adds the instructions of a row's assertions, as a Markdown list, to the
// variables of a prompt that uses them. They are not templates again: they have been rendered.
// Reports and assertions do not see the variable.
func (p *Plan) withInstructions(ctx context.Context, pc *prepared, col *column, raw string, vars *value.Object, foreign map[string]bool) (*value.Object, map[string]bool, error) {
	if !strings.Contains(raw, assertionsName) || vars.Has(assertionsName) {
		return vars, foreign, nil
	}
	set := pc.set
	if s, ok := pc.byPrompt[col.prompt]; ok {
		set = s
	}
	row := &check.Row{Vars: vars, Case: pc.Case, Provider: col.spec, Label: col.prompt.Label}
	var lines []string
	for _, set := range []*check.Set{pc.criteria, set} {
		list, err := set.Instructions(ctx, row)
		if err != nil {
			return nil, nil, proviso.Errorf(proviso.Undecided, "assertions.instructions: %w", err)
		}
		for _, text := range list {
			if line := "- " + strings.Join(strings.Fields(text), " "); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	added := vars.Clone().OrEmpty()
	added.Set(assertionsName, value.ObjectOf("instructions", strings.Join(lines, "\n")))
	names := maps.Clone(foreign)
	if names == nil {
		names = map[string]bool{}
	}
	names[assertionsName] = true
	return added, names, nil
}

// instructed reports whether an assertion of a case in a column has an instruction.
func instructed(c *proviso.Case, col *column) bool {
	var has func([]*proviso.Assertion) bool
	has = func(list []*proviso.Assertion) bool {
		return slices.ContainsFunc(list, func(a *proviso.Assertion) bool { return strings.TrimSpace(a.Instruction) != "" || has(a.Assert) })
	}
	return has(c.Set) || has(c.Assert) || has(col.prompt.Assert)
}
