package runfile

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/proviso-eval/proviso"
)

// Reader reads a run file. It must not be used concurrently.
type Reader struct {
	content
	file *os.File
	path string
	tail []byte // end of what was read, by which Update recognizes the file
	err  error
}

// Open reads a run, named by its file or its folder. It ignores a last line that was cut off,
// as after kill -9 or on a full disk.
func Open(path string) (*Reader, error) { return OpenLimited(path, Limits{}) }

// OpenLimited is [Open] for a file of unknown size. A file beyond the limits is an error, both
// here and in [Reader.Update].
func OpenLimited(path string, limits Limits) (*Reader, error) {
	path = inFolder(path)
	f, err := openRegular(path)
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	r := &Reader{content: content{limits: limits}, file: f, path: path}
	if err = r.scan(f); err == nil {
		err = r.remember()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the run: %s: %w", path, err), f.Close())
	}
	r.index.order()
	return r, nil
}

// openRegular opens a regular file for reading. It refuses a pipe or a device, which could
// block.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

// inFolder returns the run file in a run's folder; it returns other paths unchanged.
func inFolder(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, FileName)
	}
	return path
}

// Path returns the name of the run file.
func (r *Reader) Path() string { return r.path }

// Header returns the input of the run.
func (r *Reader) Header() Header { return r.header }

// Trailer returns the totals that closed the run, or nil if it is unfinished.
func (r *Reader) Trailer() []byte { return r.trailer }

// Size returns how many bytes of the file were read, up to its last complete line.
func (r *Reader) Size() int64 { return r.end }

// Len returns the number of rows.
func (r *Reader) Len() int { return len(r.index.entries) }

// Damage describes the unusable parts of the file: the number of complete lines that are not
// rows, and whether the last line was cut off. An interrupted run leaves a cut line; anything
// else means that the file was changed.
func (r *Reader) Damage() (lines int, cut bool) { return r.damaged, r.cut }

// Has reports whether the row with the given index is in the file.
func (r *Reader) Has(row int) bool {
	_, ok := r.index.find(row)
	return ok
}

// Row returns the record of one row. The caller may keep it.
func (r *Reader) Row(row int) ([]byte, error) {
	e, ok := r.index.find(row)
	if !ok {
		return nil, proviso.Errorf(proviso.NotFound, "the run has no row %d", row)
	}
	record := make([]byte, e.size)
	if _, err := r.file.ReadAt(record, e.off); err != nil {
		return nil, fmt.Errorf("read the run: row %d: %w", row, err)
	}
	return record, nil
}

// Rows yields index and record of every row in index order. A record has exactly the appended
// bytes, and is valid until the next one. If a row cannot be read, the sequence ends early, and
// [Reader.Err] returns why.
func (r *Reader) Rows() iter.Seq2[int, []byte] { return r.RowsAfter(-1) }

// RowsAfter is [Reader.Rows] for the rows after an index.
func (r *Reader) RowsAfter(row int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		r.err = nil
		w := window{file: r.file}
		entries := r.index.after(row)
		for i, e := range entries {
			record, err := w.read(entries[i:])
			if err != nil {
				r.err = fmt.Errorf("read the run: row %d: %w", e.row, err)
				return
			}
			if !yield(int(e.row), record) {
				return
			}
		}
	}
}

// Err returns why the last use of [Reader.Rows] ended early, or nil.
func (r *Reader) Err() error { return r.err }

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// windowSize is the size of a read, in bytes. Rows that finished at about the same time are
// close together, so one read serves many.
const windowSize = 1 << 18

// window is the part of the file in memory.
type window struct {
	file *os.File
	off  int64
	buf  []byte
}

// read returns the record of the first entry; the other entries are needed next.
func (w *window) read(next []entry) ([]byte, error) {
	e := next[0]
	if e.off < w.off || e.off+int64(e.size) > w.off+int64(len(w.buf)) {
		if err := w.fill(next); err != nil {
			return nil, err
		}
	}
	at := e.off - w.off
	return w.buf[at : at+int64(e.size) : at+int64(e.size)], nil
}

// fill reads the smallest range that contains the first entry and as many of the next ones as
// fit.
func (w *window) fill(next []entry) error {
	low, high := next[0].off, next[0].off+int64(next[0].size)
	for _, e := range next[1:] {
		l, h := min(low, e.off), max(high, e.off+int64(e.size))
		if h-l > windowSize {
			break
		}
		low, high = l, h
	}
	size := int(high - low)
	if cap(w.buf) < size {
		w.buf = make([]byte, 0, max(size, min(windowSize, 2*size)))
	}
	w.off, w.buf = low, w.buf[:size]
	if _, err := w.file.ReadAt(w.buf, low); err != nil {
		w.buf = w.buf[:0]
		return err
	}
	return nil
}
