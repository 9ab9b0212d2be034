package check_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// hook decides a webhook assertion against a server.
func hook(ctx context.Context, t *testing.T, assertion, output string, h http.HandlerFunc, env proviso.EnvMap) proviso.Verdict {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	c := check.New(check.Options{Client: transport.New(transport.Options{}).Client(), Env: env})
	a := &proviso.Assertion{Type: assertion, Value: srv.URL + "/grade?key=secret"}
	return c.Decide(ctx, a, &check.Row{Output: &proviso.Output{Value: output}, Vars: value.ObjectOf("a", 1.0), Prompt: "P", HasPrompt: true})
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	tests := []struct {
		assertion, answer string
		status            int
		want              proviso.Status
		score             float64
		reason            string
	}{
		{"webhook", `{"pass":true}`, 200, proviso.Pass, 1, "Assertion passed"},
		{"webhook", `{"pass":false}`, 200, proviso.Fail, 0, "Webhook returned false"},
		{"not-webhook", `{"pass":true}`, 200, proviso.Fail, 0, "Webhook returned true"},
		{"not-webhook", `{"pass":false}`, 200, proviso.Pass, 1, "Assertion passed"},
		{"webhook", `{"pass":true,"score":0.4,"reason":"because"}`, 201, proviso.Pass, 0.4, "because"},
		{"not-webhook", `{"pass":true,"score":0.25}`, 200, proviso.Fail, 0.75, "Webhook returned true"},
		{"not-webhook", `{"pass":"true","score":0.25}`, 200, proviso.Errored, 0, ""},
		{"not-webhook", `{}`, 200, proviso.Errored, 0, ""},
		{"webhook", `[]`, 200, proviso.Errored, 0, ""},
		{"webhook", `{"pass":1}`, 200, proviso.Errored, 0, ""},
		{"not-webhook", `{"pass":null}`, 200, proviso.Errored, 0, ""},
		{"webhook", `{"pass":true,"score":"many"}`, 200, proviso.Errored, 0, ""},
		{"webhook", `null`, 200, proviso.Errored, 0, ""},
		{"not-webhook", `no`, 200, proviso.Errored, 0, ""},
		{"webhook", `{"pass":true}`, 500, proviso.Errored, 0, ""},
		{"webhook", ``, 204, proviso.Errored, 0, ""},
	}
	for _, tt := range tests {
		v := hook(t.Context(), t, tt.assertion, "out", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			const want = `{"output":"out","context":{"prompt":"P","vars":{"a":1}}}`
			if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || string(body) != want {
				t.Errorf("the server got %s %s %s", r.Method, r.Header.Get("Content-Type"), body)
			}
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.answer)
		}, nil)
		if v.Status != tt.want || v.Score != tt.score || tt.reason != "" && v.Reason != tt.reason {
			t.Errorf("%s on %d %s: %s, %v, %q", tt.assertion, tt.status, tt.answer, v.Status, v.Score, v.Reason)
		}
		if strings.Contains(v.Reason, "secret") {
			t.Errorf("the query is in the reason: %s", v.Reason)
		}
	}
}

func TestWebhookRetries(t *testing.T) {
	t.Parallel()
	fast := proviso.EnvMap{"PROMPTFOO_REQUEST_BACKOFF_MS": "1", "WEBHOOK_TIMEOUT": "200"}
	tests := []struct {
		name     string
		failures int32
		fail     http.HandlerFunc
		want     proviso.Status
		attempts int32
	}{
		{"broken connections, then an answer", 4, breakOff, proviso.Pass, 5},
		{"broken connections", 9, breakOff, proviso.Errored, 5},
		{"silence, then an answer", 1, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that the server notices when the client disconnects
			<-r.Context().Done()
		}, proviso.Pass, 2},
		{"a server error is an answer", 1, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, proviso.Errored, 1},
	}
	for _, tt := range tests {
		var attempts atomic.Int32
		v := hook(t.Context(), t, "webhook", "out", func(w http.ResponseWriter, r *http.Request) {
			if attempts.Add(1) <= tt.failures {
				tt.fail(w, r)
				return
			}
			io.WriteString(w, `{"pass":true}`)
		}, fast)
		if v.Status != tt.want || attempts.Load() != tt.attempts {
			t.Errorf("%s: %s (%s) after %d attempts, want %s after %d", tt.name, v.Status, v.Reason, attempts.Load(), tt.want, tt.attempts)
		}
	}
}

func breakOff(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		conn.Close()
	}
}

func TestWebhookCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	v := hook(ctx, t, "webhook", "out", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		breakOff(w, r)
	}, proviso.EnvMap{"PROMPTFOO_REQUEST_BACKOFF_MS": "60000"})
	if v.Status != proviso.Errored || time.Since(start) > 10*time.Second {
		t.Errorf("%s (%s) after %v", v.Status, v.Reason, time.Since(start))
	}
}

func TestWebhookMistakes(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{})
	for _, val := range []any{value.Undefined{}, "", []any{"a"}, "no url", "file.json", "ftp://x.invalid/"} {
		if _, mistakes := c.Compile([]*proviso.Assertion{{Type: "webhook", Value: val}}); len(mistakes) == 0 {
			t.Errorf("%v is accepted as a webhook", val)
		}
	}
}

// TestRecordedVerdicts compares with promptfoo's recorded verdicts, for the types
// that need neither templates nor files.
func TestRecordedVerdicts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"regex", "is-xml", "contains-xml", "is-html", "contains-html"} {
		f, err := os.Open("../conformance/corpus/" + name + ".jsonl")
		if errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		decided := 0
		for lines.Scan() {
			v, err := value.ParseJSON(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			if err := recorded(t, v.(*value.Object), &decided); err != nil {
				t.Errorf("%s: %v", v.(*value.Object).At("id"), err)
			}
		}
		if decided < 80 {
			t.Errorf("%s: only %d records were decided", name, decided)
		}
	}
}

func recorded(t *testing.T, r *value.Object, decided *int) error {
	a, want := r.At("assert").(*value.Object), r.At("expect").(*value.Object)
	val := value.Stringify(a.At("value"))
	if r.Has("quirk") || strings.Contains(val, "{{") || strings.Contains(val, "{%") || strings.Contains(val, "file://") {
		return nil
	}
	*decided++
	v := check.New(check.Options{Lenient: true}).Decide(t.Context(), assertion.Of(a, ""), fixture{r}.row())
	reason, _ := want.At("reason").(string)
	switch {
	case want.Has("error"), strings.HasPrefix(reason, "Invalid regex pattern"):
		if v.Status != proviso.Errored {
			return fmt.Errorf("%s (%s), want an error", v.Status, v.Reason)
		}
	case v.Status == proviso.Errored || (v.Status == proviso.Pass) != (want.At("pass") == true) || v.Score != want.At("score"):
		return fmt.Errorf("%s, %v (%s), want pass %v, %v", v.Status, v.Score, v.Reason, want.At("pass"), want.At("score"))
	case want.At("reasonMode") == "prefix" && !strings.HasPrefix(v.Reason, reason), want.At("reasonMode") == nil && v.Reason != reason:
		return fmt.Errorf("reason %q, want %q", v.Reason, reason)
	}
	return nil
}
