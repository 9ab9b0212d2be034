package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store/postgres"
)

// workerCommand holds the flags of worker: those of serve that concern work.
type workerCommand struct {
	serveCommand
	metrics string
}

func newWorker(a *app) *cobra.Command {
	f := &workerCommand{}
	f.trust.untrusted = true // the suites come from clients
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Execute the runs and watches of servers that share a PostgreSQL database",
		Long: "worker executes runs and evaluates events for watches, alongside servers that use the same\n" +
			"database: `proviso serve --workers 0 --store URL` serves, and as many workers as you like\n" +
			"work, of different sizes. A worker that is stopped finishes the rows in progress; others\n" +
			"continue its runs, also if it is killed. It takes the runs that it can do: one that needs the\n" +
			"key of a vendor goes to a worker that has it. docs/scale.md leads from one process to four.\n\n" +
			"Exit codes: 0 stopped by a signal, 2 a mistake in the command line, 3 the worker could not\n" +
			"start, or not stop in time.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.worker(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	f.place.registerURL(fs, "the data of the servers")
	countVar(fs, &f.workers, "jobs", "", 4, 1, "execute `N` runs at a time")
	timeVar(fs, &f.server.StopTimeout, "drain", 30*time.Second, "when stopped, give rows in progress this much `TIME`")
	timeVar(fs, &f.lease, "lease", 30*time.Second, "let others continue a run `TIME` after this worker was last heard of, from 1s to 1h")
	fs.StringVar(&f.metrics, "metrics", "", "answer /healthz, /readyz and /metrics on `ADDRESS`:PORT, to everybody who can reach it")
	f.registerWork(fs)
	f.registerContentKey(fs)
	f.registerMonitor(fs)
	return cmd
}

// Limits of --lease. A lease is renewed each second.
const (
	leastLease = time.Second
	shortLease = 10 * time.Second
	mostLease  = time.Hour
)

// worker opens what a worker needs, and works until it is stopped.
func (a *app) worker(ctx context.Context, f *workerCommand) error {
	const see = "see `proviso worker --help`"
	if err := errors.Join(f.models.check(), f.trust.check()); err != nil {
		return err
	}
	var err error
	if f.at, err = f.place.of(a); err != nil {
		return err
	}
	if !postgres.IsURL(f.at) {
		return usageError{errors.New("--store needs the URL of a PostgreSQL database, such as postgres://user@host/proviso"), "a file is for one process: `proviso serve` works itself"}
	}
	if f.lease < leastLease || f.lease > mostLease {
		return badValue("--lease", "a time from 1s to 1h", f.lease.String(), see)
	}
	if f.lease < shortLease {
		a.warn(fmt.Sprintf("--lease %s: a worker or a database that is slow for that long loses its runs, whose rows are then asked again; %s or more is usual", f.lease, shortLease))
	}
	if f.metrics != "" {
		if err := checkAddr("--metrics", f.metrics, see); err != nil {
			return err
		}
	}
	db, err := a.openServed(ctx, &f.serveCommand)
	if err != nil {
		return err
	}
	f.server.Jobs = db
	return errors.Join(a.work(ctx, f), db.Close())
}

func (a *app) work(ctx context.Context, f *workerCommand) error {
	var end closers
	defer end.close()
	_, err := a.openWork(ctx, &end, &f.serveCommand)
	if err != nil {
		return err
	}
	var l net.Listener
	if f.metrics != "" {
		if l, err = listen(ctx, f.metrics, "choose another address or port with --metrics"); err != nil {
			return err
		}
	}
	f.server.Ready = func() { f.server.Log.Info("working", "jobs", f.workers, "watches", f.server.WatchWorkers) }
	s, err := server.New(f.server)
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	return s.Work(ctx, l)
}
