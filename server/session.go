package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"crypto/rand"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Session describes the client: its project and what it may do.
type Session struct {
	Scopes  []store.Scope `json:"scopes" doc:"What the client may do"`
	Project store.Project `json:"project" doc:"The project that requests concern"`
	Mode    string        `json:"mode" enum:"view,serve" doc:"view for proviso view, which only shows runs of this machine"`
}

// Login is the key that a session is opened with.
type Login struct {
	Key string `json:"key" doc:"An API key"`
}

const (
	sessionLife = 12 * time.Hour     // since its last use
	sessionMost = 7 * 24 * time.Hour // since the login
	maxSessions = 50                 // of one key
	allSessions = 10_000
	// These limit wrong keys of one address: ten at once, then one in five seconds.
	loginBurst  = 10
	loginRate   = 0.2
	viewSession = "view" // stands for the key of a session that a token opened
)

// sessions are the sessions of browsers, by the hash of their cookie. It is safe for
// concurrent use.
type sessions struct {
	life, most time.Duration // since its last use, and since the login

	mu    sync.Mutex
	of    map[[sha256.Size]byte]*session
	token [sha256.Size]byte // of [Options.OpenToken]
	spent bool              // the token was used
}

type session struct {
	key    string // id
	opened time.Time
	used   time.Time
}

// ended reports whether the time of a session is over.
func (s *sessions) ended(x *session, now time.Time) bool {
	return now.Sub(x.used) >= s.life || now.Sub(x.opened) >= s.most
}

// open begins a session and returns the value of its cookie. If its key has maxSessions
// already, or all keys have allSessions, the least recently used session ends.
func (s *sessions) open(key string, now time.Time) string {
	value := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrink(func(x *session) bool { return x.key == key }, maxSessions)
	s.shrink(func(*session) bool { return true }, allSessions)
	if s.of == nil {
		s.of = map[[sha256.Size]byte]*session{}
	}
	s.of[sha256.Sum256([]byte(value))] = &session{key, now, now}
	return value
}

// shrink ends the least recently used session of those that count, if there are at least
// most of them; s.mu is held.
func (s *sessions) shrink(counts func(*session) bool, most int) {
	var oldest [sha256.Size]byte
	var at time.Time
	n := 0
	for hash, x := range s.of {
		if !counts(x) {
			continue
		}
		n++
		if at.IsZero() || x.used.Before(at) {
			oldest, at = hash, x.used
		}
	}
	if n >= most {
		delete(s.of, oldest)
	}
}

// use returns the key of a session and extends its life from now; "" if it has ended.
func (s *sessions) use(value string, now time.Time) string {
	hash := sha256.Sum256([]byte(value))
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[hash]
	switch {
	case x == nil:
		return ""
	case s.ended(x, now):
		delete(s.of, hash)
		return ""
	}
	x.used = now
	return x.key
}

// lives reports whether a session goes on. That is no use of it.
func (s *sessions) lives(value string, now time.Time) bool {
	hash := sha256.Sum256([]byte(value))
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[hash]
	return x != nil && !s.ended(x, now)
}

// end ends a session.
func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, sha256.Sum256([]byte(value)))
}

// endAll ends all sessions of the key that a session has.
func (s *sessions) endAll(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.of[sha256.Sum256([]byte(value))]; x != nil {
		maps.DeleteFunc(s.of, func(_ [sha256.Size]byte, other *session) bool { return other.key == x.key })
	}
}

// redeem spends the token; false if it is wrong or was spent before.
func (s *sessions) redeem(token string) bool {
	hash := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent || subtle.ConstantTimeCompare(hash[:], s.token[:]) != 1 {
		return false
	}
	s.spent = true
	return true
}

// cookieName is the name of the cookie. Browsers send a cookie to all ports of a machine,
// so the name contains the port.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "proviso_" + port
	}
	return "proviso"
}

// setCookie sends the cookie of a session; an empty value removes it.
func (s *Server) setCookie(c *call, value string) {
	cookie := &http.Cookie{
		Name: cookieName(c.r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.o.TLS != nil || strings.HasPrefix(c.r.Header.Get("Origin"), "https:"), // a proxy may do TLS
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.w, cookie)
}

// cookieOf returns the cookie of a request, "" if it has none.
func cookieOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		return cookie.Value
	}
	return ""
}

// sessionKey returns the key of the session of a request; its id is "" if there is none.
func (s *Server) sessionKey(r *http.Request) (store.Key, error) {
	value := cookieOf(r)
	if value == "" {
		return store.Key{}, nil
	}
	id := s.sessions.use(value, time.Now())
	if id == "" || id == viewSession {
		return viewKey(id), nil
	}
	key, err := s.o.Store.Key(r.Context(), id)
	var e *proviso.Error
	if errors.As(err, &e) && e.Code == proviso.NotFound || err == nil && !key.Revoked.IsZero() {
		s.sessions.end(value)
		return store.Key{}, nil
	}
	return key, err
}

// viewKey stands for a key in the session that the link of [Options.OpenToken] opened.
func viewKey(id string) store.Key {
	if id == "" {
		return store.Key{}
	}
	return store.Key{ID: id, Project: store.DefaultProject, Scopes: []store.Scope{store.Read, store.Labelling}}
}

// fromOwnPage rejects a request that changes something unless a page of this server
// sent it: pages of other origins can send neither this Origin nor this header.
func fromOwnPage(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get("Origin") == "" || r.Header.Get("X-Proviso") != "1" {
		return problem(codeForbidden, "a request with a session has to come from a page of this server, with Origin and X-Proviso: 1")
	}
	return nil
}

// admit lets in a browser that has the session, or that is the first to send the token.
// False means that the request is already answered.
func (s *Server) admit(c *call) bool {
	key, _ := s.sessionKey(c.r) // without a key in a store there is no error
	query := c.r.URL.Query()
	if !query.Has("token") {
		if key.ID == "" {
			c.html(http.StatusForbidden, docsPolicy, refusedHTML)
		}
		return key.ID != ""
	}
	if key.ID == "" {
		if c.r.Method != http.MethodGet || !s.sessions.redeem(query.Get("token")) {
			c.html(http.StatusForbidden, docsPolicy, refusedHTML)
			return false
		}
		s.setCookie(c, s.sessions.open(viewSession, time.Now()))
	}
	query.Del("token")
	to := c.r.URL.EscapedPath()
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if c.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// After a link on another site, a browser sends a strict cookie only if a page of
		// this server, and not a redirect, leads to the next one.
		c.html(http.StatusOK, docsPolicy, fmt.Appendf(nil, returnHTML, html.EscapeString(to)))
		return false
	}
	c.w.Header().Set("Location", to)
	c.w.WriteHeader(http.StatusSeeOther)
	return false
}

// postSession opens a session with a key.
func (s *Server) postSession(c *call) error {
	if err := fromOwnPage(c.r); err != nil {
		return err
	}
	if s.o.OpenToken != "" {
		return problem(proviso.Unsupported, "proviso view has no keys: open the link that it prints")
	}
	var in Login
	if err := decode(c.r.Context(), c.body, &in); err != nil {
		return err
	}
	from := addressOf(c.r)
	if wait, ok := s.logins.full(from, time.Now()); !ok {
		p := problem(codeRate, "too many wrong keys; wait a few seconds")
		p.retryAfter = wait
		return p
	}
	secret := strings.TrimSpace(in.Key)
	key, err := s.authenticateSecret(c.r.Context(), secret)
	if err != nil {
		var p *Problem
		if errors.As(err, &p) && p.Code == codeUnauthorized {
			s.logins.take(from, time.Now())
			p.challenge = false
		}
		return err
	}
	s.touch(c.r.Context(), key.ID)
	s.sessions.end(cookieOf(c.r))
	s.setCookie(c, s.sessions.open(key.ID, time.Now()))
	c.key, c.project = key, key.Project
	return c.json(http.StatusOK, s.sessionOf(key))
}

// addressOf is the address that a request came from. A network of IPv6 is one client.
func addressOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := at.Addr().Unmap()
	if p, err := ip.Prefix(64); err == nil && ip.Is6() {
		return p.String()
	}
	return ip.String()
}

// getSession describes the client.
func (s *Server) getSession(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	return c.json(http.StatusOK, s.sessionOf(c.key))
}

func (s *Server) sessionOf(key store.Key) Session {
	mode := "serve"
	if s.o.OpenToken != "" {
		mode = "view"
	}
	return Session{Scopes: key.Scopes, Project: key.Project, Mode: mode}
}

// deleteSession ends the session of the cookie, or all sessions of its key. Without a
// session it changes nothing.
func (s *Server) deleteSession(c *call) error {
	if err := fromOwnPage(c.r); err != nil {
		return err
	}
	q, err := c.query("all")
	if err != nil {
		return err
	}
	all, err := choice(q, "all", "yes")
	if err != nil {
		return err
	}
	if all == "yes" {
		s.sessions.endAll(cookieOf(c.r))
	}
	s.sessions.end(cookieOf(c.r))
	s.setCookie(c, "")
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}
