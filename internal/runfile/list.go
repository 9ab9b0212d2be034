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

	Begun time.Time // when it was last started or resumed; a replay has the time of its recording in Started
}

// List returns the runs kept in dir, the most recently started or resumed first; a
// missing folder has none. It does not open their files.
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
		path := filepath.Join(dir, e.Name(), FileName)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		info := Info{ID: e.Name(), Path: path, Started: started}
		if folder, err := e.Info(); err == nil {
			info.Begun = folder.ModTime()
		}
		runs = append(runs, info)
	}
	slices.SortStableFunc(runs, func(a, b Info) int {
		return cmp.Or(b.Begun.Compare(a.Begun), b.Started.Compare(a.Started))
	})
	return runs, nil
}

// latest returns the time of the last run of dir; zero if there is none.
func latest(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// mark sets the times of a run's folder and of the folder of all runs to now; runs are
// listed by that time. If the clock was set back, it uses a time after that of the last
// run. A failure is ignored, because it matters little.
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
