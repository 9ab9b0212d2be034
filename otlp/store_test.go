package otlp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
)

// batch is the content of a request with these spans.
func batch(t *testing.T, spans ...spanOf) *otlp.Batch {
	t.Helper()
	b, err := otlp.DecodeProto(request(spans...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ended is a span that took a millisecond.
func ended(trace, id, parent uint64) spanOf {
	return spanOf{trace: trace, id: id, parent: parent, name: fmt.Sprint("s", id), start: time.Second, end: time.Second + time.Millisecond}
}

func names(spans []proviso.Span) string {
	var list []string
	for _, s := range spans {
		list = append(list, s.Name)
	}
	return strings.Join(list, " ")
}

// listening is a store with an address for spans.
func listening(o otlp.StoreOptions) *otlp.Store {
	s := otlp.NewStore(o)
	s.Listens("http://127.0.0.1:4318/v1/traces", nil)
	return s
}

// TestSpansWaits sends spans at set times and checks when the wait ends.
func TestSpansWaits(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration, spans ...spanOf) func(t *testing.T, s *otlp.Store) {
		return func(t *testing.T, s *otlp.Store) {
			b := batch(t, spans...)
			time.AfterFunc(d, func() { s.Add(b) })
		}
	}
	open := ended(1, 1, 0)
	open.end = 0
	for _, tc := range []struct {
		name  string
		sends []func(t *testing.T, s *otlp.Store)
		want  string // names of the spans, or a part of the error
		after time.Duration
	}{
		{"all there", []func(*testing.T, *otlp.Store){after(0, ended(1, 2, 1), ended(1, 1, 0))}, "s2 s1", 100 * time.Millisecond},
		{"one after the other", []func(*testing.T, *otlp.Store){after(50*time.Millisecond, ended(1, 2, 1)), after(time.Second, ended(1, 1, 0))}, "s2 s1", 1100 * time.Millisecond},
		{"after the root", []func(*testing.T, *otlp.Store){after(0, ended(1, 1, 0)), after(90*time.Millisecond, ended(1, 2, 1))}, "s1 s2", 190 * time.Millisecond},
		{"a parent is missing", []func(*testing.T, *otlp.Store){after(0, ended(1, 1, 0), ended(1, 3, 2))}, "s1 s3", 3 * time.Second},
		{"no root", []func(*testing.T, *otlp.Store){after(0, ended(1, 3, 2), ended(1, 2, 9))}, "s3 s2", 3 * time.Second},
		{"the root has not ended", []func(*testing.T, *otlp.Store){after(0, open)}, "s1", 3 * time.Second},
		{"it ends later", []func(*testing.T, *otlp.Store){after(0, open), after(time.Second, ended(1, 1, 0))}, "s1", 1100 * time.Millisecond},
		{"parents in a circle", []func(*testing.T, *otlp.Store){after(0, ended(1, 1, 0), ended(1, 2, 3), ended(1, 3, 2), ended(1, 4, 4))}, "s1 s2 s3 s4", 100 * time.Millisecond},
		{"sent twice", []func(*testing.T, *otlp.Store){after(0, ended(1, 1, 0)), after(10*time.Millisecond, ended(1, 1, 0))}, "s1", 110 * time.Millisecond},
		{"a little at a time, for ever", []func(*testing.T, *otlp.Store){after(0, ended(1, 1, 0)), func(t *testing.T, s *otlp.Store) {
			for i := range 60 {
				after(time.Duration(i+1)*60*time.Millisecond, ended(1, 2, 1))(t, s)
			}
		}}, "s1 s2", 3 * time.Second},
		{"never", nil, "no span of the trace " + traceHex(1) + " came within 3s", 3 * time.Second},
		{"another trace", []func(*testing.T, *otlp.Store){after(0, ended(2, 1, 0))}, "(traces that belong to no row came: 1)", 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := listening(otlp.StoreOptions{})
				for _, send := range tc.sends {
					send(t, s)
				}
				time.Sleep(0)
				begun := time.Now()
				spans, err := s.Spans(t.Context(), traceHex(1))
				got := names(spans)
				if err != nil {
					got = err.Error()
				}
				if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if took := time.Since(begun); took != tc.after {
					t.Errorf("it took %v, want %v", took, tc.after)
				}
				time.Sleep(10 * time.Second) // until all spans are sent
			})
		})
	}
}

// TestSpansWaitsOnce asks twice for a late trace: the wait counts from the first call.
func TestSpansWaitsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := listening(otlp.StoreOptions{Wait: time.Second})
		begun := time.Now()
		for range 3 {
			var e *proviso.Error
			if _, err := s.Spans(t.Context(), traceHex(1)); !errors.As(err, &e) || e.Code != proviso.Timeout {
				t.Error(err)
			}
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Spans(ctx, traceHex(2)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestBegin starts traces for rows: a root is recognized by the parent id that
// the provider got.
func TestBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := listening(otlp.StoreOptions{})
		id, tc, ok := s.Begin()
		parts := strings.Split(tc.Parent, "-")
		if !ok || len(parts) != 4 || parts[0] != "00" || parts[1] != id || len(id) != 32 || len(parts[2]) != 16 || parts[3] != "01" {
			t.Fatalf("%q, %+v, %v", id, tc, ok)
		}
		if other, _, _ := s.Begin(); other == id {
			t.Error("two traces have the same id")
		}
		var trace, parent uint64
		fmt.Sscanf(id[16:], "%x", &trace)
		fmt.Sscanf(parts[2], "%x", &parent)
		b := batch(t, ended(trace, 7, parent))
		b.Records[0].TraceID = id
		s.Add(b)
		begun := time.Now()
		spans, err := s.Spans(t.Context(), strings.ToUpper(tc.Parent)) // in upper case, as some agents report it
		if err != nil || names(spans) != "s7" || time.Since(begun) != otlp.DefaultQuiet {
			t.Errorf("%v, %v after %v", names(spans), err, time.Since(begun))
		}
		s.End(id)
		if _, err := s.Spans(t.Context(), id); err == nil {
			t.Error("a trace is there after its row was decided")
		}
	})
}

// TestLimits fills stores.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := listening(otlp.StoreOptions{MaxSpans: 3, Wait: time.Millisecond})
	id, tc, _ := s.Begin()
	mine := func(n int) *otlp.Batch {
		var list []spanOf
		for i := range n {
			list = append(list, ended(1, uint64(i+1), 0))
		}
		b := batch(t, list...)
		for i := range b.Records {
			b.Records[i].TraceID = id
		}
		return b
	}
	// Unused traces make room, the oldest first.
	s.Add(batch(t, ended(11, 1, 0)))
	s.Add(batch(t, ended(12, 1, 0), ended(12, 2, 1)))
	if rejected, reason := s.Add(mine(1)); rejected != 0 {
		t.Errorf("%d rejected: %s", rejected, reason)
	}
	if spans, err := s.Spans(t.Context(), traceHex(12)); err != nil || len(spans) != 2 {
		t.Errorf("the younger trace: %v, %v", spans, err)
	}
	// The trace is in use, so there is no room.
	rejected, reason := s.Add(mine(3))
	if rejected != 2 || !strings.Contains(reason, "3 spans are held already") {
		t.Errorf("%d rejected: %s", rejected, reason)
	}
	var e *proviso.Error
	if _, err := s.Spans(t.Context(), tc.Parent); !errors.As(err, &e) || e.Code != proviso.Limit {
		t.Errorf("a trace that lacks spans: %v", err)
	}
	s.End(traceHex(12))
	s.End(id)
	if rejected, reason := s.Add(batch(t, ended(13, 1, 0), ended(13, 2, 1), ended(13, 3, 1))); rejected != 0 {
		t.Errorf("after all is decided, %d rejected: %s", rejected, reason)
	}
	for _, o := range []otlp.StoreOptions{{MaxBytes: 1000}, {MaxTraces: 2}} {
		s := listening(o)
		for range 5 {
			s.Begin()
		}
		if rejected, reason := s.Add(batch(t, ended(1, 1, 0), ended(1, 2, 0), ended(1, 3, 0), ended(1, 4, 0))); rejected == 0 || reason == "" {
			t.Errorf("%+v: %d rejected: %q", o, rejected, reason)
		}
	}
}

// TestHundredThousandSpans adds as many spans of one trace as a store holds.
func TestHundredThousandSpans(t *testing.T) {
	t.Parallel()
	s := listening(otlp.StoreOptions{Wait: time.Millisecond})
	b := &otlp.Batch{Records: make([]otlp.Record, otlp.MaxSpans+1)}
	for i := range b.Records {
		b.Records[i] = otlp.Record{TraceID: traceHex(1), Size: 300, Span: proviso.Span{ID: spanHex(uint64(i + 1)), ParentID: spanHex(1), Start: time.UnixMilli(1), End: time.UnixMilli(2)}}
	}
	all := b.Records
	b.Records = all[:otlp.MaxSpans]
	if rejected, reason := s.Add(b); rejected != 0 {
		t.Fatalf("%d rejected: %s", rejected, reason)
	}
	if spans, err := s.Spans(t.Context(), traceHex(1)); err != nil || len(spans) != otlp.MaxSpans {
		t.Fatalf("%d spans, %v", len(spans), err)
	}
	b.Records = all[otlp.MaxSpans:]
	if rejected, _ := s.Add(b); rejected != 1 {
		t.Errorf("one more: %d rejected", rejected)
	}
}

// TestNobodyListens checks the errors without a receiver.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := otlp.NewStore(otlp.StoreOptions{})
	if _, _, ok := s.Begin(); ok {
		t.Error("a trace is made that nobody would receive")
	}
	check := func(want string) {
		t.Helper()
		if _, err := s.Spans(t.Context(), "abc"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	check("nobody listens for spans")
	if err := s.Load("traces.json", string(readFile(t, "go-sdk.json"))); err != nil {
		t.Fatal(err)
	}
	check(`the trace "abc" is not in traces.json`)
	s.Listens("", errors.New("the port is taken"))
	check("the port is taken")
	spans, err := s.Spans(t.Context(), "ab000000000000000000000000000001")
	if err != nil || len(spans) != 3 {
		t.Errorf("recorded: %d spans, %v", len(spans), err)
	}
}

// TestLoad reads files of recorded traces.
func TestLoad(t *testing.T) {
	t.Parallel()
	one := strings.TrimSpace(string(readFile(t, "go-sdk.json")))
	other := strings.ReplaceAll(one, "ab000000000000000000000000000001", traceHex(5))
	for _, tc := range []struct{ data, want string }{
		{one, ""}, {one + "\n" + other + "\n", ""}, {"[" + one + "," + other + "]", ""}, {"", ""},
		{one + "\n{", "malformed JSON"}, {"5", "malformed JSON"}, {`{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}`, "no valid traceId"},
	} {
		err := otlp.NewStore(otlp.StoreOptions{}).Load("t.json", tc.data)
		if (err != nil) != (tc.want != "") || err != nil && (!strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "t.json: ")) {
			t.Errorf("%.60s: got %v, want %q", tc.data, err, tc.want)
		}
	}
}
