package runfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Info names a run that is kept.
type Info struct {
	ID      string
	Path    string    // of its file, for [Open]
	Started time.Time // to the second, UTC

	begun time.Time // by the clock, also of a replay, which has the time of its recording
}

// List returns the runs kept in dir, those that were begun or gone on with last
// first; a folder that is not there has none. Their files are not opened.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []Info
	for _, e := range slices.Backward(entries) { // ReadDir sorts by name, which begins with the time
		started, ok := parseID(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name(), fileName)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		info := Info{ID: e.Name(), Path: path, Started: started}
		if folder, err := e.Info(); err == nil {
			info.begun = folder.ModTime()
		}
		runs = append(runs, info)
	}
	slices.SortStableFunc(runs, func(a, b Info) int {
		return cmp.Or(b.begun.Compare(a.begun), b.Started.Compare(a.Started))
	})
	return runs, nil
}

// latest returns the time that the last run of dir was marked with; zero if there
// is none.
func latest(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// mark gives the folder of a run the time of now, which is what runs are listed
// by, and the folder of all runs the same. A clock that was set back does not put
// a run before the last one, whose time is last. That a folder cannot be marked
// matters little.
func mark(path string, last time.Time) {
	folder, now := filepath.Dir(path), time.Now()
	if !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	_ = os.Chtimes(folder, now, now)
	if _, ok := parseID(filepath.Base(folder)); ok {
		_ = os.Chtimes(filepath.Dir(folder), now, now)
	}
}
