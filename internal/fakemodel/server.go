// Package fakemodel is a server for tests that speaks the wire formats of model vendors
// and misbehaves on request. Start at [New]: its URL is the base URL of any of the
// vendors, and [Options.Reply] chooses the answers.
package fakemodel

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso/value"
)

// APIs of the server.
const (
	Chat         = "openai chat"
	Responses    = "openai responses"
	Completions  = "openai completions"
	Embeddings   = "openai embeddings"
	Anthropic    = "anthropic messages"
	Google       = "google generateContent"
	GoogleEmbed  = "google batchEmbedContents"
	OllamaChat   = "ollama chat"
	Ollama       = "ollama generate"
	OllamaEmbeds = "ollama embed"
	Moderations  = "openai moderations"
	Classify     = "huggingface text classification"
	Converse     = "bedrock converse"
	Titan        = "bedrock invoke" // of an embedding model
	VertexEmbed  = "vertex predict" // of an embedding model
	Replicate    = "replicate predictions"
)

// Options define the server's behaviour. The zero value answers every prompt with the
// prompt's last text.
type Options struct {
	// Reply is called for each answer, from several goroutines at once.
	Reply func(Request) Reply
	// Latency is the delay before each answer.
	Latency time.Duration
	// Key is the only accepted key; "" accepts any key, or none.
	Key string
	// Limiter refuses requests beyond its limits, with status 429, and reports the limits in the
	// headers of all answers; nil refuses none.
	Limiter *Limiter
	// Forget discards requests, for benchmarks.
	Forget bool
	// Streams answers OpenAI and Anthropic requests that have stream: true with server-sent events.
	// Otherwise they are refused.
	Streams bool
}

// Request is a request as the server read it.
type Request struct {
	Number int    // from 1, in order of arrival
	API    string // one of the constants above
	Model  string
	Path   string // including the query
	Header http.Header
	Body   *value.Object
	Prompt string // the last text of the request
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	URL string // without a slash at the end

	o    Options
	http *httptest.Server
	quit chan struct{} // closed to end hanging requests

	mu       sync.Mutex
	count    int
	flying   int
	peak     int
	requests []Request
}

// New starts a server. The caller must close it.
func New(o Options) *Server {
	s := &Server{o: o, quit: make(chan struct{})}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close stops the server and ends hanging requests.
func (s *Server) Close() {
	close(s.quit)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Count returns the number of requests so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Peak returns the maximum number of concurrent requests.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Reset restarts the counts. Requests in flight still count.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count, s.peak, s.requests = 0, s.flying, nil
}

// Last returns the latest request, or the zero value if there is none.
func (s *Server) Last() Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == 0 {
		return Request{}
	}
	return s.requests[len(s.requests)-1]
}

// maxBody bounds the body of a request.
const maxBody = 16 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api, model := route(r.URL.Path)
	looks := r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/predictions/") // polls an earlier request
	if looks {
		api = Replicate
	}
	if api == "" || r.Method != http.MethodPost && !looks {
		http.NotFound(w, r)
		return
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client disconnected
	}
	if looks {
		data = []byte("{}")
	}
	v, err := value.ParseJSON(string(data))
	body, _ := v.(*value.Object)
	if err != nil || body == nil {
		write(w, Reply{}.Failing(http.StatusBadRequest, "invalid_request_error", "the body is not a JSON object"), api, Request{})
		return
	}
	if m, ok := body.At("model").(string); ok {
		model = m
	}
	req := Request{API: api, Model: model, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body, Prompt: prompt(body)}
	s.enter(&req)
	defer s.leave()
	reply := s.o.Limiter.limit(s.reply(req))
	if !s.wait(r, s.o.Latency) {
		return
	}
	s.perform(w, r, reply, req)
}

// route returns the API of a path, and the model if the path contains it.
func route(path string) (api, model string) {
	if api, model = cloudRoute(path); api != "" {
		return api, model
	}
	if rest, ok := strings.CutSuffix(path, "/predictions"); ok {
		_, model, _ = strings.Cut(rest, "/models/")
		return Replicate, model
	}
	if _, rest, ok := strings.Cut(path, "/models/"); ok {
		model, method, _ := strings.Cut(rest, ":")
		switch method {
		case "generateContent":
			return Google, model
		case "batchEmbedContents":
			return GoogleEmbed, model
		case "":
			return Classify, model
		}
		return "", ""
	}
	if _, rest, ok := strings.Cut(path, "/deployments/"); ok {
		model, _, _ = strings.Cut(rest, "/")
	}
	for _, known := range [...]struct{ suffix, api string }{
		{"/chat/completions", Chat}, {"/responses", Responses}, {"/completions", Completions}, {"/embeddings", Embeddings}, {"/moderations", Moderations},
		{"/v1/messages", Anthropic}, {"/api/chat", OllamaChat}, {"/api/generate", Ollama}, {"/api/embed", OllamaEmbeds},
	} {
		if strings.HasSuffix(path, known.suffix) {
			return known.api, model
		}
	}
	return "", ""
}

func (s *Server) enter(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	r.Number = s.count
	s.flying++
	s.peak = max(s.peak, s.flying)
	if !s.o.Forget {
		s.requests = append(s.requests, *r)
	}
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying--
}

func (s *Server) reply(r Request) Reply {
	if s.o.Key != "" && key(r.Header) != s.o.Key {
		return Reply{}.Failing(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+key(r.Header))
	}
	if r.streams() && !s.o.Streams {
		return Reply{}.Failing(http.StatusBadRequest, "unsupported_value", "this server does not stream")
	}
	if s.o.Reply == nil {
		return Reply{Text: r.Prompt}
	}
	return s.o.Reply(r)
}

// streams reports whether a request asks for a stream.
func (r *Request) streams() bool {
	return r.Body.At("stream") == true
}

// key returns the key from any vendor's header.
func key(h http.Header) string {
	return cmp.Or(h.Get("X-Api-Key"), h.Get("X-Goog-Api-Key"), h.Get("Api-Key"), strings.TrimPrefix(h.Get("Authorization"), "Bearer "))
}

// hang waits until the client disconnects or the server is closed.
func (s *Server) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.quit:
	}
	panic(http.ErrAbortHandler)
}

// wait waits for d. It returns false if the client disconnects or the server is closed.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
	case <-s.quit:
	}
	return false
}

// prompt returns the last text in a request of any API.
func prompt(body *value.Object) string {
	for _, key := range [...]string{"messages", "input", "inputs", "contents", "prompt", "inputText", "texts", "instances"} {
		if text := lastText(body.At(key)); text != "" {
			return text
		}
	}
	return ""
}

func lastText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range slices.Backward(v) {
			if text := lastText(e); text != "" {
				return text
			}
		}
	case *value.Object:
		for _, key := range [...]string{"content", "parts", "text"} {
			if text := lastText(v.At(key)); text != "" {
				return text
			}
		}
	}
	return ""
}
