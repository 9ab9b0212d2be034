// Package transport is the only way to the network: every HTTP call goes through the
// http.RoundTripper that [New] makes. It decides which hosts may receive requests, bounds times and
// sizes, finds the proxy, and keeps keys out of errors.
package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/proviso-eval/proviso"
)

// Defaults of [Options].
const (
	defaultDial      = 30 * time.Second
	handshakeTimeout = 15 * time.Second
	defaultHeader    = 10 * time.Minute // a model may think for minutes before its first byte
	defaultBody      = 64 << 20

	continueTimeout = time.Second // wait for the server to ask for the body
)

// HostPolicy reports whether a host may receive requests. The host has no port and no brackets and
// is in lower case. It must be safe for concurrent use.
type HostPolicy func(host string) bool

// Options define where requests may go and how long they may take. The zero value allows all hosts,
// without a proxy.
type Options struct {
	// Env supplies HTTP_PROXY, HTTPS_PROXY, NO_PROXY and their lower-case forms; nil means no
	// proxy.
	Env proviso.Env

	// Hosts restricts requests to the hosts it allows; nil allows all.
	Hosts HostPolicy
	// RefusePrivate refuses addresses that are not on the public internet, after the name is
	// resolved. Behind a proxy, which resolves names itself, it refuses only hosts that are written
	// as addresses.
	RefusePrivate bool
	// AllowPrivate reports whether a private address is allowed nevertheless; nil allows none. It
	// must be safe for concurrent use.
	AllowPrivate func(netip.Addr) bool

	DialTimeout   time.Duration // 0 is 30 s
	HeaderTimeout time.Duration // from the request to the head of the response; 0 is 10 min
	MaxBody       int64         // bytes of a response body, decompressed; 0 is 64 MiB

	// Through passes bodies unchanged: still compressed, and without a limit. If a request expects
	// 100-continue, it waits for the server before it sends the body. HeaderTimeout then has no
	// default.
	Through bool

	// Wrap inserts a layer between the checks of this package and the network, such as one that
	// records and replays; nil inserts none.
	Wrap func(network http.RoundTripper) http.RoundTripper
}

// Transport is an http.RoundTripper. It is safe for concurrent use. Its errors are *[proviso.Error]
// with the code Refused, Limit, Timeout or Unavailable, or the error of the request's context.
type Transport struct {
	hosts    HostPolicy
	confined bool   // redirects stay on their host
	public   public // which addresses are allowed
	maxBody  int64  // 0 is no limit
	next     http.RoundTripper
	network  *http.Transport
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a transport. It opens no connection.
func New(o Options) *Transport {
	t := &Transport{
		hosts:    o.Hosts,
		confined: o.Hosts != nil || o.RefusePrivate,
		public:   public{o.RefusePrivate, o.AllowPrivate},
		maxBody:  cmp.Or(max(o.MaxBody, 0), defaultBody),
	}
	proxy := proxies(o.Env)
	dial := dialer{timeout: cmp.Or(max(o.DialTimeout, 0), defaultDial), public: t.public, proxies: proxy.addresses}
	t.network = &http.Transport{
		Proxy:                  proxy.find,
		DialContext:            dial.dial,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    512, // as many as run at once, so that requests that end together keep their connections
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    handshakeTimeout,
		ResponseHeaderTimeout:  cmp.Or(max(o.HeaderTimeout, 0), defaultHeader),
		MaxResponseHeaderBytes: 1 << 20,
	}
	if o.Through {
		t.maxBody = 0
		t.network.DisableCompression = true
		t.network.ExpectContinueTimeout = continueTimeout
		t.network.ResponseHeaderTimeout = o.HeaderTimeout
		t.network.MaxIdleConns, t.network.MaxIdleConnsPerHost = 4096, 2048
	}
	t.next = t.network
	if o.Wrap != nil {
		t.next = o.Wrap(t.network)
	}
	return t
}

// Client returns a client that uses t. It has no timeout of its own: give each
// request a context.
func (t *Transport) Client() *http.Client { return &http.Client{Transport: t} }

// CloseIdleConnections closes connections that serve no request.
func (t *Transport) CloseIdleConnections() { t.network.CloseIdleConnections() }

// RoundTrip sends a request if its host is allowed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := t.allow(req)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // the contract of RoundTripper; nothing was read
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, failure(req, err)
	}
	if t.maxBody == 0 {
		return resp, nil
	}
	if resp.ContentLength > t.maxBody {
		_ = resp.Body.Close()
		return nil, t.tooLarge(req.URL)
	}
	resp.Body = &body{ReadCloser: resp.Body, left: t.maxBody, limit: t.tooLarge(req.URL)}
	return resp, nil
}

// allow decides whether req may be sent, and returns the request to send.
func (t *Transport) allow(req *http.Request) (*http.Request, error) {
	host := hostOf(req.URL)
	switch {
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return nil, proviso.Errorf(proviso.Invalid, "%s: only http and https are supported", URL(req.URL))
	case t.hosts != nil && !t.hosts(host):
		return nil, proviso.Errorf(proviso.Refused, "the host %s is not allowed", host)
	case t.public.refusesHost(host):
		return nil, privateError(host)
	case req.Response == nil:
		return traced(req), nil
	}
	return t.follow(req)
}

func (t *Transport) tooLarge(u *url.URL) error {
	return proviso.Errorf(proviso.Limit, "%s: the response has more than %d bytes", URL(u), t.maxBody)
}

// failure gives a network error its code.
func failure(req *http.Request, err error) error {
	var known *proviso.Error
	if errors.As(err, &known) {
		return known
	}
	if ctx := req.Context().Err(); ctx != nil {
		return ctx
	}
	code := proviso.Unavailable
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		code = proviso.Timeout
	}
	return proviso.Because(err, code, "%s: %s", URL(req.URL), wording(err))
}

// wording describes a network error in plain words. For an unknown error it returns the system's
// text.
func wording(err error) string {
	var op *net.OpError
	through := ""
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		through = "the proxy of the environment: "
	}
	var dns *net.DNSError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return through + "there is no host " + dns.Name
	case errors.Is(err, syscall.ECONNREFUSED):
		return through + "nothing listens there (connection refused)"
	case errors.As(err, &record):
		return through + "it does not speak TLS; is its address one of http, not https?"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return through + "the connection was closed without an answer"
	}
	return through + err.Error()
}

// proxy finds the proxy of a request.
type proxy struct {
	find      func(*http.Request) (*url.URL, error)
	addresses map[string]bool // host:port of the proxies
}

// proxies reads the usual proxy variables.
func proxies(env proviso.Env) proxy {
	if env == nil {
		return proxy{}
	}
	lookup := func(upper, lower string) string {
		if v, ok := env.Lookup(upper); ok {
			return v
		}
		v, _ := env.Lookup(lower)
		return v
	}
	cfg := httpproxy.Config{
		HTTPProxy:  lookup("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: lookup("HTTPS_PROXY", "https_proxy"),
		NoProxy:    lookup("NO_PROXY", "no_proxy"),
	}
	if cfg.HTTPProxy == "" && cfg.HTTPSProxy == "" {
		return proxy{}
	}
	if malformed(cfg.HTTPProxy) || malformed(cfg.HTTPSProxy) {
		return proxy{find: func(*http.Request) (*url.URL, error) { // which may hold a password
			return nil, proviso.Errorf(proviso.Invalid, "the address of the proxy in the environment is malformed")
		}}
	}
	choose := cfg.ProxyFunc()
	p := proxy{find: func(req *http.Request) (*url.URL, error) { return choose(req.URL) }, addresses: map[string]bool{}}
	for _, scheme := range []string{"http", "https"} {
		if u, err := choose(&url.URL{Scheme: scheme, Host: "proxied.invalid"}); err == nil && u != nil {
			p.addresses[address(u)] = true
		}
	}
	return p
}

// malformed reports whether text is neither a URL nor host:port.
func malformed(text string) bool {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	_, err := url.Parse(text)
	return err != nil
}

// address returns host:port of u. If u has no port, it uses the port of its scheme.
func address(u *url.URL) string {
	known := map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), known[u.Scheme], "80"))
}

// body is a response body that returns an error once its limit is exceeded.
type body struct {
	io.ReadCloser
	left  int64
	limit error
}

// Read reads up to the limit, then fails if there is more.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.limit
	}
	if int64(len(p)) > b.left+1 { // one more byte tells whether there is more
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.limit
	}
	return n, err
}
