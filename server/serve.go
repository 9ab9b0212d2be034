package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
	// cutOffTimeout is how long interrupted requests may take to end.
	cutOffTimeout = 5 * time.Second
)

// Serve executes runs, if there are [Options.Jobs], and accepts requests from l until ctx ends.
// Then it stops: readiness is down for [Options.Drain], current requests are completed within
// [Options.StopTimeout], and runs stop after their rows in progress and continue at the next
// start. The error lists what did not end in time.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop, err := s.begin(ctx, "server", s.answers.settle, s.expireEvaluations, s.shareAll, func(ctx context.Context) { s.peers.stay(ctx, s) })
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer stop()
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn), TLSConfig: s.o.TLS,
	}
	failed := make(chan error, 1)
	go func() {
		if s.o.TLS != nil {
			failed <- srv.ServeTLS(l, "", "")
			return
		}
		failed <- srv.Serve(l)
	}()
	select {
	case err := <-failed:
		return errors.Join(err, s.stop(context.WithoutCancel(ctx), srv))
	case <-ctx.Done():
	}
	s.ready.Store(false)
	s.o.Log.Info("stopping")
	if s.o.Drain > 0 {
		select {
		case <-time.After(s.o.Drain):
		case <-failed:
		}
	}
	return s.stop(context.WithoutCancel(ctx), srv)
}

// begin executes runs, if there are jobs, and starts the background work, which continues until
// stop is called.
func (s *Server) begin(ctx context.Context, kind string, loops ...func(context.Context)) (stop func(), err error) {
	if s.o.Jobs != nil {
		s.o.Jobs.Offer(s.offer(kind))
		if err := s.o.Jobs.Start(ctx, s.work); err != nil {
			return nil, err
		}
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, loop := range append(loops, s.housekeep, s.spans.expire, s.tellMixed) {
		go loop(background)
	}
	s.stopWatching = s.monitor.start(background)
	s.ready.Store(true)
	if s.o.Ready != nil {
		s.o.Ready()
	}
	return stop, nil
}

// stop ends event streams, waits for requests and work, and interrupts those that exceed the
// timeout.
func (s *Server) stop(ctx context.Context, srv *http.Server) error {
	s.ready.Store(false)
	s.quitOnce.Do(func() { close(s.quit) })
	ctx, cancel := context.WithTimeout(ctx, s.o.StopTimeout)
	defer cancel()
	jobs := make(chan error, 1)
	go func() {
		s.stopWatching()
		jobs <- s.stopJobs(ctx)
	}()
	err := srv.Shutdown(ctx)
	s.evaluations.stop(ctx)
	if err != nil {
		err = proviso.Errorf(proviso.Timeout, "requests in progress were cut off after %v", s.o.StopTimeout)
		err = errors.Join(err, srv.Close())
	}
	answered := make(chan struct{})
	go func() {
		s.underWay.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(cutOffTimeout):
	}
	s.answers.flush(ctx)
	if failed := <-jobs; failed != nil {
		err = errors.Join(err, fmt.Errorf("stop the runs: %w", failed))
	}
	if failed := s.leave(context.WithoutCancel(ctx)); failed != nil {
		s.o.Log.Warn("share the end of evaluations with other servers", "error", failed)
	}
	return err
}

func (s *Server) stopJobs(ctx context.Context) error {
	if s.o.Jobs == nil {
		return nil
	}
	return s.o.Jobs.Stop(ctx)
}

// housekeep regularly removes expired data.
func (s *Server) housekeep(ctx context.Context) {
	every(ctx, nil, s.o.HousekeepEvery, func(time.Time) {
		k := s.o.KeepTraffic
		pruned, err := s.o.Store.Prune(ctx, store.Retention{Runs: s.o.KeepRuns, Evaluations: s.o.KeepEvaluations, Contents: k.Contents, Failures: k.Failures, Verdicts: k.Verdicts, Rollups: k.Rollups})
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.o.Log.Warn("remove what has expired", "error", err)
		case pruned != (store.Pruned{}):
			s.o.Log.Info("removed what has expired", "runs", pruned.Runs, "evaluations", pruned.Evaluations, "replies", pruned.Replies,
				"contents", pruned.Contents, "events", pruned.Events, "verdicts", pruned.Verdicts)
		}
	})
}

// Work executes runs and evaluates events for watches until ctx ends, without serving clients:
// it is a process beside servers that share its store. If l is not nil, it answers /healthz,
// /readyz and /metrics to everybody who can reach it. When ctx ends, runs stop after their rows
// in progress, within [Options.StopTimeout], and other processes continue them.
func (s *Server) Work(ctx context.Context, l net.Listener) error {
	s.kind = kindWorker
	stop, err := s.begin(ctx, kindWorker)
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	defer stop()
	if l == nil {
		<-ctx.Done()
	} else {
		err = s.serveOperation(ctx, l)
	}
	s.ready.Store(false)
	s.o.Log.Info("stopping")
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.StopTimeout)
	defer cancel()
	s.stopWatching()
	if failed := s.o.Jobs.Stop(ending); failed != nil {
		err = errors.Join(err, fmt.Errorf("stop the runs: %w", failed))
	}
	return err
}

// serveOperation serves health checks and metrics until ctx ends.
func (s *Server) serveOperation(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	for _, path := range [...]string{"GET /healthz", "GET /readyz"} {
		mux.Handle(path, s)
	}
	mux.Handle("GET /metrics", s.metrics.handler("", true))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return srv.Close()
	}
}
