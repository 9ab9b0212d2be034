package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// Work executes runs and evaluates for watches until ctx ends, without serving clients: it
// is a process beside servers that share its store. l, if there is one, answers /healthz,
// /readyz and /metrics to everybody who can reach it. When ctx ends, runs stop after their
// finished rows, within [Options.StopTimeout], and other processes continue them.
func (s *Server) Work(ctx context.Context, l net.Listener) error {
	s.kind = kindWorker
	s.o.Jobs.Offer(s.offer(kindWorker))
	if err := s.o.Jobs.Start(ctx, s.work); err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go s.housekeep(background)
	go s.spans.expire(background)
	go s.tellMixed(background)
	s.stopWatching = s.monitor.start(background)
	s.ready.Store(true)
	if s.o.Ready != nil {
		s.o.Ready()
	}
	var err error
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

// serveOperation answers what watches over a process ask, until ctx ends.
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
