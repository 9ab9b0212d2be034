package transport

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso"
)

// kept are the headers that a request keeps after a redirect to another origin: they describe the
// request but not the sender.
var kept = [...]string{"Accept", "Content-Encoding", "Content-Type"}

// origin identifies a server: scheme, host and port.
func origin(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(address(u))
}

// redirect describes how far redirects have led a request from its start.
type redirect struct {
	left   bool // this request, or an earlier hop, goes to another origin than the first request
	hop    bool // this request goes to another host or port than the one before it, or drops its encryption
	abroad bool // this request goes to another host name than the first, or drops its encryption
}

// redirected follows the chain of redirects back to the first request. An http.Client links each
// request to the response that caused it, and copies the headers of the first request to every
// later one. So once a request has left its origin, that counts for all later ones.
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

// follow decides whether a redirected request is sent, and returns the request to send. A header of
// any name can hold a key, and so can the query that Referer repeats. So once a request has left
// its origin, it carries none of the caller's headers, even if it returns there. Its body goes only
// to the configured host.
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
