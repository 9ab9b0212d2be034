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

	changed time.Time
}

// List returns the runs kept in dir, newest first; a folder that is not there
// has none. Their files are not opened.
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
		if info, err := os.Stat(path); err == nil {
			runs = append(runs, Info{ID: e.Name(), Path: path, Started: started, changed: info.ModTime()})
		}
	}
	slices.SortStableFunc(runs, func(a, b Info) int { // of the same second, the one written last
		return cmp.Or(b.Started.Compare(a.Started), b.changed.Compare(a.changed))
	})
	return runs, nil
}
