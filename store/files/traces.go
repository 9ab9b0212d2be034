package files

import (
	"context"
	"time"

	"github.com/proviso-eval/proviso/store"
)

// AddSpans implements [store.Traces].
func (p project) AddSpans(context.Context, string, []store.SpanPart, store.TraceLimits) ([]string, error) {
	return nil, refused()
}

// AwaitTrace implements [store.Traces].
func (p project) AwaitTrace(context.Context, string, string, time.Duration) error { return refused() }

// Trace implements [store.Traces]: nobody sends spans here.
func (p project) Trace(ctx context.Context, _, _ string, after int64) (store.Trace, error) {
	return store.Trace{Next: after}, ctx.Err()
}

// DropTrace implements [store.Traces].
func (p project) DropTrace(context.Context, string, string) error { return refused() }
