package server

import (
	"net/http"
	"slices"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// WorkersNow counts the processes that execute runs.
type WorkersNow struct {
	Count     int  `json:"count" doc:"Workers, and servers that work themselves, that reported recently"`
	Jobs      int  `json:"jobs" doc:"Runs that they execute at a time, together"`
	Able      *int `json:"able,omitempty" doc:"How many of them can execute one of the queued runs; missing if none is queued"`
	Replaying int  `json:"replaying,omitempty" doc:"How many of them replay recorded answers: they take only runs of servers that do, too"`
	Unfit     int  `json:"unfit" doc:"How many of them take no runs now, because of a problem of their own: GET /v1/workers says why"`
}

// Worker is a process that executes runs: a worker, or a server that executes them itself.
type Worker struct {
	ID      string    `json:"id" doc:"A new one for each start"`
	Kind    string    `json:"kind" enum:"server,worker"`
	Version string    `json:"version" doc:"Of proviso"`
	Jobs    int       `json:"jobs" doc:"Runs that it executes at a time"`
	Can     []string  `json:"can" doc:"What it can do of what runs need: the names of keys that it has, hosts that it may ask, and whether it has a judge. There are no values of keys"`
	Only    string    `json:"only,omitempty" doc:"What a run has to need for it to take the run, such as --replay: it has recorded answers, and asks no model"`
	Unfit   string    `json:"unfit,omitempty" doc:"Why it takes no runs now, whatever these need, such as a full disk"`
	Started time.Time `json:"started_at"`
	Seen    time.Time `json:"seen_at" doc:"When it last reported"`
}

// WorkerList lists the processes that execute runs.
type WorkerList struct {
	Items []Worker `json:"items"`
}

func (s *Server) listWorkers(c *call) error {
	list, err := s.o.Store.Processes(c.r.Context())
	if err != nil {
		return err
	}
	out := WorkerList{Items: []Worker{}}
	for _, p := range list {
		w := Worker{ID: p.ID, Kind: p.Kind, Version: p.Version, Jobs: p.Jobs, Can: p.Can, Only: p.Only, Unfit: p.Unfit, Started: p.Started.UTC(), Seen: p.Seen.UTC()}
		if w.Can == nil {
			w.Can = []string{}
		}
		out.Items = append(out.Items, w)
	}
	return c.json(http.StatusOK, out)
}

// workersNow counts the processes that execute runs.
func workersNow(living []store.Process, waits []store.Waiting) (w WorkersNow) {
	if slices.ContainsFunc(waits, func(of store.Waiting) bool { return of.Queued > 0 }) {
		w.Able = new(int)
	}
	for i := range living {
		w.Count++
		w.Jobs += living[i].Jobs
		if living[i].Only == needsReplay {
			w.Replaying++
		}
		if living[i].Unfit != "" {
			w.Unfit++
		}
		if w.Able != nil && able(&living[i], waits) {
			*w.Able++
		}
	}
	return w
}

// able reports whether a process can execute one of the waiting runs.
func able(p *store.Process, waits []store.Waiting) bool {
	for _, w := range waits {
		if slices.ContainsFunc(w.Needs, p.Able) {
			return true
		}
	}
	return false
}
