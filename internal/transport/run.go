package transport

import (
	"bytes"
	"context"
	"strings"
)

// runKey is the context key of what stands for the id of a run.
type runKey struct{}

type runID struct{ id, by string }

// WithRun says that requests under ctx may hold the id of a run. Recordings have
// by in its place, so that another run finds them.
func WithRun(ctx context.Context, id, by string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, runKey{}, runID{id, by})
}

// withoutRun returns a request as another run would make it.
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
