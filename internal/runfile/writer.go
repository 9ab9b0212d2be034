package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// bufferSize is the size of a write. Larger writes are much slower where the kernel uses
	// large folios: on ext4 (Linux 6.18) 65 MB take 16 ms of CPU in writes of 64 KiB and 100 to
	// 250 ms in writes of 128 KiB to 1 MiB.
	bufferSize = 64 << 10
	// syncEvery limits how much a crash can lose: uncommitted rows reach the disk at most this
	// long after they finished. Syncing every row would cost more than deciding it.
	syncEvery = 200 * time.Millisecond

	headerStart  = `{"proviso":"run"`
	rowStart     = `{"index":`
	trailerStart = `{"trailer":`
)

// file is the part of *os.File that a Writer needs.
type file interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// Writer appends to a run file. It is safe for concurrent use.
type Writer struct {
	path   string
	header Header
	file   file

	mu     sync.Mutex // guards the fields below
	buf    []byte
	end    int64 // length of the file once buf is written
	index  index
	err    error // first error; no more rows are accepted after it
	closed bool
	timer  *time.Timer
	armed  bool

	syncing bool      // a sync is running without mu, concurrently with Append
	synced  int64     // length of the file that a sync covered
	turn    sync.Cond // signals the end of a sync; uses mu
}

// Path returns the name of the run file.
func (w *Writer) Path() string { return w.path }

// Header returns the written header, including the id.
func (w *Writer) Header() Header { return w.header }

// Append adds the record of the row with the given index. The record is one JSON object on one
// line that begins with {"index":N; it is copied. It is buffered: a later Append or
// [Writer.Close] returns the error of a failed write.
func (w *Writer) Append(row int, record []byte) error {
	if err := checkRecord(row, record); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.index.add(entry{off: w.end, row: uint32(row), size: uint32(len(record))})
	w.put(record)
	w.arm()
	return w.err
}

func checkRecord(row int, record []byte) error {
	var prefix [32]byte
	start := append(strconv.AppendInt(append(prefix[:0], rowStart...), int64(row), 10), ',')
	switch {
	case row < 0 || int64(row) > math.MaxUint32:
		return fmt.Errorf("row index %d is out of range", row)
	case len(record) > math.MaxUint32-1:
		return fmt.Errorf("row %d takes %d bytes, more than a run file holds in one row", row, len(record))
	case !bytes.HasPrefix(record, start) || record[len(record)-1] != '}':
		return fmt.Errorf("record of row %d is not an object that begins with %s", row, string(start))
	case bytes.IndexByte(record, '\n') >= 0:
		return fmt.Errorf("record of row %d takes more than one line", row)
	}
	return nil
}

// put adds a line to the buffer, or writes a larger line at once.
func (w *Writer) put(line []byte) {
	w.end += int64(len(line)) + 1
	if len(w.buf)+len(line)+1 > cap(w.buf) {
		w.flush()
	}
	if len(line)+1 > cap(w.buf) {
		w.write(line)
		line = nil
	}
	w.buf = append(append(w.buf, line...), '\n')
}

func (w *Writer) flush() {
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *Writer) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	if _, err := w.file.Write(p); err != nil {
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("keep the run: %w", err)
	}
}

// arm makes sure that buffered rows reach the disk in time. The timer runs only while something
// is buffered.
func (w *Writer) arm() {
	switch {
	case w.armed:
		return
	case w.timer == nil:
		w.timer = time.AfterFunc(syncEvery, w.sync)
	default:
		w.timer.Reset(syncEvery)
	}
	w.armed = true
}

// sync is called by the timer.
func (w *Writer) sync() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	if !w.closed {
		w.commit() // an error stays in w.err
	}
}

// Commit returns once every record appended before is on disk. Concurrent calls share one sync:
// calls that arrive during a sync share the next one. After [Writer.Close] it returns the
// result of Close.
func (w *Writer) Commit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commit()
	if errors.Is(w.err, os.ErrClosed) {
		return nil
	}
	return w.err
}

// commit syncs what was appended so far, unless that is done; mu must be held.
func (w *Writer) commit() {
	for want := w.end; w.synced < want && w.err == nil; {
		if w.syncing {
			w.turn.Wait()
			continue
		}
		w.flush()
		w.syncOnce()
	}
}

// syncOnce syncs what was written. The caller holds mu; syncOnce releases it during the sync,
// so that others can append meanwhile. No other sync may be running.
func (w *Writer) syncOnce() {
	if w.err != nil {
		return
	}
	w.syncing = true
	covered := w.end
	w.mu.Unlock()
	err := w.fsync()
	w.mu.Lock()
	w.syncing = false
	if err != nil {
		w.fail(err)
	} else {
		w.synced = covered
	}
	w.turn.Broadcast()
}

func (w *Writer) fsync() error {
	err := w.file.Sync()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // a file system without sync still keeps what was written
	}
	return err
}

// Close writes the buffer and the trailer, a JSON object on one line with the totals, and syncs
// the file. A nil trailer leaves the run unfinished, so that it can be resumed. The error is
// the first one of the whole file: if it is nil, every appended record is on disk. Further
// calls return the same error.
func (w *Writer) Close(trailer []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		if errors.Is(w.err, os.ErrClosed) {
			return nil
		}
		return w.err
	}
	w.closed = true
	switch {
	case bytes.IndexByte(trailer, '\n') >= 0:
		w.fail(errors.New("the trailer takes more than one line"))
	case trailer != nil:
		line := TrailerLine(trailer)
		w.put(line[:len(line)-1])
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	for w.syncing {
		w.turn.Wait()
	}
	w.flush()
	w.syncOnce()
	if err := w.file.Close(); err != nil {
		w.fail(err)
	}
	err := w.err
	if w.err == nil {
		w.err = fmt.Errorf("keep the run: %w", os.ErrClosed)
	}
	w.turn.Broadcast()
	return err
}

// Reader returns a reader of the rows appended so far. It stays valid while the writer
// continues and after it is closed; the caller must close the reader.
func (w *Writer) Reader() (*Reader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.flush()
	}
	if w.err != nil && !errors.Is(w.err, os.ErrClosed) {
		return nil, w.err
	}
	f, err := os.Open(w.path)
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	r := &Reader{file: f, path: w.path}
	r.header, r.end, r.index = w.header, w.end, index{entries: slices.Clone(w.index.entries), disorder: w.index.disorder}
	r.index.order()
	return r, nil
}
