package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/internal/usd"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
)

// engineOptions turns the flags of a command into options of its engine. around is the
// environment of the user; code is confined as far as this machine can.
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
	if f.models.maxCost.set {
		o.Policy.Budget = &f.models.maxCost.usd
	}
	if !f.models.noCache {
		o.Engines.Answers, o.Engines.Verdicts = engine.Folder(a.cacheDir(keptAnswers)), engine.Folder(a.cacheDir(keptVerdicts))
	}
	return o
}

// openEngine opens the engine of a command without a suite. The files that it may read
// are relative to dir. change completes the options. A recording that fails ends the
// command: each further answer would be paid for and lost.
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
			lines = append(lines, fmt.Sprintf("%s from the cache, %d requested; the cache saved %s", plural(s.Hits, "answer"), s.Misses, usd.Text(s.SavedCost)))
		}
		if s.Err != nil {
			lines = append(lines, fmt.Sprintf("warning: %s could not be kept in the cache: %v", plural(s.Unsaved, "answer"), s.Err))
		}
	}
	if b := e.Budget(); b != nil && b.Refused() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost is reached: %s spent, %s not asked", usd.Text(b.Spent()), plural(b.Refused(), "row")))
	}
	if b := e.Budget(); b != nil && b.Unpriced() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost does not count %s whose price is not known", plural(b.Unpriced(), "answer")))
	}
	return lines
}

// closeEngine closes an engine, which only frees memory and ends workers.
func closeEngine(e *engine.Engine) { _ = e.Close() }

// closers free what a command, or a step of it, has opened.
type closers []func()

func (c *closers) add(end func()) { *c = append(*c, end) }

// close frees everything, the last first.
func (c *closers) close() {
	for _, end := range slices.Backward(*c) {
		end()
	}
	*c = nil
}
