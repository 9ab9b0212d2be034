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

// Remove removes a run from dir by its id, with its folder. It touches nothing outside
// of dir, follows no link, and refuses a run that another process is writing.
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
	if err := Lock(f); err != nil {
		return errors.Join(busy(filepath.Join(dir, name), err), f.Close())
	}
	err = root.RemoveAll(id)
	closed := f.Close()
	if err != nil {
		err = root.RemoveAll(id) // Windows keeps a file that is open
	}
	if err := errors.Join(err, closed); err != nil {
		return fmt.Errorf("remove the run: %w", err)
	}
	return nil
}

// Busy reports whether another process is writing a run, named by its file. It takes the
// writer's lock for a moment if nobody has it, so a file that did not change since need not
// be tried again.
func Busy(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // local file systems lock what is open for reading, too
	}
	if err != nil {
		return false
	}
	defer f.Close()
	return Lock(f) != nil
}
