package server

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

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

// maxLive limits the memory of all of them. The latest one stays, whatever its size.
const maxLive = 64 << 20

// maxSingly is the largest number of new rows that are read one by one; beyond it all rows are
// read.
const maxSingly = 300
