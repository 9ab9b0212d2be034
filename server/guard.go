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
)

// headers sets the headers of every response: no caching, no frames, no content
// sniffing, no referrer. No header allows pages of other origins to read a
// response; see [Server.panelOrigin] for the exception.
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

// maxRequestID bounds the ids that clients give their requests.
const maxRequestID = 64

// requestID returns the id that the client gave the request, or a new one if
// that is missing or not safe for logs and headers.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}) {
		return rand.Text()
	}
	return id
}

// checkOrigin rejects requests that a browser sends for a foreign page:
// requests with a foreign Host, which indicates DNS rebinding, and requests of
// another origin. Programs other than browsers send no Origin.
// Origins of [Server.panelOrigin] are none.
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

// knownHost reports whether a Host header names this server. An IP address is
// always accepted, because DNS rebinding needs a name.
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

// tidy reports whether a path is in canonical form, so that no path is
// redirected.
func tidy(p string) bool {
	clean := path.Clean(p)
	return p == clean && strings.HasPrefix(p, "/")
}
