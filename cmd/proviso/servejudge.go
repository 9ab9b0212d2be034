package main

import (
	"context"
	"io"
	"net/http"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/suite"
)

// grading opens what evaluates single outputs and what runs suites, and returns
// what closes them. The operator vouches for the judge that he names, and for
// nothing that a client sends: that has a client of its own, which goes to the
// hosts that are allowed, and neither code nor files.
func (a *app) grading(ctx context.Context, f *serveCommand, work string) (end func(), err error) {
	env, _, err := f.trust.around(a.env, f.envFiles)
	if err != nil {
		return nil, err
	}
	cassette := f.models.cassette(a.secrets)
	if _, err := f.models.replayed(ctx, cassette); err != nil {
		return nil, err
	}
	code, templates := script.New(script.Options{}), template.New(template.Options{})
	end = func() {
		for _, c := range []io.Closer{code, templates} {
			_ = c.Close() // engines only free memory
		}
	}
	own := a.newModels(&f.evalFlags, provider.Options{
		Files: suite.NewFiles("", suite.FilesOptions{}), Env: env, Client: waitingClient(transport.Options{Env: env}, cassette), Code: code, Templates: templates,
	}, cassette)
	own.options.Concurrency = f.calls
	confined := waitingClient(f.trust.transport(transport.Options{Env: env}), cassette)
	s := &serveModels{flags: f.judge, own: own, trust: &f.trust, store: a.verdicts(own)}
	j, err := s.judge(check.Options{
		Code: refusedCode{}, Files: noFiles{}, Templates: templates, Client: confined, Env: suite.Restrict(env, f.trust.env), Expand: judge.Expand,
	})
	if err != nil {
		end()
		return nil, err
	}
	if err := j.Prepare(proviso.Question{Type: "judge"}); err != nil {
		a.warn("criteria cannot be judged: " + err.Error())
	}
	f.server.Judge = j
	f.server.Runner = &server.Suites{
		Version: versionName(), Dir: work, Env: own.options.Env, Trust: *f.trust.suite(env), Client: confined,
		Open: s.open, Grader: s.grader, MaxConcurrency: f.concurrency,
	}
	engines := end
	return func() {
		_ = j.Close()
		engines()
	}, nil
}

// waitingClient is an HTTP client whose waiting is measured.
func waitingClient(o transport.Options, cassette *transport.Cassette) *http.Client {
	o.Wrap = server.Waiting
	if cassette != nil {
		o.Wrap = func(network http.RoundTripper) http.RoundTripper { return server.Waiting(cassette.Wrap(network)) }
		o.RefusePrivate = o.RefusePrivate && !cassette.Replays() // no address is asked
	}
	return transport.New(o).Client()
}

// serveModels opens the models of a server: its own judge as the operator named
// it, everything else as what nobody vouches for.
type serveModels struct {
	flags judgeFlags
	own   *models
	trust *trustFlags
	store *blobs.Store // of verdicts
}

// judge makes the judge of single outputs. Its answers are not kept: its verdicts
// are.
func (s *serveModels) judge(o check.Options) (*judge.Judge, error) {
	g := &judging{flags: s.flags, provider: s.own.options, store: s.store}
	g.open = func(spec proviso.ProviderSpec) (proviso.Provider, error) {
		if !g.operators(spec) {
			return nil, proviso.Errorf(proviso.Refused, "%s is not the judge of this server", spec.ID)
		}
		return s.openOwn(spec)
	}
	return g.judge(o)
}

// openOwn opens a judge that the operator named.
func (s *serveModels) openOwn(spec proviso.ProviderSpec) (proviso.Provider, error) {
	p, err := s.with(s.own.options, nil).open(spec)
	if err != nil {
		return nil, err
	}
	return server.Metered(p), nil
}

// open returns what opens the providers of a suite.
func (s *serveModels) open(o provider.Options) func(proviso.ProviderSpec) (proviso.Provider, error) {
	shared := s.own.options
	o.Limits, o.Concurrency, o.Cassette, o.Sleep, o.KeyHost = shared.Limits, shared.Concurrency, shared.Cassette, shared.Sleep, s.trust.names
	return s.with(o, s.own.cache).open
}

// with returns models that share the budget of the server.
func (s *serveModels) with(o provider.Options, cache *provider.Cache) *models {
	return &models{options: o, cache: cache, budget: s.own.budget, tariffs: map[proviso.Provider]*provider.Tariff{}}
}

// grader returns who judges a suite, and what tells who that was.
func (s *serveModels) grader(read *proviso.Suite, o provider.Options) (proviso.Grader, func() string) {
	g := &judging{flags: s.flags, suite: read, provider: o, store: s.store}
	foreign := s.open(o)
	g.open = func(spec proviso.ProviderSpec) (proviso.Provider, error) {
		if g.operators(spec) {
			return s.openOwn(spec)
		}
		p, err := foreign(spec)
		if err != nil {
			return nil, err
		}
		return server.Metered(p), nil
	}
	l := g.lazy()
	return l, l.identity
}

// operators reports whether a provider is one that the operator chose to judge,
// just as he named it: with the flag, with the variable, or by a key.
func (g *judging) operators(spec proviso.ProviderSpec) bool {
	if spec.Config.Len() > 0 || spec.Env.Len() > 0 || spec.Transform != "" {
		return false
	}
	if spec.ID == g.flags.judge {
		return true
	}
	if named, _ := g.provider.Env.Lookup(judgeVariable); named == spec.ID {
		return true
	}
	for _, role := range []judge.Role{judge.Text, judge.Embedding, judge.Classification, judge.Moderation} {
		for _, row := range defaultJudges(role) {
			if row.provider == spec.ID {
				return true
			}
		}
	}
	return false
}

// noFiles is a proviso.Files for what a client sends without any.
type noFiles struct{}

// ReadFile refuses.
func (noFiles) ReadFile(name string) ([]byte, error) {
	return nil, proviso.Errorf(proviso.Refused, "%s: a request has no files", name)
}
