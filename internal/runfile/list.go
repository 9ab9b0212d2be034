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

// mark gives the folder of a run the time of now, which is what runs are listed
// by. That it cannot be marked matters little.
func mark(path string) {
	now := time.Now()
	_ = os.Chtimes(filepath.Dir(path), now, now)
}
