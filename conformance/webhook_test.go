package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// webhook decides a record against a server that answers as recorded, and compares
// the request that the server received.
func (b *bench) webhook(t *testing.T, r record) error {
	t.Helper()
	var sent *value.Object
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		sent = received(req)
		answer(w, r.object("webhook"))
	}))
	defer srv.Close()
	text := strings.ReplaceAll(value.Stringify(r.object("assert")), "__WEBHOOK__", srv.URL)
	v, err := value.ParseJSON(text)
	if err != nil {
		return err
	}
	r.Set("assert", v)
	if err := r.compare(b.assertion(t.Context(), b.newCompiler(check.Options{Client: srv.Client()}), r)); err != nil {
		return err
	}
	want := r.object("expect").At("request")
	if want == nil || sent == nil {
		return nil
	}
	if g, w := value.Stringify(sorted(sent)), value.Stringify(sorted(want)); g != w {
		return fmt.Errorf("the server got %s, want %s", g, w)
	}
	return nil
}

func received(req *http.Request) *value.Object {
	data, _ := io.ReadAll(req.Body)
	body, _ := value.ParseJSON(string(data))
	return value.ObjectOf("method", req.Method, "path", req.URL.RequestURI(), "contentType", req.Header.Get("Content-Type"), "body", body)
}

func answer(w http.ResponseWriter, how *value.Object) {
	if ms, ok := how.At("delayMs").(float64); ok {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	kind, _ := how.At("contentType").(string)
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	if status, ok := how.At("status").(float64); ok {
		w.WriteHeader(int(status))
	}
	if text, ok := how.At("body").(string); ok {
		_, _ = io.WriteString(w, text)
		return
	}
	_ = json.NewEncoder(w).Encode(json.RawMessage(value.Stringify(how.At("body"))))
}
