package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/store"
)

// state is what is known about a run. It is valid until its stamp changes.
type state struct {
	stamp   stamp
	run     store.Run
	known   report.Kept
	busy    bool // another process is writing the run
	checked bool // every row was read
	unread  bool // the file cannot be read, or has no header yet
}

// stamp changes whenever a run file changes.
type stamp struct {
	size           int64
	changed, begun int64
}

func stampOf(info runfile.Info) stamp {
	st := stamp{begun: info.Begun.UnixNano()}
	if info.File != nil {
		st.size, st.changed = info.File.Size(), info.File.ModTime().UnixNano()
	}
	return st
}

// maxChecked is the maximum file size in bytes up to which all rows are read and checked to be
// valid JSON before a run is shown. In larger files, damaged rows are left out when they are
// read.
const maxChecked = 16 << 20

// stateOf returns the state of a run. With check, it reads every row if the file is small
// enough. The state of a run that no longer exists has no id.
func (s *Store) stateOf(ctx context.Context, info runfile.Info, check bool) (*state, error) {
	for {
		was := stampOf(info)
		s.mu.Lock()
		st := s.states[info.ID]
		s.mu.Unlock()
		if st != nil && st.stamp == was && (st.checked || !check) && (!st.busy || runfile.Busy(info.Path)) {
			return st, nil
		}
		st, err := s.read(ctx, info, check)
		if err != nil {
			return nil, err
		}
		// A writer that has ended wrote the end of the run before it released the lock.
		now, ok := s.find(info.ID)
		if !ok {
			return &state{}, nil
		}
		if !st.busy && stampOf(now) != was {
			info = now
			continue
		}
		st.stamp = was
		s.mu.Lock()
		s.states[info.ID] = st
		s.mu.Unlock()
		return st, nil
	}
}

// forget drops the states of runs that no longer exist.
func (s *Store) forget(runs []runfile.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) <= len(runs) {
		return
	}
	kept := make(map[string]*state, len(runs))
	for _, r := range runs {
		if st := s.states[r.ID]; st != nil {
			kept[r.ID] = st
		}
	}
	s.states = kept
}

// read reads the state of a run. Defects of its file are part of the state.
func (s *Store) read(ctx context.Context, info runfile.Info, check bool) (*state, error) {
	st := &state{checked: check, run: store.Run{ID: info.ID, Project: store.DefaultProject, Status: store.Done, Created: info.Started, Uncounted: true}}
	h, trailer, err := runfile.Ends(info.Path)
	if info.File == nil || info.File.Mode().IsRegular() {
		st.busy = (err != nil || trailer == nil) && runfile.Busy(info.Path)
	}
	switch {
	case err != nil && st.busy: // its header is about to be written
		st.run.Status, st.unread = store.Running, true
		return st, nil
	case err != nil:
		st.fail(err)
		st.run.Ended = st.run.Created
		if info.File != nil {
			st.run.Ended = changed(info.File)
		}
		return st, nil
	}
	st.describe(info, h, trailer)
	if trailer != nil && !(check && (info.File == nil || info.File.Size() <= maxChecked)) {
		return st, nil
	}
	err = s.use(ctx, info.Path, func(rec *record) error {
		facts, err := rec.allFacts(ctx)
		if err != nil {
			return err
		}
		st.count(info, facts, trailer == nil)
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		st.fail(err)
	}
	return st, nil
}

// fail records why a run cannot be shown.
func (st *state) fail(err error) {
	st.run.Status, st.unread = store.Failed, true
	var path *fs.PathError
	if errors.As(err, &path) { // omit the operation
		err = fmt.Errorf("%s: %w", path.Path, path.Err)
	}
	st.run.Error = oneName(strings.TrimPrefix(err.Error(), "read the run: "), 1000)
}

// describe sets the fields from the header and the trailer.
func (st *state) describe(info runfile.Info, h runfile.Header, trailer []byte) {
	k, r := report.ReadKept(h, trailer), &st.run
	st.known = k
	r.Suite, r.Version, r.Hash = oneName(h.Suite, store.MaxName), oneName(k.Hashes.Suite, store.MaxName), oneName(h.Hash, store.MaxName)
	r.Rows = k.Planned
	r.Created, r.Started = h.Started, h.Started
	revision := k.Revision
	revision.Commit, revision.Branch, revision.PullRequest = oneName(revision.Commit, store.MaxName), oneName(revision.Branch, store.MaxName), oneName(revision.PullRequest, store.MaxName)
	// The server reads these members of its runs.
	r.Options, _ = json.Marshal(struct {
		AgentID   string          `json:"agent_id,omitempty"`
		TestSuite string          `json:"test_suite,omitempty"`
		Revision  report.Revision `json:"revision,omitzero"`
	}{oneName(h.Meta.Object("config").Text("id"), store.MaxName), r.Suite, revision})
	if trailer == nil {
		return
	}
	r.Totals = proviso.Totals{Passed: max(0, k.Passed), Failed: max(0, k.Failed), Errors: max(0, k.Errors), Skipped: max(0, k.Skipped), Cost: max(0, k.Cost)}
	r.Rows = max(r.Rows, r.Totals.Rows())
	r.Ended = h.Started.Add(time.Duration(k.Seconds * float64(time.Second)))
	if r.Totals.Rows() < r.Rows {
		st.interrupt(info)
	}
}

// interrupt marks the run as ended without all of its rows.
func (st *state) interrupt(info runfile.Info) {
	r := &st.run
	r.Status = store.Cancelled
	r.Error = fmt.Sprintf("%s; `proviso eval --resume=%s` does the rest", store.Interrupted(r.Totals.Rows(), r.Rows), info.ID)
}

// count sets the fields that depend on the rows.
func (st *state) count(info runfile.Info, f *facts, unfinished bool) {
	r := &st.run
	if unfinished {
		r.Totals = f.totals
		r.Rows = max(r.Rows, r.Totals.Rows())
		if st.busy {
			r.Status = store.Running
		} else {
			st.interrupt(info)
			if info.File != nil {
				r.Ended = changed(info.File)
			}
		}
	}
	if f.damaged != "" && !st.busy {
		r.Status, r.Error = store.Failed, f.damaged
	}
}

// oneName shortens a text of a run file and removes terminal control characters.
func oneName(text string, most int) string {
	return excerpt.Head(report.OneLine(report.Printable(text)), most)
}

// changed returns the modification time of a file, or the zero time if RFC 3339, which has
// four-digit years, cannot represent it. An archive can set any time.
func changed(file fs.FileInfo) time.Time {
	if at := file.ModTime(); at.UTC().Year() >= 1 && at.UTC().Year() < 9999 {
		return at
	}
	return time.Time{}
}
