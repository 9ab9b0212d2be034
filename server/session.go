package server

import (
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/store"
)

// Session describes the client: its project and its rights.
type Session struct {
	Scopes  []store.Scope `json:"scopes" doc:"What the client may do"`
	Project store.Project `json:"project" doc:"The project that requests concern"`
	Mode    string        `json:"mode" enum:"view,serve" doc:"view for proviso view, which only shows runs of this machine"`
}

// Login is the key that opens a session.
type Login struct {
	Key string `json:"key" doc:"An API key"`
}

const (
	sessionLife = 12 * time.Hour     // since its last use
	sessionMost = 7 * 24 * time.Hour // since the login
	maxSessions = 50                 // for one key
	allSessions = 10_000
	// Limits of wrong keys from one address: ten at once, then one every five seconds.
	loginBurst  = 10
	loginRate   = 0.2
	viewSession = "view" // stands for the key in a session that a token opened
)

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
		Secure: s.o.TLS != nil || strings.HasPrefix(c.r.Header.Get("Origin"), "https:"), // a proxy may terminate TLS
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.w, cookie)
}

// cookieOf returns the session cookie of a request, or "".
func cookieOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		return cookie.Value
	}
	return ""
}

// sessionKey returns the key of the request's session; its id is "" if there is no session.
func (s *Server) sessionKey(r *http.Request) (store.Key, error) {
	value := cookieOf(r)
	if value == "" {
		return store.Key{}, nil
	}
	id, err := s.sessions.use(r.Context(), value, time.Now())
	if err != nil {
		return store.Key{}, err
	}
	if id == "" || id == viewSession {
		return viewKey(id), nil
	}
	key, err := s.o.Store.Key(r.Context(), id)
	if proviso.CodeOf(err) == proviso.NotFound || err == nil && !key.Revoked.IsZero() {
		return store.Key{}, s.sessions.end(r.Context(), value)
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

// fromOwnPage rejects a request that changes something unless a page of this server sent it:
// pages of other origins can send neither this Origin nor this header.
func fromOwnPage(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if r.Header.Get("Origin") == "" || r.Header.Get("X-Proviso") != "1" {
		return problem(codeForbidden, "a request with a session has to come from a page of this server, with Origin and X-Proviso: 1")
	}
	return nil
}

// admit admits a browser that has the session, or that is the first to send the token. False
// means that the request is already answered.
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
		value, err := s.sessions.open(c.r.Context(), viewSession, time.Now())
		if err != nil {
			s.fail(c, err)
			return false
		}
		s.setCookie(c, value)
	}
	query.Del("token")
	to := c.r.URL.EscapedPath()
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if c.r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		// After a link on another site, a browser sends a strict cookie only if a page of this
		// server leads to the next page. A redirect is not enough.
		c.html(http.StatusOK, docsPolicy, fmt.Appendf(nil, returnHTML, html.EscapeString(to)))
		return false
	}
	c.w.Header().Set("Location", to)
	c.w.WriteHeader(http.StatusSeeOther)
	return false
}

func (s *Server) postSession(c *call) error {
	if err := fromOwnPage(c.r); err != nil {
		return err
	}
	if s.o.OpenToken != "" {
		return problem(proviso.Unsupported, "proviso view has no keys: open the link that it prints")
	}
	var in Login
	if err := c.read(&in); err != nil {
		return err
	}
	from := addressOf(c.r)
	if wait, ok := s.logins.full(from, time.Now()); !ok {
		return problem(codeRate, "too many wrong keys; wait a few seconds").after(wait)
	}
	secret := strings.TrimSpace(in.Key)
	key, err := s.authenticateSecret(c.r.Context(), secret)
	if err != nil {
		if p, ok := errors.AsType[*Problem](err); ok && p.Code == codeUnauthorized {
			s.logins.take(from, time.Now())
			p.challenge = false
		}
		return err
	}
	s.touch(c.r.Context(), key.ID)
	if err := s.sessions.end(c.r.Context(), cookieOf(c.r)); err != nil {
		return err
	}
	value, err := s.sessions.open(c.r.Context(), key.ID, time.Now())
	if err != nil {
		return err
	}
	s.setCookie(c, value)
	c.key, c.project = key, key.Project
	return c.json(http.StatusOK, s.sessionOf(key))
}

// addressOf returns the address of the client. An IPv6 /64 network counts as one client.
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

func (s *Server) getSession(c *call) error {
	return c.json(http.StatusOK, s.sessionOf(c.key))
}

func (s *Server) sessionOf(key store.Key) Session {
	mode := "serve"
	if s.o.OpenToken != "" {
		mode = "view"
	}
	return Session{Scopes: key.Scopes, Project: key.Project, Mode: mode}
}

// deleteSession ends the session of the cookie, or all sessions of its key. Without a session
// it does nothing.
func (s *Server) deleteSession(c *call) error {
	if err := fromOwnPage(c.r); err != nil {
		return err
	}
	all := choice(&c.q, "all", "yes")
	if c.q.err != nil {
		return c.q.err
	}
	if all == "yes" {
		if err := s.sessions.endAll(c.r.Context(), cookieOf(c.r), time.Now()); err != nil {
			return err
		}
	}
	if err := s.sessions.end(c.r.Context(), cookieOf(c.r)); err != nil {
		return err
	}
	s.setCookie(c, "")
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}
