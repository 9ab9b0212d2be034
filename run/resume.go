package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

// resume takes over the finished rows of an earlier run of the same suite, so that only the
// others run. With RetryErrors, rows with the status error run again. Rows with a comparison
// always run again.
func (e *execution) resume(path string) error {
	r, err := runfile.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if h := r.Header(); e.remote == nil && h.Hash != e.p.Hash() || e.remote != nil && !e.p.sameInput(h) {
		return proviso.Errorf(proviso.Invalid, "run %s was made from another suite, or the suite has changed since: name the suite of that run with -c, or run this one again without --resume", h.ID)
	}
	e.done = make(map[int]bool, r.Len())
	for index, row := range r.Rows() {
		if e.again(row) {
			continue
		}
		if err := e.take(index, row); err != nil {
			return fmt.Errorf("%s: row %d: %w", r.Path(), index, err)
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	e.file, err = runfile.Resume(path)
	return err
}

// again reports whether a stored row runs again.
func (e *execution) again(row []byte) bool {
	if e.remote != nil {
		return false
	}
	if bytes.Contains(row, []byte(`"type":"max-score"`)) {
		return true
	}
	return e.p.o.RetryErrors && bytes.Contains(row, []byte(`"verdict":"error"`))
}

// take counts a stored row that is not run again.
func (e *execution) take(index int, row []byte) error {
	e.done[index] = true
	return e.countStored(index, row)
}

// countStored counts a stored row.
func (e *execution) countStored(index int, row []byte) error {
	if err := e.summary.AddRow(row); err != nil {
		return err
	}
	v, err := value.ParseJSON(string(row))
	if err != nil {
		return err
	}
	o, _ := v.(*value.Object)
	e.metrics.addRow(index, o)
	return nil
}

// taken reports the rows of an earlier run to the observer.
func (e *execution) taken() {
	if len(e.done) > 0 && e.p.o.Taken != nil {
		e.p.o.Taken(e.summary.Totals())
	}
}

// takeEarlier copies the rows of an earlier attempt into the new run file.
func (e *execution) takeEarlier() error {
	e.done = map[int]bool{}
	if e.p.o.Earlier == nil || e.p.o.Take != nil {
		return nil
	}
	return e.p.o.Earlier(func(index int, row []byte) error {
		if e.again(row) {
			return nil
		}
		if err := e.file.Append(index, row); err != nil {
			return err
		}
		return e.take(index, row)
	})
}

// abandon closes a run that was not started, and removes it if it is temporary.
func (e *execution) abandon() error {
	err := e.file.Close(nil)
	if e.temporary != "" {
		err = errors.Join(err, os.RemoveAll(e.temporary))
	}
	return err
}
