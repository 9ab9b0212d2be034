package otlp_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

const (
	protobuf = "application/x-protobuf"
	jsonBody = "application/json"
)

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // writing to memory does not fail
	_ = w.Close()
	return b.Bytes()
}

// post sends one request to a handler.
func post(h http.Handler, kind, encoding string, body []byte) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(body))
	req.Header.Set("Content-Type", kind)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// TestReceiver sends requests and checks the answers.
func TestReceiver(t *testing.T) {
	t.Parallel()
	good, noID := readFile(t, "go-sdk.pb"), request(spanOf{name: "x"})
	for _, tc := range []struct {
		name, kind, encoding string
		body                 []byte
		formats              []string
		status               int
		answer               string // a part of it
		taken                int
	}{
		{"protobuf", protobuf, "", good, nil, 200, "", 3},
		{"protobuf in gzip", protobuf, "gzip", gzipped(good), nil, 200, "", 3},
		{"JSON", jsonBody + "; charset=utf-8", "", readFile(t, "go-sdk.json"), nil, 200, "{}", 3},
		{"JSON in gzip", jsonBody, "GZIP", gzipped(readFile(t, "go-sdk.json")), nil, 200, "{}", 3},
		{"nothing", protobuf, "", nil, nil, 200, "", 0},
		{"malformed protobuf", protobuf, "", good[:50], nil, 400, "malformed protobuf: ", 0},
		{"malformed JSON", jsonBody, "", []byte(`{"resourceSpans":`), nil, 400, `{"code":3,"message":"malformed JSON: `, 0},
		{"malformed gzip", protobuf, "gzip", good, nil, 400, "malformed gzip", 0},
		{"gzip that is cut off", protobuf, "gzip", gzipped(good)[:100], nil, 400, "cannot be read", 0},
		{"no ids, protobuf", protobuf, "", noID, nil, 200, `no valid trace_id`, 0},
		{"no ids, JSON", jsonBody, "", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`), nil, 200, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"the span \"x\" has no valid traceId`, 0},
		{"text", "text/plain", "", good, nil, 415, `the Content-Type \"text/plain\" is neither`, 0},
		{"no type", "", "", good, nil, 415, "is neither", 0},
		{"another encoding", protobuf, "br", good, nil, 415, "is not gzip", 0},
		{"a format that is not accepted", protobuf, "", good, []string{"json"}, 415, "protobuf is not among the acceptFormats", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := listening(otlp.StoreOptions{Wait: -1})
			w := post(otlp.NewReceiver(s, otlp.ReceiverOptions{Formats: tc.formats}), tc.kind, tc.encoding, tc.body)
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.answer) || tc.answer == "" && w.Body.Len() > 0 {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, tc.status, tc.answer)
			}
			want := tc.kind
			if want != protobuf {
				want = jsonBody
			}
			if got := w.Header().Get("Content-Type"); got != want {
				t.Errorf("the answer is %s", got)
			}
			spans, _ := s.Spans(t.Context(), "ab000000000000000000000000000001")
			if len(spans) != tc.taken {
				t.Errorf("%d spans were taken, want %d", len(spans), tc.taken)
			}
		})
	}
	w := httptest.NewRecorder()
	otlp.NewReceiver(listening(otlp.StoreOptions{}), otlp.ReceiverOptions{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/traces", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d %v", w.Code, w.Header())
	}
}

// endlessZeros is an endless request body.
type endlessZeros struct{ read int }

func (z *endlessZeros) Read(p []byte) (int, error) {
	z.read += len(p)
	return len(p), nil
}

// TestReceiverReadsNoMoreThanTheLimit sends an endless request, and a small one that is large after
// decompression.
func TestReceiverReadsNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	r := otlp.NewReceiver(listening(otlp.StoreOptions{}), otlp.ReceiverOptions{MaxBody: 1 << 20})
	zeros := &endlessZeros{}
	req := httptest.NewRequest(http.MethodPost, "/v1/traces", zeros)
	req.Header.Set("Content-Type", protobuf)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "more than 1048576 bytes") || zeros.read > 4<<20 {
		t.Errorf("%d %q after %d bytes", w.Code, w.Body, zeros.read)
	}
	if w := post(r, jsonBody, "gzip", gzipped(make([]byte, 2<<20))); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// TestRedact removes values before anything sees them, also from forwarded requests.
func TestRedact(t *testing.T) {
	t.Parallel()
	secrets := value.ObjectOf("http.request.header.Authorization", "hunter2", "tool.arguments", value.ObjectOf("api_key", "hunter2", "q", []any{value.ObjectOf("api_key", "hunter2")}), "n", whole(5))
	event := bytesField(11, textField(2, "e"), keyValue(3, "authorization", "hunter2"))
	link := bytesField(13, keyValue(4, "authorization", "hunter2"))
	unknown := textField(99, "kept")
	proto := request(spanOf{trace: 1, id: 1, name: "x", attributes: secrets, more: append(append(event, link...), unknown...)})
	text := `{"resourceSpans":[{"resource":{"attributes":[{"key":"AUTHORIZATION","value":{"stringValue":"hunter2"}}]},"scopeSpans":[{"spans":[{"traceId":"` + traceHex(1) + `","spanId":"` + spanHex(1) + `","name":"x","kind":3,"attributes":[
		{"key":"http.request.header.Authorization","value":{"stringValue":"hunter2"}},
		{"key":"tool.arguments","value":{"kvlistValue":{"values":[{"key":"api_key","value":{"stringValue":"hunter2"}},{"key":"q","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"api_key","value":{"stringValue":"hunter2"}}]}}]}}}]}}},
		{"key":"n","value":{"intValue":"5"}}]}]}]}]}`
	const want = `{"http.request.header.Authorization":"[REDACTED]","tool.arguments":{"api_key":"[REDACTED]","q":[{"api_key":"[REDACTED]"}]},"n":5}`
	for kind, body := range map[string][]byte{protobuf: proto, jsonBody: []byte(text)} {
		s := listening(otlp.StoreOptions{Wait: -1})
		var sent []byte
		r := otlp.NewReceiver(s, otlp.ReceiverOptions{Redact: []string{" authorization ", "api_key"}, Forward: func(got string, body []byte) {
			if got != kind {
				t.Errorf("%s is sent on as %s", kind, got)
			}
			sent = body
		}})
		if w := post(r, kind, "", body); w.Code != 200 {
			t.Fatalf("%s: %d %s", kind, w.Code, w.Body)
		}
		spans, err := s.Spans(t.Context(), traceHex(1))
		if err != nil || len(spans) != 1 || value.Stringify(spans[0].Attributes) != want {
			t.Errorf("%s: %v, %v", kind, spans, err)
		}
		if bytes.Contains(sent, []byte("hunter2")) || !bytes.Contains(sent, []byte("REDACTED")) || kind == protobuf && !bytes.Contains(sent, []byte("kept")) {
			t.Errorf("%s is sent on as %q", kind, sent)
		}
	}
	r := otlp.NewReceiver(listening(otlp.StoreOptions{}), otlp.ReceiverOptions{Redact: []string{"x"}})
	for kind, body := range map[string]string{protobuf: "\x0a\xff", jsonBody: "{"} {
		if w := post(r, kind, "", []byte(body)); w.Code != 400 {
			t.Errorf("malformed %s: %d", kind, w.Code)
		}
	}
}

// FuzzReceiver sends any input, with and without redaction: both accept the same number of spans,
// and forwarded requests can be read. Redaction looks into parts that are otherwise skipped, so it
// may find more malformed input.
func FuzzReceiver(f *testing.F) {
	f.Add(true, readFile(f, "go-sdk.pb"))
	f.Add(false, readFile(f, "go-sdk.json"))
	f.Fuzz(func(t *testing.T, proto bool, data []byte) {
		kind, decode := jsonBody, otlp.DecodeJSON
		if proto {
			kind, decode = protobuf, otlp.DecodeProto
		}
		want, err := decode(data)
		var sent []byte
		o := otlp.ReceiverOptions{Redact: []string{"a"}, Forward: func(_ string, body []byte) { sent = body }}
		w := post(otlp.NewReceiver(listening(otlp.StoreOptions{}), o), kind, "", data)
		if w.Code != 200 {
			return
		}
		if err != nil { // malformed parts can only be in what redaction removes
			_, left := decode(sent)
			if plain := post(otlp.NewReceiver(listening(otlp.StoreOptions{}), otlp.ReceiverOptions{}), kind, "", data); left != nil || plain.Code != 400 {
				t.Fatalf("%v: without redaction it is %d, and what is sent on gives %v", err, plain.Code, left)
			}
			return
		}
		if got, err := decode(sent); err != nil || len(got.Records) != len(want.Records) || got.Rejected != want.Rejected {
			t.Fatalf("what is sent on: %v", err)
		}
	})
}

// TestListen opens ports.
func TestListen(t *testing.T) {
	t.Parallel()
	s := otlp.NewStore(otlp.StoreOptions{Wait: 5 * time.Second, Quiet: time.Millisecond})
	l, err := otlp.Listen(t.Context(), otlp.NewReceiver(s, otlp.ReceiverOptions{}), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.Listens(l.Endpoint(), nil)
	if !strings.HasPrefix(l.Endpoint(), "http://127.0.0.1:") || !strings.HasSuffix(l.Endpoint(), otlp.TracesPath) {
		t.Error(l.Endpoint())
	}
	var e *proviso.Error
	if other, err := otlp.Listen(t.Context(), otlp.NewReceiver(s, otlp.ReceiverOptions{}), "127.0.0.1", l.Port()); !errors.As(err, &e) || e.Code != proviso.Conflict || !strings.Contains(err.Error(), "something listens on that port already") {
		t.Errorf("the port is taken: %v, %v", other, err)
	}
	if other, err := otlp.Listen(t.Context(), otlp.NewReceiver(s, otlp.ReceiverOptions{}), "no such host", 0); err == nil {
		t.Errorf("a host that is none: %v", other.Endpoint())
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			resp, err := http.Post(l.Endpoint(), protobuf, bytes.NewReader(request(ended(uint64(i+1), 1, 0))))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			if spans, err := s.Spans(t.Context(), traceHex(uint64(i+1))); err != nil || len(spans) != 1 {
				t.Errorf("%d: %v, %v", i, spans, err)
			}
		})
	}
	all.Wait()
	resp, err := http.Post(strings.TrimSuffix(l.Endpoint(), "traces")+"metrics", protobuf, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 404 || !strings.Contains(string(text), "the only path is /v1/traces") {
		t.Errorf("metrics: %d %s", resp.StatusCode, text)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Post(l.Endpoint(), protobuf, strings.NewReader("")); err == nil {
		t.Error("it listens after it was closed")
	}
}

// TestListenOnTheUsualPort falls back to a free port if the default port is in use. If the default
// port is free on this machine, the first of two receivers gets it.
func TestListenOnTheUsualPort(t *testing.T) {
	t.Parallel()
	s := otlp.NewStore(otlp.StoreOptions{})
	ports := map[int]bool{}
	for range 2 {
		l, err := otlp.Listen(t.Context(), otlp.NewReceiver(s, otlp.ReceiverOptions{}), "", -1)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[l.Port()] = true
	}
	if len(ports) != 2 {
		t.Error("two listen on one port")
	}
}
