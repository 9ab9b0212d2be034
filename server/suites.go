package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/suite"
)

// Suites runs suites that nobody vouches for: they run no code, read no file but
// those that came with them, and ask no host that the operator did not allow.
type Suites struct {
	Version string
	// Dir is a folder for files that live as long as a run does.
	Dir string
	// Env is the operator's environment: providers find their keys there, suites
	// see of it what Trust names.
	Env   proviso.Env
	Trust suite.Trust
	// Client is confined to the hosts that suites may ask.
	Client *http.Client
	// Open returns what opens the providers of one suite.
	Open func(provider.Options) func(proviso.ProviderSpec) (proviso.Provider, error)
	// Grader returns what answers the judged assertions of a suite, and what tells
	// who that is, "" as long as nobody was needed; nil leaves them to nobody. Its
	// providers have to be [Metered].
	Grader func(*proviso.Suite, provider.Options) (proviso.Grader, func() string)

	MaxRows        int           // of a run; 100,000 if 0
	MaxConcurrency int           // rows of a run at a time; 32 if 0
	Limit          time.Duration // for a run; 24 hours if 0
}

var _ Runner = (*Suites)(nil)

// checkTimeout bounds how long a suite may take to be read.
const checkTimeout = 30 * time.Second

// opened is a suite that was read, with its plan and what has to be closed.
type opened struct {
	suite *proviso.Suite
	plan  *run.Plan
	judge func() string // nil if nobody judges
	close []func() error
	env   proviso.Env // the operator's
	known secrets.Set // what was taken from it, and of the suite: no row that is kept holds it

	mu        sync.Mutex
	providers []string // ids of those that are asked
}

// asks notes a provider.
func (o *opened) asks(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.providers, id) {
		o.providers = append(o.providers, id)
	}
}

func (o *opened) end() {
	for _, f := range slices.Backward(o.close) {
		_ = f() // engines free memory, and the files are in a temporary folder
	}
}

// Check reads a suite and makes a plan of it.
func (s *Suites) Check(ctx context.Context, b *Bundle, o RunOptions) (*Plan, proviso.Mistakes) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	opened, mistakes := s.open(ctx, b, o, nil, run.Options{})
	if opened != nil {
		defer opened.end()
	}
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
	o := run.Options{Observers: run.Observers{Keep: func(ctx context.Context, index int, row []byte, r *proviso.Result) error {
		return e.Keep(ctx, resultOf(index, row, r))
	}}, Task: run.Task{RunID: e.RunID, Earlier: e.Earlier}}
	opened, mistakes := s.open(ctx, e.Bundle, e.Options, e.Spans, o)
	if opened != nil {
		defer opened.end()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case mistakes.Err() != nil && slices.ContainsFunc(mistakes, lasting):
		return store.Permanent(mistakes)
	case mistakes.Err() != nil:
		return mistakes
	}
	if err := e.Planned(opened.describe(mistakes)); err != nil {
		return err
	}
	out, err := opened.plan.Run(ctx)
	if out != nil {
		err = errors.Join(err, out.Close())
	}
	return errors.Join(err, ctx.Err())
}

// lasting reports whether a mistake will be there the next time, too, unlike that
// of a key which the operator forgot at this start.
func lasting(m proviso.Mistake) bool { return !m.Warning && m.Code != proviso.Unavailable }

// open reads a suite, opens its engines and makes the plan. held are the spans that
// its run may look at; nil if there will be no run. What it returns is to be ended,
// with mistakes too.
func (s *Suites) open(ctx context.Context, b *Bundle, ro RunOptions, held *otlp.Store, o run.Options) (*opened, proviso.Mistakes) {
	own := &opened{}
	own.env = own.known.Env(s.Env)
	folder, err := os.MkdirTemp(s.Dir, "suite-")
	if err != nil {
		return own, mistakesOf(fmt.Errorf("keep the files of a suite: %w", err))
	}
	own.close = append(own.close, func() error { return os.RemoveAll(folder) })
	dir := filepath.Join(folder, "suite")
	o.Dir = filepath.Join(folder, "run")
	name, err := b.write(dir)
	if err != nil {
		return own, mistakesOf(err)
	}
	files := suite.FilesOptions{Confine: true}
	read, mistakes := suite.Read(ctx, []string{name}, suite.Options{Dir: dir, Env: own.env, Cells: check.Cells(), Files: files, Trust: &s.Trust})
	if read == nil {
		return own, mistakes
	}
	if ro.Repeat > 0 {
		if read.CaseSource, err = suite.Repeat(read.CaseSource, ro.Repeat, read.Options.RepeatPass); err != nil {
			return own, append(mistakes, mistakesOf(err)...)
		}
	}
	own.suite = read
	s.options(own, read, ro, &o)
	mistakes = append(mistakes, s.traces(read, held, &o)...)
	plan, more := run.New(ctx, read, o)
	own.plan = plan
	own.close = append(own.close, plan.Close)
	mistakes = append(mistakes, more...)
	if most := orElse(s.MaxRows, 100_000); plan.Rows > most {
		mistakes = append(mistakes, proviso.Mistake{Code: proviso.Limit, Message: fmt.Sprintf("the suite has %d rows, more than %d", plan.Rows, most)})
	}
	return own, mistakes
}

func orElse[T int | time.Duration](v, usual T) T {
	if v > 0 {
		return v
	}
	return usual
}

// options opens the engines of a suite and puts together what its run may use.
func (s *Suites) options(own *opened, read *proviso.Suite, ro RunOptions, o *run.Options) {
	names := suite.Environment(read.Env, suite.Restrict(own.env, s.Trust.Env))
	templates := template.New(template.Options{Env: func() *proviso.Object {
		env := proviso.NewObject(0)
		for _, name := range names.Names() {
			if v, ok := names.Lookup(name); ok {
				env.Set(name, v)
			}
		}
		return env
	}})
	metrics := mathjs.New(mathjs.Options{})
	own.close = append(own.close, templates.Close, metrics.Close)
	most := orElse(s.MaxConcurrency, 32)
	o.Concurrency = min(most, orElse(ro.Concurrency, orElse(read.Options.MaxConcurrency, 4)))
	o.Version, o.Untrusted = s.Version, true
	o.Code, o.Templates, o.Metrics, o.Client, o.Env, o.Secrets = noCode{}, templates, metrics, s.Client, own.env, &own.known
	o.Files = suite.NewFiles(read.Dir, suite.FilesOptions{Confine: true})
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	o.Delay, o.RowTimeout, o.Timeout = ms(read.Options.DelayMS), ms(read.Options.TimeoutMS), ms(read.Options.MaxTimeMS)
	if limit := orElse(s.Limit, 24*time.Hour); o.Timeout <= 0 || o.Timeout > limit {
		o.Timeout = limit
	}
	po := provider.Options{
		Files: o.Files, Env: own.env, Client: s.Client, Code: noCode{}, Templates: templates, Dir: read.Dir, Concurrency: o.Concurrency, Untrusted: true,
	}
	open := s.Open(po)
	o.Open = func(spec proviso.ProviderSpec) (proviso.Provider, error) {
		own.known.AddConfig(spec.Config)
		p, err := open(spec)
		if err != nil || spec.ID == "echo" || strings.HasPrefix(spec.ID, "recorded:") {
			return p, err // these ask nobody
		}
		own.asks(p.ID())
		return Metered(p), nil
	}
	if s.Grader != nil {
		o.Grader, own.judge = s.Grader(read, po)
		o.Judge = own.judge
	}
}

// describe says what the plan is about.
func (o *opened) describe(all proviso.Mistakes) *Plan {
	p := &Plan{SuiteID: o.suite.ID, AgentID: agentOf(o.suite), Name: o.suite.Description, Rows: o.plan.Rows, Hash: o.plan.Hash(), Providers: o.providers}
	if o.judge != nil {
		if who := o.judge(); who != "" {
			p.Judges = []string{who}
		}
	}
	h := sha256.New()
	for i := range o.suite.Prompts {
		fmt.Fprintf(h, "%d:%s", len(o.suite.Prompts[i].Raw), o.suite.Prompts[i].Raw)
	}
	p.PromptHash = hex.EncodeToString(h.Sum(nil))
	for _, m := range all {
		if m.Warning {
			p.Warnings = append(p.Warnings, m)
		}
	}
	return p
}

// agentOf names what a suite evaluates, "" if that is several things.
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

// mistakesOf makes mistakes of an error.
func mistakesOf(err error) proviso.Mistakes {
	var list proviso.Mistakes
	if errors.As(err, &list) {
		return list
	}
	var e *proviso.Error
	if errors.As(err, &e) {
		return proviso.Mistakes{{Code: e.Code, Message: e.Error()}}
	}
	return proviso.Mistakes{{Code: proviso.Internal, Message: err.Error()}}
}

// noCode is a proviso.Code that runs none. Reading the suite refuses code where
// it stands; this is for what it does not know of.
type noCode struct{}

// Compile refuses.
func (noCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	return nil, &proviso.Error{Code: proviso.Refused, Pointer: src.Pointer, Message: src.Name + " is code, which an untrusted suite may not run"}
}

// resultOf is a row as the store keeps it.
func resultOf(index int, row []byte, r *proviso.Result) store.Result {
	out := store.Result{Index: index, Status: r.Aggregate.Status, Usage: r.Output.Usage, JSON: row}
	if r.Output.Cost != nil {
		out.Cost = *r.Output.Cost
	}
	for _, list := range [][]proviso.Verdict{r.SetVerdict, r.Verdicts} {
		for i := range list {
			v := &list[i]
			out.Usage.Add(v.Usage)
			out.Cost += v.Cost
			if v.Assertion == nil {
				continue
			}
			name := v.Assertion.ID
			if name == "" {
				name = v.Assertion.Metric
			}
			if name == "" {
				name = v.Assertion.Type
			}
			out.Assertions = append(out.Assertions, store.AssertionStatus{ID: name, Status: v.Status})
		}
	}
	return out
}
