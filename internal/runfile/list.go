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

	File fs.FileInfo // of its file; nil if the system does not say, such as for lack of a permission
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
		if info, ok := infoOf(dir, e); ok {
			runs = append(runs, info)
		}
	}
	slices.SortStableFunc(runs, func(a, b Info) int {
		return cmp.Or(b.Begun.Compare(a.Begun), b.Started.Compare(a.Started))
	})
	return runs, nil
}

// Find returns the run of dir with an id.
func Find(dir, id string) (info Info, ok bool) {
	if _, ok := parseID(id); !ok {
		return info, false
	}
	folder, err := os.Lstat(filepath.Join(dir, id))
	if err != nil {
		return info, false
	}
	return infoOf(dir, fs.FileInfoToDirEntry(folder))
}

// infoOf returns what is known of the run in a folder of dir; ok is false if there is none.
func infoOf(dir string, folder fs.DirEntry) (info Info, ok bool) {
	started, ok := parseID(folder.Name())
	if !ok || !folder.IsDir() {
		return info, false
	}
	info = Info{ID: folder.Name(), Path: filepath.Join(dir, folder.Name(), FileName), Started: started}
	file, err := os.Stat(info.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return info, false
	}
	if err == nil {
		info.File = file
	}
	if folder, err := folder.Info(); err == nil {
		info.Begun = folder.ModTime()
	}
	return info, true
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
