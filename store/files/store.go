// Package files shows a folder of kept runs as a read-only [store.Store], for `proviso view`.
// Start at [Open].
package files

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
)

// Options configure a [Store].
type Options struct {
	// File is the file of a single run, anywhere; the folder is then not used.
	File string
	// Open is the maximum number of open run files; 0 means 8.
	Open int
	// Labels is the label file; "" means [label.FileName] beside the runs.
	Labels string
	// ReadOnly refuses labels.
	ReadOnly bool
	// Now returns the time for labels; nil means time.Now.
	Now func() time.Time
}

// Store shows kept runs. They belong to the project [store.DefaultProject]. All changes are
// Refused, except labels, which are stored in a file beside the runs.
type Store struct {
	refusing
	dir    string
	single *runfile.Info // the only run, if there is no folder
	slots  chan struct{} // one slot per file in use
	most   int
	labels *labels

	readOnly bool // accepts no labels
	replies  replies

	mu      sync.Mutex
	states  map[string]*state // by id
	records []*record         // open records, the most recently used first
	closed  bool
}

var _ store.Store = (*Store)(nil)

// Open shows the runs in a folder. Runs may appear and disappear. It returns an error if the
// folder cannot be read.
func Open(dir string, o Options) (*Store, error) {
	if o.Open <= 0 {
		o.Open = 8
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Labels == "" {
		o.Labels = filepath.Join(dir, label.FileName)
		if o.File != "" {
			o.Labels = filepath.Join(filepath.Dir(o.File), label.FileName)
		}
	}
	s := &Store{dir: dir, slots: make(chan struct{}, o.Open), most: o.Open, states: map[string]*state{}, labels: &labels{path: o.Labels, now: o.Now, queues: map[string]*queue{}}, readOnly: o.ReadOnly}
	if o.File != "" {
		info, err := infoOf(o.File)
		if err != nil {
			return nil, err
		}
		s.single = &info
		return s, nil
	}
	_, err := s.list()
	return s, err
}

// infoOf describes a run by its file. Its id is the one in its header.
func infoOf(path string) (runfile.Info, error) {
	h, _, err := runfile.Ends(path)
	if err != nil {
		return runfile.Info{}, proviso.Errorf(proviso.Invalid, "%w", err)
	}
	id := h.ID
	if !runfile.IsID(id) {
		id = runfile.ContentID(h.Started, string(h.Line()))
	}
	return runfile.Info{ID: id, Path: path, Started: h.Started}, nil
}

// IDs returns the ids of all runs, newest first.
func (s *Store) IDs() ([]string, error) {
	runs, err := s.list()
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids, err
}

// list returns all runs, newest first.
func (s *Store) list() ([]runfile.Info, error) {
	if s.single != nil {
		info, ok := s.find(s.single.ID)
		if !ok {
			return nil, nil
		}
		return []runfile.Info{info}, nil
	}
	runs, err := runfile.List(s.dir)
	if err != nil {
		return nil, proviso.Errorf(proviso.Unavailable, "%w", err)
	}
	return runs, nil
}

// find returns the run with an id.
func (s *Store) find(id string) (info runfile.Info, ok bool) {
	if s.single == nil {
		return runfile.Find(s.dir, id)
	}
	info = *s.single
	file, err := os.Stat(info.Path)
	if err != nil || id != info.ID {
		return info, false
	}
	info.File, info.Begun = file, file.ModTime()
	return info, true
}

// In implements [store.Store].
func (s *Store) In(p store.Project) store.ProjectStore {
	return project{s: s, here: p == store.DefaultProject}
}

// Waiting implements [store.Store]: no runs are executed here.
func (s *Store) Waiting(context.Context) ([]store.Waiting, error) { return nil, nil }

// Texts implements [store.Store]: nothing is sealed in files.
func (s *Store) Texts(context.Context) error { return nil }

// Processes implements [store.Store]: nothing is executed here.
func (s *Store) Processes(context.Context) ([]store.Process, error) { return nil, nil }

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	_, err := s.list()
	return err
}

// Close implements [store.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.trim(0)
	return nil
}

// usable returns why the store cannot be used.
func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return proviso.Errorf(proviso.Unavailable, "the runs are closed")
	}
	return ctx.Err()
}
