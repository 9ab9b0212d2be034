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

	"github.com/proviso-eval/proviso"
)

// Info describes a kept run.
type Info struct {
	ID      string
	Path    string    // path of its file, for [Open]
	Started time.Time // to the second, UTC

	Begun time.Time // when it was last started or resumed; for a replay, Started is the time of the recording

	File fs.FileInfo // nil if the system does not provide it, for example without permission
}

// List returns the runs kept in dir, the most recently started or resumed first; a missing
// folder has none. It does not open their files.
func List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var runs []Info
	for _, e := range slices.Backward(entries) { // ReadDir sorts by name, which starts with the time
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

// mark sets the times of a run's folder and of the folder of all runs to now; runs are listed
// by that time. If the clock was set back, it uses a time after that of the last run. Failures
// are ignored: they only affect the order.
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

// Remove removes a run from dir by its id, with its folder. It changes nothing outside of dir,
// follows no links, and refuses a run that another process is writing.
func Remove(dir, id string) error {
	if _, ok := parseID(id); !ok {
		return proviso.Errorf(proviso.Invalid, "%q is not the id of a run", id)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("remove the run: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(id)
	if err != nil || !info.IsDir() {
		return proviso.Errorf(proviso.NotFound, "there is no run %s in %s", id, dir)
	}
	name := filepath.Join(id, FileName)
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("remove the run: %w", err)
	}
	if err := lockSoon(f); err != nil {
		return errors.Join(busy(filepath.Join(dir, name), err), f.Close())
	}
	err = root.RemoveAll(id)
	closed := f.Close()
	if err != nil {
		err = root.RemoveAll(id) // Windows does not remove open files
	}
	if err := errors.Join(err, closed); err != nil {
		return fmt.Errorf("remove the run: %w", err)
	}
	return nil
}

// Busy reports whether another process is writing a run, named by its file. It briefly takes
// the writer's lock if it is free, so a file that has not changed since need not be checked
// again.
func Busy(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // local file systems also lock files opened for reading
	}
	if err != nil {
		return false
	}
	defer f.Close()
	if Lock(f) != nil {
		return true
	}
	Unlock(f)
	return false
}
