package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// recorder records the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	copy   *bytes.Buffer // for the log; nil if contents are not logged
	packer *gzip.Writer  // nil unless the response is compressed
}

// WriteHeader records the status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write records the size.
func (w *recorder) Write(p []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.packer != nil {
		n, err = w.packer.Write(p)
	} else {
		n, err = wire{w}.Write(p)
	}
	if w.copy != nil && w.copy.Len() < maxLogged {
		w.copy.Write(p[:min(len(p), maxLogged-w.copy.Len())])
	}
	return n, err
}

// Unwrap supports http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// maxLogged limits how much of a body is logged.
const maxLogged = 64 << 10

// minPacked is the minimum size of a compressed response, in bytes.
const minPacked = 1400

// packers are idle gzip writers.
var packers sync.Pool

// takesGzip reports whether the client accepts gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !ok || err == nil && q > 0
	}
	return false
}

// pack compresses the rest of the response if the client accepts gzip. Call it before
// WriteHeader.
func (c *call) pack() {
	h := c.w.Header()
	h.Add("Vary", "Accept-Encoding")
	if !takesGzip(c.r) {
		return
	}
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	z, ok := packers.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	}
	z.Reset(wire{c.w})
	c.w.packer = z
}

// packed returns the output of write in gzip.
func packed(level int, write func(io.Writer) error) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err == nil {
		err = errors.Join(write(z), z.Close())
	}
	return bytes.Clone(out.Bytes()), err // drop unused capacity
}

// wire writes to the client and counts the bytes on the wire.
type wire struct{ w *recorder }

// Write sends p and counts it.
func (w wire) Write(p []byte) (int, error) {
	n, err := w.w.ResponseWriter.Write(p)
	w.w.bytes += int64(n)
	return n, err
}

// end completes a compressed response.
func (w *recorder) end() {
	if w.packer == nil {
		return
	}
	_ = w.packer.Close() // a disconnected client is not an error
	w.packer.Reset(io.Discard)
	packers.Put(w.packer)
	w.packer = nil
}
