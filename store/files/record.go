package files

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
)

// Limits of a run that is shown. The positions of its rows, and one row, are in memory.
const (
	maxRows = 1_000_000
	maxRow  = 64 << 20 // bytes
)

// record is an open run file.
type record struct {
	path  string
	users int // guarded by the store

	mu     sync.Mutex // guards what follows
	reader *runfile.Reader
	facts  *facts // nil until needed
}

// use calls do with the current file of a run. Calls for the same file exclude each other.
func (s *Store) use(ctx context.Context, path string, do func(*record) error) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	rec := s.take(path)
	defer s.give(rec)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	const attempts = 3
	var err error
	for range attempts {
		if err = rec.update(); err == nil {
			err = do(rec)
		}
		if !errors.Is(err, runfile.ErrReplaced) {
			break
		}
		rec.close()
	}
	if ctx.Err() == nil {
		err = proviso.WithCode(proviso.Unavailable, err)
	}
	return err
}

// take returns the record of a path. It stays open until give.
func (s *Store) take(path string) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.records, func(r *record) bool { return r.path == path })
	rec := &record{path: path}
	if at >= 0 {
		rec = s.records[at]
		s.records = slices.Delete(s.records, at, at+1)
	}
	rec.users++
	s.records = slices.Insert(s.records, 0, rec)
	s.trim(s.most)
	return rec
}

func (s *Store) give(rec *record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.users--
	if s.closed {
		s.trim(0)
	}
}

// trim closes the least recently used idle records until at most that many are open; s.mu must
// be held.
func (s *Store) trim(most int) {
	for i := len(s.records) - 1; i >= 0 && len(s.records) > most; i-- {
		if s.records[i].users == 0 {
			s.records[i].close()
			s.records = slices.Delete(s.records, i, i+1)
		}
	}
}

// update opens the file, or reads what was appended.
func (rec *record) update() error {
	if rec.reader != nil {
		rows, err := rec.reader.Update()
		if err == nil {
			return rec.add(rows)
		}
		rec.close()
		if !errors.Is(err, runfile.ErrReplaced) {
			return err
		}
	}
	r, err := runfile.OpenLimited(rec.path, runfile.Limits{Rows: maxRows, Row: maxRow})
	var e *proviso.Error
	switch {
	case errors.As(err, &e): // beyond the limits
		return proviso.Errorf(e.Code, "%w", err)
	case err != nil:
		return proviso.Errorf(proviso.Invalid, "%w", err)
	}
	rec.reader = r
	return nil
}

func (rec *record) close() {
	if rec.reader != nil {
		_ = rec.reader.Close() // opened only for reading
	}
	rec.reader, rec.facts = nil, nil
}

// row returns the bytes of a row, and checks that they still belong to that row.
func (rec *record) row(index int) ([]byte, error) {
	data, err := rec.reader.Row(index)
	if err == nil && !isRow(data, index) {
		err = runfile.ErrReplaced
	}
	return data, rec.replaced(err)
}

// rows calls do with the rows after the given one, by index, until do returns false. The bytes
// of a row are valid until the next call.
func (rec *record) rows(after int, do func(index int, data []byte) bool) error {
	for index, data := range rec.reader.RowsAfter(after) {
		if !isRow(data, index) {
			return runfile.ErrReplaced
		}
		if !do(index, data) {
			return nil
		}
	}
	return rec.replaced(rec.reader.Err())
}

// replaced distinguishes a file that was replaced from one that cannot be read.
func (rec *record) replaced(err error) error {
	var e *proviso.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	if _, changed := rec.reader.Update(); errors.Is(changed, runfile.ErrReplaced) {
		return changed
	}
	return err
}

func isRow(data []byte, index int) bool {
	i, ok := runfile.RowIndex(data)
	return ok && i == index && data[len(data)-1] == '}'
}
