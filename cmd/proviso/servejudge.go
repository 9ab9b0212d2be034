package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/suite"
)

// grading opens the engines for single outputs and for suites. The operator trusts the judge that the command line names, and
// nothing that a client sends: the engine for clients runs no code, has no files, and
// connects only to allowed hosts.
func (a *app) grading(ctx context.Context, end *closers, f *serveCommand, work string) error {
	env, _, err := f.trust.around(a.env, f.EnvFiles)
	if err != nil {
		return err
	}
	cassette := f.models.cassette(a.secrets, nil)
	if _, err := f.models.replayed(ctx, cassette); err != nil {
		return err
	}
	f.server.Env = env
	clients := a.engineOptions(&f.evalFlags, env, cassette)
	own := clients
	own.Policy.Trusted, own.Policy.Sandbox = true, sandbox.Auto
	own.Engines.Files, own.Engines.Transport, own.Engines.Wrap = suite.NewFiles("", suite.FilesOptions{}), server.Waiting, server.Metered
	own.Limits.Calls = f.calls
	if rates, is := f.server.Store.(store.Rates); is && postgres.IsURL(f.at) {
		own.Limits.Shared = server.SharedRates(rates, f.server.Log)
	}
	operator, err := engine.Open(ctx, nil, own)
	if err != nil {
		return err
	}
	end.add(func() { closeEngine(operator) })
	clients.Engines.Operator, clients.Engines.Wrap = operator, server.Metered
	requests, err := engine.Open(ctx, nil, clients)
	if err != nil {
		return err
	}
	end.add(func() { closeEngine(requests) })
	j, err := requests.Judge()
	if err != nil {
		return err
	}
	if err := j.Prepare(proviso.Question{Type: proviso.TypeJudge}); err != nil {
		if proviso.CodeOf(err) == proviso.Unsupported && !errors.Is(err, provider.ErrNoKey) { // no key will help
			return fmt.Errorf("the judge: %w", err)
		}
		a.warn("criteria cannot be judged: " + err.Error())
		f.server.NoJudge = err.Error()
	}
	clients.Engines.Client = requests.Client() // suites share its connections
	f.server.Judge = requests
	f.server.Asker = &server.Asking{Engine: clients}
	f.server.Judges = &server.Judging{Engine: clients}
	f.server.Runner = &server.Suites{Dir: work, Engine: clients, MaxConcurrency: f.concurrency, Elsewhere: postgres.IsURL(f.at)}
	return nil
}
