package proxy

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/transport"
)

// DefaultSilence is the default time that an upstream may send nothing.
const DefaultSilence = 30 * time.Minute

// Options configure a proxy. Config is required.
type Options struct {
	Config  *Config
	Env     proviso.Env   // supplies the salts of the rules, and HTTPS_PROXY and the like; nil is empty
	Log     *slog.Logger  // nil logs nothing
	Silence time.Duration // time after which an upstream that sends nothing is abandoned; 0 means DefaultSilence
	Every   time.Duration // time between batches of events that are not full; 0 means a second
	// Upstream replaces the connections to upstreams; nil means the network. It must not decompress
	// bodies.
	Upstream http.RoundTripper
}

// Proxy is an http.Handler. [Proxy.Serve] serves it and sends the recorded events.
type Proxy struct {
	config   *Config
	log      *slog.Logger
	silence  time.Duration
	headers  []string // headers that identify requests; removed before requests are passed on
	reverse  *httputil.ReverseProxy
	network  *transport.Transport // nil if Options.Upstream is set
	redactor *ingest.Redactor
	budget   *budget
	recorder *recorder // nil if nothing is recorded
	metrics  *metrics
	ready    atomic.Bool
	open     atomic.Int64  // requests in flight
	builders chan struct{} // bounds how many records are processed at once
	building sync.WaitGroup
}

// New returns a proxy. It starts nothing until [Proxy.Serve].
func New(o Options) (*Proxy, error) {
	redactor, err := ingest.NewRedactor(o.Config.Redact, o.Env)
	if err != nil {
		return nil, err
	}
	p := &Proxy{config: o.Config, log: o.Log, silence: o.Silence, headers: o.Config.Identify.headers(), redactor: redactor,
		budget: &budget{limit: defaultBuffer}, builders: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	p.log = cmp.Or(p.log, slog.New(slog.DiscardHandler))
	p.silence = cmp.Or(p.silence, DefaultSilence)
	if r := o.Config.Record; r != nil {
		p.budget.limit = r.Buffer
		client := transport.New(transport.Options{Env: o.Env, HeaderTimeout: sendTimeout, MaxBody: 4 << 20}).Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the key stays
		p.recorder = newRecorder(r, client, p.budget, p.log)
		if o.Every > 0 {
			p.recorder.every = o.Every
		}
	}
	p.metrics = newMetrics(p)
	network := o.Upstream
	if network == nil {
		p.network = transport.New(transport.Options{Env: o.Env, Through: true})
		network = p.network
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: p.rewrite, Transport: network, FlushInterval: -1, ModifyResponse: p.replied, ErrorHandler: p.unanswered,
		ErrorLog:   slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // every exchange has a line in the log
		BufferPool: &buffers{},
	}
	return p, nil
}

// buffers pools the buffers that bodies are copied through.
type buffers struct{ pool sync.Pool }

const bufferSize = 16 << 10

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return new([bufferSize]byte)[:]
}

func (b *buffers) Put(p []byte) {
	if len(p) == bufferSize {
		b.pool.Put((*[bufferSize]byte)(p))
	}
}

// exchangeKey is the context key of the exchange of a request.
type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// ServeHTTP passes a request on, or answers at one of the proxy's own paths.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest := splitPath(r.URL.EscapedPath())
	to := p.config.Upstreams[name]
	if to == nil {
		p.own(w, r, name, rest)
		return
	}
	if dotted(rest) {
		refuse(w, http.StatusBadRequest, "path", "the path has . or .. between slashes")
		return
	}
	p.open.Add(1)
	defer p.open.Add(-1)
	x := p.begin(r, name, rest)
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), exchangeKey{}, x))
	x.watch(p.silence, cancel)
	defer cancel(nil)
	defer func() { p.end(x, context.Cause(ctx)) }()
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		x.body = &requestBody{from: r.Body, x: x}
		r.Body = x.body
	}
	x.out = w.Header()
	// An upstream may reply before it has read the whole request. Without full duplex, the server
	// closes the request body at the first part of the reply, and the connection to the upstream
	// ends with it. HTTP/2 is always full duplex.
	_ = http.NewResponseController(w).EnableFullDuplex()
	p.reverse.ServeHTTP(w, r)
	x.passed = true
}

// splitPath returns the first part of a path and the rest, which begins with a slash
// or is empty.
func splitPath(path string) (first, rest string) {
	path, ok := strings.CutPrefix(path, "/")
	if !ok {
		return "", path
	}
	first, rest, ok = strings.Cut(path, "/")
	if ok {
		rest = "/" + rest
	}
	return first, rest
}

// rewrite makes the request for the upstream: the same request, without the headers that identify
// it.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	x := exchangeOf(r.In.Context())
	to := p.config.Upstreams[x.upstream]
	u := &url.URL{Scheme: to.Scheme, Host: to.Host, RawQuery: r.In.URL.RawQuery, ForceQuery: r.In.URL.ForceQuery}
	path := to.EscapedPath() + x.path
	u.Path, u.RawPath = path, ""
	if plain, err := url.PathUnescape(path); err == nil && plain != path {
		u.Path, u.RawPath = plain, path
	}
	r.Out.URL, r.Out.Host = u, ""
	r.Out.Trailer = r.In.Trailer // it is filled in at the end of the body
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = v
		}
	}
	for _, name := range p.headers {
		r.Out.Header.Del(name)
	}
}

// replied reads the head of a reply.
func (p *Proxy) replied(resp *http.Response) error {
	x := exchangeOf(resp.Request.Context())
	x.out["Date"], x.out["Content-Type"] = nil, nil // the server adds no header that the upstream did not send
	x.head(resp)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &replyBody{ReadCloser: resp.Body, x: x}
	}
	return nil
}

// unanswered answers in place of an upstream that cannot be reached.
func (p *Proxy) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r.Context())
	status, code, message := http.StatusBadGateway, "upstream_unreachable", "the upstream "+x.upstream+" cannot be reached: "+transport.Reason(err)
	switch {
	case context.Cause(r.Context()) == errSilent:
		status, code, message = http.StatusGatewayTimeout, "upstream_silent", "the upstream sent nothing for "+p.silence.String()
	case x.client.Err() != nil:
		x.failed("the client left before the reply")
		panic(http.ErrAbortHandler)
	case x.uploadBroke():
		status, code, message = http.StatusBadRequest, "request_broken", "the body of the request ended early"
	}
	x.unreached(status, message)
	refuse(w, status, code, message)
	if x.recorded() && code != "request_broken" {
		x.readRest(w)
	}
}

// readRest reads the part of a request that the upstream did not read, so that the event has the
// whole request. The client already has its answer.
func (x *exchange) readRest(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	if c.Flush() != nil || c.SetReadDeadline(time.Now().Add(restTimeout)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, asks{x.body}, maxRequest) // as far as it has arrived
}

// own answers at the proxy's own paths.
func (p *Proxy) own(w http.ResponseWriter, r *http.Request, name, rest string) {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case rest != "" || !read:
	case name == "healthz":
		answer(w, http.StatusOK, `{"status":"ok"}`)
		return
	case name == "readyz":
		if p.ready.Load() {
			answer(w, http.StatusOK, `{"status":"ok"}`)
		} else {
			refuse(w, http.StatusServiceUnavailable, "stopping", "the proxy is starting or stopping")
		}
		return
	case name == "metrics":
		promhttp.HandlerFor(p.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
		return
	}
	refuse(w, http.StatusNotFound, "not_found", "no upstream has this name; the path begins with /NAME/ of an upstream of the configuration")
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body+"\n") // the client may have disconnected
}
