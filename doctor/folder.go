package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// countTime bounds the time for counting the files in a folder.
const countTime = 300 * time.Millisecond

// Look fills in the facts about the folder at Path.
func (d *Folder) Look() {
	dir := d.Path
	info, err := os.Stat(dir)
	d.Exists = err == nil && info.IsDir()
	for err != nil && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) { // a missing folder would be created in its nearest existing ancestor
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err == nil && info.IsDir() {
		d.Writable = writable(dir)
	}
	if !d.Exists || d.Path == os.TempDir() { // other programs' files do not count
		return
	}
	until := time.Now().Add(countTime)
	_ = filepath.WalkDir(d.Path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable files are not counted
		}
		if time.Now().After(until) {
			d.AtLeast = true
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			d.Bytes += info.Size()
		}
		return nil
	})
}

// writable reports whether a file can be created in a folder.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".proviso-doctor-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}
