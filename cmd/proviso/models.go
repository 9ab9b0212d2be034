package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
)

// modelFlags say how models are asked.
type modelFlags struct {
	record, replay string
	redact         []string
	maxCost        float64
	noCache        bool
}

func (f *modelFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.noCache, "no-cache", false, "ask models anew instead of taking answers that were kept")
	fs.StringVar(&f.record, "record", "", "keep every exchange with a model in `FOLDER`, secrets removed")
	fs.StringVar(&f.replay, "replay", "", "answer from the exchanges in `FOLDER` and ask nobody")
	fs.StringArrayVar(&f.redact, "redact", nil, "with --record and --replay: leave out what `REGEX` matches")
	fs.Float64Var(&f.maxCost, "max-cost", 0, "ask no more once the answers have cost `USD`")
}

func (f *modelFlags) check() error {
	switch {
	case f.record != "" && f.replay != "":
		return usageError{fmt.Errorf("--record and --replay exclude each other"), "see `proviso eval --help`"}
	case f.maxCost < 0:
		return usageError{fmt.Errorf("--max-cost %g: expected an amount in US dollars", f.maxCost), "see `proviso eval --help`"}
	case len(f.redact) > 0 && f.record == "" && f.replay == "":
		return usageError{fmt.Errorf("--redact goes with --record or --replay"), "see `proviso eval --help`"}
	}
	for _, re := range f.redact {
		if _, err := regexp.Compile(re); err != nil {
			return usageError{fmt.Errorf("--redact %q: %w", re, err), "see `proviso eval --help`"}
		}
	}
	return nil
}

// cassette returns what records or replays exchanges; nil if nothing does.
func (f *modelFlags) cassette() *transport.Cassette {
	o := transport.CassetteOptions{}
	for _, re := range f.redact {
		o.Redact = append(o.Redact, regexp.MustCompile(re)) // check compiled it before
	}
	switch {
	case f.record != "":
		return transport.Record(blobs.Open(f.record), o)
	case f.replay != "":
		return transport.Replay(blobs.Open(f.replay), o)
	}
	return nil
}

// models opens providers and puts the decorators around them, outermost first:
// cache, budget, and, within the provider, limits and retries.
type models struct {
	options provider.Options
	cache   *provider.Cache
	budget  *provider.Budget
}

// newModels prepares what all providers of a command share. Under a replay nobody
// is asked, so no key is needed and nothing is waited for; what is recorded or
// replayed does not come from the cache.
func (a *app) newModels(f *evalFlags, o provider.Options, cassette *transport.Cassette) *models {
	o.Limits, o.Concurrency, o.Cassette = new(provider.Limits), f.concurrency, cassette
	m := &models{options: o}
	if cassette != nil && cassette.Replays() {
		m.options.Env = replayEnv{o.Env}
		m.options.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	if f.models.maxCost > 0 {
		m.budget = provider.NewBudget(f.models.maxCost)
	}
	if !f.models.noCache && cassette == nil {
		m.cache = provider.NewCache(blobs.Open(a.cacheDir()), provider.CacheOptions{})
	}
	return m
}

// open opens the provider that a suite names.
func (m *models) open(spec proviso.ProviderSpec) (proviso.Provider, error) {
	o := m.options
	o.Env = suite.Environment(spec.Env, o.Env)
	p, err := provider.Open(spec, o)
	if err != nil || spec.ID == "echo" || strings.HasPrefix(spec.ID, "recorded:") {
		return p, err
	}
	if m.budget != nil {
		p = m.budget.Provider(p)
	}
	if m.cache != nil {
		p = m.cache.Provider(p, provider.Identity(spec, o))
	}
	return p, nil
}

// summary says what the cache and the budget did, one line each.
func (m *models) summary() []string {
	var lines []string
	if m.cache != nil {
		if s := m.cache.Stats(); s.Hits > 0 {
			lines = append(lines, fmt.Sprintf("%s from the cache, %d asked anew; the cache saved $%.4g", plural(s.Hits, "answer"), s.Misses, s.SavedCost))
		} else if s.Err != nil {
			lines = append(lines, fmt.Sprintf("answers could not be kept: %v", s.Err))
		}
	}
	if m.budget != nil && m.budget.Refused() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost is reached: $%.4g spent, %s not asked", m.budget.Spent(), plural(m.budget.Refused(), "row")))
	}
	return lines
}

// replayEnv has every key, since none is used.
type replayEnv struct{ proviso.Env }

func (e replayEnv) Lookup(name string) (string, bool) {
	if v, ok := e.Env.Lookup(name); ok {
		return v, true
	}
	if strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN") {
		return "replayed", true
	}
	return "", false
}

// client makes the HTTP calls of a command.
func (f *evalFlags) client(env proviso.Env, cassette *transport.Cassette) *http.Client {
	o := f.trust.transport(transport.Options{Env: env})
	if cassette != nil {
		o.Wrap = cassette.Wrap
	}
	return transport.New(o).Client()
}

// cacheDir is $XDG_CACHE_HOME/proviso/answers, and its like where there is no
// such thing.
func (a *app) cacheDir() string {
	return a.xdg("XDG_CACHE_HOME", ".cache", filepath.Join("proviso", "answers"))
}
