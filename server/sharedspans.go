package server

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/store"
)

const (
	// rowTrace is how long the trace of a run's row is protected from being dropped for room,
	// after the row starts.
	rowTrace = time.Hour
	// expectedTrace is the same for an evaluation, which waits a much shorter time for spans.
	expectedTrace = time.Minute
	// partSpans and partBytes are the approximate limits of one stored part of a trace.
	partSpans = 1000
	partBytes = 1 << 20
	// storePause is the pause between two attempts to read spans while the database is
	// unreachable.
	storePause = 500 * time.Millisecond
	// noteTimeout limits writing a mark to the store.
	noteTimeout = 5 * time.Second
)

// shares reports whether a key's spans go to the store, where other servers and workers find
// them. Only keys that can start runs, evaluations or watches share spans; others have no use
// for them there.
func (s *spans) shares(key store.Key) bool { return s.kept != nil && key.Can(store.Evaluate) }

// limits returns the limits of spans in the store.
func (s *spans) limits() store.TraceLimits {
	return store.TraceLimits{Bytes: s.o.Bytes, KeyBytes: s.o.KeyBytes, OneTrace: s.o.OneTrace, Life: s.o.Age}
}

// share stores the spans of a request for other processes. It returns how many spans had no
// room, and the reason for the first of them.
func (s *spans) share(ctx context.Context, key store.Key, b *otlp.Batch) (refused int, reason string, err error) {
	parts := partsOf(b)
	if len(parts) == 0 {
		return 0, "", nil
	}
	list, err := s.kept.In(key.Project).AddSpans(ctx, key.ID, parts, s.limits())
	for i, why := range list {
		if why == "" {
			continue
		}
		if refused += parts[i].Spans; reason == "" {
			reason = why
		}
	}
	return refused, reason, err
}

// partsOf groups the spans of a request by trace, in the order in which the traces first occur.
func partsOf(b *otlp.Batch) []store.SpanPart {
	var order []string
	traces := map[string][]proviso.Span{}
	for i := range b.Records {
		r := &b.Records[i]
		if _, known := traces[r.TraceID]; !known {
			order = append(order, r.TraceID)
		}
		traces[r.TraceID] = append(traces[r.TraceID], r.Span)
	}
	size := 1
	for i := range b.Records {
		size += b.Records[i].Size
	}
	most := max(1, min(partSpans, partBytes/(size/max(1, len(b.Records))+1)))
	var parts []store.SpanPart
	for _, id := range order {
		for list := traces[id]; len(list) > 0; {
			n := min(len(list), most)
			parts = append(parts, store.SpanPart{Trace: id, Spans: n, Content: otlp.EncodeSpans(list[:n])})
			list = list[n:]
		}
	}
	return parts
}

// fetch implements [otlp.StoreOptions]. Patient work waits while the database is unreachable.
func (k *keySpans) fetch(ctx context.Context, trace string, after int64) (next int64, refused int, err error) {
	if len(trace) > store.MaxTraceID {
		return after, 0, nil // no client can have sent it
	}
	for next = after; ; {
		got, err := k.kept().Trace(ctx, k.id, trace, next)
		switch {
		case err == nil:
		case errors.Is(err, store.ErrSealed):
			if leavingOf(ctx).leave(store.Unfit(store.ErrSealed)) {
				err = context.Canceled
			}
			return 0, 0, err
		case store.IsPatient(ctx) && proviso.CodeOf(err) == proviso.Unavailable:
			if err := transport.Wait(ctx, storePause); err != nil {
				return 0, 0, err
			}
			continue
		default:
			return 0, 0, err
		}
		if err := k.add(trace, got.Parts); err != nil {
			return 0, 0, err
		}
		if next, refused = got.Next, got.Refused; !got.More {
			return next, refused, nil
		}
	}
}

func (k *keySpans) kept() store.ProjectStore { return k.all.kept.In(k.project) }

// add adds parts of a trace to memory.
func (k *keySpans) add(trace string, parts [][]byte) error {
	var b otlp.Batch
	for _, part := range parts {
		records, err := otlp.DecodeSpans(trace, part)
		if err != nil {
			return err
		}
		b.Records = append(b.Records, records...)
	}
	if len(b.Records) == 0 {
		return nil
	}
	s := k.all
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = s.held(k)
	k.store.Merge(&b) // spans without room are counted in the trace
	return nil
}

// begun marks, for other servers, that a row of a run waits for a trace: its spans are not
// production traffic, and are not dropped for room. If it fails, only these two guarantees are
// lost.
func (k *keySpans) begun(trace string) {
	k.note("wait for a trace", func(ctx context.Context) error { return k.kept().AwaitTrace(ctx, k.id, trace, rowTrace) })
}

// ended drops the trace of a decided row. If that fails, the trace expires.
func (k *keySpans) ended(trace string) {
	k.note("drop a trace", func(ctx context.Context) error { return k.kept().DropTrace(ctx, k.id, trace) })
}

func (k *keySpans) note(what string, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		k.all.log.Warn(what, "error", err)
	}
}

// expect marks, for other servers, that an evaluation uses a trace, if they might otherwise
// make events from its spans.
func (s *spans) expect(ctx context.Context, key store.Key, trace string) {
	if !s.shares(key) || !key.Can(store.Ingest) {
		return
	}
	if err := s.kept.In(key.Project).AwaitTrace(ctx, key.ID, otlp.TraceID(trace), expectedTrace); err != nil {
		s.log.Warn("wait for a trace", "error", err)
	}
}

// awaited reports whether a run or an evaluation on another server waits for a trace.
func (s *spans) awaited(ctx context.Context, key store.Key, trace string) (bool, error) {
	if !s.shares(key) {
		return false, nil
	}
	got, err := s.kept.In(key.Project).Trace(ctx, key.ID, trace, math.MaxInt64)
	return got.Awaited, err
}
