package transport

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/proviso-eval/proviso"
)

// recorder passes requests on and keeps the answers.
type recorder struct {
	c       *Cassette
	network http.RoundTripper
}

// maxRecorded is the most bytes of a body that are kept.
const maxRecorded = defaultBody

// RoundTrip asks the network. An answer that cannot be kept is an error, because the
// recording could not be replayed without it.
func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	q, sent, err := requestOf(req)
	if err == nil {
		err = r.c.Err()
	}
	if err != nil {
		return nil, err
	}
	start := time.Now()
	resp, err := r.network.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	resp.Request = req
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRecorded+1))
	if err != nil || len(data) > maxRecorded {
		resp.Body = &rest{io.MultiReader(bytes.NewReader(data), failing{err}, resp.Body), resp.Body}
		return resp, nil
	}
	_ = resp.Body.Close() // it was read to its end
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	var a Response
	a.SetLatency(time.Since(start))
	setLatency(resp.Header, a.Latency())
	if passing(resp.StatusCode) {
		return resp, nil
	}
	a.Status, a.Headers, a.Content = resp.StatusCode, keep(resp.Header, r.c.headers), content(data)
	r.c.cleanLocation(a.Headers, req)
	if err := r.c.Save(q, sampleFrom(req.Context()), a, secretsOf(req)...); err != nil {
		return nil, err
	}
	return resp, nil
}

// cleanLocation takes keys out of the address of a redirect.
func (c *Cassette) cleanLocation(headers map[string]string, req *http.Request) {
	to, ok := headers["Location"]
	if !ok {
		return
	}
	delete(headers, "Location")
	if u, err := req.URL.Parse(to); err == nil {
		headers["Location"], _ = cleanURL(u)
	}
}

// passing reports whether a status depends on the moment or on the key, rather than on
// the question. Such answers are not kept.
func passing(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// rest is a body that was read in part.
type rest struct {
	io.Reader
	io.Closer
}

// failing is a reader that gives an error, or ends if there is none.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// requestOf describes a request. Its body is read, so it also returns a copy that
// can be sent.
func requestOf(req *http.Request) (Request, *http.Request, error) {
	q := Request{Method: req.Method, Headers: keep(req.Header, requestHeaders[:])}
	if q.Method == "" {
		q.Method = http.MethodGet
	}
	q.URL, _ = cleanURL(req.URL)
	if req.Body == nil || req.Body == http.NoBody {
		return withoutRun(req.Context(), q), req, nil
	}
	data, err := io.ReadAll(io.LimitReader(req.Body, maxRecorded+1))
	_ = req.Body.Close() // it was read to its end, or is given up
	if err == nil && len(data) > maxRecorded {
		err = proviso.Errorf(proviso.Limit, "%s: a request of more than %d bytes cannot be recorded", URL(req.URL), maxRecorded)
	}
	if err != nil {
		return q, nil, err
	}
	sent := *req
	sent.Body = io.NopCloser(bytes.NewReader(data))
	q.Content = content(data)
	return withoutRun(req.Context(), q), &sent, nil
}
