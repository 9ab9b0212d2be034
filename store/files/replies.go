package files

import (
	"context"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// maxReplies limits the stored replies; the oldest are dropped.
const maxReplies = 10_000

// replies stores the responses to requests with an idempotency key in memory. They end with the
// process, as do the sessions that sent the requests. The zero value is ready to use.
type replies struct {
	mu    sync.Mutex
	of    map[replyKey]*replied
	order []replyKey
}

type replyKey struct{ by, key string }

type replied struct {
	claim    store.Claim
	response *store.Response // nil while the request is in progress
	expires  time.Time
}

// Claim implements [store.Replies].
func (s *Store) Claim(ctx context.Context, c store.Claim) (*store.Response, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &s.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	now, key := s.labels.now(), replyKey{c.CreatedBy, c.Key}
	had := r.of[key]
	switch {
	case had == nil || !had.expires.After(now):
	case had.claim.Request != c.Request:
		return nil, proviso.Errorf(proviso.Conflict, "%w", store.ErrOtherRequest)
	case had.response == nil:
		return nil, proviso.Errorf(proviso.Conflict, "%w", store.ErrInProgress)
	default:
		return had.response, nil
	}
	if r.of == nil {
		r.of = map[replyKey]*replied{}
	}
	if had == nil {
		r.order = append(r.order, key)
	}
	r.of[key] = &replied{claim: c, expires: now.Add(store.ClaimLease)}
	if len(r.order) > maxReplies {
		delete(r.of, r.order[0])
		r.order = r.order[1:]
	}
	return nil, ctx.Err()
}

// Reply implements [store.Replies].
func (s *Store) Reply(_ context.Context, reply store.Reply) error {
	if err := reply.Check(); err != nil {
		return err
	}
	s.replies.keep(&reply)
	return nil
}

// keep stores the response to a claimed request; a nil reply stores nothing.
func (r *replies) keep(reply *store.Reply) {
	if reply == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if had := r.of[replyKey{reply.CreatedBy, reply.Key}]; had != nil && had.response == nil && had.claim == reply.Claim {
		had.response, had.expires = &reply.Response, reply.Expires
	}
}

// Release implements [store.Replies].
func (s *Store) Release(_ context.Context, c store.Claim) error {
	r := &s.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	key := replyKey{c.CreatedBy, c.Key}
	if had := r.of[key]; had != nil && had.response == nil && had.claim == c {
		had.expires = time.Time{}
	}
	return nil
}
