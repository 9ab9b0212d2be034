// Package files shows a folder of kept runs as a [store.Store] that can only be read,
// for `proviso view`. Start at [Open].
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
	// File is the file of a single run, wherever it is; the folder is not used then.
	File string
	// Open is how many run files are open at a time; 8 if 0.
	Open int
	// Labels is the file of labels; [label.FileName] beside the runs if "".
	Labels string
	// ReadOnly refuses labels.
	ReadOnly bool
	// Now is the time of labels; nil means time.Now.
	Now func() time.Time
}

// Store shows kept runs. They belong to the project [store.DefaultProject]. Everything
// that would change something is Refused, except labels, which stand in a file beside the
// runs.
type Store struct {
	refusing
	dir    string
	single *runfile.Info // the only run, if there is no folder
	slots  chan struct{} // one for each file in use
	most   int
	labels *labels

	readOnly bool // takes no labels
	replies  replies

	mu      sync.Mutex
	states  map[string]*state // by id
	records []*record         // open ones, the the most recently used first
	closed  bool
}

var _ store.Store = (*Store)(nil)

// Open shows the runs that are kept in a folder, which may come and go. The error is that
// the folder cannot be read.
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

// infoOf describes a run by its file. Its id is that of its header.
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

// IDs returns the ids of all runs, the newest first.
func (s *Store) IDs() ([]string, error) {
	runs, err := s.list()
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return ids, err
}

// list returns all runs, the newest first.
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

// Waiting implements [store.Store]: runs in a folder are executed by nobody here.
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
