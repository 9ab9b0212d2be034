package server

import (
	"compress/gzip"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/proviso-eval/proviso/internal/matrix"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/store"
)

// sendLive sends the verdicts of a running run. Its rows are read once, and each state is
// encoded once, however many clients request it and however slowly they receive it.
func (s *Server) sendLive(ctx context.Context, c *call, r store.Run) error {
	packed, err := s.livePacked(ctx, c, r)
	if err != nil {
		return err
	}
	return c.sendPacked(packed)
}

// livePacked reads the new rows of a run, one request at a time, and returns the matrix as
// gzipped JSON.
func (s *Server) livePacked(ctx context.Context, c *call, r store.Run) ([]byte, error) {
	key := liveKey(c, r)
	leave, err := s.live.enter(ctx, key)
	if err != nil {
		return nil, err
	}
	defer leave()
	l := s.live.take(key)
	defer s.live.give(key, l)
	return l.read(ctx, c.kept, r)
}

func liveKey(c *call, r store.Run) string { return string(c.project) + "\n" + r.ID }

// lives are the running runs that clients watch.
type lives struct {
	alone
	mu   sync.Mutex
	runs map[string]*live
	keys []string // most recently used last
}

// live is the rows of a run that have been read so far.
type live struct {
	builder *matrix.Builder
	indices []int  // ascending
	packed  []byte // the matrix of these rows; clients share it, so it is never modified
	of      string // the other inputs of packed, beside the rows
	size    int
}

// take returns the state of a run; the caller has exclusive use of it.
func (s *lives) take(key string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.runs[key]; l != nil {
		return l
	}
	return &live{builder: matrix.NewBuilder(nil)}
}

// forget drops an ended run.
func (s *lives) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[key] != nil {
		delete(s.runs, key)
		s.keys = slices.DeleteFunc(s.keys, func(k string) bool { return k == key })
	}
}

// give stores a run, and drops the least recently used ones beyond the limit.
func (s *lives) give(key string, l *live) {
	size := l.builder.Size() + 8*cap(l.indices) + len(l.packed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[string]*live{}
	}
	l.size = size
	s.runs[key] = l
	s.keys = append(slices.DeleteFunc(s.keys, func(k string) bool { return k == key }), key)
	total := 0
	for _, other := range s.runs {
		total += other.size
	}
	for len(s.keys) > 1 && total > maxLive {
		total -= s.runs[s.keys[0]].size
		delete(s.runs, s.keys[0])
		s.keys = s.keys[1:]
	}
}

// read reads the new rows, which may have any index, and returns the matrix.
func (l *live) read(ctx context.Context, kept store.ProjectStore, r store.Run) ([]byte, error) {
	now, err := kept.FinishedRows(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	defer func() { slices.Sort(l.indices) }()
	fresh := without(now, l.indices)
	of := fmt.Sprint(r.Rows, r.Status)
	if len(fresh) == 0 && l.packed != nil && l.of == of {
		return l.packed, nil
	}
	l.packed = nil
	if len(fresh) > maxSingly {
		err = l.addAll(&storedRun{ctx: ctx, kept: kept, run: r})
		fresh = nil
	}
	for _, index := range fresh {
		row, err := kept.Result(ctx, r.ID, index)
		if err != nil {
			return nil, err
		}
		_ = l.builder.Add(row.JSON) // the matrix lacks damaged rows
		l.indices = append(l.indices, index)
	}
	if err != nil {
		return nil, err
	}
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := matrixOf(l.builder, r)
	if err != nil {
		return nil, err
	}
	l.packed, err = packed(gzip.BestSpeed, m.WriteJSON)
	l.of = of
	return l.packed, err
}

// addAll adds the new rows.
func (l *live) addAll(run *storedRun) error {
	known := l.indices
	_ = l.builder.AddAll(func(yield func(int, []byte) bool) {
		for index, record := range run.Rows() {
			if _, old := slices.BinarySearch(known, index); old {
				continue
			}
			l.indices = append(l.indices, index)
			if !yield(index, record) {
				return
			}
		}
	})
	return run.Err()
}

// without returns the elements of list that are not in old; both are sorted.
func without(list, old []int) []int {
	var fresh []int
	for _, n := range list {
		for len(old) > 0 && old[0] < n {
			old = old[1:]
		}
		if len(old) == 0 || old[0] != n {
			fresh = append(fresh, n)
		}
	}
	return fresh
}
