package format

import (
	"io"
	"os"

	"github.com/proviso-eval/proviso"
)

// ReadBounded reads a file of at most so many bytes.
func ReadBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", file, most>>20)
	}
	return data, err
}

// Sync syncs a file, where it is on a disk.
func Sync(f *os.File) error {
	err := f.Sync()
	if info, e := f.Stat(); e == nil && !info.Mode().IsRegular() {
		return nil
	}
	return err
}
