package transport

import (
	"context"
	"net/http"
)

// traceparentKey is the context key of a traceparent.
type traceparentKey struct{}

// WithTraceparent makes requests under ctx carry the header traceparent (W3C Trace
// Context), unless they have one already. It is no part of what a recording is
// found by.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// traced returns req with the traceparent of its context.
func traced(req *http.Request) *http.Request {
	parent, _ := req.Context().Value(traceparentKey{}).(string)
	if parent == "" || req.Header.Get("Traceparent") != "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Traceparent", parent)
	return req
}
