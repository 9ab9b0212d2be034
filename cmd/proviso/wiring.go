package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade"
	"github.com/proviso-eval/proviso/suite"
)

// loaded is a suite that was read, with what it takes to run it.
type loaded struct {
	*proviso.Suite
	env      proviso.Env // of providers and of proviso itself
	names    proviso.Env // that templates may use
	files    *suite.Files
	mistakes proviso.Mistakes
	closers  []io.Closer
}

func (s *loaded) close() {
	for _, c := range slices.Backward(s.closers) {
		_ = c.Close() // engines only free memory
	}
}

// read reads the suite that the flags name. What is wrong with it is printed at
// once only if there is no suite to make a plan of, which may find more.
func (a *app) read(ctx context.Context, f *suiteFlags) (*loaded, error) {
	tests, flag := f.tests, "--tests"
	if tests == "" {
		tests, flag = f.vars, "--vars"
	}
	files := f.trust.files()
	files.Seen = f.seen
	filter, err := f.filter()
	if err != nil {
		return nil, err
	}
	around, envFiles, err := f.trust.around(a.env, f.envFiles)
	if err != nil {
		return nil, err
	}
	s, mistakes := suite.Read(ctx, f.configs, suite.Options{
		Env: around, Files: files, Cells: check.Cells(), Trust: f.trust.suite(around), EnvFiles: envFiles, SkipUnsupported: f.skipUnsupported,
		Description: f.description, Prompts: f.prompts, Providers: f.providers, Tests: tests, TestsFlag: flag,
		ModelOutputs: f.modelOutputs, Assertions: f.assertions, Fetch: a.fetch(ctx, f, around),
		PromptPrefix: f.prefix, PromptSuffix: f.suffix, Filter: filter,
	})
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	if s == nil {
		return nil, a.mistakes(mistakes)
	}
	if f.repeat > 0 {
		if s.CaseSource, err = suite.Repeat(s.CaseSource, f.repeat, s.Options.RepeatPass); err != nil {
			return nil, err
		}
	}
	own, names := f.trust.environments(s.Env, around)
	own, names = a.secrets.Env(own), a.secrets.Env(names)
	return &loaded{Suite: s, env: own, names: names, files: suite.NewFiles(s.Dir, files), mistakes: mistakes}, nil
}

// stopped ends a command that was interrupted before it ran anything.
func (a *app) stopped() error {
	fmt.Fprintln(a.err, "proviso: interrupted; nothing was run")
	return exitError{exitInterrupted}
}

// filter says which cases are selected; it reads the reports that it refers to.
func (f *suiteFlags) filter() (suite.Filter, error) {
	out := suite.Filter{
		Pattern: f.filterPattern, Range: f.filterRange, First: f.filterFirst, Sample: f.filterSample, Metadata: f.filterMetadata,
	}
	if f.filterSeed >= 0 {
		seed := uint64(f.filterSeed)
		out.Seed = &seed
	}
	name, kind, flag := f.filterFailing, suite.NotPassed, "--filter-failing"
	if f.filterErrors != "" {
		name, kind, flag = f.filterErrors, suite.Errors, "--filter-errors-only"
	}
	if name == "" {
		return out, nil
	}
	r, err := openFile(name, holdsRun)
	if err != nil {
		return out, fmt.Errorf("%s: %w", flag, err)
	}
	defer r.Close()
	out.Rows, err = suite.ReadRows(name, r, kind)
	return out, err
}

// object is the environment as templates see it.
func object(env proviso.Env) *proviso.Object {
	o := proviso.NewObject(0)
	for _, name := range env.Names() {
		if v, ok := env.Lookup(name); ok {
			o.Set(name, v)
		}
	}
	return o
}

// plan opens the engines, all of which start when they are first used, and
// compiles the suite.
func (a *app) plan(ctx context.Context, s *loaded, f *evalFlags) (*run.Plan, error) {
	code := a.codes(f, s.Dir, s.env, s.Sandbox)
	filters, err := filtersOf(ctx, s, f.trust.code(code))
	if err != nil {
		s.mistakes = append(s.mistakes, proviso.Mistake{Place: proviso.Place{File: s.File}, Code: proviso.Invalid, Message: err.Error()})
	}
	templates := template.New(template.Options{Filters: filters, Env: s.templateEnv})
	metrics := mathjs.New(mathjs.Options{})
	s.closers = append(s.closers, code, templates, metrics)
	cassette := f.models.cassette(a.secrets)
	replay, err := f.models.replayed(ctx, cassette)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	if err != nil {
		return nil, err
	}
	var odd oddities
	client := f.client(s.env, cassette)
	guarded := f.trust.code(code)
	f.asked = a.newModels(f, provider.Options{
		Files: s.files, Env: s.env, Client: client, Code: guarded, Templates: templates, Dir: s.Dir, Untrusted: f.trust.untrusted,
		KeyHost: f.trust.names, Keyless: f.noKeys,
		Warn: func(e *proviso.Error) { odd.add(suite.CaseMistake(s.Places, e)) },
	}, cassette)
	grader := a.graderFor(s, f)
	code.grader = grader
	o := run.Options{Engines: run.Engines{Grader: grader, Judge: grader.identity, Code: guarded, Files: s.files, Env: s.env, Templates: templates, Metrics: metrics, Client: client, Open: f.asked.open, Secrets: a.secrets}, Limits: run.Limits{Concurrency: f.concurrency, Delay: milliseconds(f.delay), RowTimeout: milliseconds(s.Options.TimeoutMS), Timeout: milliseconds(s.Options.MaxTimeMS)}, Task: run.Task{Dir: a.runDir(f), SkipUnsupported: f.skipUnsupported, Warn: f.warn, Dry: f.dry, Replay: replay}, Version: versionName(), Untrusted: f.trust.untrusted, LaxSchemas: envTrue(s.env, "PROMPTFOO_DISABLE_AJV_STRICT_MODE"), PlainPrompts: envTrue(s.env, "PROMPTFOO_DISABLE_TEMPLATING"), PlainJSON: envTrue(s.env, "PROMPTFOO_DISABLE_JSON_AUTOESCAPE")}
	if !f.trust.untrusted { // what lies beside such a suite says nothing of its judges
		o.Folder, _ = filepath.Abs(s.Dir)
	}
	for re, flag := range map[**regexp.Regexp]string{&o.Providers: f.filterProviders, &o.Prompts: f.filterPrompts} {
		if flag != "" {
			*re = regexp.MustCompile(flag) // f.check compiled it before
		}
	}
	if cassette != nil {
		o.Unrecorded = cassette.Err
	}
	if o.Resume, err = a.resumed(f); err != nil {
		return nil, err
	}
	o.RetryErrors = f.retryErrors
	f.traced = a.tracing(s, f, cassette)
	f.traced.options(&o)
	o.Tick = func(t proviso.Totals) {
		if f.progress != nil {
			f.progress.tick(t)
		}
	}
	o.Taken = func(t proviso.Totals) {
		if f.progress != nil {
			f.progress.take(t)
		}
	}
	o.Begin = func(c *proviso.Case, spec *proviso.ProviderSpec) func() {
		if f.progress == nil {
			return func() {}
		}
		return f.progress.begin(c, spec)
	}
	p, mistakes := run.New(ctx, s.Suite, o)
	s.closers = append(s.closers, p)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	return p, a.mistakes(inOrder(slices.Concat(s.mistakes, mistakes, odd.all())))
}

// oddities are the warnings of providers. Some providers are opened during a run.
type oddities struct {
	mu   sync.Mutex
	list proviso.Mistakes
}

func (o *oddities) add(m proviso.Mistake) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, m)
}

func (o *oddities) all() proviso.Mistakes {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list)
}

// templateEnv is the environment as templates see it.
func (s *loaded) templateEnv() *proviso.Object {
	if envTrue(s.env, "PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS") {
		return object(suite.Environment(s.Env, proviso.EnvMap{}))
	}
	return object(s.names)
}

// resumed finds the run that --resume and --retry-errors go on with; "" if there
// is none to go on with.
func (a *app) resumed(f *evalFlags) (string, error) {
	if f.resume == "" && !f.retryErrors {
		return "", nil
	}
	id := f.resume
	if id == lastRun {
		id = ""
	}
	return findRun(a.runDir(f), id)
}

// codes prepares what runs the code of a suite.
func (a *app) codes(f *evalFlags, dir string, env proviso.Env, own proviso.Sandbox) *codes {
	var c *codes
	o := boxOptions{
		policy: cmp.Or(f.code.sandbox, sandboxAuto), dir: dir, around: env, machine: a.env, Sandbox: f.code.over(own), warn: a.warn,
		ask: func(ctx context.Context, prompt, response, question string) (bool, error) {
			return spade.AskLLM(ctx, c.grader, prompt, response, question)
		},
	}
	c = newCodes(func() (proviso.Code, error) { return openBox(o) })
	c.confined = o.policy == sandboxRequire
	return c
}

// filtersOf loads the scripts of the suite's template filters. They run where the
// templates do, without a host.
func filtersOf(ctx context.Context, s *loaded, code proviso.Code) (map[string]string, error) {
	filters := map[string]string{}
	for name, v := range s.Filters.All() {
		file, _ := v.(string)
		file, _, _ = strings.Cut(strings.TrimPrefix(file, "file://"), ":")
		data, err := s.files.ReadFile(file)
		if err != nil {
			return nil, proviso.Errorf(proviso.NotFound, "nunjucksFilters %s: %w", name, err)
		}
		if check.LanguageOf(file) != "javascript" || sandbox.NeedsNode(proviso.Source{Language: "javascript", File: file, Text: string(data), Form: proviso.Module}) {
			return nil, proviso.Errorf(proviso.Unsupported, "nunjucksFilters %s: %s: a filter is JavaScript without imports", name, s.files.Show(file))
		}
		text := script.CommonJS(string(data))
		src := proviso.Source{Language: "javascript", Name: file + ".cjs", Text: text, Form: proviso.Module, Purpose: proviso.Deciding}
		fn, err := code.Compile(ctx, src)
		if err != nil {
			return nil, proviso.Errorf(proviso.Invalid, "nunjucksFilters %s: %w", name, check.FileMistake(s.files.Show(file), err))
		}
		_ = fn.Close() // it only frees memory
		filters[name] = text
	}
	return filters, nil
}

// runDir is the folder that runs are kept in; "" keeps none.
func (a *app) runDir(f *evalFlags) string {
	switch {
	case f.noWrite:
		return ""
	case f.runDir != "":
		return f.runDir
	}
	return a.stateDir()
}

// stateDir is $XDG_STATE_HOME/proviso/runs, and its like where there is no such
// thing.
func (a *app) stateDir() string {
	return a.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"), filepath.Join("proviso", "runs"))
}

// xdg is a folder below one that a variable names, or below the one that is
// usual in the home folder (XDG Base Directory Specification).
func (a *app) xdg(variable, usual, name string) string {
	if dir, ok := a.env.Lookup(variable); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), name)
	}
	return filepath.Join(home, usual, name)
}

// inOrder sorts mistakes by line within each file, and drops what was found
// twice: in reading a suite and in making a plan of it.
func inOrder(list proviso.Mistakes) proviso.Mistakes {
	file, seen := map[string]int{}, map[string]int{}
	var once proviso.Mistakes
	wrong := list.Err() != nil
	for _, m := range list {
		if m.Place.File == "" && wrong && len(once) > 0 {
			continue // what follows from the mistakes before, such as a suite without rows
		}
		if at, known := seen[m.String()]; known {
			once[at].Count = max(once[at].Count, m.Count)
		} else {
			seen[m.String()] = len(once)
			once = append(once, m)
		}
		if _, known := file[m.Place.File]; !known {
			file[m.Place.File] = len(file)
		}
	}
	slices.SortStableFunc(once, func(a, b proviso.Mistake) int {
		return cmp.Or(file[a.Place.File]-file[b.Place.File], a.Place.Line-b.Place.Line, a.Place.Column-b.Place.Column)
	})
	return once
}

// mistakes prints warnings and mistakes, and ends the command if there are any
// of the latter.
func (a *app) mistakes(list proviso.Mistakes) error {
	wrong := 0
	for _, m := range list {
		kind := "error"
		if m.Warning {
			kind = "warning"
		} else {
			wrong++
		}
		a.mistake(kind, m)
	}
	if wrong == 0 {
		return nil
	}
	fmt.Fprintf(a.err, "proviso: %s; nothing was run\n", plural(wrong, "mistake"))
	return exitError{exitUsage}
}

// mistake prints place, kind, message and the line with a mark under the column.
func (a *app) mistake(kind string, m proviso.Mistake) {
	text := kind + ": " + m.Message
	if at := m.Place.String(); at != "" {
		text = at + ": " + text
	}
	var notes []string
	if m.Nearest != "" {
		notes = append(notes, fmt.Sprintf("did you mean %q?", m.Nearest))
	}
	if m.Skips && m.Code == proviso.Unsupported {
		notes = append(notes, "--skip-unsupported runs the rest")
	}
	if m.Count > 1 {
		notes = append(notes, fmt.Sprintf("in %d places", m.Count))
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	fmt.Fprintln(a.err, printable(text))
	if m.Place.Excerpt != "" {
		fmt.Fprintf(a.err, "    %s\n", printable(m.Place.Excerpt))
	}
}

func (a *app) warn(text string) { fmt.Fprintf(a.err, "proviso: warning: %s\n", printable(text)) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// terminal says what the terminal can show.
func (a *app) terminal(details bool) report.TerminalOptions {
	o := report.TerminalOptions{Width: 100}
	if isTerminal(a.out) {
		o.Color = true
		if w, _, err := term.GetSize(int(fileOf(a.out).Fd())); err == nil && w > 0 {
			o.Width = w
		}
	}
	if _, set := a.env.Lookup("NO_COLOR"); set {
		o.Color = false
	}
	if envTrue(a.env, "FORCE_COLOR") {
		o.Color = true
	}
	o.Summary = !details
	return o
}
