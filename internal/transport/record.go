package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
)

// recorder passes requests on and records the answers.
type recorder struct {
	c       *Cassette
	network http.RoundTripper
}

// maxRecorded limits the bytes of a recorded body.
const maxRecorded = defaultBody

// RoundTrip sends the request. If the answer cannot be recorded, it returns an error, because a
// replay would lack the answer.
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

// cleanLocation removes keys from the address of a redirect.
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

// passing reports whether a status depends on the moment or on the key, rather than on the request.
// Such answers are not recorded.
func passing(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// rest is a body that was partly read.
type rest struct {
	io.Reader
	io.Closer
}

// failing is a reader that returns an error, or io.EOF if the error is nil.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// requestOf describes a request. It reads the body, so it also returns a copy of the request that
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
	_ = req.Body.Close() // it was read to its end, or the request is abandoned
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

// replayer answers from the cassette.
type replayer struct{ c *Cassette }

// RoundTrip never touches the network.
func (r replayer) RoundTrip(req *http.Request) (*http.Response, error) {
	q, _, err := requestOf(req)
	if err == nil {
		err = req.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	a, err := r.c.Load(q, sampleFrom(req.Context()))
	if err != nil {
		return nil, err
	}
	data, err := a.bytes()
	if err == nil && a.Status == 0 {
		err = errors.New("the exchange on the cassette was not one over HTTP")
	}
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "replay: %w", err)
	}
	h := http.Header{}
	for name, v := range a.Headers {
		h.Set(name, v)
	}
	setLatency(h, a.Latency())
	return &http.Response{
		Status: strconv.Itoa(a.Status) + " " + http.StatusText(a.Status), StatusCode: a.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: req,
	}, nil
}

// Recording describes a cassette as a whole.
type Recording struct {
	Exchanges int
	Hash      string    // hash of all bytes of all exchanges, hexadecimal
	Made      time.Time // when the last exchange was recorded; the Unix epoch if unknown
}

// Recording reads all exchanges of the cassette. Damaged files are hashed as they are;
// [Cassette.Load] reports the damage when the exchange is needed.
func (c *Cassette) Recording(ctx context.Context) (Recording, error) {
	r := Recording{Made: time.Unix(0, 0).UTC()}
	h := sha256.New()
	for key, err := range c.shelf.Keys() {
		if err == nil {
			err = ctx.Err()
		}
		var data []byte
		if err == nil {
			data, err = c.shelf.Read(key)
		}
		if err != nil {
			return Recording{}, proviso.Errorf(proviso.Unavailable, "replay: %w", err)
		}
		r.Exchanges++
		fmt.Fprintf(h, "%s %x\n", key, sha256.Sum256(data))
		var dated struct {
			Recorded time.Time `json:"recorded"`
		}
		if json.Unmarshal(data, &dated) == nil && dated.Recorded.After(r.Made) {
			r.Made = dated.Recorded.UTC()
		}
	}
	r.Hash = hex.EncodeToString(h.Sum(nil))
	return r, nil
}
