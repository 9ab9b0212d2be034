package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/web"
)

// panelPath is where the script of the panel is.
const panelPath = "/panel.js"

// panelAsset is the script of the panel, nil if this build has none.
func panelAsset() *asset {
	data, ok := web.File("panel.js")
	if !ok {
		return nil
	}
	return newAsset("panel.js", data)
}

// panelScript sends the script of the panel. It holds no data, so every page may run it.
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

// panelOrigin reports whether a page of an origin in [Options.PanelOrigins] sent a request
// to a route for panel tokens, and lets the page read the response. Browsers send such
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

// panelMethods returns the methods with which panel tokens can be used at the address of a
// request.
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

// preflight answers a browser that asks whether a page may send a request with a panel
// token; false if it does not ask that.
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
