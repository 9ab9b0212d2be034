package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// ErrReplaced is the error of [Reader.Update] for a file that was replaced or shortened since
// it was read. It must be opened again.
var ErrReplaced = errors.New("the run was replaced while it was read")

// tailSize is how many bytes at the end of what was read must be unchanged for the file to
// count as the same.
const tailSize = 256

// Update reads the rows that were appended since the file was opened or last updated, and
// returns their indices. It reads nothing again except a line that was cut off.
func (r *Reader) Update() (rows []int, err error) {
	grown, err := r.grown()
	if err != nil || !grown {
		return nil, err
	}
	known := len(r.index.entries)
	if err = r.scan(r.file); err == nil {
		err = r.remember()
	}
	for _, e := range r.index.entries[known:] {
		rows = append(rows, int(e.row))
	}
	r.index.order()
	if err != nil {
		return rows, fmt.Errorf("read the run: %s: %w", r.path, err)
	}
	return rows, nil
}

// grown reports whether the file is longer than what was read.
func (r *Reader) grown() (bool, error) {
	named, err := os.Stat(r.path)
	if err != nil {
		return false, fmt.Errorf("read the run: %w", err)
	}
	open, err := r.file.Stat()
	if err != nil {
		return false, fmt.Errorf("read the run: %w", err)
	}
	if !os.SameFile(named, open) || open.Size() < r.end {
		return false, ErrReplaced
	}
	tail := make([]byte, len(r.tail))
	if _, err := r.file.ReadAt(tail, r.end-int64(len(tail))); err != nil || !bytes.Equal(tail, r.tail) {
		return false, ErrReplaced
	}
	r.cut = open.Size() > r.end
	return r.cut, nil
}

// remember stores the end of what was read.
func (r *Reader) remember() error {
	r.tail = make([]byte, min(tailSize, r.end))
	_, err := r.file.ReadAt(r.tail, r.end-int64(len(r.tail)))
	return err
}
