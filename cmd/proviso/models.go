package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/suite"
)

// modelFlags say how models are asked.
type modelFlags struct {
	record, replay string
	redact         []string
	headers        []string // of responses, kept beside the usual ones
	maxCost        costCap
	noCache        bool
}

func (f *modelFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.noCache, "no-cache", false, "ask models anew instead of taking answers that were kept")
	fs.StringVar(&f.record, "record", "", "keep every exchange with a model in `FOLDER`, secrets removed")
	fs.StringVar(&f.replay, "replay", "", "answer from the exchanges in `FOLDER` and ask nobody")
	fs.StringArrayVar(&f.headers, "record-header", nil, "with --record: keep the response header `NAME`, too")
	fs.StringArrayVar(&f.redact, "redact", nil, "with --record and --replay: leave out what `REGEX` matches")
	fs.Var(&f.maxCost, "max-cost", "ask no more once the answers have cost `USD`; 0 spends nothing")
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
			return usageError{fmt.Errorf("--record-header %q: expected the name of one header", name), "it may be repeated"}
		}
		if transport.Secret(name) {
			return usageError{fmt.Errorf("--record-header %s: it holds a secret, which is not recorded", name), "see `proviso eval --help`"}
		}
	}
	for _, re := range f.redact {
		if _, err := regexp.Compile(re); err != nil {
			return usageError{fmt.Errorf("--redact %q: %w", re, err), "see `proviso eval --help`"}
		}
	}
	return nil
}

// cassette returns what records or replays exchanges; nil if nothing does.
func (f *modelFlags) cassette(known *secrets.Set) *transport.Cassette {
	o := transport.CassetteOptions{Headers: f.headers, Hide: known.RedactJSON}
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

// replayed says what run the recorded exchanges are of, nil if none are replayed.
// What cannot be recorded or replayed is known before anything is paid for.
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

// models opens providers and puts the decorators around them, outermost first:
// cache, budget, and, within the provider, limits and retries.
type models struct {
	options provider.Options
	cache   *provider.Cache
	budget  *provider.Budget
	secrets *secrets.Set // what is secret in the configurations is added

	mu      sync.Mutex
	tariffs map[proviso.Provider]*provider.Tariff // of those that are asked; nil if it is unknown
}

// newModels prepares what all providers of a command share. Under a replay nobody
// is asked, so no key is needed, nothing is waited for and nothing is spent; what
// is recorded or replayed does not come from the cache.
func (a *app) newModels(f *evalFlags, o provider.Options, cassette *transport.Cassette) *models {
	a.secrets.AddEnv(a.env)
	o.Limits, o.Concurrency, o.Cassette = new(provider.Limits), f.concurrency, cassette
	m := &models{options: o, secrets: a.secrets, tariffs: map[proviso.Provider]*provider.Tariff{}}
	if cassette != nil && cassette.Replays() {
		m.options.Env = replayEnv{o.Env}
		m.options.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	if f.models.maxCost.set && f.models.replay == "" {
		m.budget = provider.NewBudget(f.models.maxCost.usd)
	}
	if !f.models.noCache && cassette == nil {
		m.cache = provider.NewCache(blobs.Open(a.cacheDir()), provider.CacheOptions{Secret: a.secrets.In})
	}
	return m
}

// open opens the provider that a suite names.
func (m *models) open(spec proviso.ProviderSpec) (proviso.Provider, error) {
	o := m.options
	o.Env = m.secrets.Env(suite.Environment(spec.Env, o.Env))
	m.secrets.AddConfig(spec.Config)
	p, err := provider.Open(spec, o)
	if err != nil || spec.ID == "echo" || strings.HasPrefix(spec.ID, "recorded:") {
		return p, err
	}
	var tariff *provider.Tariff
	if t, known := provider.TariffOf(p); known {
		tariff = &t
	}
	if m.budget != nil {
		p = m.budget.Provider(p)
	}
	if m.cache != nil {
		p = m.cache.Provider(p, provider.Identity(spec, o))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if reflect.TypeOf(p).Comparable() {
		m.tariffs[p] = tariff
	}
	return p, nil
}

// summary says what the cache and the budget did, one line each.
func (m *models) summary() []string {
	var lines []string
	if m.cache != nil {
		s := m.cache.Stats()
		if s.Hits > 0 {
			lines = append(lines, fmt.Sprintf("%s from the cache, %d requested; the cache saved $%.4g", plural(s.Hits, "answer"), s.Misses, s.SavedCost))
		}
		if s.Err != nil {
			lines = append(lines, fmt.Sprintf("warning: %s could not be kept in the cache: %v", plural(s.Unsaved, "answer"), s.Err))
		}
	}
	if m.budget != nil && m.budget.Refused() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost is reached: $%.4g spent, %s not asked", m.budget.Spent(), plural(m.budget.Refused(), "row")))
	}
	if m.budget != nil && m.budget.Unpriced() > 0 {
		lines = append(lines, fmt.Sprintf("--max-cost does not count %s whose price is not known", plural(m.budget.Unpriced(), "answer")))
	}
	return lines
}

// replayEnv has every key, since none is used.
type replayEnv struct{ proviso.Env }

// noKey replaces a key in a replay. Like every key it is redacted from output, so it
// must not be a word that a text could contain.
const noKey = "no-key-is-needed-for-a-replay"

func (e replayEnv) Lookup(name string) (string, bool) {
	v, ok := e.Env.Lookup(name)
	if v == "" && (strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN")) {
		return noKey, true
	}
	return v, ok
}

// client makes the HTTP calls of a command.
func (f *evalFlags) client(env proviso.Env, cassette *transport.Cassette) *http.Client {
	o := f.trust.transport(transport.Options{Env: env})
	if cassette != nil {
		o.Wrap = cassette.Wrap
		o.RefusePrivate = o.RefusePrivate && !cassette.Replays() // no address is asked
	}
	return transport.New(o).Client()
}

// cacheDir is $XDG_CACHE_HOME/proviso/answers, and its like where there is no
// such thing.
func (a *app) cacheDir() string {
	return a.xdg("XDG_CACHE_HOME", ".cache", filepath.Join("proviso", "answers"))
}
