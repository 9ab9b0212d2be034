package runfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso"
)

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
	if err := lock(f); err != nil {
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
	return lock(f) != nil
}
