package transport

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
)

type sampleKey struct{}

// WithSample returns a context for the calls that answer one sample of an ask. Providers call it
// before they make requests, because the sample is part of the key of every recorded exchange.
func WithSample(ctx context.Context, s proviso.Sample) context.Context {
	if s == (proviso.Sample{}) && sampleFrom(ctx) == s {
		return ctx
	}
	return context.WithValue(ctx, sampleKey{}, s)
}

func sampleFrom(ctx context.Context) proviso.Sample {
	s, _ := ctx.Value(sampleKey{}).(proviso.Sample)
	return s
}

// latencyHeader holds the recorded latency in nanoseconds. Its name is invalid on the network (RFC
// 9110, section 5.6.2), so no server can set it.
const latencyHeader = " recorded latency"

// RecordedLatency returns how long the exchange took when it was recorded, up to the last byte of
// the body. It also returns whether resp comes from a cassette or is being recorded.
func RecordedLatency(resp *http.Response) (time.Duration, bool) {
	v := resp.Header[latencyHeader]
	if len(v) != 1 {
		return 0, false
	}
	ns, err := strconv.ParseInt(v[0], 10, 64)
	return time.Duration(ns), err == nil
}

func setLatency(h http.Header, d time.Duration) {
	h[latencyHeader] = []string{strconv.FormatInt(int64(d), 10)}
}

// runKey is the context key of the run id and its placeholder.
type runKey struct{}

type runID struct{ id, by string }

// WithRun declares that requests under ctx may contain a run id. Recordings contain by in its
// place, so that another run finds them.
func WithRun(ctx context.Context, id, by string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, runKey{}, runID{id, by})
}

// withoutRun returns q with the placeholder instead of the run id.
func withoutRun(ctx context.Context, q Request) Request {
	r, ok := ctx.Value(runKey{}).(runID)
	if !ok {
		return q
	}
	q.URL = strings.ReplaceAll(q.URL, r.id, r.by)
	for name, v := range q.Headers {
		q.Headers[name] = strings.ReplaceAll(v, r.id, r.by)
	}
	q.Text = strings.ReplaceAll(q.Text, r.id, r.by)
	if q.JSON != nil {
		q.JSON = bytes.ReplaceAll(q.JSON, []byte(r.id), []byte(r.by))
	}
	return q
}

// traceparentKey is the context key of a traceparent.
type traceparentKey struct{}

// WithTraceparent adds the header traceparent (W3C Trace Context) to requests under ctx that have
// none. It is not part of the key of a recording.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// traced returns req with the traceparent from its context.
func traced(req *http.Request) *http.Request {
	parent, _ := req.Context().Value(traceparentKey{}).(string)
	if parent == "" || req.Header.Get("Traceparent") != "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Traceparent", parent)
	return req
}
