package transport

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
)

// kept are the headers that a request keeps after a redirect to another origin: they
// describe the request and do not identify the sender.
var kept = [...]string{"Accept", "Content-Encoding", "Content-Type"}

// origin identifies the server that was asked: scheme, host and port.
func origin(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(address(u))
}

// redirect describes how far redirects have led a request from its start.
type redirect struct {
	left   bool // a hop, or this request, is for another origin than the first request
	hop    bool // this request is for another host or port than the one before it, or without its encryption
	abroad bool // this request is for another host name than the first, or without its encryption
}

// redirected follows the chain of redirects back to the first request. An
// http.Client links each request to the response that caused it, and copies the
// headers of the first request to every later one; so an origin that was left
// once counts for all that follows.
func redirected(req *http.Request) redirect {
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	if first == req {
		return redirect{}
	}
	left, home := false, origin(first.URL)
	for r := req; r != first; r = r.Response.Request {
		left = left || origin(r.URL) != home
	}
	from := req.Response.Request.URL
	return redirect{
		left:   left,
		hop:    from.Host != req.URL.Host || exposes(from, req.URL),
		abroad: hostOf(first.URL) != hostOf(req.URL) || exposes(first.URL, req.URL),
	}
}

// exposes reports whether a redirect drops encryption.
func exposes(from, to *url.URL) bool { return from.Scheme == "https" && to.Scheme != "https" }

// follow decides whether a redirected request is sent, and returns it as it is sent. A
// header of any name can hold a key, and so can the query that Referer repeats. So a
// request that has left its origin, even one that comes back to it, has no header of
// the caller. Its body is only for the configured host.
func (t *Transport) follow(req *http.Request) (*http.Request, error) {
	r := redirected(req)
	switch {
	case t.confined && r.hop:
		return nil, proviso.Errorf(proviso.Refused, "%s: a redirect to another host is not followed", URL(req.URL))
	case r.abroad && hasBody(req):
		return nil, proviso.Errorf(proviso.Refused, "%s: the redirect is not followed: it would send the request body to another host or without encryption; if the new address is correct, use it in the configuration", URL(req.URL))
	case !r.left:
		return traced(req), nil
	}
	bare := req.Clone(req.Context())
	bare.Header = make(http.Header, len(kept))
	for _, name := range kept {
		if values := req.Header.Values(name); len(values) > 0 {
			bare.Header[name] = values
		}
	}
	return bare, nil
}

func hasBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }
