package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// serveCommand holds the flags of serve.
type serveCommand struct {
	evalFlags // models, judge, trust and concurrency; the other fields have no flag here
	addr      string
	db        string
	hosts     []string
	tlsCert   string
	tlsKey    string
	workers   int
	calls     int
	server    server.Options
}

func newServe(a *app) *cobra.Command {
	f := &serveCommand{}
	f.trust.untrusted = true // clients are untrusted
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve evaluations, suites and runs over HTTP",
		Long: "serve answers POST /v1/evaluate and keeps suites, runs and their results in one SQLite\n" +
			"file. Suites that clients send run as untrusted ones. `proviso key create` makes the keys\n" +
			"that clients send; without any, only this machine is served. The log goes to standard\n" +
			"output, a line of JSON for each request.\n\n" +
			"Exit codes: 0 stopped by a signal, everything accepted is finished or kept, 2 the command\n" +
			"line is wrong, 3 it could not serve, or could not stop in time.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *serveCommand) register(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8080", "listen on `ADDRESS`:PORT; an address that other machines can reach needs keys")
	fs.StringVar(&f.db, "db", "", "database `FILE` (default $XDG_STATE_HOME/proviso/proviso.db)")
	fs.StringArrayVar(&f.hosts, "host", nil, "host `NAME` that requests may use; may be repeated (default localhost if only this machine can connect, else any)")
	fs.StringVar(&f.tlsCert, "tls-cert", "", "PEM `FILE` with the certificate and its intermediate certificates")
	fs.StringVar(&f.tlsKey, "tls-key", "", "PEM `FILE` with the private key of the certificate")
	f.judge.registerJudge(fs)
	f.judge.registerManner(fs)
	f.models.register(fs)
	fs.StringArrayVar(&f.trust.env, "allow-env", nil, "let suites use the environment variable `NAME`")
	fs.StringArrayVar(&f.trust.hosts, "allow-host", nil, "also let suites send requests to `HOST`; name a private host by its address, or as localhost")
	fs.StringArrayVar(&f.envFiles, "env-file", nil, "`FILE` with environment variables of the server")
	fs.IntVar(&f.calls, "model-concurrency", 128, "at most `N` calls to the endpoint of one model at a time")
	fs.IntVar(&f.workers, "workers", 4, "execute `N` runs at a time")
	fs.IntVarP(&f.concurrency, "max-concurrency", "j", 32, "at most `N` rows of a run at a time")
	fs.Int64Var(&o.BodyLimit, "body-limit", 8<<20, "limit of the body of a request, in `BYTES`")
	fs.Float64Var(&o.Rate, "rate", 100, "limit of `N` requests a second for each key, with bursts of twice as many; 0 is no limit")
	fs.DurationVar(&o.EvaluateLimit, "evaluate-timeout", 5*time.Minute, "limit of `TIME` for one evaluation")
	fs.DurationVar(&o.CPUBudget, "cpu-budget", 2*time.Second, "limit of processor `TIME` for one request; waiting for models does not count")
	fs.DurationVar(&o.StopTimeout, "stop-timeout", 30*time.Second, "`TIME` for requests to finish when the server stops")
	fs.DurationVar(&o.Drain, "drain", 0, "when stopped, keep serving for `TIME` while /readyz fails, so that a load balancer notices")
	fs.BoolVar(&o.LogContents, "log-contents", false, "log requests and answers in full")
	fs.BoolVar(&o.KeepContents, "keep-contents", false, "store requests and answers of /v1/evaluate in full, not only their result")
	fs.DurationVar(&o.KeepRuns, "keep-runs", 0, "remove runs that ended `TIME` ago (default never)")
	fs.DurationVar(&o.KeepEvaluations, "keep-evaluations", 0, "remove evaluations after `TIME` (default never)")
}

// check finds mistakes in the flags that cobra does not detect.
func (f *serveCommand) check() error {
	const see = "see `proviso serve --help`"
	o := &f.server
	for flag, n := range map[string]float64{
		"--workers": float64(f.workers) - 1, "-j": float64(f.concurrency) - 1, "--model-concurrency": float64(f.calls) - 1, "--body-limit": float64(o.BodyLimit) - 1, "--rate": o.Rate,
		"--evaluate-timeout": float64(o.EvaluateLimit) - 1, "--cpu-budget": float64(o.CPUBudget) - 1, "--stop-timeout": float64(o.StopTimeout) - 1, "--drain": float64(o.Drain),
		"--keep-runs": float64(o.KeepRuns), "--keep-evaluations": float64(o.KeepEvaluations),
	} {
		if !(n >= 0) {
			return usageError{fmt.Errorf("%s is too small", flag), see}
		}
	}
	if _, _, err := net.SplitHostPort(f.addr); err != nil {
		return usageError{fmt.Errorf("--addr %s: expected an address and a port, such as 127.0.0.1:8080", f.addr), see}
	}
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return usageError{errors.New("--tls-cert and --tls-key go together"), see}
	}
	for i, host := range f.hosts {
		name := strings.ToLower(strings.TrimSuffix(host, "."))
		if name == "" || strings.ContainsAny(name, "/:*@ ") {
			return usageError{fmt.Errorf("--host %q: expected a name without scheme, port and path", host), "it may be repeated"}
		}
		f.hosts[i] = name
	}
	return errors.Join(f.judge.check(), f.models.check(), f.trust.check())
}

// serve opens what a server needs, and serves until it is stopped.
func (a *app) serve(ctx context.Context, f *serveCommand) error {
	if err := f.check(); err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(a.out, nil))
	db, err := sqlite.Open(ctx, a.databasePath(f.db), sqlite.Options{Workers: f.workers, Logger: log})
	if err != nil {
		return err
	}
	f.server.Store, f.server.Jobs, f.server.Log, f.server.Version = db, db, log, versionName()
	return errors.Join(a.serveStore(ctx, f), db.Close())
}

func (a *app) serveStore(ctx context.Context, f *serveCommand) error {
	local := isLoopback(f.addr)
	keys, err := keysInForce(ctx, f.server.Store)
	if err != nil {
		return err
	}
	if !local && keys == 0 {
		return usageError{
			err:  fmt.Errorf("--addr %s can be reached by others, and there are no keys", f.addr),
			hint: "make one with `proviso key create NAME` and the same --db, or listen on 127.0.0.1",
		}
	}
	f.server.Open = local
	if f.server.Hosts = f.hosts; local {
		f.server.Hosts = append(f.server.Hosts, "localhost")
	}
	if f.tlsCert != "" {
		pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
		if err != nil {
			return proviso.Errorf(proviso.Invalid, "--tls-cert and --tls-key: %w", err)
		}
		f.server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	work, sweep, err := workFolder(a.databasePath(f.db) + ".work")
	if err != nil {
		return coded(err)
	}
	defer os.RemoveAll(work)
	end, err := a.grading(ctx, f, work)
	if err != nil {
		return err
	}
	defer end()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	f.server.Ready = func() { // no other process uses the database
		sweep()
		a.announce(f, l.Addr(), keys)
	}
	s, err := server.New(f.server)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return s.Serve(ctx, l)
}

// workFolder creates the folder for the files of running runs below base, and returns a
// function that removes it. It also removes what killed servers left there.
func workFolder(base string) (work string, sweep func(), err error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, err
	}
	if work, err = os.MkdirTemp(base, "server-"); err != nil {
		return "", nil, err
	}
	return work, func() {
		entries, _ := os.ReadDir(base) // unlisted entries stay
		for _, e := range entries {
			if e.Name() != filepath.Base(work) {
				_ = os.RemoveAll(filepath.Join(base, e.Name())) // the next server tries again
			}
		}
	}, nil
}

// announce prints the server's address and who can use it.
func (a *app) announce(f *serveCommand, at net.Addr, keys int) {
	scheme := "http"
	if f.server.TLS != nil {
		scheme = "https"
	}
	fmt.Fprintf(a.err, "proviso: serving on %s://%s; Ctrl-C stops\n", scheme, at)
	switch {
	case keys == 0:
		a.warn("there are no keys, so everybody on this machine can use it; `proviso key create NAME` ends that")
	case !isLoopback(f.addr) && f.server.TLS == nil:
		a.warn("keys come over the network as they are: give --tls-cert and --tls-key, or put a proxy with TLS in front")
	}
}

// keysInForce counts the keys that are not revoked.
func keysInForce(ctx context.Context, keys store.Keys) (int, error) {
	list, err := store.AllKeys(ctx, keys)
	n := 0
	for _, k := range list {
		if k.Revoked.IsZero() {
			n++
		}
	}
	return n, err
}

// isLoopback reports whether an address is reachable only from this machine.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return slices.Contains([]string{"localhost", "localhost."}, strings.ToLower(host))
}
