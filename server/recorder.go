package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
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

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// maxLogged bounds how much of a body is logged.
const maxLogged = 64 << 10
