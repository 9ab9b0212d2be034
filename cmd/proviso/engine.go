package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
)

// engineOptions turns a command's flags into options of its engine. around is the user's
// environment. Code is confined as far as this machine can.
func (a *app) engineOptions(f *evalFlags, around proviso.Env, cassette *transport.Cassette) engine.Options {
	a.secrets.AddEnv(a.env)
	o := engine.Options{
		Version: versionName(), Policy: f.trust.policy(), Keyless: f.noKeys,
		Judge:     engine.Judge{Name: f.judge.judge, Flag: "--judge", Mode: judge.Mode(f.judge.mode), Votes: f.judge.votes, Canaries: f.judge.canaries},
		Engines:   engine.Engines{Env: around, Machine: a.env, Secrets: a.secrets, Cassette: cassette},
		Limits:    engine.Limits{Calls: f.concurrency},
		Observers: engine.Observers{Warn: a.warn},
	}
	if f.judge.off {
		o.Judge.Grader = noGrader{}
	}
	o.Policy.Sandbox = sandbox.Auto
	o.Policy.Budget = f.models.maxCost
	if !f.models.noCache {
		o.Engines.Answers, o.Engines.Verdicts = engine.Folder(a.cacheDir(keptAnswers)), engine.Folder(a.cacheDir(keptVerdicts))
	}
	return o
}

// openEngine opens the engine of a command without a suite. The files that it may read are relative
// to dir. change completes the options. If recording fails, the command ends: each further answer
// would be paid for and lost.
func (a *app) openEngine(ctx context.Context, end *closers, f *evalFlags, dir string, change func(*engine.Options) error) (*engine.Engine, error) {
	around, envFiles, err := f.trust.around(a.env, nil)
	if err != nil {
		return nil, err
	}
	env, err := suite.WithEnvFiles(around, "", envFiles)
	if err != nil {
		return nil, err
	}
	cassette := f.models.cassette(a.secrets, a.end)
	if _, err := f.models.replayed(ctx, cassette); err != nil {
		return nil, err
	}
	o := a.engineOptions(f, env, cassette)
	o.Engines.Dir, o.Engines.Files = dir, suite.NewFiles(dir, f.trust.files())
	o.Judge.Concurrency = f.concurrency
	if err := change(&o); err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, nil, o)
	if err != nil {
		return nil, err
	}
	end.add(func() { closeEngine(e) })
	f.asked = e
	return e, nil
}

// sayModels reports on the cache and the budget, one line each.
func (a *app) sayModels(e *engine.Engine) {
	for _, line := range modelLines(e) {
		fmt.Fprintln(a.err, "proviso: "+printable(line))
	}
}

func modelLines(e *engine.Engine) []string {
	var lines []string
	if c := e.Cache(); c != nil {
		s := c.Stats()
		if s.Hits > 0 {
			lines = append(lines, fmt.Sprintf("%s from the cache, %d requested; the cache saved %s", plural.Of(s.Hits, "answer"), s.Misses, usd.Text(s.SavedCost)))
		}
		if s.Err != nil {
			lines = append(lines, fmt.Sprintf("warning: %s could not be kept in the cache: %v", plural.Of(s.Unsaved, "answer"), s.Err))
		}
	}
	if b := e.Budget(); b != nil && b.Refused() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost is reached: %s spent, %s not asked", usd.Text(b.Spent()), plural.Of(b.Refused(), "row")))
	}
	if b := e.Budget(); b != nil && b.Unpriced() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost does not count %s whose price is not known", plural.Of(b.Unpriced(), "answer")))
	}
	return lines
}

// closeEngine closes an engine. That only frees memory and ends workers, so the error does not
// matter.
func closeEngine(e *engine.Engine) { _ = e.Close() }

// closers are functions that release what a command, or a step of it, has opened.
type closers []func()

func (c *closers) add(end func()) { *c = append(*c, end) }

// close calls the functions in reverse order.
func (c *closers) close() {
	for _, end := range slices.Backward(*c) {
		end()
	}
	*c = nil
}

// modelFlags configure how models are asked.
type modelFlags struct {
	record, replay string
	redact         []string
	headers        []string // response headers to record besides the usual ones
	maxCost        *float64 // in US dollars; nil means no limit
	noCache        bool
}

func (f *modelFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.noCache, "no-cache", false, "ask models again instead of using cached answers")
	fs.StringVar(&f.record, "record", "", "store every exchange with a model in `FOLDER`, without secrets")
	fs.StringVar(&f.replay, "replay", "", "answer from the exchanges in `FOLDER`; sends no request")
	fs.StringArrayVar(&f.headers, "record-header", nil, "with --record: also store the response header `NAME`")
	fs.StringArrayVar(&f.redact, "redact", nil, "with --record and --replay: redact what `REGEX` matches")
	fs.Var(&flagValue{"", "USD", f.setMaxCost}, "max-cost", "stop asking models when the answers have cost `USD`; 0 spends nothing")
}

func (f *modelFlags) setMaxCost(text string) error {
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || !(usd >= 0) || math.IsInf(usd, 0) {
		return fmt.Errorf("expected an amount in US dollars, such as 0.50, found %q", text)
	}
	f.maxCost = &usd
	return nil
}

func (f *modelFlags) check() error {
	switch {
	case f.record != "" && f.replay != "":
		return usageError{fmt.Errorf("--record and --replay exclude each other"), "see `proviso eval --help`"}
	case len(f.redact) > 0 && f.record == "" && f.replay == "":
		return usageError{fmt.Errorf("--redact goes with --record or --replay"), "see `proviso eval --help`"}
	}
	if len(f.headers) > 0 && f.record == "" {
		return usageError{fmt.Errorf("--record-header goes with --record"), "a replay has what was recorded"}
	}
	for _, name := range f.headers {
		if !httpguts.ValidHeaderFieldName(name) {
			return badValue("--record-header", "the name of one header", name, "it may be repeated")
		}
		if transport.Secret(name) {
			return usageError{fmt.Errorf("--record-header %s: it holds a secret, which is not recorded", name), "see `proviso eval --help`"}
		}
	}
	for _, re := range f.redact {
		if err := checkPattern("--redact", re, "see `proviso eval --help`"); err != nil {
			return err
		}
	}
	return nil
}

// cassette returns the cassette that records or replays exchanges; nil without --record and
// --replay. failed is called once if nothing can be recorded any more; it may be nil.
func (f *modelFlags) cassette(known *secrets.Set, failed func(error)) *transport.Cassette {
	o := transport.CassetteOptions{Headers: f.headers, Hide: known.RedactJSON, Failed: failed}
	for _, re := range f.redact {
		o.Redact = append(o.Redact, regexp.MustCompile(re)) // check has compiled it
	}
	switch {
	case f.record != "":
		return transport.Record(blobs.Open(f.record), o)
	case f.replay != "":
		return transport.Replay(blobs.Open(f.replay), o)
	}
	return nil
}

// replayed returns the recorded run; nil without --replay. It reports what cannot be recorded or
// replayed before anything is paid for.
func (f *modelFlags) replayed(ctx context.Context, cassette *transport.Cassette) (*run.Replay, error) {
	switch {
	case f.record != "":
		if err := blobs.Open(f.record).Writable(); err != nil {
			return nil, proviso.Errorf(proviso.Invalid, "--record: %w", err)
		}
		return nil, nil
	case cassette == nil:
		return nil, nil
	}
	r, err := cassette.Recording(ctx)
	if err != nil {
		return nil, err
	}
	if r.Exchanges == 0 {
		return nil, proviso.Errorf(proviso.NotFound, "--replay %s: no exchange is recorded there; --record %s records them", f.replay, f.replay)
	}
	return &run.Replay{Made: r.Made, Key: r.Hash}, nil
}

// client returns the HTTP client of a command.
func (f *evalFlags) client(env proviso.Env, cassette *transport.Cassette) *http.Client {
	p := f.trust.policy()
	o := p.Transport(transport.Options{Env: env})
	if cassette != nil {
		o.Wrap = cassette.Wrap
		o.RefusePrivate = o.RefusePrivate && !cassette.Replays() // a replay makes no connections
	}
	return transport.New(o).Client()
}

// Folders of caches.
const (
	keptAnswers  = "answers"
	keptVerdicts = "verdicts"
	keptCells    = "cells" // cells of matrices
	keptCases    = "cases" // fetched cases
)

// cacheDir returns the given folder in $XDG_CACHE_HOME/proviso, or its equivalent on other systems.
func (a *app) cacheDir(kept string) string {
	return a.xdg("XDG_CACHE_HOME", ".cache", filepath.Join("proviso", kept))
}

// largeRun is the number of priced calls from which an estimate is shown before a run starts.
const largeRun = 100

// estimate returns a line on the expected usage of a large run, or of a run that --max-cost will
// stop; "" for other runs.
func (f *modelFlags) estimate(m *engine.Engine, demands []*run.Demand) string {
	e := m.Estimate(demands)
	stops := f.maxCost != nil && e.Cost > *f.maxCost
	if f.replay != "" || e.Priced == 0 || e.Priced < largeRun && !stops {
		return ""
	}
	text := e.String()
	if stops {
		text += "; --max-cost " + strconv.FormatFloat(*f.maxCost, 'f', -1, 64) + " will stop it"
		if m.Cache() != nil {
			text += ", unless answers are in the cache"
		}
	}
	return text
}

// fetch returns the function that fetches a suite's remote cases. A command that does not use the
// network reads only cached copies. A resumed run uses the cases that it started with. A recorded
// or replayed run uses the cases of the recording.
func (a *app) fetch(ctx context.Context, f *suiteFlags, around proviso.Env) func(string, proviso.Env) (string, error) {
	o := dataset.Options{Dir: a.cacheDir(keptCases)}
	if e := f.online; e != nil {
		o.Client, o.Fresh = e.client(around, e.models.cassette(a.secrets, nil)), e.models.noCache || e.models.record != "" || e.models.replay != ""
		o.Any = e.resume != "" || e.retryErrors
	}
	o.Asking = func(ref string) {
		fmt.Fprintf(a.err, "proviso: fetching cases from %s\n", printable(dataset.Show(ref)))
	}
	g := dataset.New(o)
	return func(ref string, env proviso.Env) (string, error) { return g.Get(ctx, ref, env) }
}
