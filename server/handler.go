package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// call is the state of one request.
type call struct {
	w     *recorder
	r     *http.Request
	route *route
	id    string      // request id
	key   store.Key   // zero if the route needs none
	token *panelToken // panel token of the request; nil if it came with a key or a session
	// foreign means that a page of an origin in [Options.PanelOrigins] sent the request, so
	// that only a panel token counts.
	foreign bool
	body    []byte
	doc     *document.Document // the body, once [call.read] has parsed it
	q       query              // the query parameters, all of them in the table of routes
	clock   clock

	as      string             // the person whom the token names; "" means the key itself
	project store.Project      // project of the request; "" if the route needs no key
	kept    store.ProjectStore // store of the project; nil if there is none

	claim  *store.Claim    // claim on the idempotency key, until the response is stored
	answer *store.Response // the sent response

	traces   []string // traces of the request's spans
	unshared error    // why other servers do not know these spans
}

// anonymous is the client id of requests without a key, where they are allowed.
const anonymous = "local"

// anonymousKey is the key of requests without one.
func anonymousKey() store.Key {
	return store.Key{ID: anonymous, Project: store.DefaultProject, Scopes: []store.Scope{store.Admin}}
}

// writeTimeout is how long a client may take to receive a response.
const writeTimeout = time.Minute

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: &recorder{ResponseWriter: w}, r: r, id: requestID(r), route: &route{Path: "none"}}
	if s.o.LogContents {
		c.w.copy = new(bytes.Buffer)
	}
	s.underWay.Add(1)
	defer s.underWay.Done()
	started := time.Now()
	defer func() { s.finish(c, started) }()
	defer c.w.end()
	defer func() {
		if v := recover(); v != nil {
			s.panicked(c, v)
		}
	}()
	headers(w.Header(), c.id, s.o.TLS != nil)
	if err := s.checkOrigin(c); err != nil {
		s.fail(c, err)
		return
	}
	if s.preflight(c) || s.page(c) {
		return
	}
	if !s.routed(r) || !tidy(r.URL.EscapedPath()) {
		s.fail(c, s.unknownPath(r))
		return
	}
	s.mux.ServeHTTP(c.w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
}

type callKey struct{}

// client identifies the client for rate limits: its key, or its panel token.
func (c *call) client() string {
	if c.token != nil {
		return c.token.ID
	}
	return c.key.ID
}

// unknownPath returns the problem of a request that matches no route.
func (s *Server) unknownPath(r *http.Request) error {
	var methods []string
	for _, route := range routes() {
		probe := &http.Request{Method: route.Method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(probe); pattern == route.Method+" "+route.Path && tidy(r.URL.EscapedPath()) {
			methods = append(methods, route.Method)
		}
	}
	if len(methods) == 0 {
		return problem(proviso.NotFound, "there is nothing at "+shortened(r.URL.Path)+"; /openapi.json lists all paths")
	}
	p := problem(codeMethod, shortened(r.Method)+" is not possible here; "+strings.Join(methods, ", ")+" is")
	p.allow = strings.Join(methods, ", ")
	return p
}

// handler returns the HTTP handler of a route.
func (s *Server) handler(route *route) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(callKey{}).(*call)
		if !ok {
			return // only ServeHTTP calls this handler
		}
		c.r, c.route = r, route
		if err := s.serve(c); err != nil {
			s.fail(c, err)
		}
	})
}

// serve runs the checks that all routes share, then the route.
func (s *Server) serve(c *call) error {
	if err := s.authenticate(c); err != nil {
		if c.route.MediaType == mediaHTML && wantsHTML(c.r) && s.o.OpenToken == "" && problemOf(err).Status == http.StatusUnauthorized {
			return c.sendResponse(store.Response{Status: http.StatusSeeOther, Location: "/login?next=" + url.QueryEscape(c.r.URL.RequestURI())})
		}
		return err
	}
	if c.route.Scope != "" {
		if wait, ok := s.rates.take(c.client(), time.Now()); !ok {
			return problem(codeRate, fmt.Sprintf("more than %g requests a second; --rate sets the limit", s.o.Rate)).after(wait)
		}
	}
	if !c.route.Streamed && (c.route.Method == http.MethodPost || c.route.Method == http.MethodPut) {
		taken, err := s.read(c)
		defer s.room.Release(taken)
		if err != nil {
			return err
		}
	}
	if !c.route.Stream && !c.route.Streamed {
		_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(s.o.EvaluateLimit + writeTimeout)) // not every writer supports this
	}
	ctx := withClock(c.r.Context(), &c.clock)
	c.r = c.r.WithContext(ctx)
	if c.route.Scope != "" && !c.route.Hidden || c.route.Params != nil {
		if err := c.readQuery(); err != nil {
			return err
		}
	}
	do := c.route.Handle
	if c.repeatable() {
		do = (*Server).once
	}
	if c.body == nil {
		return do(s, c)
	}
	return s.task(c, func() error { return do(s, c) })
}

// send sends a value as the response, or returns err.
func (c *call) send(v any, err error) error {
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, v)
}

// done sends an empty response, or returns err.
func (c *call) done(err error) error {
	if err != nil {
		return err
	}
	return c.sendResponse(store.Response{Status: http.StatusNoContent})
}

// json sends a value as the response.
func (c *call) json(status int, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return c.sendResponse(store.Response{Status: status, MediaType: mediaJSON, Body: data})
}

const (
	mediaJSON = "application/json"
	mediaHTML = "text/html"
)

// encode returns the JSON of a response: one line with a line break at its end, without HTML
// escapes.
func encode(v any) ([]byte, error) {
	b, err := value.EncodeJSON(v, "")
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return b, nil
}

// sendResponse sends a response. A client that has disconnected is not an
// error.
func (c *call) sendResponse(r store.Response) error {
	c.answer = &r
	h := c.w.Header()
	if r.MediaType != "" {
		h.Set("Content-Type", r.MediaType)
		h.Set("Content-Length", strconv.Itoa(len(r.Body)))
	}
	if r.MediaType == mediaJSON && len(r.Body) >= minPacked {
		c.pack()
	}
	if r.Location != "" {
		h.Set("Location", r.Location)
	}
	c.w.WriteHeader(r.Status)
	_, _ = c.w.Write(r.Body)
	return nil
}

// fail sends a problem as the response.
func (s *Server) fail(c *call, err error) {
	p := problemOf(err)
	if c.w.status != 0 {
		s.o.Log.Error("answer cut off", "request_id", c.id, "error", err)
		return
	}
	if p.Status >= 500 && c.r.Context().Err() == nil {
		s.o.Log.Error("request failed", "request_id", c.id, "route", c.route.Path, "error", logged(err))
	}
	p.write(c.w, c.id)
}

// logged returns the error to log, including the cause that clients do not see.
func logged(err error) error {
	if p, ok := errors.AsType[*Problem](err); ok && p.cause != nil {
		return p.cause
	}
	return err
}

// panicked handles a panic in a request.
func (s *Server) panicked(c *call, v any) {
	if v == http.ErrAbortHandler {
		panic(v) // net/http closes the connection
	}
	s.o.Log.Error("defect", "request_id", c.id, "route", c.route.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	s.fail(c, problem(proviso.Internal, "see the log of the server"))
}

// finish counts the request and logs it.
func (s *Server) finish(c *call, started time.Time) {
	took, waited := time.Since(started), c.clock.total()
	s.metrics.request(c.route, c.project, c.r.Method, c.w.status, took-waited, waited)
	level := slog.LevelInfo
	if c.route.Scope == "" && c.w.status == http.StatusOK {
		level = slog.LevelDebug // health checks arrive every few seconds
	}
	gone := c.r.Context().Err() != nil // the client left, or the server is stopping
	if c.w.status >= 500 && !gone {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request_id", c.id), slog.String("method", shortened(c.r.Method)), slog.String("route", c.route.Path),
		slog.Int("status", c.w.status), slog.Float64("ms", milliseconds(took)), slog.Float64("wait_ms", milliseconds(waited)),
		slog.Int("bytes_in", len(c.body)), slog.Int64("bytes_out", c.w.bytes), slog.String("remote", c.r.RemoteAddr),
	}
	if c.key.ID != "" {
		attrs = append(attrs, slog.String("key", c.key.ID), slog.String("project", string(c.project)))
	}
	if gone {
		attrs = append(attrs, slog.Bool("cut_off", true))
	}
	if s.o.LogContents && c.route.Reads == nil && !c.route.Secret {
		attrs = append(attrs, slog.String("request", string(c.body[:min(len(c.body), maxLogged)])), slog.String("response", c.w.copy.String()))
	}
	s.o.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
