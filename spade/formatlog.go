package spade

import (
	"io"
	"os"

	"github.com/proviso-eval/proviso"
)

func readBounded(file string, most int64) ([]byte, error) {
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

// synced syncs a file, where it is on a disk.
func synced(f *os.File) error {
	err := f.Sync()
	if info, e := f.Stat(); e == nil && !info.Mode().IsRegular() {
		return nil
	}
	return err
}
