package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Health is the response of the health routes.
type Health struct {
	Status string `json:"status" doc:"ok"`
}

// health succeeds as long as the process can respond.
func (s *Server) health(c *call) error { return c.json(http.StatusOK, Health{"ok"}) }

// pingTimeout limits the check of the store.
const pingTimeout = 2 * time.Second

// readiness reports whether requests are accepted: not before the jobs run, not
// while the server stops, and not while the store is unreachable or its disk is full.
func (s *Server) readiness(c *call) error {
	if !s.ready.Load() {
		return problem(codeStopping, "the server is starting or stopping")
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), pingTimeout)
	defer cancel()
	if err := s.o.Store.Ping(ctx); err != nil {
		why := "the store cannot be reached"
		if errors.Is(err, store.ErrNoRoom) {
			why = "the disk of the store is full"
		}
		p := problem(proviso.Unavailable, why)
		p.cause = err
		return p
	}
	return c.json(http.StatusOK, Health{"ok"})
}

// document sends the OpenAPI document.
func (s *Server) document(c *call) error {
	return c.sendResponse(store.Response{Status: http.StatusOK, MediaType: mediaJSON, Body: s.openapi})
}

// exposition sends the metrics of the request's project, or all metrics to an
// admin key that names no project.
func (s *Server) exposition(c *call) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	all := c.key.Can(store.Admin) && !q.Has(projectParam)
	s.metrics.handler(c.project, all).ServeHTTP(c.w, c.r)
	return nil
}
