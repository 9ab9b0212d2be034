package run

import (
	"cmp"
	"context"
	"path"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// actingTimeout limits one call of a generator or a hook.
const actingTimeout = 2 * time.Minute

// code compiles a function of a file. In Python and Ruby, standard is the name of the default
// function. In JavaScript the default function is the default export, which adapter, if not "",
// turns into a function.
func (p *Plan) code(ctx context.Context, g *proviso.Generator, standard, adapter string) (proviso.Function, error) {
	language := check.LanguageOf(g.File)
	if language == "" {
		return nil, proviso.Errorf(proviso.Invalid, "%s is not a script", g.File)
	}
	if p.o.Code == nil || p.o.Files == nil {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: no interpreter for %s is available", g.File, language)
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

// shown returns the name of a file for messages.
func (p *Plan) shown(g *proviso.Generator) string { return check.Shown(p.o.Files, g.File) }

// function is a function of a file, compiled once for all rows that call it.
type function struct {
	p *Plan
	proviso.Function
	*proviso.Generator
	standard string
}

// functions caches the functions that rows call. It is safe for concurrent use.
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

// call calls the function. An error leaves the row undecided.
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

// name returns the function's name for messages.
func (f *function) name() string { return called(f.Generator, f.standard) }

// called returns the name, for messages, of a function with a default name.
func called(g *proviso.Generator, standard string) string {
	if g.Entry == "" && check.LanguageOf(g.File) != "javascript" && standard != "" {
		return g.File + ":" + standard
	}
	return g.Name()
}

// threw describes an error of code, with the function and the line in its file.
func (p *Plan) threw(g *proviso.Generator, standard string, err error) *proviso.Error {
	cause := check.FileMistake(p.shown(g), err)
	code := cmp.Or(proviso.CodeOf(cause), proviso.Invalid)
	e := proviso.Because(err, code, "%s: %v", called(g, standard), cause)
	e.Pointer = g.Pointer
	return e
}

// found names the kind of a value in messages.
func found(v any) string {
	switch v := v.(type) {
	case nil, value.Undefined:
		return "nothing"
	case *value.Opaque:
		return v.Kind
	}
	return kind.Of(v)
}
