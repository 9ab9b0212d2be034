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

// repeatable reports whether a request has an idempotency key that counts, with or without a
// body. The answer of a route that gives a secret is not kept, and a body that is read in
// pieces is not there to be compared.
func (c *call) repeatable() bool {
	r := c.route
	return r.Method == http.MethodPost && r.Reads == nil && !r.Streamed && r.Scope != "" && !r.Secret && c.r.Header.Get("Idempotency-Key") != ""
}

// once answers a request with an idempotency key. A second request with the
// same key gets the response of the first, and nothing is done twice.
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

// claimant is whose idempotency keys those of the request are: the API key's, or those of
// the person that a panel token of the key names. Otherwise the label of one person would
// be the answer to another one, whose own label is not kept.
func (c *call) claimant() string {
	if c.token != nil {
		return c.key.ID + "\n" + c.as
	}
	return c.key.ID
}

// reply is the response to be stored under the request's idempotency key; nil
// if the request has none. A caller that stores it in a transaction sets
// c.claim to nil.
func (c *call) reply(s *Server, r store.Response) *store.Reply {
	if c.claim == nil {
		return nil
	}
	return &store.Reply{Claim: *c.claim, Response: r, Expires: time.Now().Add(s.o.KeepReplies)}
}
