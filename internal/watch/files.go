// Package watch remembers the files that a run looked for and waits until one changes.
package watch

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files are the files and folders that a run looked for, with their state before the run.
// It is safe for concurrent use.
type Files struct {
	mu      sync.Mutex
	stamps  map[string]stamp
	outputs map[string]bool // files and folders that the run itself writes
	stat    func(path string) stamp
}

// stamp identifies a state of a file.
type stamp struct {
	is      fileKind
	size    int64
	written time.Time
	names   string // for a folder: its entries
}

type fileKind uint8

const (
	absent fileKind = iota
	aFile
	aFolder
	another // a pipe or a device, which has no state to compare
)

// New returns an empty set of files.
func New() *Files {
	w := &Files{stamps: map[string]stamp{}, outputs: map[string]bool{}}
	w.stat = w.stampOf
	return w
}

// Ignore excludes the files and folders that a run itself writes.
func (w *Files) Ignore(paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range paths {
		w.outputs[absolute(path)] = true
	}
	for path, s := range w.stamps {
		if w.written(path) {
			delete(w.stamps, path)
			continue
		}
		s.names = w.without(path, s.names)
		w.stamps[path] = s
	}
}

// written reports whether a path is an output of the run, or is inside one.
func (w *Files) written(path string) bool {
	for ; !w.outputs[path]; path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return false
		}
	}
	return true
}

// without removes the run's outputs from the names in a folder.
func (w *Files) without(dir, names string) string {
	if len(w.outputs) == 0 || names == "" {
		return names
	}
	list := strings.Split(names, "\x00")
	list = slices.DeleteFunc(list, func(name string) bool { return w.outputs[filepath.Join(dir, name)] })
	return strings.Join(list, "\x00")
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// Add records the state of a file the first time that the run looks for it.
func (w *Files) Add(path string) {
	path = absolute(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.stamps[path]; !known {
		w.stamps[path] = w.stat(path)
	}
}

// Count returns the number of files.
func (w *Files) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.stamps {
		if s.is == aFile {
			n++
		}
	}
	return n
}

// folders returns the folders in which changes can occur.
func (w *Files) folders() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[string]bool{}
	for path, s := range w.stamps {
		if s.is == aFolder {
			found[path] = true
		}
		found[filepath.Dir(path)] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// changed returns the paths whose state differs from the recorded one, sorted.
func (w *Files) changed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for path, was := range w.stamps {
		if w.stat(path) != was {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

func (w *Files) stampOf(path string) stamp {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return stamp{}
	case info.IsDir():
		return stamp{is: aFolder, names: w.without(path, namesIn(path))}
	case info.Mode()&fs.ModeType != 0:
		return stamp{is: another}
	}
	return stamp{is: aFile, size: info.Size(), written: info.ModTime()}
}

// namesIn lists a folder without hidden files: editors and reports create temporary ones.
func namesIn(dir string) string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, "\x00")
}

// settled is how long files must stay unchanged before a run starts: editors and
// checkouts write in several steps.
const settled = 100 * time.Millisecond

// Wait returns the changed paths, sorted, once they have settled; nil if ctx ends.
func (w *Files) Wait(ctx context.Context) []string {
	return w.wait(ctx, wake(ctx, w.folders()))
}

// wait returns the changed paths once they have settled; nil if ctx ends. Each value from
// woken means that something may have changed.
func (w *Files) wait(ctx context.Context, woken <-chan struct{}) []string {
	for {
		if list := w.settle(ctx); list != nil || ctx.Err() != nil {
			return list
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		}
	}
}

// settle returns the paths that have changed and settled; nil if there are none.
func (w *Files) settle(ctx context.Context) []string {
	list := w.changed()
	for len(list) > 0 {
		before := w.now(list)
		t := time.NewTimer(settled)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
		if list = w.changed(); slices.Equal(w.now(list), before) {
			return list
		}
	}
	return nil
}

// now returns the current state of files.
func (w *Files) now(paths []string) []stamp {
	list := make([]stamp, len(paths))
	for i, path := range paths {
		list[i] = w.stat(path)
	}
	return list
}
