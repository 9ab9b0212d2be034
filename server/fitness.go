package server

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/store"
)

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
