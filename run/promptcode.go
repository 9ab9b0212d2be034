package run

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// promptCode generates a prompt for each row.
type promptCode interface {
	// write returns the prompt, as text or a chat, or an object with the prompt
	// and settings for the provider.
	write(ctx context.Context, context *value.Object) (any, error)
}

// promptCode opens the code that generates a prompt: a function of a file, a
// Python file whose standard output is the prompt, or any program.
func (p *Plan) promptCode(prompt *proviso.Prompt) (promptCode, error) {
	g := prompt.Script
	command, isCommand := strings.CutPrefix(g.File, "exec:")
	language := check.LanguageOf(g.File)
	switch {
	case isCommand:
	case language == "javascript", language == "python" && g.Entry != "":
		fn, err := p.function(g, "")
		if err != nil {
			return nil, err
		}
		return promptFunction{fn}, nil
	case language == "python":
		return p.promptScript(g)
	default:
		command = g.File
		if !strings.ContainsRune(command, '/') {
			command = "./" + command // in the suite's folder, not in PATH
		}
	}
	return p.promptProgram(g, command, prompt.Config, !isCommand)
}

// promptFunction is a function that returns a prompt.
type promptFunction struct{ *function }

func (f promptFunction) write(ctx context.Context, context *value.Object) (any, error) {
	v, err := f.call(ctx, context)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case string, []any, *value.Object:
		return v, nil
	}
	return nil, proviso.Errorf(proviso.Undecided, "%s must return a prompt, as a text or a chat, found %s", f.name(), found(v))
}

// promptScript is a Python file that prints a prompt.
type promptScript struct {
	p *Plan
	proviso.Function
	g    *proviso.Generator
	text string
}

// wholeScript runs a file as the interpreter would, with the context as its
// only argument, and returns its output.
const wholeScript = `import contextlib, io, sys
printed, arguments = io.StringIO(), sys.argv
sys.argv = [name, context]
try:
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), {"__name__": "__main__", "__file__": name, "__builtins__": __builtins__})
except SystemExit as end:
    if end.code not in (None, 0):
        raise RuntimeError("the script exited with " + str(end.code)) from None
finally:
    sys.argv = arguments
return printed.getvalue()`

func (p *Plan) promptScript(g *proviso.Generator) (promptCode, error) {
	if p.o.Code == nil || p.o.Files == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: no interpreter for python is available", g.File)
	}
	data, err := p.o.Files.ReadFile(g.File)
	if err != nil {
		return nil, err
	}
	fn, err := p.o.Code.Compile(context.Background(), proviso.Source{
		Language: "python", Name: g.File, Text: wholeScript, Form: proviso.Body, Params: []string{"source", "name", "context"},
		Pointer: g.Pointer, Timeout: actingTimeout, File: path.Clean(g.File), Purpose: proviso.Acting,
	})
	if err != nil {
		return nil, check.FileMistake(p.shown(g), err)
	}
	return &promptScript{p, fn, g, string(data)}, nil
}

func (s *promptScript) write(ctx context.Context, context *value.Object) (any, error) {
	v, err := s.Call(ctx, s.text, s.g.File, value.Stringify(context))
	if err != nil {
		var thrown *proviso.ScriptError
		if errors.As(err, &thrown) { // its position is not in the file
			return nil, proviso.Errorf(proviso.Undecided, "%s: %s", s.g.File, strings.TrimSpace(thrown.Error()+"\n"+thrown.Stack))
		}
		return nil, s.p.threw(s.g, "", err)
	}
	text, _ := v.(string)
	return strings.TrimRight(text, "\r\n"), nil
}

// promptProgram is a program that prints a prompt.
type promptProgram struct{ *provider.Program }

func (p *Plan) promptProgram(g *proviso.Generator, command string, config *value.Object, isFile bool) (promptCode, error) {
	if p.o.Untrusted {
		return nil, proviso.Errorf(proviso.Refused, "the prompt %q is code, which an untrusted suite may not run", g.File)
	}
	if isFile { // its content is part of the run's hash
		if _, err := p.o.Files.ReadFile(g.File); err != nil {
			return nil, err
		}
	}
	program, err := provider.NewProgram(command, isFile, provider.Options{Env: p.o.Env, Dir: p.Suite.Dir}, config)
	if err != nil {
		return nil, err
	}
	return promptProgram{program}, nil
}

func (p promptProgram) write(ctx context.Context, context *value.Object) (any, error) {
	return p.Run(ctx, value.Stringify(context))
}

// writePrompt returns the prompt of a row, from the suite or its code, and the provider
// settings that come with it. Code gets the variables as written. After that, references
// between variables are resolved for the template and all later steps.
func (p *Plan) writePrompt(ctx context.Context, pc *prepared, col *column, res *proviso.Result, own ownVars) (string, *value.Object, error) {
	config, s := col.prompt.Config, source{
		raw: pc.Options.Prefix + col.prompt.Raw + pc.Options.Suffix, lax: p.Suite.Lenient,
		written: !strings.Contains(pc.Options.Prefix+pc.Options.Suffix, "{"),
	}
	foreign := own.foreign
	if col.code != nil {
		context := value.ObjectOf("vars", own.over(res.Vars), "provider", providerOf(col.spec), "config", config.OrEmpty())
		v, err := col.code.write(ctx, context)
		if err != nil {
			return "", nil, err
		}
		if o, ok := v.(*value.Object); ok && o.Has("prompt") {
			given, _ := o.At("config").(*value.Object)
			v, config = o.At("prompt"), settings(config, given)
		}
		raw, ok := v.(string)
		if !ok {
			raw = value.Stringify(v)
		}
		s = source{raw: raw, lax: true}
	}
	if p.o.PlainPrompts {
		return s.raw, config, nil
	}
	vars := res.Vars
	if own.usedBy(s.raw, vars) {
		vars = own.over(vars)
	}
	resolved := resolveVars(vars, foreign)
	res.Vars = own.without(resolved)
	if col.code != nil && len(foreign) > 0 {
		return s.raw, config, nil // a model wrote parts of it, so it is not a template
	}
	seen, foreign, err := p.withInstructions(ctx, pc, col, s.raw, resolved, foreign)
	if err != nil {
		return "", nil, err
	}
	text, err := p.render(ctx, s, seen, foreign)
	return text, config, err
}
