package otlp_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

// TestView checks what one run sees of a store.
func TestView(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, recorded := listening(otlp.StoreOptions{}), otlp.NewStore(otlp.StoreOptions{})
		if err := recorded.Load("t.json", string(readFile(t, "go-sdk.json"))); err != nil {
			t.Fatal(err)
		}
		b := batch(t, ended(1, 1, 0))
		secret := value.ObjectOf("password", "hunter2", "request", []any{value.ObjectOf("api.Token", "t-1", "kind", "x")})
		b.Records[0].Span.Attributes = secret
		s.Add(b)
		v := s.View(otlp.ViewOptions{Wait: time.Second, Redact: []string{"token", "PASSWORD"}, Recorded: recorded})
		spans, err := v.Spans(t.Context(), traceHex(1))
		want := `{"password":"` + proviso.Redaction + `","request":[{"api.Token":"` + proviso.Redaction + `","kind":"x"}]}`
		if err != nil || value.Stringify(spans[0].Attributes) != want {
			t.Errorf("%v, %v", spans, err)
		}
		if whole, _ := s.Spans(t.Context(), traceHex(1)); whole[0].Attributes.At("password") != "hunter2" {
			t.Error("the store itself was changed")
		}
		if spans, err := v.Spans(t.Context(), "ab000000000000000000000000000001"); err != nil || len(spans) != 3 {
			t.Errorf("recorded: %d spans, %v", len(spans), err)
		}
		begun := time.Now()
		if _, err := v.Spans(t.Context(), traceHex(2)); err == nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		id, _, ok := v.Begin()
		if !ok || s.Held().Traces != 3 {
			t.Errorf("began: %v, %+v", ok, s.Held())
		}
		v.End(id)
		if s.Held().Traces != 2 {
			t.Errorf("ended: %+v", s.Held())
		}
	})
}

// TestHold keeps held traces, and drops the others by age.
func TestHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := listening(otlp.StoreOptions{MaxSpans: 2, Wait: time.Millisecond})
		s.Add(batch(t, ended(1, 1, 0)))
		s.Hold(traceHex(1))
		s.Hold(traceHex(1))
		s.Release(traceHex(1))
		s.Add(batch(t, ended(2, 1, 0), ended(3, 1, 0))) // the second needs the room of the first
		time.Sleep(time.Second)
		s.Expire(time.Now())
		if got := s.Held(); got.Spans != 1 || got.Traces != 1 || s.Shed() {
			t.Errorf("%+v is held", got)
		}
		if spans, err := s.Spans(t.Context(), traceHex(1)); err != nil || len(spans) != 1 {
			t.Errorf("%v, %v", spans, err)
		}
		s.Release(traceHex(1))
		s.Release(traceHex(1)) // one call too many
		if spans, err := s.Spans(t.Context(), traceHex(1)); err != nil || len(spans) != 1 {
			t.Errorf("released: %v, %v", spans, err)
		}
		s.End(traceHex(1))

		// A trace without spans is not kept, and a new call waits again.
		for range 2 {
			s.Hold(traceHex(7))
			begun := time.Now()
			if _, err := s.Spans(t.Context(), traceHex(7)); err == nil || time.Since(begun) != time.Millisecond {
				t.Errorf("%v after %v", err, time.Since(begun))
			}
			s.Release(traceHex(7))
		}
		s.Add(batch(t, ended(8, 1, 0)))
		if !s.Shed() || s.Held() != (otlp.Held{}) {
			t.Errorf("%+v is left", s.Held())
		}
	})
}

// TestRoom uses a callback for the room, and fills one trace.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := listening(otlp.StoreOptions{Wait: time.Millisecond, MaxOfOne: 2, Room: func(h otlp.Held, size int) string {
		if h.Spans >= 3 || size <= 0 {
			return "others hold too much"
		}
		return ""
	}})
	if rejected, reason := s.Add(batch(t, ended(1, 1, 0), ended(1, 2, 1), ended(1, 3, 1))); rejected != 1 || !strings.Contains(reason, "has 2 spans already") {
		t.Errorf("%d rejected: %s", rejected, reason)
	}
	var e *proviso.Error
	if _, err := s.Spans(t.Context(), traceHex(1)); !errors.As(err, &e) || e.Code != proviso.Limit {
		t.Error(err)
	}
	s.Add(batch(t, ended(2, 1, 0)))
	if rejected, reason := s.Add(batch(t, ended(3, 1, 0))); rejected != 0 || s.Held().Spans != 3 {
		t.Errorf("its own older trace made no room: %d rejected: %s", rejected, reason)
	}
	s.Hold(traceHex(3))
	if rejected, reason := s.Add(batch(t, ended(4, 1, 0))); rejected != 1 || reason != "others hold too much" {
		t.Errorf("%d rejected: %q", rejected, reason)
	}
}
