package server

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/web"
)

// headers sets the headers of every response: no caching, no frames, no content sniffing, no
// referrer. No header allows pages of other origins to read a response; [Server.panelOrigin]
// makes the exception.
func headers(h http.Header, requestID string, secure bool) {
	h.Set("X-Request-Id", requestID)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// maxRequestID limits the length of request ids from clients.
const maxRequestID = 64

// requestID returns the client's id for the request, or a new one if that is missing or unsafe
// in logs and headers.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}) {
		return rand.Text()
	}
	return id
}

// checkOrigin rejects requests that a browser sends for a foreign page: requests with a foreign
// Host, which indicates DNS rebinding, and requests from another origin, except those that
// [Server.panelOrigin] allows. Only browsers send an Origin.
func (s *Server) checkOrigin(c *call) error {
	r := c.r
	if !s.knownHost(r.Host) {
		return problem(codeMisdirected, "the host "+shortened(r.Host)+" is not one of this server's names; --host adds one")
	}
	if s.panelOrigin(c) || r.URL.Path == panelPath {
		return nil
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !opensPage(r) {
		return problem(codeForbidden, "a page of another site may not use this server")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
		return problem(codeForbidden, "a page of another origin may not use this server")
	}
	return nil
}

// knownHost reports whether a Host header names this server. An IP address is always accepted,
// because DNS rebinding needs a name.
func (s *Server) knownHost(host string) bool {
	if s.o.Hosts == nil {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(s.o.Hosts, host)
}

// tidy reports whether a path is in canonical form. Other paths are rejected, never redirected.
func tidy(p string) bool {
	clean := path.Clean(p)
	return p == clean && strings.HasPrefix(p, "/")
}

// panelPath is the path of the panel script.
const panelPath = "/panel.js"

// panelAsset returns the panel script, or nil if this build has none.
func panelAsset() *asset {
	data, ok := web.File("panel.js")
	if !ok {
		return nil
	}
	return newAsset("panel.js", data)
}

// panelScript sends the panel script. It contains no data, so every page may run it.
func (s *Server) panelScript(c *call) {
	a := s.panel()
	if a == nil {
		s.fail(c, problem(proviso.NotFound, "this build has no panel"))
		return
	}
	h := c.w.Header()
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Add("Vary", "Origin")
	if origin := c.r.Header.Get("Origin"); slices.Contains(s.o.PanelOrigins, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
	}
	a.serve(c)
}

// panelOrigin reports whether a page of an origin in [Options.PanelOrigins] sent a request to a
// route for panel tokens. If so, it lets the page read the response. Browsers send such
// requests without cookies, and only a panel token counts.
func (s *Server) panelOrigin(c *call) bool {
	origin := c.r.Header.Get("Origin")
	if !slices.Contains(s.o.PanelOrigins, origin) || len(s.panelMethods(c.r)) == 0 {
		return false
	}
	method := c.r.Method
	if method == http.MethodOptions {
		method = c.r.Header.Get("Access-Control-Request-Method")
	}
	if !slices.Contains(s.panelMethods(c.r), method) {
		return false
	}
	c.foreign = true
	h := c.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id")
	h.Add("Vary", "Origin")
	return true
}

// panelMethods returns the methods that accept panel tokens at the request's address.
func (s *Server) panelMethods(r *http.Request) (methods []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		probe := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		_, pattern := s.mux.Handler(probe)
		if found := s.routes[pattern]; found != nil && found.Panel != "" {
			methods = append(methods, method)
		}
	}
	return methods
}

// preflight answers a CORS preflight request for a panel token. It returns false for other
// requests.
func (s *Server) preflight(c *call) bool {
	if !c.foreign || c.r.Method != http.MethodOptions {
		return false
	}
	c.route = &route{Path: "preflight"}
	h := c.w.Header()
	h.Set("Access-Control-Allow-Methods", strings.Join(s.panelMethods(c.r), ", "))
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id")
	h.Set("Access-Control-Max-Age", "600")
	c.w.WriteHeader(http.StatusNoContent)
	return true
}
