package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
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

// repeatable reports whether an idempotency key applies to the request. Responses with a secret
// are not stored, and a streamed body cannot be compared.
func (c *call) repeatable() bool {
	r := c.route
	return r.Method == http.MethodPost && r.Reads == nil && !r.Streamed && r.Scope != "" && !r.Secret && c.r.Header.Get("Idempotency-Key") != ""
}

// once answers a request with an idempotency key. A second request with the same key gets the
// stored response of the first, and nothing runs twice.
func (s *Server) once(c *call) error {
	h := sha256.New()
	h.Write([]byte(c.r.Method + " " + c.r.URL.RequestURI() + "\n"))
	h.Write(c.body)
	claim := store.Claim{CreatedBy: c.claimant(), Key: c.r.Header.Get("Idempotency-Key"), Request: [sha256.Size]byte(h.Sum(nil))}
	if err := claim.Check(); err != nil {
		return err
	}
	before, err := s.o.Store.Claim(c.r.Context(), claim)
	switch {
	case errors.Is(err, store.ErrOtherRequest):
		return problem(proviso.Invalid, store.ErrOtherRequest.Error())
	case errors.Is(err, store.ErrInProgress):
		return problem(proviso.Conflict, store.ErrInProgress.Error()).after(time.Second)
	case err != nil:
		return err
	case before != nil:
		c.w.Header().Set("Idempotent-Replayed", "true")
		return c.sendResponse(*before)
	}
	c.claim = &claim
	err = c.route.Handle(s, c)
	after := context.WithoutCancel(c.r.Context())
	if err == nil && c.claim != nil && c.answer != nil {
		return s.o.Store.Reply(after, *c.reply(s, *c.answer))
	}
	if err != nil || c.answer == nil {
		if failed := s.o.Store.Release(after, claim); failed != nil {
			s.o.Log.Warn("release an idempotency key", "request_id", c.id, "error", failed)
		}
	}
	return err
}

// claimant returns the owner of the request's idempotency keys: the API key, or the person that
// a panel token of the key names. Otherwise one person could get the stored response to another
// person's label, and lose their own.
func (c *call) claimant() string {
	if c.token != nil {
		return c.key.ID + "\n" + c.as
	}
	return c.key.ID
}

// reply is the response to store under the request's idempotency key, or nil if the request has
// none. A caller that stores it in a transaction sets c.claim to nil.
func (c *call) reply(s *Server, r store.Response) *store.Reply {
	if c.claim == nil {
		return nil
	}
	return &store.Reply{Claim: *c.claim, Response: r, Expires: time.Now().Add(s.o.KeepReplies)}
}
