package engine

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/suite"
)

// models holds what all providers of an engine share, also with engines under the same
// operator. The layers around a provider are, outermost first: the wrapper of the options, the
// cache, the budget and, within the provider, rate limits and retries.
type models struct {
	cache    *provider.Cache  // cache of answers; nil means none
	budget   *provider.Budget // nil means no limit
	verdicts proviso.Cache    // nil means none
	limits   *throttle.Limits
}

// newModels prepares what providers share. Recording and replaying bypass the caches,
// and a replay has neither a budget nor shared rates, because it sends no request.
func newModels(o *Options, known *secrets.Set) *models {
	recording := o.Engines.Cassette
	replays := recording != nil && recording.Replays()
	m := &models{limits: &throttle.Limits{}}
	if !replays {
		m.limits.Shared = o.Limits.Shared
	}
	if o.Policy.Budget != nil && !replays {
		m.budget = provider.NewBudget(*o.Policy.Budget)
	}
	if o.Engines.Answers != nil && recording == nil {
		m.cache = provider.NewCache(o.Engines.Answers, provider.CacheOptions{Secret: known.In})
	}
	if recording == nil {
		m.verdicts = o.Engines.Verdicts
	}
	return m
}

// providerOptions returns the options for the providers of the suite. A replay sends no
// requests, so it needs no keys and does not wait.
func (e *Engine) providerOptions() provider.Options {
	o := provider.Options{
		Files: e.files, Env: e.env, Client: e.client, Code: e.code, Templates: e.templates, Dir: e.dir,
		Limits: e.models.limits, Concurrency: e.o.Limits.Calls, Cassette: e.o.Engines.Cassette,
		Untrusted: !e.o.Policy.Trusted, KeyHost: e.o.Policy.names, Keyless: e.o.Keyless,
		Need: e.needs.add, MayAsk: e.mayAsk,
	}
	if e.suite != nil {
		o.Warn = func(err *proviso.Error) { e.mistakes.add(e.mistakeOf(err)) }
	}
	if o.Concurrency == 0 {
		o.Concurrency = e.o.Limits.Concurrency
	}
	if op := e.o.Engines.Operator; op != nil {
		o.Concurrency = op.providers.Concurrency
	}
	if o.Cassette != nil && o.Cassette.Replays() {
		o.Env = replayEnv{o.Env}
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	return o
}

// mayAsk returns why no request is sent to a host that the user's environment sets for a
// provider, and records the option that would allow it.
func (e *Engine) mayAsk(host string) error {
	if e.o.Engines.Client != nil { // the client has its own rules
		return nil
	}
	o := e.network()
	err := o.Check(host)
	if err != nil {
		e.needs.add(NeedsHost+host, false)
	}
	return err
}

// mistakeOf converts a warning of a provider to a mistake with its position in the suite.
func (e *Engine) mistakeOf(err *proviso.Error) proviso.Mistake {
	if e.suite.Places == nil {
		return proviso.Mistake{Code: err.Code, Message: err.Error(), Warning: err.Warning}
	}
	return suite.CaseMistake(e.suite.Places, err)
}

// Provider opens a provider like those of the suite: with the cache, the budget and the rate
// limits of the engine.
func (e *Engine) Provider(spec proviso.ProviderSpec) (proviso.Provider, error) { return e.open(spec) }

func (e *Engine) open(spec proviso.ProviderSpec) (proviso.Provider, error) {
	p, err := e.openWith(spec, e.models.cache)
	if err != nil || provider.Computes(p) || !reflect.TypeOf(p).Comparable() {
		return p, err
	}
	var tariff *provider.Tariff
	if t, known := provider.TariffOf(p); known {
		tariff = &t
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tariffs[p] = tariff
	return p, nil
}

// judgeFor opens a judge for engines under this one. Their number is unbounded, so this
// engine keeps no record of the provider. Its answers are not cached, because its
// verdicts are.
func (e *Engine) judgeFor(spec proviso.ProviderSpec) (proviso.Provider, error) {
	return e.openWith(spec, nil)
}

func (e *Engine) openWith(spec proviso.ProviderSpec, cache *provider.Cache) (proviso.Provider, error) {
	o := e.providers
	o.Env = e.secrets.Env(suite.Environment(spec.Env, o.Env))
	e.secrets.AddConfig(spec.Config)
	p, err := e.o.Engines.open(spec, o)
	if err != nil || provider.Computes(p) {
		return p, err
	}
	if e.models.budget != nil {
		p = e.models.budget.Provider(p)
	}
	if cache != nil {
		p = cache.Provider(p, provider.Identity(spec, o))
	}
	if wrap := e.o.Engines.Wrap; wrap != nil {
		p = wrap(p)
	}
	return p, nil
}

func (n *Engines) open(spec proviso.ProviderSpec, o provider.Options) (proviso.Provider, error) {
	for _, p := range n.Providers {
		if p.ID() == spec.ID {
			return p, nil
		}
	}
	if n.Open != nil {
		return n.Open(spec, o)
	}
	return provider.Open(spec, o)
}

// tariff returns the prices of a provider that this engine opened, or nil if they are unknown.
// asked is false if the provider calls no model.
func (e *Engine) tariff(p proviso.Provider) (t *provider.Tariff, asked bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p == nil || !reflect.TypeOf(p).Comparable() {
		return nil, false
	}
	t, asked = e.tariffs[p]
	return t, asked
}

// Cache returns the cache of model answers, or nil if there is none.
func (e *Engine) Cache() *provider.Cache { return e.models.cache }

// Budget returns the budget for model answers, or nil if there is no limit.
func (e *Engine) Budget() *provider.Budget { return e.models.budget }

// replayEnv has a placeholder for every missing key, because a replay uses no keys.
type replayEnv struct{ proviso.Env }

// noKey replaces a missing key in a replay. It is redacted from output like every key,
// so it must not be a word that a text may contain.
const noKey = "no-key-is-needed-for-a-replay"

func (e replayEnv) Lookup(name string) (string, bool) {
	v, ok := e.Env.Lookup(name)
	if v == "" && (strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN")) {
		return noKey, true
	}
	return v, ok
}

// Folder returns a cache that keeps its entries as files in a folder, which is created with the
// first entry. Any number of engines and processes may share it.
func Folder(dir string) proviso.Cache { return blobs.Open(dir) }

// check finds mistakes in the options.
func (n *Engines) check() error {
	if n.Record != "" && n.Replay != "" {
		return proviso.Errorf(proviso.Invalid, "Record and Replay exclude each other")
	}
	seen := map[string]bool{}
	for i, p := range n.Providers {
		if p == nil || p.ID() == "" || seen[p.ID()] {
			return proviso.Errorf(proviso.Invalid, "Providers[%d]: expected a provider with an id of its own", i)
		}
		seen[p.ID()] = true
	}
	return nil
}

// openCassette opens the cassette of Record or Replay.
func (n *Engines) openCassette(known *secrets.Set) {
	o := transport.CassetteOptions{Hide: known.RedactJSON}
	switch {
	case n.Cassette != nil:
	case n.Record != "":
		n.Cassette = transport.Record(blobs.Open(n.Record), o)
	case n.Replay != "":
		n.Cassette = transport.Replay(blobs.Open(n.Replay), o)
	}
}
