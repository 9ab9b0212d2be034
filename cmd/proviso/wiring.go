package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// loaded is a suite with everything that is needed to run it.
type loaded struct {
	*proviso.Suite
	around   proviso.Env // environment of the user
	env      proviso.Env // environment of providers and of proviso itself
	files    *suite.Files
	mistakes proviso.Mistakes
	engine   *engine.Engine // nil before there is a plan
}

func (s *loaded) close() {
	if s.engine != nil {
		closeEngine(s.engine)
	}
}

// read reads the suite that the flags name. It prints mistakes at once only if there is no suite to
// plan, because planning may find more.
func (a *app) read(ctx context.Context, f *suiteFlags) (*loaded, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	around, envFiles, err := f.trust.around(a.env, f.EnvFiles)
	if err != nil {
		return nil, err
	}
	policy := f.trust.policy()
	o.Env, o.EnvFiles, o.Facts, o.Trust, o.Fetch = around, envFiles, engine.Facts(), policy.Suite(around), a.fetch(ctx, f, around)
	s, mistakes := suite.Read(ctx, f.configs, o)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	if s == nil {
		return nil, a.mistakes(mistakes)
	}
	if f.file != "" {
		s.File = f.file
	}
	if f.repeat > 0 {
		if s.CaseSource, err = suite.Repeat(s.CaseSource, f.repeat, s.Options.RepeatPass); err != nil {
			return nil, err
		}
	}
	own, _ := policy.Environments(s.Env, around)
	return &loaded{Suite: s, around: around, env: a.secrets.Env(own), files: suite.NewFiles(s.Dir, o.Files), mistakes: mistakes}, nil
}

// stopped ends a command that was interrupted before it ran anything.
func (a *app) stopped() error {
	fmt.Fprintln(a.err, "proviso: interrupted; nothing was run")
	return exitError{exitInterrupted}
}

// interrupted ends a command whose context has ended: because of a signal, or because nothing can
// be recorded any more. rest says what is kept, or is "".
func (a *app) interrupted(ctx context.Context, rest string) error {
	why, exit := "interrupted", exitInterrupted
	if err := context.Cause(ctx); errors.Is(err, transport.ErrUnrecorded) {
		why, exit = err.Error(), exitUndecided
	}
	if rest != "" {
		why += "; " + rest
	}
	fmt.Fprintln(a.err, "proviso: "+printable(why))
	return exitError{exit}
}

// options returns the options for reading the suite. It reads the reports that the flags refer to.
func (f *suiteFlags) options() (suite.Options, error) {
	o := f.Options
	o.Files = f.trust.files()
	o.Files.Seen = f.seen
	if o.Tests == "" {
		o.Tests, o.TestsFlag = f.vars, "--vars"
	}
	name, kind, flag := f.filterFailing, suite.NotPassed, "--filter-failing"
	if f.filterErrors != "" {
		name, kind, flag = f.filterErrors, suite.Errors, "--filter-errors-only"
	}
	if name == "" {
		return o, nil
	}
	r, err := openFile(name, holdsRun)
	if err != nil {
		return o, fmt.Errorf("%s: %w", flag, err)
	}
	defer r.Close()
	o.Filter.Rows, err = suite.ReadRows(name, r, kind)
	return o, err
}

// plan opens the engine of a suite and compiles the suite.
func (a *app) plan(ctx context.Context, s *loaded, f *evalFlags) (*run.Plan, error) {
	cassette := f.models.cassette(a.secrets, nil)
	replay, err := f.models.replayed(ctx, cassette)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	if err != nil {
		return nil, err
	}
	task, err := a.task(ctx, s, f)
	if err != nil {
		return nil, err
	}
	task.Replay = replay
	f.traced = a.tracing(s, f, cassette)
	o := a.engineOptions(f, s.around, cassette)
	if o.Policy, err = f.code.policy(o.Policy); err != nil {
		return nil, err
	}
	o.Engines.Files, o.Engines.Spans = s.files, f.traced.spans()
	o.Limits.Concurrency, o.Limits.Delay = f.concurrency, milliseconds(f.delay)
	o.Observers.Observers = f.observers()
	if f.asked, err = engine.Open(ctx, s.Suite, o); err != nil {
		if ctx.Err() != nil {
			return nil, a.stopped()
		}
		return nil, err
	}
	s.engine = f.asked
	p, mistakes := f.asked.Plan(ctx, task)
	if ctx.Err() != nil {
		return nil, a.stopped()
	}
	return p, a.mistakes(inOrder(slices.Concat(s.mistakes, mistakes)))
}

// task returns the part of a suite that the flags select, and where its run is kept.
func (a *app) task(ctx context.Context, s *loaded, f *evalFlags) (run.Task, error) {
	t := run.Task{Dir: a.runDir(f), SkipUnsupported: f.SkipUnsupported, KeysElsewhere: f.remote != nil, Warn: f.warn, Dry: f.dry, RetryErrors: f.retryErrors}
	if !f.trust.untrusted { // files beside an untrusted suite do not describe its judges
		t.Folder, _ = filepath.Abs(s.Dir)
	}
	if t.Dir != "" && !f.dry {
		t.Revision = report.Revision{Commit: f.commit, Base: true} // the CI system would name another commit
		if f.commit == "" {
			t.Revision = a.revision(ctx, s.Dir, f.trust.untrusted)
		}
	}
	for re, flag := range map[**regexp.Regexp]string{&t.Providers: f.filterProviders, &t.Prompts: f.filterPrompts} {
		if flag != "" {
			*re = regexp.MustCompile(flag) // f.check has compiled it
		}
	}
	var err error
	t.Resume, err = a.resumed(f)
	return t, err
}

// observers show a run's progress to a person, and send its verdicts on.
func (f *evalFlags) observers() run.Observers {
	return run.Observers{
		Keep: f.traced.keep(),
		Tick: func(t proviso.Totals) {
			if f.progress != nil {
				f.progress.tick(t)
			}
		},
		Taken: func(t proviso.Totals) {
			if f.progress != nil {
				f.progress.take(t)
			}
		},
		Begin: func(c *proviso.Case, spec *proviso.ProviderSpec) func() {
			if f.progress == nil {
				return func() {}
			}
			return f.progress.begin(c, spec)
		},
	}
}

// resumed returns the run that --resume and --retry-errors continue; "" if there is none.
func (a *app) resumed(f *evalFlags) (string, error) {
	if f.resume == "" && !f.retryErrors {
		return "", nil
	}
	return findRun(a.runDir(f), f.resume)
}

// runDir returns the folder of kept runs; "" keeps none.
func (a *app) runDir(f *evalFlags) string {
	if f.noWrite {
		return ""
	}
	return cmp.Or(f.runDir, a.stateDir())
}

// stateDir is $XDG_STATE_HOME/proviso/runs, or its equivalent on other systems.
func (a *app) stateDir() string {
	return a.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"), filepath.Join("proviso", "runs"))
}

// xdg returns a folder below the one that a variable names, or below the default in the home folder
// (XDG Base Directory Specification).
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

// inOrder sorts mistakes by line within each file, and drops duplicates, which both reading and
// planning may find.
func inOrder(list proviso.Mistakes) proviso.Mistakes {
	file, seen := map[string]int{}, map[string]int{}
	var once, more proviso.Mistakes
	wrong := list.Err() != nil
	for _, m := range list {
		if m.More > 0 {
			more = append(more, m)
			continue
		}
		if m.Place.File == "" && wrong && len(once) > 0 {
			continue // it follows from other mistakes, such as a suite without rows
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
	if len(more) == 0 {
		return once
	}
	all, warnings := 0, true
	for _, m := range more {
		all += m.More
		warnings = warnings && m.Warning
	}
	return append(once, proviso.MoreMistakes(all, warnings))
}

// nothingRun is the note of most commands that end because of mistakes.
const nothingRun = "nothing was run"

// mistakes prints warnings and mistakes, and ends the command if there are mistakes.
func (a *app) mistakes(list proviso.Mistakes) error { return a.mistakesSo(list, nothingRun) }

// mistaken is mistakesSo for an error that consists of mistakes. It returns any other error.
func (a *app) mistaken(err error, so string) error {
	var list proviso.Mistakes
	if errors.As(err, &list) {
		return a.mistakesSo(list, so)
	}
	return err
}

// mistakesSo is mistakes for a command that does something other than run: so says what was not
// done.
func (a *app) mistakesSo(list proviso.Mistakes, so string) error {
	wrong := 0
	for _, m := range list {
		kind := "error"
		if m.Warning {
			kind = "warning"
		} else {
			wrong += max(1, m.More)
		}
		a.mistake(kind, m)
	}
	if wrong == 0 {
		return nil
	}
	fmt.Fprintf(a.err, "proviso: %s; %s\n", plural.Of(wrong, "mistake"), so)
	return exitError{exitUsage}
}

// mistake prints the position, kind and message, and the line with a mark below the column.
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

// terminal describes what the terminal supports.
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
	if suite.Switch(a.env, "FORCE_COLOR") {
		o.Color = true
	}
	o.Summary = !details
	return o
}

// fileOf returns the file that w writes to; nil if w is not a file.
func fileOf(w io.Writer) *os.File {
	if r, ok := w.(redacting); ok {
		w = r.to
	}
	f, _ := w.(*os.File)
	return f
}

// isTerminal reports whether w writes to a terminal.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}
