package provider

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/value"
)

// scriptTimeout is the default timeout of one script call.
const scriptTimeout = 2 * time.Minute

// scripted answers with the result of a function in a file of the suite.
type scripted struct {
	id      string
	name    string // file:function, for messages
	spec    proviso.ProviderSpec
	fn      proviso.Function
	js      bool
	workers chan struct{}                                        // holds one value per running call
	open    func(entry string) (proviso.Function, string, error) // opens another function of the file and returns its name
}

var (
	_ proviso.Embedder   = (*scriptedPython)(nil)
	_ proviso.Classifier = (*scriptedPython)(nil)
)

// newPython opens python:file.py[:function].
func newPython(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	return newScripted(spec, "python", arg, o)
}

// newRuby opens ruby:file.rb[:function].
func newRuby(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	return newScripted(spec, "ruby", arg, o)
}

// newFile opens file://script, in the language of its suffix.
func newFile(spec proviso.ProviderSpec, arg string, o Options) (proviso.Provider, error) {
	name := strings.TrimPrefix(arg, "//")
	file, _ := splitScript(name)
	language := languageOf(file)
	if language == "" || name == arg {
		return nil, &proviso.Error{
			Code: proviso.Unsupported, Pointer: spec.Pointer, Valid: scriptKinds(),
			Message: "provider \"" + spec.ID + "\" is not available in this version: a file that answers is a script in JavaScript, Python or Ruby (" + strings.Join(scriptKinds(), ", ") + ")",
		}
	}
	return newScripted(spec, language, name, o)
}

func scriptKinds() []string {
	return []string{".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb"}
}

// languageOf is the language of a script by its suffix, "" for other files.
func languageOf(file string) string {
	ext := strings.ToLower(path.Ext(file))
	switch {
	case ext == ".py":
		return "python"
	case ext == ".rb":
		return "ruby"
	case slices.Contains(scriptKinds(), ext):
		return "javascript"
	}
	return ""
}

// splitScript splits file.py:function.
func splitScript(name string) (file, entry string) {
	if before, after, ok := cutAtLast(name, ":"); ok && languageOf(before) != "" {
		return before, after
	}
	return name, ""
}

func newScripted(spec proviso.ProviderSpec, language, name string, o Options) (proviso.Provider, error) {
	s := settings{spec, o}
	if o.Untrusted {
		return nil, &proviso.Error{Code: proviso.Refused, Pointer: spec.Pointer, Message: spec.ID + " is code, which an untrusted suite may not run"}
	}
	file, entry := splitScript(strings.TrimPrefix(name, "file://"))
	if file == "" {
		return nil, s.invalid("expected a script, such as %s:provider%s", language, map[string]string{"python": ".py", "ruby": ".rb"}[language])
	}
	if o.Code == nil || o.Files == nil {
		return nil, s.failed(proviso.Unavailable, "no interpreter for %s is available", language)
	}
	data, err := o.Files.ReadFile(file)
	if err != nil {
		return nil, s.invalid("%w", err)
	}
	abilities := language == "python" && entry == ""
	if s.replays() { // replayed answers need no interpreter
		return withCassette(withAbilities(&scripted{id: spec.ID}, abilities), spec, o.Cassette), nil
	}
	p := &scripted{id: spec.ID, spec: spec, js: language == "javascript", workers: make(chan struct{}, s.workers())}
	src := proviso.Source{
		Language: language, Name: file, Text: string(data), Form: proviso.Module, Pointer: spec.Pointer, Timeout: s.limit(scriptTimeout),
		File: path.Clean(file), Purpose: proviso.Acting,
	}
	p.open = func(standard string) (proviso.Function, string, error) {
		src := src
		name := cmp.Or(entry, standard)
		if src.Entry = name; p.js {
			src.Text, src.Entry = script.Adapt(src.Text, providerAdapter(entry)), ""
		}
		called := file
		if name != "" {
			called += ":" + name
		}
		fn, err := script.Compile(context.Background(), o.Code, src, string(data))
		return fn, called, err
	}
	standard := "call_api"
	if p.js {
		standard = ""
	}
	if p.fn, p.name, err = p.open(standard); err != nil {
		return nil, s.badScript(p.name, err)
	}
	return withCassette(withAbilities(p, abilities), spec, o.Cassette), nil
}

// providerAdapter returns JavaScript that makes a function of a provider's export: a class or an
// object with callApi, or a function.
func providerAdapter(entry string) string {
	return `(exported) => {
		const entry = ` + strconv.Quote(entry) + `;
		const of = (o, key) => o === null || o === undefined ? undefined : o[key];
		let found = entry ? of(exported, entry) ?? of(of(exported, 'default'), entry) : of(exported, 'default') ?? exported;
		if (!entry && typeof of(found, 'default') === 'function') found = found.default;
		const isClass = typeof found === 'function' && (typeof of(found.prototype, 'callApi') === 'function' || /^class\b/.test(Function.prototype.toString.call(found)));
		if (typeof found !== 'function' && typeof of(found, 'callApi') !== 'function') throw new TypeError(entry ? 'the module exports no function or class ' + entry : 'the module exports neither a function nor a class with callApi');
		return async (prompt, context, options) => {
			if (!isClass && typeof found === 'function') return found(prompt, context, options);
			const provider = isClass ? new found(options) : found;
			if (typeof provider.callApi !== 'function') throw new TypeError('the class has no method callApi');
			return provider.callApi(prompt, context, {});
		};
	}`
}

// mostFunctions bounds how many function names a message lists when the
// requested one is missing.
const mostFunctions = 8

// badScript explains why a script cannot answer.
func (s settings) badScript(name string, err error) error {
	var thrown *proviso.ScriptError
	var known *proviso.Error
	switch {
	case errors.As(err, &thrown) && thrown.Line > 0:
		file, _ := splitScript(name)
		err = proviso.Because(err, proviso.Invalid, "%s: %s:%d:%d: %v", s.spec.ID, file, thrown.Line, thrown.Column, thrown)
	case errors.As(err, &known):
		has := ""
		if n := len(known.Valid); known.Code == proviso.NotFound && n > 0 {
			has = "; it has " + strings.Join(known.Valid[:min(n, mostFunctions)], ", ")
		}
		about := proviso.Because(err, known.Code, "%s: %v%s", s.spec.ID, err, has)
		about.Valid = known.Valid
		err = about
	default:
		err = proviso.Because(err, proviso.Invalid, "%s: %v", s.spec.ID, err)
	}
	placed := *err.(*proviso.Error)
	placed.Pointer = s.spec.Pointer
	return &placed
}

// workers is the number of script calls that may run at once.
func (s settings) workers() int {
	if n, ok := s.number("workers"); ok && n >= 1 && n <= math.MaxInt16 {
		return int(n)
	}
	return s.concurrency()
}

func (p *scripted) ID() string { return p.id }

// cacheKey covers the script's other inputs besides the prompt.
func (p *scripted) cacheKey(_ context.Context, ask proviso.Ask) (string, error) {
	return beside("script", ask), nil
}

// Answer calls the function once.
func (p *scripted) Answer(ctx context.Context, ask proviso.Ask) (proviso.Output, error) {
	about := rowOfAsk(ask)
	if ask.Trace != nil {
		about.Set("otlpEndpoint", ask.Trace.Endpoint)
	}
	args := []any{ask.Prompt, optionsOf(p.spec, ask.Config), about}
	if p.js {
		args[1], args[2] = args[2], args[1]
	}
	start := time.Now()
	v, err := p.call(ctx, p.fn, p.name, args...)
	if err != nil {
		return proviso.Output{}, err
	}
	latency := time.Since(start)
	o, ok := v.(*value.Object)
	if !ok || !o.Has("output") && !o.Has("error") {
		return proviso.Output{}, proviso.Errorf(proviso.Undecided, "%s must return {output: …} or {error: …}, found %s", p.name, excerpt(value.AppendJSON(nil, v)))
	}
	return p.output(o, latency), nil
}

// output reads the result of the function. Null members are ignored.
func (p *scripted) output(o *value.Object, latency time.Duration) proviso.Output {
	fields := value.NewObject(o.Len())
	for key, v := range o.All() {
		if v != nil || key == "output" {
			fields.Set(key, v)
		}
	}
	if v, ok := fields.Get("error"); ok { // whatever it is, there is no answer
		if text, isText := v.(string); !isText {
			fields.Set("error", value.Stringify(v))
		} else if text == "" {
			fields.Delete("error")
		}
	}
	out := outputOf(fields)
	out.Cached = false // only answers from proviso's own cache cost nothing
	if out.Latency == nil {
		out.Latency = &latency
	}
	return out
}

// optionsOf returns a provider's options as code sees them, with the settings of the prompt and the
// case merged over its own.
func optionsOf(spec proviso.ProviderSpec, over *value.Object) *value.Object {
	options := value.ObjectOf("id", spec.ID, "config", overlaid(spec.Config, over).OrEmpty())
	if spec.Label != "" {
		options.Set("label", spec.Label)
	}
	return options
}

// contextOf returns what code gets about a request besides its prompt.
func contextOf(ask proviso.Ask) *value.Object {
	return value.ObjectOf("vars", ask.AllVars().OrEmpty(), "prompt", value.ObjectOf("raw", ask.Prompt, "label", ask.Label))
}

// rowOfAsk is [contextOf] with the case and the trace of the request.
func rowOfAsk(ask proviso.Ask) *value.Object {
	about := contextOf(ask)
	if ask.Case != nil && ask.Case.Raw != nil {
		about.Set("test", ask.Case.Raw)
	}
	if ask.Trace != nil {
		about.Set("traceparent", ask.Trace.Parent)
	}
	return about
}

// beside returns the cache key of what code gets besides the prompt.
func beside(kind string, ask proviso.Ask) string {
	return blobs.Key(kind, value.Stringify(value.Sorted(ask.Vars)), ask.Label)
}

// call waits for a worker and runs a function of the file.
func (p *scripted) call(ctx context.Context, fn proviso.Function, name string, args ...any) (any, error) {
	select {
	case p.workers <- struct{}{}:
		defer func() { <-p.workers }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	v, err := fn.Call(ctx, args...)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, proviso.Because(err, cmp.Or(proviso.CodeOf(err), proviso.Unavailable), "%s: %s", name, explained(err))
	}
	return v, nil
}

// explained returns the text of a script's error, with its stack trace.
func explained(err error) string {
	var thrown *proviso.ScriptError
	if errors.As(err, &thrown) && thrown.Stack != "" {
		return err.Error() + "\n" + strings.TrimRight(thrown.Stack, "\n")
	}
	return err.Error()
}

// scriptedPython is a Python file that can also embed and classify, with the functions
// call_embedding_api and call_classification_api.
type scriptedPython struct {
	*scripted
	embed, classify another
}

// withAbilities adds embedding and classification to a Python file.
func withAbilities(p *scripted, abilities bool) proviso.Provider {
	if abilities {
		return &scriptedPython{scripted: p}
	}
	return p
}

// another is a function of the file that is compiled on its first call.
type another struct {
	once sync.Once
	fn   proviso.Function
	name string
	err  error
}

// ask calls a function of the file and returns the member of its result that
// holds the answer.
func (p *scriptedPython) ask(ctx context.Context, a *another, entry, member, text string) (*value.Object, error) {
	a.once.Do(func() { a.fn, a.name, a.err = p.open(entry) })
	if a.err != nil {
		return nil, settings{spec: p.spec}.badScript(a.name, a.err)
	}
	v, err := p.call(ctx, a.fn, a.name, text, optionsOf(p.spec, nil))
	if err != nil {
		return nil, err
	}
	o, _ := v.(*value.Object)
	if message := o.Text("error"); message != "" {
		return nil, proviso.Errorf(proviso.Unavailable, "%s: %s", a.name, message)
	}
	if o.At(member) == nil {
		return nil, proviso.Errorf(proviso.Undecided, "%s must return {%s: …} or {error: …}, found %s", a.name, member, excerpt(value.AppendJSON(nil, v)))
	}
	return o, nil
}

// Embed implements [proviso.Embedder].
func (p *scriptedPython) Embed(ctx context.Context, texts []string) ([][]float64, proviso.Usage, error) {
	var used proviso.Usage
	vectors := make([][]float64, len(texts))
	for i, text := range texts {
		o, err := p.ask(ctx, &p.embed, "call_embedding_api", "embedding", text)
		if err != nil {
			return nil, used, err
		}
		var ok bool
		if vectors[i], ok = numbers(o.At("embedding")); !ok {
			return nil, used, proviso.Errorf(proviso.Undecided, "%s: embedding must be a list of numbers", p.embed.name)
		}
		var one proviso.Usage
		if usage(&one, o.At("tokenUsage")) {
			used.Add(one)
		}
	}
	return vectors, used, nil
}

// Classify implements [proviso.Classifier].
func (p *scriptedPython) Classify(ctx context.Context, text string) (map[string]float64, error) {
	o, err := p.ask(ctx, &p.classify, "call_classification_api", "classification", text)
	if err != nil {
		return nil, err
	}
	scores, ok := o.At("classification").(*value.Object)
	classes := make(map[string]float64, scores.Len())
	for name, v := range scores.All() {
		if classes[name], ok = v.(float64); !ok {
			break
		}
	}
	if !ok {
		return nil, proviso.Errorf(proviso.Undecided, "%s: classification must be an object of numbers", p.classify.name)
	}
	return classes, nil
}
