package provider

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// snippet is a script in a configuration: an expression, a function, or a file.
type snippet struct {
	name     string
	template string // a template of a request, instead of a script
	fn       proviso.Function
	params   []string
}

// snippet compiles a setting; nil if it is not set.
func (s settings) snippet(name string, params []string) (*snippet, error) {
	v, ok := s.spec.Config.Get(name)
	if !ok || v == nil {
		return nil, nil
	}
	text, ok := v.(string)
	if b, isBool := v.(bool); isBool && name == "validateStatus" {
		text, ok = value.ToString(b), true
	}
	if !ok || strings.TrimSpace(text) == "" {
		return nil, s.invalid("config.%s must be JavaScript, or file:// and the name of a script", name)
	}
	if name == "transformRequest" && isTemplate(text) && !isScript(text) {
		return &snippet{name: name, template: text}, nil
	}
	if s.o.Code == nil {
		return nil, s.invalid("config.%s: no interpreter is available", name)
	}
	fn, err := s.compile(name, text, params)
	if err != nil {
		return nil, s.invalid("config.%s: %w", name, err)
	}
	return &snippet{name: name, fn: fn, params: params}, nil
}

// isScript distinguishes a script from a template.
func isScript(text string) bool {
	return strings.HasPrefix(text, "file://") || strings.Contains(text, "=>") || strings.Contains(text, "return ") || strings.Contains(text, "function")
}

// compile makes a function of a script. Inline code is an expression, or else
// the body of a function. If the value of the expression is a function, that
// function is called.
func (s settings) compile(name, text string, params []string) (proviso.Function, error) {
	ctx := context.Background()
	if file, ok := strings.CutPrefix(text, "file://"); ok {
		return s.compileFile(ctx, file)
	}
	list := strings.Join(params, ", ")
	text = strings.TrimRight(text, "; \t\r\n")
	src := proviso.Source{
		Language: "javascript", Name: name, Params: params, Form: proviso.Expression, Pointer: s.spec.Pointer, Purpose: proviso.Deciding,
		Text: "(v => typeof v === 'function' ? v(" + list + ") : v)(" + text + "\n)",
	}
	fn, err := s.o.Code.Compile(ctx, src)
	var syntax *proviso.ScriptError
	if !errors.As(err, &syntax) || !syntax.Syntax {
		return fn, err
	}
	src.Text, src.Form = text, proviso.Body
	if body, second := s.o.Code.Compile(ctx, src); second == nil && strings.Contains(text, "return") {
		return body, nil
	}
	return nil, err
}

// compileFile compiles a file, file.js or file.js:function.
func (s settings) compileFile(ctx context.Context, name string) (proviso.Function, error) {
	file, entry := splitScript(name)
	language := languageOf(file)
	if language == "" {
		return nil, proviso.Errorf(proviso.Invalid, "%s: expected a script file (%s)", file, strings.Join(scriptKinds(), ", "))
	}
	if entry == "" && language != "javascript" {
		entry = "get_transform"
	}
	if s.o.Files == nil {
		return nil, proviso.Errorf(proviso.Refused, "%s: files may not be read", file)
	}
	data, err := s.o.Files.ReadFile(file)
	if err != nil {
		return nil, proviso.Errorf(cmp.Or(proviso.CodeOf(err), proviso.NotFound), "%s: %w", file, err)
	}
	return s.o.Code.Compile(ctx, proviso.Source{
		Language: language, Name: file, Text: string(data), Form: proviso.Module, Entry: entry, Pointer: s.spec.Pointer,
		File: path.Clean(file), Purpose: proviso.Deciding,
	})
}

// call runs the script.
func (sn *snippet) call(ctx context.Context, args ...any) (any, error) {
	v, err := sn.fn.Call(ctx, args...)
	var thrown *proviso.ScriptError
	if errors.As(err, &thrown) && thrown.Name == "ReferenceError" {
		return nil, proviso.Errorf(proviso.Undecided, "%s: %w (it has %s)", sn.name, err, strings.Join(sn.params, ", "))
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Undecided, "%s: %w", sn.name, err)
	}
	return v, nil
}
