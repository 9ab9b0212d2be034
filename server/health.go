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

// Readiness is the response of /readyz. It names no project.
type Readiness struct {
	Status   string     `json:"status" doc:"ok"`
	Database string     `json:"database" doc:"ok: it was read and written"`
	Runs     WaitingNow `json:"runs" doc:"Runs of all projects that have not ended"`
	Workers  WorkersNow `json:"workers" doc:"Processes that execute runs"`
}

// WaitingNow is the queue of runs.
type WaitingNow struct {
	Queued  int     `json:"queued" doc:"Runs that wait for a worker, those that are waiting, too"`
	Waiting int     `json:"waiting" doc:"Those that no worker that lives can execute"`
	Age     float64 `json:"oldest_s" doc:"Seconds since the first of them was created; 0 if there is none"`
	Running int     `json:"running" doc:"Runs that are executed, by any process"`
	Overdue int     `json:"overdue" doc:"Running ones whose worker is silent, and that no other has taken up"`
	Still   float64 `json:"still_s" doc:"Seconds since the running run that has had no new row for longest had one, or was begun; 0 if none is running"`
}

// WorkersNow counts the processes that execute runs.
type WorkersNow struct {
	Count     int  `json:"count" doc:"Workers, and servers that work themselves, that have said lately that they go on"`
	Jobs      int  `json:"jobs" doc:"Runs that they execute at a time, together"`
	Able      *int `json:"able,omitempty" doc:"How many of them can execute one of the queued runs; missing if none is queued"`
	Replaying int  `json:"replaying,omitempty" doc:"How many of them replay recorded answers: they take only runs of servers that do, too"`
	Unfit     int  `json:"unfit" doc:"How many of them take no runs now, because of themselves: GET /v1/workers says why"`
}

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
	err := s.o.Store.Ping(ctx)
	var list []store.Waiting
	if err == nil {
		list, err = s.o.Store.Waiting(ctx)
	}
	var living []store.Process
	if err == nil {
		living, err = s.o.Store.Processes(ctx)
	}
	if why := s.fitness.now(); err == nil && why != "" && s.kind == kindWorker {
		return problem(proviso.Unavailable, "this worker takes no runs: "+why)
	}
	if err != nil {
		why := store.ErrUnreachable
		if errors.Is(err, store.ErrNoRoom) {
			why = errors.New("the disk of the database is full")
		} else if cause := store.Outage(err); cause != nil {
			why = cause
		}
		return problem(proviso.Unavailable, why.Error()).because(err).after(outageRetry)
	}
	return c.json(http.StatusOK, Readiness{"ok", "ok", waitingNow(list, s.o.Now()), workersNow(living, list)})
}

// waitingNow adds up the queues of all projects.
func waitingNow(list []store.Waiting, now time.Time) (w WaitingNow) {
	for _, of := range list {
		w.Queued, w.Waiting, w.Running = w.Queued+of.Queued, w.Waiting+of.Unmet, w.Running+of.Running
		w.Age, w.Overdue, w.Still = max(w.Age, ageOf(of.Oldest, now)), w.Overdue+of.Overdue, max(w.Still, ageOf(of.Still, now))
	}
	return w
}

// ageOf is how long ago something was, in seconds; 0 if it never was.
func ageOf(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}

func (s *Server) document(c *call) error {
	return c.sendResponse(store.Response{Status: http.StatusOK, MediaType: mediaJSON, Body: s.openapi()})
}

// exposition sends the metrics of the request's project, or all metrics to an
// admin key that names no project.
func (s *Server) exposition(c *call) error {
	all := c.key.Can(store.Admin) && !c.q.Has(projectParam)
	s.metrics.handler(c.project, all).ServeHTTP(c.w, c.r)
	return nil
}
