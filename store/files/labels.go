package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/label"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// maxLabels limits the size of the label file, in bytes.
const maxLabels = 256 << 20

// labels are the labels in the file beside the runs, which only grows. A label is on disk
// before a method returns. It is safe for concurrent use. Before each use it reads what other
// processes have appended.
type labels struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	size  int64 // bytes that were read
	list  []*store.Label
	at    map[string]int // index in list, by id
	said  map[subject][]int
	ready bool

	queues map[string]*queue // by name
}

// subject is a subject and a person; a person has one label in force on it.
type subject struct {
	label.Subject
	by string
}

func subjectOf(l *label.Label) subject { return subject{l.Subject, l.By} }

// reset discards what was read.
func (s *labels) reset() {
	for of := range s.said {
		s.countPerson(of, -1)
	}
	s.size, s.list, s.at, s.said, s.ready = 0, nil, map[string]int{}, map[subject][]int{}, false
}

// follow reads what was appended to the file; s.mu must be held.
func (s *labels) follow() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.reset()
		s.ready = true
		return nil
	case err != nil:
		return unavailable("read", err)
	case s.ready && info.Size() == s.size:
		return nil
	case !info.Mode().IsRegular():
		return proviso.Errorf(proviso.Invalid, "%s is not a regular file", s.path)
	case info.Size() > maxLabels:
		return proviso.Errorf(proviso.Limit, "%s is larger than %d MiB", s.path, maxLabels>>20)
	}
	if !s.ready || info.Size() < s.size {
		s.reset()
	}
	f, err := os.Open(s.path)
	if err != nil {
		return unavailable("read", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, s.size, info.Size()-s.size))
	if err != nil {
		return unavailable("read", err)
	}
	return s.replay(data)
}

// replay applies the complete lines of data. An incomplete last line stays unread: either
// another process is still writing it, or [labels.change] removes it.
func (s *labels) replay(data []byte) error {
	whole := bytes.LastIndexByte(data, '\n') + 1
	before := s.size
	for line, err := range document.Lines(bytes.NewReader(data[:whole])) {
		if err != nil {
			return s.wrong(before, line.Number, err)
		}
		o, ok := line.Value.(*value.Object)
		if !ok || !label.IsLine(o) {
			continue // a line from spade label or another program stays as it is
		}
		l, removed, err := label.ReadLine(o)
		if err != nil {
			return s.wrong(before, line.Number, err)
		}
		if removed {
			s.remove(l.ID)
		} else {
			s.add(&store.Label{Label: l, InForce: true})
		}
	}
	s.size, s.ready = before+int64(whole), true
	return nil
}

// wrong returns the error for a line that cannot be read.
func (s *labels) wrong(from int64, number int, err error) error {
	s.reset()
	if from > 0 {
		return s.follow() // from the start, for the line number
	}
	var syntax *document.LineError
	if errors.As(err, &syntax) {
		return proviso.Errorf(proviso.Invalid, "%s: %w", s.path, err)
	}
	return proviso.Errorf(proviso.Invalid, "%s:%d: %w", s.path, number, err)
}

// add puts a label in force.
func (s *labels) add(l *store.Label) {
	if _, again := s.at[l.ID]; again {
		return
	}
	of := subjectOf(&l.Label)
	if len(s.said[of]) == 0 {
		s.countPerson(of, 1)
	}
	for _, i := range s.said[of] {
		s.list[i].InForce = false
	}
	s.at[l.ID] = len(s.list)
	s.said[of] = append(s.said[of], len(s.list))
	s.list = append(s.list, l)
}

// remove removes a label; the label that it replaced is in force again.
func (s *labels) remove(id string) {
	i, ok := s.at[id]
	if !ok {
		return
	}
	of := subjectOf(&s.list[i].Label)
	rest := slices.DeleteFunc(s.said[of], func(j int) bool { return j == i })
	if n := len(rest); n > 0 {
		s.list[rest[n-1]].InForce = true
		s.said[of] = rest
	} else {
		delete(s.said, of)
		s.countPerson(of, -1)
	}
	s.list[i] = nil
	delete(s.at, id)
}

// lockWait is how long change waits for another process to write its line.
const lockWait = 5 * time.Second

// change reads the whole file and calls do while it holds the file lock, then appends the line
// that do returns. The line is on disk when change returns. An incomplete last line, as a full
// disk leaves it, is cut off first.
func (s *labels) change(do func() ([]byte, error)) error {
	_, err := os.Stat(s.path)
	created := errors.Is(err, fs.ErrNotExist)
	if created { // create the folder, too, if there were no runs
		_ = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return unavailable("open", err)
	}
	defer f.Close()
	for waited := time.Duration(0); ; waited += time.Millisecond {
		if err = runfile.Lock(f); err == nil {
			break
		}
		if waited >= lockWait {
			return unavailable("lock", err)
		}
		time.Sleep(time.Millisecond)
	}
	defer runfile.Unlock(f)
	if err := s.follow(); err != nil {
		return err
	}
	line, err := do()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > s.size {
		err = f.Truncate(s.size)
	}
	if err == nil {
		if _, err = f.Write(line); err == nil {
			err = f.Sync()
		}
		if err != nil {
			err = errors.Join(err, f.Truncate(s.size))
		}
	}
	if err != nil {
		return unavailable("write", err)
	}
	s.size, s.ready = s.size+int64(len(line)), true
	if dir, err := os.Open(filepath.Dir(s.path)); created && err == nil {
		_ = dir.Sync() // makes the name of a new file durable; not supported everywhere
		_ = dir.Close()
	}
	return nil
}

func unavailable(doing string, err error) error {
	return proviso.Errorf(proviso.Unavailable, "%s %s: %w", doing, label.FileName, err)
}

// useLabels calls do with the current labels of the file.
func (p project) useLabels(ctx context.Context, do func(*labels) error) error {
	if err := p.s.usable(ctx); err != nil {
		return err
	}
	s := p.s.labels
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.follow(); err != nil {
		return err
	}
	return do(s)
}

// AddLabel implements [store.Labels].
func (p project) AddLabel(ctx context.Context, n store.NewLabel) (out store.Label, err error) {
	if err := n.Check(); err != nil {
		return out, err
	}
	if !p.here || p.s.readOnly {
		return out, refused()
	}
	err = p.useLabels(ctx, func(s *labels) error {
		now := s.now().UTC()
		if n.ID == "" {
			n.ID = store.NewID(store.LabelID, now)
		}
		if n.Created.IsZero() {
			n.Created = now
		}
		n.Created = n.Created.UTC().Truncate(time.Microsecond)
		if err := s.change(func() ([]byte, error) {
			if _, again := s.at[n.ID]; again {
				return nil, proviso.Errorf(proviso.Conflict, "there is a label %q already", n.ID)
			}
			if err := s.endLease(&n); err != nil {
				return nil, err
			}
			return label.AppendLine(nil, &n.Label), nil
		}); err != nil {
			return err
		}
		p.s.replies.keep(n.Reply)
		out = store.Label{Label: n.Label, CreatedBy: n.CreatedBy, InForce: true}
		kept := out
		s.add(&kept)
		return nil
	})
	return out, err
}

// Label implements [store.Labels].
func (p project) Label(ctx context.Context, id string) (out store.Label, err error) {
	err = p.useLabels(ctx, func(s *labels) error {
		i, ok := s.at[id]
		if !ok || !p.here {
			return noLabel(id)
		}
		out = *s.list[i]
		return nil
	})
	return out, err
}

func noLabel(id string) error {
	return proviso.Errorf(proviso.NotFound, "there is no label %q", id[:min(len(id), 80)])
}

// ListLabels implements [store.Labels].
func (p project) ListLabels(ctx context.Context, f store.LabelFilter, page store.Page) (out store.List[store.Label], err error) {
	after, ok, err := page.Number("labels")
	if err != nil || !p.here {
		return out, err
	}
	err = p.useLabels(ctx, func(s *labels) error {
		from := len(s.list) - 1
		if ok {
			from = int(min(after-1, int64(from)))
		}
		last := 0
		for i := from; i >= 0; i-- {
			if l := s.list[i]; l == nil || !f.Matches(l) {
				continue
			}
			if len(out.Items) == page.Size() {
				out.Next = store.Cursor("labels", fmt.Sprint(last))
				break
			}
			out.Items, last = append(out.Items, *s.list[i]), i
		}
		return nil
	})
	return out, err
}

// DeleteLabel implements [store.Labels].
func (p project) DeleteLabel(ctx context.Context, id, by string) error {
	return p.useLabels(ctx, func(s *labels) error {
		if _, ok := s.at[id]; !ok || !p.here {
			return noLabel(id)
		}
		if err := s.change(func() ([]byte, error) {
			i, ok := s.at[id]
			switch {
			case !ok:
				return nil, noLabel(id)
			case by != "" && s.list[i].By != by:
				return nil, store.NotOwn()
			}
			return label.AppendRemoval(nil, id), nil
		}); err != nil {
			return err
		}
		s.remove(id)
		return nil
	})
}

// CountLabels implements [store.Labels].
func (p project) CountLabels(ctx context.Context, f store.LabelFilter) (out label.Counts, err error) {
	if !p.here {
		return out, nil
	}
	f.History = false
	err = p.useLabels(ctx, func(s *labels) error {
		var list []*label.Label
		by := f.By
		f.By = ""
		for _, l := range s.list {
			if l != nil && f.Matches(l) {
				list = append(list, &l.Label)
			}
		}
		out = label.Count(list, by)
		return nil
	})
	return out, err
}
