package transport_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/proviso-eval/proviso/internal/transport"
)

// TestTraceparent sends requests under a trace, without one, and with a traceparent header of the
// request's own.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("Traceparent")) })
	client := transport.New(transport.Options{}).Client()
	for _, tc := range []struct{ context, header, want string }{
		{"", "", ""}, {"00-1-2-01", "", "00-1-2-01"}, {"00-1-2-01", "own", "own"},
	} {
		ctx := t.Context()
		if tc.context != "" {
			ctx = transport.WithTraceparent(ctx, tc.context)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.header != "" {
			req.Header.Set("Traceparent", tc.header)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(got) != tc.want || req.Header.Get("Traceparent") != tc.header {
			t.Errorf("%+v: got %q, and the request has %q", tc, got, req.Header.Get("Traceparent"))
		}
	}
}
