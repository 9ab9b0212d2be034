package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// readTimeout is how long a client may take to send a body.
const readTimeout = time.Minute

// read reads the body, and returns how many bytes of memory it reserved.
func (s *Server) read(c *call) (int64, error) {
	r := c.r
	if r.ContentLength == 0 && (c.route.Request == nil || c.route.Optional) {
		return 0, nil
	}
	if r.ContentLength > s.o.BodyLimit {
		return 0, s.tooLarge()
	}
	if c.route.Reads == nil {
		if err := sentAs(mediaJSON, r.Header); err != nil {
			return 0, err
		}
	}
	need := r.ContentLength
	if need < 0 {
		need = s.o.BodyLimit
	}
	if !s.room.TryAcquire(need) {
		return 0, problem(codeBusy, "requests in progress use all the memory for bodies").after(time.Second)
	}
	c.clock.begin()
	defer c.clock.end()
	control := http.NewResponseController(c.w)
	_ = control.SetReadDeadline(time.Now().Add(readTimeout)) // not every connection supports this
	data, err := readAll(http.MaxBytesReader(c.w, r.Body, s.o.BodyLimit), r.ContentLength)
	if err != nil {
		return need, s.unread(err)
	}
	_ = control.SetReadDeadline(time.Time{})
	if c.body = data; c.route.Request == nil && c.route.Reads == nil && len(bytes.TrimSpace(data)) > 0 {
		return need, decode(r.Context(), data, &struct{}{}) // this route takes no parameters in a body
	}
	return need, nil
}

// sentAs rejects a body of another media type, or one that is not in UTF-8.
func sentAs(want string, h http.Header) error {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || kind != want || charset != "" && charset != "utf-8" {
		return problem(codeMediaType, "Content-Type has to be "+want+", not "+strconv.Quote(shortened(h.Get("Content-Type"))))
	}
	if coding := h.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return problem(codeMediaType, "a body with Content-Encoding "+strconv.Quote(shortened(coding))+" is not supported: send it uncompressed, without this header")
	}
	return nil
}

// readAll reads a body whose size may be known. It does not allocate the announced size before
// that much has arrived.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	if size > 0 {
		b.Grow(int(min(size, 64<<10)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

func (s *Server) tooLarge() error {
	return problem(codeTooLarge, fmt.Sprintf("the body has more than %d bytes; --body-limit sets the limit", s.o.BodyLimit))
}

// unread is the problem of a body that did not arrive completely.
func (s *Server) unread(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return s.tooLarge()
	}
	return problem(codeMalformed, "the body is incomplete").because(err)
}
