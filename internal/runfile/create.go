package runfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/proviso-eval/proviso"
)

// FileName is the name of the run file in the folder of its run.
const FileName = "run.jsonl"

// Create starts a run in a new folder under dir, which it creates if needed. Folders are only
// for their owner (0700), and so is the file (0600). Runs that start at the same time get
// different folders. If the header has an id, as from [ContentID], Create replaces the kept run
// with that id, unless another process is still writing it.
func Create(dir string, h Header) (*Writer, error) {
	if dir == "" {
		return nil, errors.New("keep the run: no folder is given")
	}
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	last := latest(dir)
	w, err := create(dir, h)
	if err == nil {
		mark(w.path, last)
	}
	return w, err
}

func create(dir string, h Header) (*Writer, error) {
	if h.ID != "" {
		return createAnew(dir, h)
	}
	folder, err := makeFolder(dir, &h)
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	path := filepath.Join(folder, FileName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	w, err := start(f, path, h)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.RemoveAll(folder))
	}
	return w, nil
}

// createAnew starts a run with a given id, replacing an earlier one.
func createAnew(dir string, h Header) (*Writer, error) {
	if _, ok := parseID(h.ID); !ok {
		return nil, fmt.Errorf("keep the run: %q is not the id of a run", h.ID)
	}
	path := filepath.Join(dir, h.ID, FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	if err = lockSoon(f); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the run: %w", busy(path, err)), f.Close())
	}
	err = f.Truncate(0)
	var w *Writer
	if err == nil {
		w, err = begin(f, path, h)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// busy returns the error for a run that another process is writing.
func busy(path string, err error) error {
	return proviso.Because(err, proviso.Refused, "%s is still being written by another process", path)
}

func start(f *os.File, path string, h Header) (*Writer, error) {
	if err := lockSoon(f); err != nil {
		return nil, fmt.Errorf("keep the run: lock %s: %w", path, err)
	}
	return begin(f, path, h)
}

// begin writes the header.
func begin(f *os.File, path string, h Header) (*Writer, error) {
	w := newWriter(lockedFile{f}, path, h)
	line := h.Line()
	w.end = int64(len(line))
	// The header is written at once, so that an unwritable folder is detected before the first
	// row is paid for.
	w.write(line)
	return w, w.err
}

func newWriter(f file, path string, h Header) *Writer {
	w := &Writer{path: path, header: h, file: f, buf: make([]byte, 0, bufferSize)}
	w.turn.L = &w.mu
	return w
}

// makeFolder creates the folder of a run and sets the run's id.
func makeFolder(dir string, h *Header) (string, error) {
	const attempts = 32
	var err error
	for range attempts {
		h.ID = newID(h.Started)
		folder := filepath.Join(dir, h.ID)
		if err = os.Mkdir(folder, 0o700); err == nil {
			return folder, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return "", err
}

// CreateOrTemp is [Create], but if dir is not writable, the run is kept in a new temporary
// folder, and the warning, one line, says so.
func CreateOrTemp(dir string, h Header) (w *Writer, warning string, err error) {
	w, cause := Create(dir, h)
	if cause == nil {
		return w, "", nil
	}
	temp, err := os.MkdirTemp("", "proviso-runs-")
	if err != nil {
		return nil, "", errors.Join(cause, err)
	}
	if w, err = Create(temp, h); err != nil {
		return nil, "", errors.Join(cause, err, os.RemoveAll(temp))
	}
	return w, fmt.Sprintf("%v; this run is kept in %s", cause, filepath.Dir(w.Path())), nil
}

// Resume opens a run, named by its file or folder, to append the missing rows. It removes a
// last line that was cut off. A run that another process is still writing is refused.
func Resume(path string) (*Writer, error) {
	path = inFolder(path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("resume the run: %w", err)
	}
	w, err := resume(f, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resume the run: %w", err), f.Close())
	}
	return w, nil
}

func resume(f *os.File, path string) (*Writer, error) {
	if err := lockSoon(f); err != nil {
		return nil, busy(path, err)
	}
	c := &content{}
	if err := c.scan(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Truncate(c.end); err != nil {
		return nil, err
	}
	if _, err := f.Seek(c.end, io.SeekStart); err != nil {
		return nil, err
	}
	mark(path, latest(filepath.Dir(filepath.Dir(path))))
	w := newWriter(lockedFile{f}, path, c.header)
	w.end, w.synced, w.index = c.end, c.end, c.index
	return w, nil
}
