package transport

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/proviso-eval/proviso"
)

type sampleKey struct{}

// WithSample returns a context for the calls that answer one sample of an ask.
// Providers call it before they make requests: the sample is part of the key of
// every recorded exchange.
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

// latencyHeader holds the recorded latency in nanoseconds. Its name is not one
// that a header on the network can have (RFC 9110, section 5.6.2), so that no
// server can set it.
const latencyHeader = " recorded latency"

// RecordedLatency returns how long the exchange took when it was recorded, up to
// the last byte of the body, and whether resp is from a cassette or being
// recorded on one.
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
