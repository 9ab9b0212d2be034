// Package template renders nunjucks templates. Start at [New].
//
// Templates that only print variables, the most common case, are rendered in Go
// ([plain.go]). nunjucks itself renders all others, in JavaScript under limits of
// time and memory. Both give the same text. No engine is started before the first
// template that needs it.
package template

import (
	"context"
	_ "embed" // for the JavaScript source
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/recent"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

//go:embed nunjucks.js
var nunjucksSource string

//go:embed engine.js
var engineSource string

const (
	// cachedTemplates is the number of compiled templates that an engine caches.
	cachedTemplates = 1024
	// cachedLength is the maximum size of a cached template, in bytes.
	cachedLength = 64 << 10
)

// Options configure what templates may use. The zero value works.
type Options struct {
	// Filters are the suite's own filters: name to CommonJS source text that
	// exports a function.
	Filters map[string]string
	// Env returns the global object env; it is called once, when a template first needs
	// env. Nil means an empty object.
	Env func() *value.Object
	// Timeout bounds one rendering; 0 means one second.
	Timeout time.Duration
	// Memory bounds one JavaScript engine, in bytes; 0 means 64 MiB.
	Memory int64
}

// Engine compiles and renders templates. It is safe for concurrent use.
type Engine struct {
	library *script.Library
	filters map[string]string
	env     func() *value.Object
	read    func(name string) (string, error) // nil if nothing may be included
	cache   *recent.Cache[string, *Template]
}

// New returns an engine. It does no work; see [Engine.Close].
func New(o Options) *Engine {
	env := o.Env
	if env == nil {
		env = func() *value.Object { return nil }
	}
	e := &Engine{filters: o.Filters, env: sync.OnceValue(env), cache: recent.New[string](recent.Options[*Template]{Entries: cachedTemplates})}
	e.library = script.NewLibrary(script.LibraryOptions{
		Name:    "template",
		Program: program,
		Source:  e.source,
		Timeout: o.Timeout,
		Memory:  o.Memory,
	})
	return e
}

// Close frees the JavaScript engines, if any were started.
func (e *Engine) Close() error { return e.library.Close() }

// program is the source with which every JavaScript engine starts, compiled once
// for all of them.
var program = script.NewProgram(func() string { return nunjucksSource + engineSource })

// source is what the suite adds to program: its environment and its filters.
func (e *Engine) source() string {
	var b strings.Builder
	env := e.env()
	if env == nil {
		env = &value.Object{}
	}
	b.WriteString("setEnv(JSON.parse(" + value.Stringify(value.Stringify(env)) + "));\n")
	for _, name := range slices.Sorted(maps.Keys(e.filters)) {
		b.WriteString("addFilter(" + value.Stringify(name) + ", " + value.Stringify(e.filters[name]) + ");\n")
	}
	return b.String()
}

// Has reports whether text contains anything that a template engine interprets. The
// end of a comment counts: on its own it is a mistake.
func Has(text string) bool {
	return tagStart(text) >= 0 || strings.Contains(text, "#}")
}

// Render compiles text, or uses the cached template, and renders it. The result is
// never rendered again.
func (e *Engine) Render(ctx context.Context, text string, vars *value.Object) (string, error) {
	if !Has(text) {
		return text, nil
	}
	t, err := e.compile(ctx, text)
	if err != nil {
		return "", err
	}
	return t.Render(ctx, vars)
}

// Check reports a mistake in the syntax of text; see [Engine.Compile].
func (e *Engine) Check(text string) error {
	_, err := e.Compile(text)
	return err
}

// Compile checks the syntax of text. The error is a *[proviso.Error]. Its code is
// Invalid, with nunjucks' message and, if known, the line and column within text;
// or it is the code of the exceeded limit.
func (e *Engine) Compile(text string) (*Template, error) {
	return e.compile(context.Background(), text)
}

func (e *Engine) compile(ctx context.Context, text string) (*Template, error) {
	if t, ok := e.cache.Get(text); ok {
		return t, nil
	}
	t := &Template{engine: e, text: text}
	if parts, ok := parsePlain(text); ok {
		t.parts, t.variables = parts, rootsOf(parts)
		t.words = append([]string{"env"}, t.variables...)
	} else if err := t.inspect(ctx); err != nil {
		return nil, err
	}
	if len(text) <= cachedLength {
		e.cache.Add(text, t)
	}
	return t, nil
}

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	engine    *Engine
	text      string
	parts     []part   // nil if nunjucks has to render it
	words     []string // possible names of variables
	all       bool     // nunjucks needs all variables
	variables []string
	files     *value.Object // included files: name to text; nil if there are none
}

// Variables returns the names of the variables that the template requires, for
// warnings: it leaves out names that the template sets itself and those that it
// tests with if, or, default or `is defined`.
func (t *Template) Variables() []string { return t.variables }

// Render renders the template. The error is a *[proviso.Error]: with the code
// Timeout or Limit if it exceeded a limit, Undecided if it failed in another way,
// such as a call of something that is not a function.
func (t *Template) Render(ctx context.Context, vars *value.Object) (string, error) {
	if t.parts != nil {
		if text, ok := t.plain(vars); ok {
			return text, nil
		}
	}
	v, err := t.engine.library.Call(ctx, "renderTemplate", t.text, t.subset(vars), included(t.files))
	if err != nil {
		return "", wrap(err)
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	return "", mistake(proviso.Undecided, v)
}

// subset returns the variables that the template can refer to by name. Filters of
// the suite and functions defined in the template could read all of them.
func (t *Template) subset(vars *value.Object) *value.Object {
	if t.all || vars.Len() == 0 {
		return vars.Clone()
	}
	o := value.NewObject(len(t.words))
	for _, name := range t.words {
		if v, ok := vars.Get(name); ok {
			o.Set(name, v)
		}
	}
	return o
}

// words returns everything in text that nunjucks could read as a name: the text
// between delimiters, once with quotes as delimiters and once without.
func words(text string) []string {
	const delimiters = "()[]{}%*-+~/#,:|.<>=! \n\t\r\u00a0"
	seen := map[string]bool{}
	for _, set := range []string{delimiters, delimiters + `"'`} {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(set, r) }) {
			seen[word] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// mistake makes an error from the value that engine.js returns instead of a result.
func mistake(code string, v any) error {
	o, _ := v.(*value.Object)
	message, ok := o.At("message").(string)
	if !ok {
		return proviso.Errorf(proviso.Internal, "the template engine returned %s", value.Stringify(v))
	}
	line, _ := o.At("line").(float64)
	column, _ := o.At("column").(float64)
	e := proviso.Errorf(code, "template: %s", message)
	switch {
	case line > 0 && column > 0:
		e = proviso.Errorf(code, "template, line %d, column %d: %s", int(line), int(column), message)
	case line > 0:
		e = proviso.Errorf(code, "template, line %d: %s", int(line), message)
	}
	valid, _ := o.At("valid").([]any)
	for _, name := range valid {
		e.Valid = append(e.Valid, value.ToString(name))
	}
	return e
}

// wrap adds a code to an error of the JavaScript engine itself.
func wrap(err error) error {
	var known *proviso.Error
	if errors.As(err, &known) {
		return err
	}
	return proviso.Errorf(proviso.Undecided, "template: %w", err)
}
