// Package engine opens and closes everything that evaluating a suite or a single output
// needs, under one [Policy]: the engines for scripts, templates, patterns and SQL, the
// sandbox, the HTTP client, the cache of answers, the providers and the judge. Start at
// [Open], or at [OpenFile] for a suite file. An [Engine] decides about single outputs
// ([Engine.Decide]), runs suites ([Engine.Run], [Engine.Plan]), evaluates requests in
// the JSON of the HTTP API ([Engine.Evaluate]) and grades ([Engine.Grader]). For a
// guide, see docs/library.md.
//
// The zero [Options] are for untrusted suites: they run no code and read no file outside
// of their folder. A program that runs its own suites sets Policy.Trusted.
//
// Every engine has one owner. [Engine.Close] closes what [Open] opened. What the options
// provide stays open.
package engine

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/mathjs"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/run"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// Engine holds everything that a suite, or requests without a suite, need. It is safe
// for concurrent use.
type Engine struct {
	o     Options
	suite *proviso.Suite // nil if there is none

	user      proviso.Env // environment of the user
	env       proviso.Env // environment of providers
	names     proviso.Env // variables that templates may use
	secrets   *secrets.Set
	dir       string
	files     proviso.Files
	client    *http.Client
	code      proviso.Code
	templates *template.Engine
	metrics   run.Metrics
	checks    *check.Engines
	models    *models
	providers provider.Options
	grader    *lazyJudge
	mistakes  mistakes
	needs     needs

	mu      sync.Mutex
	owned   []func() error
	asked   []string
	tariffs map[proviso.Provider]*provider.Tariff // tariffs of providers that call a model; nil if unknown
}

// Open prepares an engine for a suite; a nil suite means requests without one. The inner
// engines start on first use. ctx applies to Open only. The caller must call [Engine.Close].
func Open(ctx context.Context, s *proviso.Suite, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(o.Policy.check(), o.Engines.check()); err != nil {
		return nil, err
	}
	o.Limits = o.Limits.of(s)
	e := &Engine{o: o, suite: s, tariffs: map[proviso.Provider]*provider.Tariff{}}
	e.openEnvironment()
	e.openCode()
	var filters map[string]string
	if s != nil {
		filters = e.filters(ctx)
	}
	e.templates = own(e, "templates", template.New(template.Options{Filters: filters, Env: e.templateEnv}))
	if e.metrics = o.Engines.Metrics; e.metrics == nil {
		e.metrics = own(e, "metrics", mathjs.New(mathjs.Options{}))
	}
	e.checks = own(e, "checks", check.NewEngines())
	e.openModels()
	return e, nil
}

// openEnvironment sets which environment variables and files the engine uses.
func (e *Engine) openEnvironment() {
	n := &e.o.Engines
	e.user, e.secrets, e.dir = n.Env, n.Secrets, n.Dir
	if e.user == nil {
		e.user = proviso.EnvMap{}
	}
	if e.secrets == nil {
		e.secrets = &secrets.Set{}
	}
	e.secrets.Add(n.Redact...)
	var added *value.Object
	if e.suite != nil {
		added, e.dir = e.suite.Env, e.suite.Dir
	}
	providers, names := e.o.Policy.Environments(added, e.user)
	e.env, e.names = e.secrets.Env(providers), e.secrets.Env(names)
	switch e.files = n.Files; {
	case e.files != nil:
	case e.suite == nil && e.dir == "":
		e.files = noFiles{}
	default:
		e.files = suite.NewFiles(e.dir, e.o.Policy.Files())
	}
}

// openCode prepares the code runner.
func (e *Engine) openCode() {
	switch given := e.o.Engines.Code; {
	case !e.o.Policy.Trusted:
		e.code = refusedCode{}
	case given != nil:
		e.code = given
	default:
		confined := e.o.Policy.Sandbox == sandbox.Require
		e.code = own(e, "code", newCodes(confined, func() proviso.Code { return sandbox.New(e.box()) }))
	}
}

// openModels prepares the client, the providers and the judge.
func (e *Engine) openModels() {
	n := &e.o.Engines
	if op := n.Operator; op != nil {
		e.models = op.models
		n.Cassette, n.Transport = op.o.Engines.Cassette, op.o.Engines.Transport
	} else {
		n.openCassette(e.secrets)
		e.models = newModels(&e.o, e.secrets)
	}
	if e.client = n.Client; e.client == nil {
		e.client = e.newClient()
	}
	e.providers = e.providerOptions()
	e.grader = &lazyJudge{made: sync.OnceValues(func() (*judge.Judge, error) {
		j, err := (&judging{Engine: e}).judge()
		if err != nil {
			return nil, err
		}
		return own(e, "judge", j), nil
	})}
}

// network returns where requests may go. A replay sends none, so it refuses no address.
func (e *Engine) network() transport.Options {
	n := &e.o.Engines
	o := e.o.Policy.Transport(transport.Options{Env: e.env, Wrap: n.Transport})
	o.RefusePrivate = o.RefusePrivate && (n.Cassette == nil || !n.Cassette.Replays())
	return o
}

// newClient makes the HTTP client.
func (e *Engine) newClient() *http.Client {
	n, o := &e.o.Engines, e.network()
	if c := n.Cassette; c != nil {
		o.Wrap = c.Wrap
		if n.Transport != nil {
			o.Wrap = func(network http.RoundTripper) http.RoundTripper { return n.Transport(c.Wrap(network)) }
		}
	}
	return own(e, "client", connections{transport.New(o).Client()}).Client
}

// connections is a client whose Close closes idle connections.
type connections struct{ *http.Client }

func (c connections) Close() error {
	c.CloseIdleConnections()
	return nil
}

// templateEnv returns the environment for templates.
func (e *Engine) templateEnv() *value.Object {
	o := value.NewObject(0)
	if e.suite == nil {
		return o
	}
	names := e.names
	if suite.Switch(e.env, "PROMPTFOO_DISABLE_TEMPLATE_ENV_VARS") {
		names = suite.Environment(e.suite.Env, proviso.EnvMap{})
	}
	for _, name := range names.Names() {
		if v, ok := names.Lookup(name); ok {
			o.Set(name, v)
		}
	}
	return o
}

// tools returns the suite's names of tools that run commands.
func (e *Engine) tools() []string {
	if e.suite == nil {
		return nil
	}
	return e.suite.Tracing.CommandTools
}

// own registers c, so that the engine closes it.
func own[T io.Closer](e *Engine, kind string, c T) T {
	closed := func() {}
	if e.o.Observers.Opened != nil {
		closed = e.o.Observers.Opened(kind)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owned = append(e.owned, func() error {
		defer closed()
		return c.Close()
	})
	return c
}

// Close closes the plans and compilers of the engine, and everything that [Open] opened.
// Afterwards only the cache and the budget of the engine may be used, to read their
// counters.
func (e *Engine) Close() error {
	e.mu.Lock()
	owned := e.owned
	e.owned = nil
	e.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(owned) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}
