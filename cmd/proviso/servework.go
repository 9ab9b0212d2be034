package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/notify"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/suite"
)

// grading opens the engines for single outputs and for suites. The operator trusts the judge of the
// command line, but nothing that a client sends: the engine for clients runs no code, has no files,
// and connects only to allowed hosts.
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
		if proviso.CodeOf(err) == proviso.Unsupported && !errors.Is(err, provider.ErrNoKey) { // a key would not help
			return fmt.Errorf("the judge: %w", err)
		}
		a.warn("criteria cannot be judged: " + err.Error())
		f.server.NoJudge = err.Error()
	}
	clients.Engines.Client = requests.Client() // suites share the HTTP connections
	f.server.Judge = requests
	f.server.Asker = &server.Asking{Engine: clients}
	f.server.Judges = &server.Judging{Engine: clients}
	f.server.Runner = &server.Suites{Dir: work, Engine: clients, MaxConcurrency: f.concurrency, Elsewhere: postgres.IsURL(f.at)}
	return nil
}

// serveMonitor holds the flags of serve for watches.
type serveMonitor struct {
	notify   string
	verdicts string
}

func (f *serveCommand) registerMonitor(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.monitor.notify, "notify", "", "`FILE` with the targets that watches can notify of alarms: webhooks, Slack, issues on GitHub; see docs/monitor.md")
	fs.StringVar(&o.PublicURL, "public-url", "", "`URL` of the app for people, such as https://eval.example.com, for links in messages")
	fs.StringVar(&f.monitor.verdicts, "otlp-verdicts", "", "send the verdicts of watches on to this OTLP `ENDPOINT`, as events gen_ai.evaluation.result")
	countVar(fs, &o.WatchWorkers, "watch-workers", "", 8, 1, "let watches evaluate `N` events at a time")
}

// watching opens what watches need besides the judge.
func (a *app) watching(end *closers, f *serveCommand, env proviso.Env) error {
	if u := f.server.PublicURL; u != "" {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.RawQuery != "" || parsed.Fragment != "" {
			return badValue("--public-url", "a URL such as https://eval.example.com", u, "it has no query")
		}
		f.server.PublicURL = strings.TrimSuffix(u, "/")
	}
	if f.monitor.notify != "" {
		if err := a.notifying(f, env); err != nil {
			return err
		}
	}
	if f.monitor.verdicts == "" {
		return nil
	}
	host, err := url.Parse(f.monitor.verdicts)
	if err != nil {
		return badValue("--otlp-verdicts", "a URL such as http://localhost:4318", f.monitor.verdicts, "see docs/monitor.md")
	}
	network := transport.New(transport.Options{Env: env, Hosts: func(name string) bool { return name == strings.ToLower(host.Hostname()) }})
	exporter, err := otlp.NewExporter(otlp.LogsPath, otlp.ExporterOptions{Endpoint: f.monitor.verdicts, Client: network.Client()})
	if err != nil {
		return usageError{fmt.Errorf("--otlp-verdicts: %w", err), "it is a URL such as http://localhost:4318"}
	}
	f.server.Verdicts = otlp.NewResults(exporter, otlp.Origin{Version: versionName()})
	end.add(func() {
		if items, lost, err := exporter.Close(); lost > 0 {
			a.warn(fmt.Sprintf("%d of %d verdicts were not sent to --otlp-verdicts: %v", lost, items, err))
		}
	})
	return nil
}

// notifying opens the targets of alarm notifications.
func (a *app) notifying(f *serveCommand, env proviso.Env) error {
	data, err := a.readBounded(f.monitor.notify, "targets of notifications", maxSettings)
	if err != nil {
		return usageError{fmt.Errorf("--notify: %w", err), "docs/monitor.md has an example"}
	}
	targets, err := notify.Read(f.monitor.notify, data)
	if err != nil {
		return err
	}
	network := transport.New(transport.Options{Env: env, Hosts: targets.Allows})
	n, err := notify.Open(targets, notify.Options{Env: env, Network: network})
	if err != nil {
		return fmt.Errorf("--notify %s: %w", f.monitor.notify, err)
	}
	f.server.Notifier = n
	return nil
}

// serveTraffic holds the flags of serve for production events.
type serveTraffic struct {
	redact string
	keyEnv string
}

func (f *serveCommand) registerTraffic(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.traffic.redact, "redact-events", "", "`FILE` with a list of rules, as YAML or JSON: what they name is removed from events before anything is stored")
	f.registerContentKey(fs)
	shareVar(fs, &o.TrafficShare, "traffic-share", 1, "keep the texts of this `SHARE` of the conversations of agents without a watch")
	timeVar(fs, &o.KeepTraffic.Contents, "keep-texts", 7*24*time.Hour, "remove the texts of events after `TIME`")
	timeVar(fs, &o.KeepTraffic.Failures, "keep-failures", 30*24*time.Hour, "remove the texts of events with a failing verdict, or without an answer, after `TIME`")
	timeVar(fs, &o.KeepTraffic.Verdicts, "keep-verdicts", 90*24*time.Hour, "remove events, thumbs and the verdicts of watches after `TIME`")
	timeVar(fs, &o.KeepTraffic.Rollups, "keep-rollups", 395*24*time.Hour, "remove hourly counts of events and verdicts, and closed alarms, after `TIME`")
}

func (f *serveCommand) registerContentKey(fs *pflag.FlagSet) {
	fs.StringVar(&f.traffic.keyEnv, "content-key-env", "", "encrypt the texts of events with the key in the variable `NAME` (32 characters or more); the key can never be changed")
}

// contentKey returns the key that encrypts contents; nil if there is none.
func (f *serveCommand) contentKey(env proviso.Env) ([]byte, error) {
	if f.traffic.keyEnv == "" {
		return nil, nil
	}
	key, _ := env.Lookup(f.traffic.keyEnv)
	if key == "" {
		return nil, usageError{fmt.Errorf("--content-key-env: the variable %s is not set", f.traffic.keyEnv), "`openssl rand -hex 32` makes a key"}
	}
	return []byte(key), nil
}

// redacting opens the redaction rules.
func (f *serveCommand) redacting(a *app, env proviso.Env) error {
	file := f.traffic.redact
	if file == "" {
		return nil
	}
	data, err := a.readBounded(file, "rules of redaction", maxSettings)
	if err != nil {
		return usageError{fmt.Errorf("--redact-events: %w", err), `it has a list such as [{pattern: '\d{16}'}, {field: user, hash_env: SALT}]`}
	}
	doc, err := document.Parse(file, data)
	if err != nil {
		return err
	}
	rules, mistakes := ingest.ReadRules(doc.Root, "")
	if len(mistakes) > 0 {
		var all proviso.Mistakes
		for _, m := range mistakes {
			all = append(all, proviso.Mistake{Place: doc.Place(m.Pointer), Code: m.Code, Message: m.Message})
		}
		return a.mistakes(all)
	}
	f.server.Redactor, err = ingest.NewRedactor(rules, env)
	return err
}

// checkAddr checks the value of --addr.
func checkAddr(flag, addr, hint string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return badValue(flag, "an address and a port, such as 127.0.0.1:8080", addr, hint)
	}
	return nil
}

// listen opens an address. hint says what to do if that fails.
func listen(ctx context.Context, addr, hint string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	var system *os.SyscallError
	if errors.As(err, &system) {
		err = system.Err // without the address, which the message already contains
	}
	return nil, proviso.Errorf(proviso.Unavailable, "cannot listen on %s: %w; %s", addr, err, hint)
}

// isLoopback reports whether an address is reachable only from this machine.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && transport.ThisMachine(host)
}

// tlsFlags name the TLS certificate of a server.
type tlsFlags struct{ cert, key string }

func (f *tlsFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.cert, "tls-cert", "", "PEM `FILE` with the certificate and its intermediate certificates")
	fs.StringVar(&f.key, "tls-key", "", "PEM `FILE` with the private key of the certificate")
}

func (f *tlsFlags) check(hint string) error {
	if (f.cert == "") != (f.key == "") {
		return usageError{errors.New("--tls-cert and --tls-key go together"), hint}
	}
	return nil
}

// config reads the certificate; nil if there is none.
func (f *tlsFlags) config() (*tls.Config, error) {
	if f.cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "--tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// announce prints the address of a server and what it does.
func (f *tlsFlags) announce(a *app, doing string, at net.Addr) {
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	fmt.Fprintf(a.err, "proviso: %s on %s://%s; Ctrl-C stops\n", doing, scheme, at)
}

// warnPlain warns if keys can arrive from other machines without encryption.
func (f *tlsFlags) warnPlain(a *app, addr string) {
	if !isLoopback(addr) && f.cert == "" {
		a.warn("keys come over the network as they are: give --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
}
