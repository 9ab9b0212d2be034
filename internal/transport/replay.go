package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/proviso-eval/proviso"
)

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
