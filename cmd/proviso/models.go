package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/spf13/pflag"
	"golang.org/x/net/http/httpguts"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/dataset"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/run"
)

// modelFlags configure how models are asked.
type modelFlags struct {
	record, replay string
	redact         []string
	headers        []string // response headers to keep besides the usual ones
	maxCost        costCap
	noCache        bool
}

func (f *modelFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.noCache, "no-cache", false, "ask models again instead of using cached answers")
	fs.StringVar(&f.record, "record", "", "store every exchange with a model in `FOLDER`, without secrets")
	fs.StringVar(&f.replay, "replay", "", "answer from the exchanges in `FOLDER`; sends no request")
	fs.StringArrayVar(&f.headers, "record-header", nil, "with --record: also store the response header `NAME`")
	fs.StringArrayVar(&f.redact, "redact", nil, "with --record and --replay: redact what `REGEX` matches")
	fs.Var(&f.maxCost, "max-cost", "stop asking models when the answers have cost `USD`; 0 spends nothing")
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

// cassette returns the cassette that records or replays exchanges; nil if nothing does.
// failed is called once if nothing can be recorded any more; it may be nil.
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

// replayed returns the recorded run, nil if nothing is replayed. It reports what cannot
// be recorded or replayed before anything is paid for.
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

// client makes the HTTP calls of a command.
func (f *evalFlags) client(env proviso.Env, cassette *transport.Cassette) *http.Client {
	p := f.trust.policy()
	o := p.Transport(transport.Options{Env: env})
	if cassette != nil {
		o.Wrap = cassette.Wrap
		o.RefusePrivate = o.RefusePrivate && !cassette.Replays() // a replay makes no connections
	}
	return transport.New(o).Client()
}

// The folders of caches.
const (
	keptAnswers  = "answers"
	keptVerdicts = "verdicts"
	keptCells    = "cells" // of matrices
	keptCases    = "cases" // that were fetched
)

// cacheDir is $XDG_CACHE_HOME/proviso with what is kept there, or its equivalent on other
// systems.
func (a *app) cacheDir(kept string) string {
	return a.xdg("XDG_CACHE_HOME", ".cache", filepath.Join("proviso", kept))
}

// costCap is the value of --max-cost. The zero value is no limit.
type costCap struct {
	set bool
	usd float64
}

// Set reads an amount.
func (c *costCap) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0) || math.IsInf(f, 0) {
		return fmt.Errorf("expected an amount in US dollars, such as 0.50, found %q", text)
	}
	c.set, c.usd = true, f
	return nil
}

// String returns the amount, "" if there is none.
func (c *costCap) String() string {
	if !c.set {
		return ""
	}
	return strconv.FormatFloat(c.usd, 'f', -1, 64) // without an exponent, as amounts are written everywhere
}

// Type is for messages of the flag's package.
func (*costCap) Type() string { return "USD" }

// largeRun is the number of priced calls from which a run gets an estimate before it
// begins.
const largeRun = 100

// estimate describes in a line the usage of a large run, or of one that --max-cost will
// stop; "" for other runs.
func (f *modelFlags) estimate(m *engine.Engine, demands []*run.Demand) string {
	e := m.Estimate(demands)
	stops := f.maxCost.set && e.Cost > f.maxCost.usd
	if f.replay != "" || e.Priced == 0 || e.Priced < largeRun && !stops {
		return ""
	}
	text := e.String()
	if stops {
		text += "; --max-cost " + f.maxCost.String() + " will stop it"
		if m.Cache() != nil {
			text += ", unless answers are in the cache"
		}
	}
	return text
}

// fetch returns the function that fetches the remote cases of a suite. A command that
// does not use the network reads only copies. A resumed run uses the cases that it
// started with. A recorded or replayed run uses the cases of the recording.
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
