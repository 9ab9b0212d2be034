package provider_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// interpreter is a proviso.Code whose Python functions return what result
// returns.
type interpreter struct {
	proviso.Code
	result func(ctx context.Context, entry string, args ...any) (any, error)

	mu      sync.Mutex
	sources []proviso.Source
}

func (i *interpreter) Compile(ctx context.Context, src proviso.Source) (proviso.Function, error) {
	if src.Language == "javascript" {
		return i.Code.Compile(ctx, src)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sources = append(i.sources, src)
	if strings.Contains(src.Text, "broken") {
		return nil, &proviso.ScriptError{Name: "SyntaxError", Message: "invalid syntax", Syntax: true, Line: 3, Column: 7}
	}
	if !strings.Contains(src.Text, src.Entry) {
		return nil, &proviso.Error{Code: proviso.NotFound, Message: "there is no function " + src.Entry, Valid: []string{"call_api"}}
	}
	return inPlace(func(ctx context.Context, args ...any) (any, error) { return i.result(ctx, src.Entry, args...) }), nil
}

// inPlace is a Go function that stands for a script.
type inPlace func(ctx context.Context, args ...any) (any, error)

func (f inPlace) Call(ctx context.Context, args ...any) (any, error) { return f(ctx, args...) }
func (inPlace) Close() error                                         { return nil }

// scripts opens a provider that has script files.
func scripts(t *testing.T, id, settings string, code proviso.Code, o provider.Options) (proviso.Provider, error) {
	t.Helper()
	if code == nil {
		engine := script.New(script.Options{})
		t.Cleanup(func() { engine.Close() })
		code = engine
	}
	o.Code, o.Files = code, files{
		"p.py": "def call_api(): pass\ndef other(): pass\ncall_embedding_api call_classification_api", "broken.py": "broken",
		"bare.py":  "call_api",
		"class.js": "module.exports = class { constructor(o) { this.o = o; } async callApi(p, c) { return {output: p + this.o.config.n + c.vars.a + c.prompt.label, cost: 1, tokenUsage: {total: 2}, cached: true}; } };",
		"fn.mjs":   "export const other = (p, c, o) => ({output: [p, c.vars.a, o.label]});\nexport default async (p) => ({output: p, error: null, finishReason: 'stop'});",
		"obj.js":   "exports.callApi = (p) => ({error: 'no ' + p});\nexports.id = () => 'x';",
		"bad.js":   "module.exports = {a: 1};", "text.js": "module.exports = (p) => p;", "throws.js": "\nmodule.exports = () => nothing;", "syntax.js": "const a = (",
	}
	return provider.Open(proviso.ProviderSpec{ID: id, Label: "L", Config: config(t, settings), Pointer: "/p"}, o)
}

func TestJavascriptProviders(t *testing.T) {
	t.Parallel()
	ask := proviso.Ask{Prompt: "hi", Label: "l", Vars: value.ObjectOf("a", "v"), Config: value.ObjectOf("n", 7.0)}
	for id, want := range map[string]string{
		"file://class.js":     `"hi7vl"`,
		"file://fn.mjs":       `"hi"`,
		"file://fn.mjs:other": `["hi","v","L"]`,
	} {
		p, err := scripts(t, id, `{"n":1}`, nil, provider.Options{})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		out, err := p.Answer(t.Context(), ask)
		if err != nil || value.Stringify(out.Value) != want || out.Error != "" || out.Latency == nil || out.Cached {
			t.Errorf("%s: got %+v, %v", id, out, err)
		}
	}
	p, err := scripts(t, "file://obj.js", `{}`, nil, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Answer(t.Context(), ask); err != nil || out.Error != "no hi" {
		t.Errorf("an error: %+v, %v", out, err)
	}
	for id, want := range map[string]string{"file://text.js": `text.js must return {output: …} or {error: …}, found "hi"`, "file://throws.js": "throws.js: ReferenceError: "} {
		p, err := scripts(t, id, `{}`, nil, provider.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Answer(t.Context(), ask); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", id, err, want)
		}
	}
}

func TestScriptMistakes(t *testing.T) {
	t.Parallel()
	i := &interpreter{Code: script.New(script.Options{})}
	for id, want := range map[string]string{
		"file://bad.js":         "neither a function nor a class with callApi",
		"file://fn.mjs:missing": "the module exports no function or class missing",
		"file://syntax.js":      "file://syntax.js: syntax.js:1:",
		"file://none.py":        "none.py",
		"python:":               "expected a script, such as python:provider.py",
		"python:broken.py":      "python:broken.py: broken.py:3:7: SyntaxError: invalid syntax",
		"python:p.py:nope":      "there is no function nope; it has call_api",
		"file://x.go":           `provider "file://x.go" is not available`,
		"file:p.py":             "is not available",
	} {
		_, err := scripts(t, id, `{}`, i, provider.Options{})
		var e *proviso.Error
		if !errors.As(err, &e) || e.Pointer != "/p" || !strings.Contains(e.Error(), want) {
			t.Errorf("%s: got %v, want %s", id, err, want)
		}
	}
	if _, err := scripts(t, "python:p.py", `{}`, i, provider.Options{Untrusted: true}); !hasCode(err, proviso.Refused) {
		t.Errorf("an untrusted suite: %v", err)
	}
}

func hasCode(err error, code string) bool {
	var e *proviso.Error
	return errors.As(err, &e) && e.Code == code
}

func TestPythonProvider(t *testing.T) {
	t.Parallel()
	i := &interpreter{result: func(_ context.Context, entry string, args ...any) (any, error) {
		options := args[1].(*value.Object)
		switch entry {
		case "call_embedding_api":
			return value.ObjectOf("embedding", []any{1.0, 2.0}, "tokenUsage", value.ObjectOf("total", 3.0)), nil
		case "call_classification_api":
			return value.ObjectOf("classification", value.ObjectOf("good", 0.75)), nil
		case "other":
			return nil, &proviso.ScriptError{Name: "KeyError", Message: "'x'", Stack: "  File \"p.py\", line 2\n"}
		}
		return value.ObjectOf("output", args[0].(string)+value.Stringify(options.At("config"))+value.Stringify(args[2].(*value.Object).At("prompt")), "error", nil, "cost", 0.25), nil
	}}
	p, err := scripts(t, "file://p.py", `{"a":1,"timeout":5000}`, i, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	src := i.sources[0]
	if src.Entry != "call_api" || src.Timeout != 5*time.Second || src.Purpose != proviso.Acting || src.File != "p.py" || p.ID() != "file://p.py" {
		t.Errorf("compiled %+v", src)
	}
	out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi", Label: "l", Config: value.ObjectOf("b", 2.0)})
	if err != nil || out.Value != `hi{"a":1,"timeout":5000,"b":2}{"raw":"hi","label":"l"}` || *out.Cost != 0.25 {
		t.Errorf("got %+v, %v", out, err)
	}
	vectors, used, err := p.(proviso.Embedder).Embed(t.Context(), []string{"a", "b"})
	if err != nil || len(vectors) != 2 || vectors[1][1] != 2 || used.Total != 6 {
		t.Errorf("embedded %v, %+v, %v", vectors, used, err)
	}
	classes, err := p.(proviso.Classifier).Classify(t.Context(), "a")
	if err != nil || classes["good"] != 0.75 {
		t.Errorf("classified %v, %v", classes, err)
	}
	bare, err := scripts(t, "python:bare.py", `{}`, i, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := bare.(proviso.Embedder).Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "there is no function call_embedding_api") {
		t.Errorf("a file that does not embed: %v", err)
	}
	other, err := scripts(t, "python:p.py:other", `{}`, i, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err == nil || err.Error() != "p.py:other: KeyError: 'x'\n  File \"p.py\", line 2" {
		t.Errorf("an exception: %v", err)
	}
	if _, ok := proviso.As[proviso.Embedder](other); ok {
		t.Error("a function that is named alone embeds")
	}
}

// TestWorkers: the number of concurrent calls is bounded, and a cancelled
// caller stops waiting.
func TestWorkers(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}, 2), make(chan struct{})
	i := &interpreter{result: func(context.Context, string, ...any) (any, error) {
		begun <- struct{}{}
		<-end
		return value.ObjectOf("output", "x"), nil
	}}
	p, err := scripts(t, "python:p.py", `{"workers":1}`, i, provider.Options{Concurrency: 8})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { _, err := p.Answer(context.Background(), proviso.Ask{}); done <- err }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, err := p.Answer(ctx, proviso.Ask{}); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the second call: %v", err)
	}
	close(end)
	if err := <-done; err != nil || len(begun) != 0 {
		t.Errorf("the first call: %v; %d more began", err, len(begun))
	}
}

// TestScriptIdentity changes with the file.
func TestScriptIdentity(t *testing.T) {
	t.Parallel()
	spec := proviso.ProviderSpec{ID: "python:p.py:f"}
	one := provider.Identity(spec, provider.Options{Files: files{"p.py": "1"}})
	if two := provider.Identity(spec, provider.Options{Files: files{"p.py": "2"}}); one == two {
		t.Error("another script has the same identity")
	}
}

// TestProgram checks the output of a program.
func TestProgram(t *testing.T) {
	t.Parallel()
	env := proviso.EnvMap{"PATH": "/usr/bin:/bin"}
	p, err := provider.NewProgram(`sh -c 'echo "got $0"'`, false, provider.Options{Env: env, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Run(t.Context(), "argument"); got != "got argument" || err != nil {
		if strings.Contains(err.Error(), "is not in the PATH") {
			t.Skip("there is no sh here")
		}
		t.Errorf("got %q, %v", got, err)
	}
	slow, err := provider.NewProgram("sleep 10", false, provider.Options{Env: env}, value.ObjectOf("timeout", 10.0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Run(t.Context(), "1"); !hasCode(err, proviso.Timeout) && !hasCode(err, proviso.Unavailable) {
		t.Errorf("a slow program: %v", err)
	}
	if _, err := provider.NewProgram(" ", false, provider.Options{}, nil); !hasCode(err, proviso.Invalid) {
		t.Errorf("no command: %v", err)
	}
}
