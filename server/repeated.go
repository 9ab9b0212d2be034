package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

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
