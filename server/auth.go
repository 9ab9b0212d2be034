package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// authenticate identifies the client and checks that it may use the route.
func (s *Server) authenticate(c *call) error {
	if c.route.Scope == "" {
		return nil
	}
	if c.foreign || strings.HasPrefix(bearerOf(c.r), tokenPrefix) {
		if err := s.authenticatePanel(c); err != nil {
			return err
		}
		return s.enter(c)
	}
	key, err := s.clientKey(c)
	if err != nil {
		return err
	}
	c.key, c.project = key, key.Project
	if !allowed(key, c.route) {
		if key.ID == viewSession {
			return problem(codeForbidden, "proviso view only shows runs; `proviso serve` has a server that does this")
		}
		return problem(codeForbidden, "this needs a key with the scope "+scopesOf(c.route))
	}
	if key.ID != anonymous && key.ID != viewSession {
		s.touch(c.r.Context(), key.ID)
	}
	return s.enter(c)
}

// clientKey returns the key of a request, from its header or its browser session. An open
// server also serves requests with neither.
func (s *Server) clientKey(c *call) (store.Key, error) {
	if c.r.Header.Get("Authorization") != "" {
		key, err := s.authenticateSecret(c.r.Context(), bearerOf(c.r))
		return key, s.wrongKey(c, err)
	}
	key, err := s.sessionKey(c.r)
	if err != nil {
		return key, err
	}
	if key.ID != "" {
		return key, fromOwnPage(c.r)
	}
	open, err := s.open(c.r.Context())
	switch {
	case err != nil:
		return key, err
	case open:
		return anonymousKey(), nil
	case s.o.OpenToken != "":
		return key, unauthorized("the session has ended, or the browser has none: open the link that proviso view prints")
	}
	return key, unauthorized("send a key as Authorization: Bearer …; `proviso key create` makes one")
}

// wrongKey limits how many wrong keys an address may send. Valid keys are never checked here,
// so a program with a wrong key does not lock out others at the same address.
func (s *Server) wrongKey(c *call, err error) error {
	var p *Problem
	if !errors.As(err, &p) || p.Code != codeUnauthorized {
		return err
	}
	wait, ok := s.wrong.take(addressOf(c.r), time.Now())
	if ok {
		return err
	}
	return problem(codeRate, "too many wrong keys; the one of this request is wrong, too: "+p.Detail).after(wait)
}

// bearerOf returns the request's bearer secret, or "" if there is none.
func bearerOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// authenticateSecret returns the key of a secret.
func (s *Server) authenticateSecret(ctx context.Context, secret string) (store.Key, error) {
	if !store.IsSecret(secret) {
		return store.Key{}, unauthorized("this is not a proviso key; one begins with " + store.SecretPrefix + " and is sent as Authorization: Bearer …")
	}
	key, err := s.o.Store.Authenticate(ctx, secret)
	if code := proviso.CodeOf(err); code == proviso.NotFound || code == proviso.Refused {
		return key, unauthorized("the key is unknown or revoked")
	}
	return key, err
}

// allowed reports whether a key may use a route. Routes for read are also open to keys with
// evaluate or edit, which see only their own data there.
func allowed(key store.Key, r *route) bool {
	return key.Can(r.Scope) || slices.ContainsFunc(r.Also, key.Can) || r.Scope == store.Read && !r.Others && (key.Can(store.Evaluate) || key.Can(store.Edit))
}

// scopesOf lists the scopes that give access to a route; any one is enough.
func scopesOf(r *route) string {
	text := string(r.Scope)
	for _, s := range r.Also {
		text += " or " + string(s)
	}
	return text
}

// projectParam is the query parameter with which an admin key selects a project.
const projectParam = "project"

// enter opens the project of a request: the key's project, or the one that an admin key names.
// Handlers access the store only through it.
func (s *Server) enter(c *call) error {
	c.project = c.key.Project
	switch named := c.r.URL.Query()[projectParam]; {
	case len(named) > 1:
		return proviso.Errorf(proviso.Invalid, "the parameter %s is given %d times", projectParam, len(named))
	case len(named) == 1:
		if err := s.named(c, store.Project(named[0])); err != nil {
			return err
		}
	}
	c.kept = s.o.Store.In(c.project)
	return nil
}

// named opens the project that the request's query names.
func (s *Server) named(c *call, p store.Project) error {
	if p == c.project {
		return nil
	}
	if !c.key.Can(store.Admin) {
		return problem(codeForbidden, "only a key with the scope admin may name another project than its own")
	}
	projects, err := s.o.Store.Projects(c.r.Context())
	if err != nil {
		return err
	}
	if slices.Contains(projects, p) {
		c.project = p
		return nil
	}
	e := &proviso.Error{Code: proviso.NotFound, Message: "no key belongs to the project " + strconv.Quote(shortened(string(p)))}
	for _, known := range projects {
		e.Valid = append(e.Valid, string(known))
	}
	return e
}

// unauthorized is the problem of a request without a valid key.
func unauthorized(detail string) *Problem {
	p := problem(codeUnauthorized, detail)
	p.challenge = true
	return p
}

// open reports whether requests without a key are served. The first key in the store ends that.
// Each such request queries the store, so that a key made by another process takes effect at
// once.
func (s *Server) open(ctx context.Context) (bool, error) {
	if !s.o.Open || s.o.OpenToken != "" || s.closed.Load() {
		return false, nil
	}
	keys, err := s.o.Store.ListKeys(ctx, store.Page{Limit: 1})
	if err != nil {
		return false, err
	}
	if len(keys.Items) > 0 {
		s.closed.Store(true)
		return false, nil
	}
	return true, nil
}

// stillOpen reports whether a long response may continue: its key may have been revoked, its
// session may have ended, or a server without keys may have got one.
func (s *Server) stillOpen(c *call) bool {
	ctx, id := c.r.Context(), c.key.ID
	if id != anonymous && c.r.Header.Get("Authorization") == "" && !s.sessions.lives(ctx, cookieOf(c.r), time.Now()) {
		return false
	}
	return id == viewSession || s.inForce(ctx, id)
}

// inForce reports whether a key may still be used.
func (s *Server) inForce(ctx context.Context, id string) bool {
	if id == anonymous {
		open, err := s.open(ctx)
		return open && err == nil
	}
	key, err := s.o.Store.Key(ctx, id)
	return err == nil && key.Revoked.IsZero()
}

// revoked reports whether a key is known to be revoked.
func (s *Server) revoked(ctx context.Context, id string) bool {
	if id == anonymous || id == viewSession {
		return false
	}
	key, err := s.o.Store.Key(ctx, id)
	return err == nil && !key.Revoked.IsZero()
}

// seesAll reports whether a key sees the data of other keys.
func seesAll(key store.Key) bool { return key.Can(store.Read) }

// touch records that a key was used, at most once a minute. A failed write does not fail the
// request.
func (s *Server) touch(ctx context.Context, key string) {
	now := time.Now()
	if _, due := s.touched.take(key, now); due {
		if err := s.o.Store.TouchKey(ctx, key, now); err != nil {
			s.o.Log.Warn("record the use of a key", "key", key, "error", err)
		}
	}
}
