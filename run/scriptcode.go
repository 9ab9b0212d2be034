package run

import (
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/script"
)

// actingTimeout is for one call of a generator or a hook.
const actingTimeout = 2 * time.Minute

// code compiles a function of a file. Without a name of its own it is standard in
// Python and Ruby, and the default export in JavaScript, which adapter, if it is
// not "", makes a function of.
func (p *Plan) code(ctx context.Context, g *proviso.Generator, standard, adapter string) (proviso.Function, error) {
	language := check.LanguageOf(g.File)
	if language == "" {
		return nil, proviso.Errorf(proviso.Invalid, "%s is no script", g.File)
	}
	if p.o.Code == nil || p.o.Files == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: no interpreter for %s here", g.File, language)
	}
	data, err := p.o.Files.ReadFile(g.File)
	if err != nil {
		return nil, err
	}
	src := proviso.Source{
		Language: language, Name: g.File, Text: string(data), Form: proviso.Module, Entry: g.Entry, Timeout: actingTimeout,
		Pointer: g.Pointer, File: path.Clean(g.File), Purpose: proviso.Acting,
	}
	switch {
	case language != "javascript" && src.Entry == "":
		src.Entry = standard
	case language == "javascript" && src.Entry == "" && adapter != "":
		src.Text = script.Adapt(src.Text, adapter)
	}
	fn, err := script.Compile(ctx, p.o.Code, src, string(data))
	if err != nil {
		return nil, check.FileMistake(p.shown(g), err)
	}
	return fn, nil
}

// shown is a file for messages.
func (p *Plan) shown(g *proviso.Generator) string { return check.Shown(p.o.Files, g.File) }

// function is a function of a file, compiled once for all rows that call it.
type function struct {
	p *Plan
	proviso.Function
	*proviso.Generator
	standard string
}

// functions are those that rows call. It is safe for concurrent use.
type functions struct {
	mu   sync.Mutex
	made map[string]*function
}

// function compiles a function of a file once.
func (p *Plan) function(g *proviso.Generator, standard string) (*function, error) {
	key := g.File + "\x00" + g.Entry + "\x00" + standard
	p.functions.mu.Lock()
	defer p.functions.mu.Unlock()
	if known, ok := p.functions.made[key]; ok {
		return known, nil
	}
	fn, err := p.code(context.Background(), g, standard, "")
	if err != nil {
		return nil, err
	}
	made := &function{p, fn, g, standard}
	if p.functions.made == nil {
		p.functions.made = map[string]*function{}
	}
	p.functions.made[key] = made
	return made, nil
}

// call calls the function; what keeps it from its result leaves the row
// undecided.
func (f *function) call(ctx context.Context, args ...any) (any, error) {
	v, err := f.Call(ctx, args...)
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, f.p.threw(f.Generator, f.standard, err)
}

// name is how messages call the function.
func (f *function) name() string { return called(f.Generator, f.standard) }

// called is how messages call a function that has a standard name.
func called(g *proviso.Generator, standard string) string {
	if g.Entry == "" && check.LanguageOf(g.File) != "javascript" && standard != "" {
		return g.File + ":" + standard
	}
	return g.Name()
}

// threw words what kept code from its result: the function, and the place in its
// file.
func (p *Plan) threw(g *proviso.Generator, standard string, err error) *proviso.Error {
	cause := check.FileMistake(p.shown(g), err)
	code := proviso.Invalid
	var known *proviso.Error
	if errors.As(cause, &known) {
		code = known.Code
	}
	e := proviso.Because(err, code, "%s: %v", called(g, standard), cause)
	e.Pointer = g.Pointer
	return e
}

// found names the kind of a value for messages.
func found(v any) string {
	switch v := v.(type) {
	case nil, proviso.Undefined:
		return "nothing"
	case string:
		return "a text"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case *proviso.Opaque:
		return v.Kind
	}
	return "an object"
}
