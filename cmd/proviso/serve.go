package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/server/outage"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/postgres"
	"github.com/proviso-eval/proviso/store/sqldb"
	"github.com/proviso-eval/proviso/store/sqlite"
)

// serveCommand holds the flags of serve.
type serveCommand struct {
	evalFlags // models, judge, trust and concurrency; the other fields have no flag here
	addr      string
	place     storePlace
	afterCopy bool
	at        string // the location, from [storePlace.of]
	hosts     []string
	tls       tlsFlags
	workers   int
	lease     time.Duration // 0 means the default
	calls     int
	// connections is the maximum number of connections to a PostgreSQL database.
	connections int
	traffic     serveTraffic
	server      server.Options
	monitor     serveMonitor
}

func newServe(a *app) *cobra.Command {
	f := &serveCommand{}
	f.trust.untrusted = true // clients are untrusted
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the app to a team, and evaluations, suites and runs over HTTP",
		Long: "serve starts an HTTP server. Its address shows the app in a browser: runs, comparisons,\n" +
			"assertions and judges. Programs use the API: POST /v1/evaluate checks one output; suites, runs\n" +
			"and their results are stored in one SQLite file, or in a\n" +
			"PostgreSQL database that several servers share. Suites of clients are untrusted: they run no\n" +
			"code.\n\n" +
			"Clients authenticate with API keys, which `proviso key create` makes. Until there is a key,\n" +
			"only this machine can connect. The log on standard output has one line of JSON for each\n" +
			"request.\n\n" +
			"Exit codes: 0 stopped by a signal, and every accepted request is answered or stored, 2 a\n" +
			"mistake in the command line, 3 the server could not start, or not stop in time.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *serveCommand) register(fs *pflag.FlagSet) {
	o := &f.server
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8080", "listen on `ADDRESS`:PORT; an address that other machines can reach needs keys")
	f.place.register(fs, "the data")
	fs.BoolVar(&f.afterCopy, "after-copy", false, "continue with a SQLite file that store copy has copied to another database")
	fs.StringArrayVar(&f.hosts, "host", nil, "host `NAME` that requests may use; may be repeated (default localhost if only this machine can connect, else any)")
	fs.StringArrayVar(&f.server.PanelOrigins, "panel-origin", nil, "`ORIGIN` whose pages may show panels with a panel token, such as https://app.example; may be repeated")
	f.tls.register(fs)
	fs.StringVar(&f.server.Alignment, "alignment", "", "`FILE` that `proviso align --save=FILE` writes, so that the page of judges shows how far each agrees with people, and comparisons correct for its errors")
	countVar(fs, &f.workers, "workers", "", 4, 0, "execute `N` runs at a time; 0 leaves runs and watches to `proviso worker`")
	fs.Int64Var(&o.BodyLimit, "body-limit", 8<<20, "limit of the body of a request, in `BYTES`")
	fs.Int64Var(&o.RunLimit, "run-limit", 256<<20, "limit of a run that is pushed, in `BYTES`")
	fs.Float64Var(&o.Rate, "rate", 100, "limit of `N` requests a second for each key, with bursts of twice as many; 0 means no limit")
	timeVar(fs, &o.EvaluateLimit, "evaluate-timeout", 5*time.Minute, "limit of `TIME` for one evaluation")
	timeVar(fs, &o.CPUBudget, "cpu-budget", 2*time.Second, "limit of processor `TIME` for one request; waiting for models does not count")
	timeVar(fs, &o.StopTimeout, "stop-timeout", 30*time.Second, "`TIME` for requests to finish when the server stops")
	timeVar(fs, &o.Drain, "drain", 0, "when stopped, keep serving for `TIME` while /readyz fails, so that a load balancer notices")
	fs.BoolVar(&o.LogContents, "log-contents", false, "log requests and answers in full")
	fs.BoolVar(&o.KeepContents, "keep-contents", false, "store requests and answers of /v1/evaluate in full, not only their result")
	timeVar(fs, &o.KeepRuns, "keep-runs", 0, "remove runs that ended `TIME` ago (default never)")
	timeVar(fs, &o.KeepEvaluations, "keep-evaluations", 0, "remove evaluations after `TIME` (default never)")
	f.registerWork(fs)
	f.registerTraffic(fs)
	f.registerMonitor(fs)
}

// registerWork adds the flags of processes that execute runs: servers and workers.
func (f *serveCommand) registerWork(fs *pflag.FlagSet) {
	f.judge.registerJudge(fs)
	f.judge.registerManner(fs)
	f.models.register(fs)
	fs.StringArrayVar(&f.trust.env, "allow-env", nil, "let suites use the environment variable `NAME`")
	fs.StringArrayVar(&f.trust.hosts, "allow-host", nil, "also let suites send requests to `HOST`; name a private host by its address, or as localhost")
	fs.StringArrayVar(&f.EnvFiles, "env-file", nil, "`FILE` with environment variables")
	countVar(fs, &f.calls, "model-concurrency", "", 128, 1, "at most `N` calls to the endpoint of one model at a time")
	countVar(fs, &f.connections, "connections", "", postgres.DefaultConnections, 3, "hold at most `N` connections to a PostgreSQL database")
	countVar(fs, &f.concurrency, "max-concurrency", "j", 32, 1, "at most `N` rows of a run at a time")
}

// check finds mistakes in the flags that cobra does not detect.
func (f *serveCommand) check() error {
	const see = "see `proviso serve --help`"
	o := &f.server
	switch {
	case o.BodyLimit < 1:
		return badValue("--body-limit", "a number of at least 1", strconv.FormatInt(o.BodyLimit, 10), see)
	case o.RunLimit < 1:
		return badValue("--run-limit", "a number of at least 1", strconv.FormatInt(o.RunLimit, 10), see)
	case !(o.Rate >= 0):
		return badValue("--rate", "a number of at least 0", strconv.FormatFloat(o.Rate, 'g', -1, 64), see)
	}
	if err := cmp.Or(checkAddr("--addr", f.addr, see), f.tls.check(see)); err != nil {
		return err
	}
	for i, host := range f.hosts {
		name := strings.ToLower(strings.TrimSuffix(host, "."))
		if name == "" || strings.ContainsAny(name, "/:*@ ") {
			return badValue("--host", "a name without scheme, port and path", host, "it may be repeated")
		}
		f.hosts[i] = name
	}
	for _, origin := range o.PanelOrigins {
		if !isOrigin(origin) {
			return badValue("--panel-origin", "an origin as browsers send it, such as https://app.example or http://localhost:3000", origin,
				"scheme and host in lower case, a port only if it is not the usual one, and nothing after it")
		}
	}
	return errors.Join(f.models.check(), f.trust.check())
}

// isOrigin reports whether a text is a page's origin in the form that browsers send.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Scheme+"://"+u.Host != text || strings.ToLower(text) != text {
		return false
	}
	port := u.Port()
	usual := u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443"
	return !usual && !strings.HasSuffix(u.Host, ":") && !strings.ContainsAny(u.Host, "*@, ") && (port != "" || u.Host == u.Hostname() || u.Host == "["+u.Hostname()+"]")
}

// checkAlignment reads the file of --alignment, so that a mistake in it stops the start instead of
// appearing on a page.
func (f *serveCommand) checkAlignment() error {
	file := f.server.Alignment
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); err != nil {
		return usageError{fmt.Errorf("--alignment: %w", err), "`proviso align LABELS --run RUN --save=FILE` writes it"}
	}
	_, err := align.Load(file)
	return err
}

// serve opens what a server needs, and serves until it is stopped.
func (a *app) serve(ctx context.Context, f *serveCommand) error {
	if err := f.check(); err != nil {
		return err
	}
	err := f.checkAlignment()
	if err != nil {
		return err
	}
	if file := f.server.Alignment; file != "" {
		f.server.JudgeErrors = func(_ string, list ...*gate.Run) map[string]stats.Confusion { return a.judgeErrorsIn(file, list...) }
	}
	if f.at, err = f.place.of(a); err != nil {
		return err
	}
	if f.workers == 0 && !postgres.IsURL(f.at) {
		return usageError{errors.New("--workers 0 needs --store with the URL of a PostgreSQL database"), "workers are other processes, and a file is for one"}
	}
	db, err := a.openServed(ctx, f)
	if err != nil {
		return err
	}
	if f.workers > 0 {
		f.server.Jobs = db
	} else {
		f.server.WatchWorkers = 0
	}
	return errors.Join(a.serveStore(ctx, f), db.Close())
}

// openServed opens the store of a server or a worker, and sets the related options.
func (a *app) openServed(ctx context.Context, f *serveCommand) (openedStore, error) {
	outages := outage.New(slog.NewJSONHandler(a.out, nil))
	log := slog.New(outages)
	env, _, err := f.trust.around(a.env, f.EnvFiles)
	if err != nil {
		return nil, err
	}
	if err := f.redacting(a, env); err != nil {
		return nil, err
	}
	key, err := f.contentKey(env)
	if err != nil {
		return nil, err
	}
	if f.connections != postgres.DefaultConnections && !postgres.IsURL(f.at) {
		return nil, usageError{errors.New("--connections needs --store with the URL of a PostgreSQL database"), "a file has no connections"}
	}
	db, err := openStoreWith(ctx, f.at, f.connections, sqldb.Options{Copied: f.afterCopy, Workers: f.workers, Lease: f.lease, Logger: log, ContentKey: key})
	if err != nil {
		return nil, err
	}
	if err := db.CheckContentKey(); err != nil {
		return nil, errors.Join(fmt.Errorf("--content-key-env: %w", err), db.Close())
	}
	if file, is := db.(*sqlite.DB); is && f.afterCopy {
		if err := file.MarkCopied(ctx, false); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	outages.Watch(db.Ping)
	log.Info("opened the database", "database", db.Place())
	f.server.Store, f.server.Log, f.server.Version = db, log, versionName()
	return db, nil
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
			hint: "make one with `proviso key create NAME` and the same --store or --db, or listen on 127.0.0.1",
		}
	}
	f.server.Open = local
	if f.server.Hosts = f.hosts; local {
		f.server.Hosts = append(f.server.Hosts, "localhost")
	}
	if f.server.TLS, err = f.tls.config(); err != nil {
		return err
	}
	var end closers
	defer end.close()
	sweep, err := a.openWork(ctx, &end, f)
	if err != nil {
		return err
	}
	l, err := listen(ctx, f.addr, "choose another address or port with --addr")
	if err != nil {
		return err
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

// openWork opens what executes runs and watches. sweep removes files that killed servers left.
func (a *app) openWork(ctx context.Context, end *closers, f *serveCommand) (sweep func(), err error) {
	work, sweep, err := workFolder(workBase(f.at))
	if err != nil {
		return nil, proviso.WithCode(proviso.Unavailable, err)
	}
	end.add(func() { _ = os.RemoveAll(work) })
	if err := a.grading(ctx, end, f, work); err != nil {
		return nil, err
	}
	return sweep, a.watching(end, f, f.server.Env)
}

// workFolder creates the folder for the files of running runs below base. It also returns a
// function that removes what killed servers left there, unless other processes share base.
func workFolder(base string, shared bool) (work string, sweep func(), err error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, err
	}
	if work, err = os.MkdirTemp(base, "server-"); err != nil {
		return "", nil, err
	}
	return work, func() {
		if shared {
			return
		}
		entries, _ := os.ReadDir(base) // entries that cannot be listed stay
		for _, e := range entries {
			if e.Name() != filepath.Base(work) {
				_ = os.RemoveAll(filepath.Join(base, e.Name())) // the next server tries again
			}
		}
	}, nil
}

// announce prints the server's address and who can use it.
func (a *app) announce(f *serveCommand, at net.Addr, keys int) {
	f.tls.announce(a, "serving", at)
	if keys == 0 {
		a.warn("there are no keys, so everybody on this machine can use it; to require keys, run `proviso key create NAME`")
		return
	}
	f.tls.warnPlain(a, f.addr)
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
