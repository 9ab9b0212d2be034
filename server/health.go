package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
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
	Queued  int     `json:"queued" doc:"Runs that wait for a worker, including those counted as waiting"`
	Waiting int     `json:"waiting" doc:"Queued runs that no living worker can execute"`
	Age     float64 `json:"oldest_s" doc:"Seconds since the oldest queued run was created; 0 if there is none"`
	Running int     `json:"running" doc:"Runs that are executed, by any process"`
	Overdue int     `json:"overdue" doc:"Running runs whose worker is silent and that no other worker has taken over"`
	Still   float64 `json:"still_s" doc:"Longest time in seconds that a running run has had no new row, or since it began if it has none; 0 if none is running"`
}

func (s *Server) health(c *call) error { return c.json(http.StatusOK, Health{"ok"}) }

// pingTimeout limits the check of the store.
const pingTimeout = 2 * time.Second

// readiness reports whether the server accepts requests. It does not before jobs run, while the
// server stops, or while the store is unreachable or its disk is full.
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

// waitingNow sums up the queues of all projects.
func waitingNow(list []store.Waiting, now time.Time) (w WaitingNow) {
	for _, of := range list {
		w.Queued, w.Waiting, w.Running = w.Queued+of.Queued, w.Waiting+of.Unmet, w.Running+of.Running
		w.Age, w.Overdue, w.Still = max(w.Age, ageOf(of.Oldest, now)), w.Overdue+of.Overdue, max(w.Still, ageOf(of.Still, now))
	}
	return w
}

// ageOf returns the seconds since t; 0 if t is zero.
func ageOf(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}

func (s *Server) document(c *call) error {
	return c.sendResponse(store.Response{Status: http.StatusOK, MediaType: mediaJSON, Body: s.openapi()})
}

// exposition sends the metrics of the request's project, or all metrics to an admin key that
// names no project.
func (s *Server) exposition(c *call) error {
	all := c.key.Can(store.Admin) && !c.q.Has(projectParam)
	s.metrics.handler(c.project, all).ServeHTTP(c.w, c.r)
	return nil
}

// kindWorker is the kind of a process that serves no clients; see [store.Offer].
const kindWorker = "worker"

// errNoRoomHere means that the disk for run files is full.
var errNoRoomHere = errors.New("the disk for the files of runs is full")

const (
	// roomBytes is the free space that a process needs before it takes runs again.
	roomBytes = 1 << 20
	// roomPause is the pause between two checks for that space.
	roomPause = 5 * time.Second
)

// noRoomHere is the error of a run whose files do not fit on this process's disk.
func noRoomHere() error { return store.Unfit(errNoRoomHere) }

// Room implements capable. It writes a file and removes it.
func (s *Suites) Room() error {
	f, err := os.CreateTemp(s.Dir, "room-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, roomBytes))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// fitness records whether this process can execute runs. It is safe for concurrent use.
type fitness struct {
	runner capable // nil without a check for free space

	mu   sync.Mutex
	full bool
	next time.Time // time of the next check
}

// fill records that the disk is full.
func (f *fitness) fill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.next = true, time.Now().Add(roomPause)
}

// now returns the known reason why this process cannot execute runs, or "".
func (f *fitness) now() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason()
}

// ask implements [store.Offer.Fit]. If the disk was full, it checks the free space again.
func (f *fitness) ask() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.full || time.Now().Before(f.next) {
		return f.reason()
	}
	f.next = time.Now().Add(roomPause)
	f.full = f.runner != nil && f.runner.Room() != nil
	return f.reason()
}

func (f *fitness) reason() string {
	if f.full {
		return errNoRoomHere.Error()
	}
	return ""
}
