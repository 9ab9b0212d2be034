package server

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// Worker is a process that executes runs: a worker, or a server that works itself.
type Worker struct {
	ID      string    `json:"id" doc:"A new one for each start"`
	Kind    string    `json:"kind" enum:"server,worker"`
	Version string    `json:"version" doc:"Of proviso"`
	Jobs    int       `json:"jobs" doc:"Runs that it executes at a time"`
	Can     []string  `json:"can" doc:"What it can do of what runs need: the names of keys that it has, hosts that it may ask, and whether it has a judge. There are no values of keys"`
	Only    string    `json:"only,omitempty" doc:"What a run has to need for it to take the run, such as --replay: it has recorded answers, and asks no model"`
	Unfit   string    `json:"unfit,omitempty" doc:"Why it takes no runs now, whatever these need, such as a full disk"`
	Started time.Time `json:"started_at"`
	Seen    time.Time `json:"seen_at" doc:"When it last said that it goes on"`
}

// WorkerList are the processes that execute runs.
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

// able reports whether a process can execute one of the runs that wait.
func able(p *store.Process, waits []store.Waiting) bool {
	for _, w := range waits {
		if slices.ContainsFunc(w.Needs, p.Able) {
			return true
		}
	}
	return false
}

// kindWorker is the kind of a process that serves no clients, as of [store.Offer].
const kindWorker = "worker"

// errNoRoomHere is that this process has no room for the files of runs.
var errNoRoomHere = errors.New("the disk for the files of runs is full")

const (
	// roomBytes is how much has to fit before a process with a full disk takes runs again.
	roomBytes = 1 << 20
	// roomPause is between two attempts to write so much.
	roomPause = 5 * time.Second
)

// noRoomHere is the error of a run whose files do not fit the disk of this process.
func noRoomHere() error { return store.Unfit(errNoRoomHere) }

// Room implements capable: it writes a file, and removes it.
func (s *Suites) Room() error {
	f, err := os.CreateTemp(s.Dir, "room-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, roomBytes))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// fitness is whether this process can execute runs. It is safe for concurrent use.
type fitness struct {
	runner capable // nil if nothing can be asked

	mu   sync.Mutex
	full bool
	next time.Time // when to look again
}

// fill notes that the disk is full.
func (f *fitness) fill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.next = true, time.Now().Add(roomPause)
}

// now says why this process can execute nothing, as far as it is known; "" if it can.
func (f *fitness) now() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason()
}

// ask is [store.Offer.Fit]: after a disk was full, it looks whether there is room.
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
