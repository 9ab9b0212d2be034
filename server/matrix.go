package server

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/proviso-eval/proviso/internal/matrix"
	"github.com/proviso-eval/proviso/internal/turns"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// getMatrix sends the verdicts of a run, even while it is running.
func (s *Server) getMatrix(c *call) error {
	r, err := s.seenRun(c)
	if err != nil {
		return err
	}
	tag := fmt.Sprintf(`W/"1-%d-%d-%s"`, r.Totals.Rows(), r.Rows, r.Status)
	h := c.w.Header()
	h.Set("ETag", tag)
	if matchesTag(c.r, tag) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	// A matrix has no CPU budget: the rows of the run bound the work.
	ctx, task := s.withTurns(c.r.Context(), c.key.ID)
	defer task.End()
	if !r.Status.Ended() {
		return s.sendLive(ctx, c, r)
	}
	s.live.forget(liveKey(c, r))
	packed, err := s.made.get(ctx, "matrix\n"+liveKey(c, r)+"\n"+tag, func() ([]byte, error) { return s.packedMatrix(ctx, c.kept, r) })
	if err != nil {
		return err
	}
	return c.sendPacked(packed)
}

// matchesTag reports whether the client already has this state.
func matchesTag(r *http.Request, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if part = strings.TrimPrefix(strings.TrimSpace(part), "W/"); part == tag || part == "*" {
			return true
		}
	}
	return false
}

// packedMatrix makes the matrix of an ended run, as gzipped JSON.
func (s *Server) packedMatrix(ctx context.Context, kept store.ProjectStore, r store.Run) ([]byte, error) {
	run, err := openStored(ctx, kept, r)
	if err != nil {
		return nil, err
	}
	b := matrix.NewBuilder(columnsOf(run.Header().Meta))
	_ = b.AddAll(run.Rows()) // the matrix lacks damaged rows
	if err := run.Err(); err != nil {
		return nil, err
	}
	_, done, err := turns.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	m, err := matrixOf(b, r)
	if err != nil {
		return nil, err
	}
	return packed(gzip.BestSpeed, m.WriteJSON)
}

// columnsOf returns the columns in the header of a run.
func columnsOf(meta *value.Object) []matrix.Column {
	list, _ := meta.At("columns").([]any)
	columns := make([]matrix.Column, len(list))
	for i, v := range list {
		o, _ := v.(*value.Object)
		columns[i] = matrix.Column{Prompt: cmp.Or(o.Text("promptLabel"), o.Text("promptRaw")), Provider: cmp.Or(o.Text("providerLabel"), o.Text("providerId"))}
	}
	return columns
}

// matrixOf returns the matrix of a run so far.
func matrixOf(b *matrix.Builder, r store.Run) (*matrix.Matrix, error) {
	m, err := b.Matrix()
	if err != nil {
		return nil, err
	}
	m.Rows, m.Status = r.Rows, string(r.Status)
	return m, nil
}

// sendPacked sends gzipped JSON. It decompresses for clients that do not accept gzip.
func (c *call) sendPacked(packed []byte) error {
	h := c.w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Add("Vary", "Accept-Encoding")
	c.w.copy = nil // not for the log
	if takesGzip(c.r) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", fmt.Sprint(len(packed)))
		_, _ = c.w.Write(packed) // a disconnected client is not an error
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	_, _ = io.Copy(c.w, z)
	return nil
}

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

// maxLive limits the memory of all of them. The latest one stays, whatever its size.
const maxLive = 64 << 20

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

// maxSingly is the largest number of new rows that are read one by one; beyond it all rows are
// read.
const maxSingly = 300

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
