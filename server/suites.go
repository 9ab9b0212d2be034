package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
)

// Suites runs suites of clients: they run no code, read only the files that came with them, and
// reach only hosts that the operator allows.
type Suites struct {
	// Dir is the folder for files of current runs.
	Dir string
	// Engine configures the engine of each suite. Its policy is always the one for untrusted
	// input; its environment is the operator's. The suite's providers are [Metered]; those of
	// Engine.Engines.Operator must be.
	Engine engine.Options

	// Elsewhere means that other processes may execute the runs, with keys that this one lacks:
	// a missing key is only a warning of Check.
	Elsewhere bool

	MaxRows        int           // limit of a run; 100,000 if 0
	MaxConcurrency int           // rows of a run at a time; 32 if 0
	Limit          time.Duration // limit of a run; 24 hours if 0
}

var _ Runner = (*Suites)(nil)

// checkTimeout limits the time to read a suite.
const checkTimeout = 30 * time.Second

// opened is a suite with its engine and its plan.
type opened struct {
	suite   *proviso.Suite
	engine  *engine.Engine
	plan    *run.Plan
	granted granted
	folder  string
	only    string // see [Suites.Only]
}

func (o *opened) end() {
	if o.engine != nil {
		_ = o.engine.Close() // frees memory
	}
	if o.folder != "" {
		_ = os.RemoveAll(o.folder) // a temporary folder
	}
}

// Check reads a suite and plans it.
func (s *Suites) Check(ctx context.Context, b *Bundle, o RunOptions) (*Plan, proviso.Mistakes) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	checking := *s
	checking.Engine.Keyless = s.Elsewhere
	opened, mistakes := checking.open(ctx, b, o, nil, run.Observers{}, run.Task{})
	defer opened.end()
	if ctx.Err() != nil {
		return nil, append(mistakes, proviso.Mistake{Code: proviso.Limit, Message: "reading the suite takes longer than " + checkTimeout.String()})
	}
	if mistakes.Err() != nil {
		return nil, mistakes
	}
	return opened.describe(mistakes), mistakes
}

// Run executes a suite.
func (s *Suites) Run(ctx context.Context, e Execution) error {
	observers := run.Observers{Keep: func(ctx context.Context, index int, row []byte, r *proviso.Result) error {
		return e.Keep(ctx, resultOf(index, row, r))
	}}
	opened, mistakes := s.open(ctx, e.Bundle, e.Options, e.Spans, observers, run.Task{RunID: e.RunID, Earlier: e.Earlier, Take: e.parts(), Drain: e.Drain})
	defer opened.end()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case outOfRoom(mistakes):
		return noRoomHere()
	case mistakes.Err() != nil && opened.lacks() != nil:
		return store.Unable(opened.lacks()...)
	case mistakes.Err() != nil && slices.ContainsFunc(mistakes, lasting):
		if e.Version != "" && e.Version != s.Engine.Version { // that version has accepted the suite
			return store.Unable(needsVersion + e.Version)
		}
		return store.Permanent(mistakes)
	case mistakes.Err() != nil:
		return mistakes
	}
	if err := e.Planned(opened.describe(mistakes)); err != nil {
		return err
	}
	out, err := opened.plan.Run(ctx)
	if out != nil {
		if err == nil && ctx.Err() == nil && !out.Completed {
			err = store.ErrDrained
		}
		err = errors.Join(err, out.Close())
	}
	if isFull(err) && !errors.Is(err, store.ErrNoRoom) {
		return noRoomHere()
	}
	return errors.Join(err, ctx.Err())
}

// parts adapts Take for package run.
func (e *Execution) parts() func(context.Context, int) (run.Part, bool, error) {
	if e.Take == nil {
		return nil
	}
	return func(ctx context.Context, from int) (run.Part, bool, error) {
		p, ok, err := e.Take(ctx, from)
		if err != nil || !ok {
			return run.Part{}, false, err
		}
		out := run.Part{From: p.From, To: p.To}
		if p.Begun {
			out.Earlier = func(take func(int, []byte) error) error { return e.Finished(p, take) }
		}
		return out, true, nil
	}
}

// outOfRoom reports whether the files of a suite could not be written because the disk
// is full.
func outOfRoom(list proviso.Mistakes) bool {
	return slices.ContainsFunc(list, func(m proviso.Mistake) bool { return m.Code == codeStorage })
}

func noRoomForFiles() error { return fmt.Errorf("keep the files of the suite: %w", store.ErrNoRoom) }

// lasting reports whether a mistake would recur at the next attempt. A key that the operator
// did not set at this start may be set at the next.
func lasting(m proviso.Mistake) bool { return !m.Warning && m.Code != proviso.Unavailable }

// open reads a suite, opens its engine and makes the plan. held contains the spans that its run
// may use; nil without a run. The caller must end the result, even if there are mistakes.
func (s *Suites) open(ctx context.Context, b *Bundle, ro RunOptions, held *otlp.Store, observers run.Observers, t run.Task) (*opened, proviso.Mistakes) {
	own := &opened{only: s.Only()}
	folder, err := os.MkdirTemp(s.Dir, "suite-")
	if err != nil {
		return own, mistakesOf(fmt.Errorf("keep the files of a suite: %w", err))
	}
	own.folder = folder
	dir := filepath.Join(folder, "suite")
	t.Dir = filepath.Join(folder, "run")
	name, err := b.write(dir)
	if err != nil {
		return own, mistakesOf(err)
	}
	o := s.Engine
	o.Policy.Trusted = false
	o.Engines.Env = envOr(o.Engines.Env)
	o.Engines.Secrets = &secrets.Set{} // secrets from the environment and the suite, which must not be in stored rows
	env := o.Engines.Secrets.Env(o.Engines.Env)
	reading := suite.Options{Dir: dir, Env: env, Facts: engine.Facts(), Files: o.Policy.Files(), Trust: o.Policy.Suite(env)}
	own.granted.watch(reading.Trust)
	if b.Datasets != nil {
		reading.Datasets = &datasetFiles{from: b.Datasets, dir: folder}
	}
	read, mistakes := suite.Read(ctx, []string{name}, reading)
	if read == nil {
		return own, mistakes
	}
	if ro.Repeat > 0 {
		if read.CaseSource, err = suite.Repeat(read.CaseSource, ro.Repeat, read.Options.RepeatPass); err != nil {
			return own, append(mistakes, mistakesOf(err)...)
		}
	}
	own.suite = read
	o.Limits.Limits, o.Observers.Observers = s.limits(read, ro), observers
	o.Engines.Wrap = Metered
	o.Engines.Files = suite.NewFiles(read.Dir, o.Policy.Files())
	var more proviso.Mistakes
	o.Engines.Spans, more = traces(read, o.Engines.Files, held)
	mistakes = append(mistakes, more...)
	if own.engine, err = engine.Open(ctx, read, o); err != nil {
		return own, append(mistakes, mistakesOf(err)...)
	}
	own.plan, more = own.engine.Plan(ctx, t)
	mistakes = append(mistakes, more...)
	if most := orElse(s.MaxRows, 100_000); own.plan.Rows > most {
		mistakes = append(mistakes, proviso.Mistake{Code: proviso.Limit, Message: fmt.Sprintf("the suite has %d rows, more than %d", own.plan.Rows, most)})
	}
	return own, mistakes
}

func envOr(env proviso.Env) proviso.Env {
	if env == nil {
		return proviso.EnvMap{}
	}
	return env
}

func orElse[T int | time.Duration](v, usual T) T {
	if v > 0 {
		return v
	}
	return usual
}

// limits returns the limits from the suite and the request for its run, capped by the server's
// limits.
func (s *Suites) limits(read *proviso.Suite, ro RunOptions) run.Limits {
	most := orElse(s.MaxConcurrency, 32)
	l := run.Limits{
		Concurrency: min(most, orElse(ro.Concurrency, orElse(read.Options.MaxConcurrency, 4))),
		Timeout:     time.Duration(read.Options.MaxTimeMS) * time.Millisecond,
	}
	if limit := orElse(s.Limit, 24*time.Hour); l.Timeout <= 0 || l.Timeout > limit {
		l.Timeout = limit
	}
	return l
}

// describe returns the plan as a [Plan], with the mistakes as warnings.
func (o *opened) describe(all proviso.Mistakes) *Plan {
	p := &Plan{Datasets: o.suite.Datasets, SuiteID: o.suite.ID, AgentID: agentOf(o.suite), Name: o.suite.Description, Rows: o.plan.Rows, Hash: o.plan.Hash(), Providers: o.engine.Asked()}
	p.Division.Rows, p.Division.Parts = o.plan.Divide()
	p.Needs, _ = o.needs()
	if who := o.engine.JudgedBy(); who != "" {
		p.Judges = []string{who}
	}
	h := sha256.New()
	for i := range o.suite.Prompts {
		fmt.Fprintf(h, "%d:%s", len(o.suite.Prompts[i].Raw), o.suite.Prompts[i].Raw)
		if o.suite.Prompts[i].Script == nil {
			p.Prompts = append(p.Prompts, o.suite.Prompts[i])
		}
	}
	p.PromptHash = hex.EncodeToString(h.Sum(nil))
	for _, m := range all {
		if m.Warning {
			p.Warnings = append(p.Warnings, m)
		}
	}
	return p
}

// agentOf returns the name of the agent that a suite evaluates, or "" if there are several.
func agentOf(s *proviso.Suite) string {
	if s.ID != "" || len(s.Providers) == 0 {
		return s.ID
	}
	name := s.Providers[0].Name()
	for _, p := range s.Providers {
		if p.Name() != name {
			return ""
		}
	}
	return name
}

// mistakesOf converts an error to mistakes.
func mistakesOf(err error) proviso.Mistakes {
	if isFull(err) {
		return proviso.Mistakes{{Code: codeStorage, Message: store.ErrNoRoom.Error()}}
	}
	if cause := store.Outage(err); cause != nil {
		return proviso.Mistakes{{Code: proviso.Unavailable, Message: cause.Error()}}
	}
	if list, ok := errors.AsType[proviso.Mistakes](err); ok {
		return list
	}
	if e, ok := errors.AsType[*proviso.Error](err); ok {
		return proviso.Mistakes{{Code: e.Code, Message: e.Error()}}
	}
	return proviso.Mistakes{{Code: proviso.Internal, Message: err.Error()}}
}

// resultOf converts a row for the store.
func resultOf(index int, row []byte, r *proviso.Result) store.Result {
	out, _, _ := store.ReadRow(index, row) // its verdicts, by the names that every page uses
	out.Status, out.Usage, out.Cost, out.JSON = r.Aggregate.Status, r.Output.Usage, 0, row
	if r.Output.Cost != nil {
		out.Cost = *r.Output.Cost
	}
	for _, list := range [][]proviso.Verdict{r.SetVerdict, r.Verdicts} {
		for i := range list {
			out.Usage.Add(list[i].Usage)
			out.Cost += list[i].Cost
		}
	}
	return out
}
