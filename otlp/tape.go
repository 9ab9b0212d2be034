package otlp

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// Tape is a [Store] that records traces, and the rows that they belong to, on a cassette, or
// replays them. It is safe for concurrent use.
type Tape struct {
	*Store
	cassette *transport.Cassette
	warn     func(string)
	lacking  sync.Once
}

// NewTape returns the tape of a run. It calls warn once if the cassette has no trace
// for a row.
func NewTape(s *Store, c *transport.Cassette, warn func(string)) *Tape {
	return &Tape{Store: s, cassette: c, warn: warn}
}

// Methods of the exchanges that hold traces.
const (
	rowMethod   = "TRACE" // the trace of a row
	spansMethod = "SPANS" // the spans of a trace
)

// BeginRow starts a trace for a request to a provider, or returns the recorded one. Traces that no
// assertion uses are not recorded, because the run does not wait for their spans.
func (t *Tape) BeginRow(provider string, about *value.Object, sample proviso.Sample, needed bool) (id string, tc proviso.TraceContext, ok bool) {
	q := transport.Request{Method: rowMethod, URL: provider}
	q.JSON = value.AppendJSON(nil, about)
	if t.cassette.Replays() {
		r, err := t.cassette.Load(q, sample)
		o := objectOf(r.JSON)
		id := o.Text("traceId")
		if err != nil || id == "" {
			if needed {
				t.lacking.Do(func() {
					t.warn("the recording lacks the trace of a row that asked " + provider + "; record it again")
				})
			}
			return "", tc, false
		}
		return id, tc, true
	}
	if id, tc, ok = t.Begin(); !ok || !needed {
		return id, tc, ok
	}
	var r transport.Response
	r.JSON = value.AppendJSON(nil, value.ObjectOf("traceId", id))
	_ = t.cassette.Save(q, sample, r) // the cassette remembers the error
	return id, tc, true
}

// Spans returns the spans of a trace and records them, or returns the recorded spans. An error,
// such as a timeout without spans, is recorded as well. Traces from a file are not recorded.
func (t *Tape) Spans(ctx context.Context, id string) ([]proviso.Span, error) {
	if t.fromFile(id) {
		return t.Store.Spans(ctx, id)
	}
	q := transport.Request{Method: spansMethod, URL: TraceID(id)}
	if t.cassette.Replays() {
		r, err := t.cassette.Load(q, proviso.Sample{})
		if err != nil {
			return nil, err
		}
		return keptSpans(objectOf(r.JSON))
	}
	spans, err := t.Store.Spans(ctx, id)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	var r transport.Response
	r.JSON = value.AppendJSON(nil, keptTrace(spans, err))
	if unsaved := t.cassette.Save(q, proviso.Sample{}, r); unsaved != nil {
		return nil, unsaved
	}
	return spans, err
}

// fromFile reports whether a trace was loaded from a file.
func (s *Store) fromFile(id string) bool {
	_, known := s.recording(TraceID(id))
	return known
}

func objectOf(data []byte) *value.Object {
	v, _ := value.ParseJSON(string(data))
	o, _ := v.(*value.Object)
	return o
}

// keptTrace returns the recorded form of a trace.
func keptTrace(spans []proviso.Span, err error) *value.Object {
	if err != nil {
		code := cmp.Or(proviso.CodeOf(err), proviso.Undecided)
		return value.ObjectOf("error", value.ObjectOf("code", code, "message", err.Error()))
	}
	list := make([]any, len(spans))
	for i := range spans {
		s := &spans[i]
		o := value.ObjectOf("id", s.ID, "name", s.Name)
		if s.ParentID != "" {
			o.Set("parentId", s.ParentID)
		}
		if !s.Start.IsZero() {
			o.Set("start", s.Start.UTC().Format(time.RFC3339Nano))
		}
		if !s.End.IsZero() {
			o.Set("end", s.End.UTC().Format(time.RFC3339Nano))
		}
		if s.StatusCode != 0 {
			o.Set("statusCode", float64(s.StatusCode))
		}
		if s.StatusMessage != "" {
			o.Set("statusMessage", s.StatusMessage)
		}
		if s.Attributes != nil {
			o.Set("attributes", s.Attributes)
		}
		list[i] = o
	}
	return value.ObjectOf("spans", list)
}

// keptSpans is the inverse of keptTrace.
func keptSpans(o *value.Object) ([]proviso.Span, error) {
	if failed, ok := o.At("error").(*value.Object); ok {
		code := failed.Text("code")
		message := failed.Text("message")
		return nil, proviso.Errorf(code, "%s", message)
	}
	list, ok := o.At("spans").([]any)
	if !ok {
		return nil, proviso.Errorf(proviso.Invalid, "replay: the exchange recorded for a trace holds no spans; record it again")
	}
	spans := make([]proviso.Span, len(list))
	for i, v := range list {
		o, _ := v.(*value.Object)
		s := &spans[i]
		s.ID = o.Text("id")
		s.ParentID = o.Text("parentId")
		s.Name = o.Text("name")
		s.StatusMessage = o.Text("statusMessage")
		code, _ := o.At("statusCode").(float64)
		s.StatusCode = int(code)
		s.Attributes, _ = o.At("attributes").(*value.Object)
		s.Start, s.End = keptTime(o.At("start")), keptTime(o.At("end"))
	}
	return spans, nil
}

func keptTime(v any) time.Time {
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
