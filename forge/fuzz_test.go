package forge_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/forge"
	"github.com/proviso-eval/proviso/internal/transport"
)

// answers is a network that gives every request the same response.
type answers string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// FuzzAnswers: whatever a forge sends, the result is a comment or an error.
func FuzzAnswers(f *testing.F) {
	f.Add(`[{"id":1,"body":"<!-- proviso 0123456789abcdef 1 0123456789abcdef -->\nx","user":{"login":"a"}}]`)
	f.Add(`{"data":{"viewer":{"login":"a"}},"login":"a","id":1}`)
	f.Add(`[[[[`)
	f.Fuzz(func(t *testing.T, answer string) {
		for _, name := range forge.Names() {
			p := forge.Place{Forge: name, Repository: "a/b", Number: 1}
			g, err := forge.Open(p, forge.Options{Network: answers(answer), Token: token, Sleep: func(context.Context, time.Duration) error { return nil }})
			if err != nil {
				t.Fatal(err)
			}
			if posted, err := g.Upsert(t.Context(), forge.Comment{Key: "k", Body: "x"}); err == nil && posted.Action == "" {
				t.Errorf("%+v without an error", posted)
			}
		}
	})
}

// refusals is a network that refuses every request with the same status and headers.
type refusals struct {
	status int
	header http.Header
}

func (a refusals) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Request: r, Header: a.header, Body: io.NopCloser(strings.NewReader(`{"message":"You have exceeded a secondary rate limit"}`))}, nil
}

// FuzzLimits: whatever a forge reports about its limits, there are few attempts. Each wait
// is at least as long as the forge asks and at most some minutes, and then there is an error.
func FuzzLimits(f *testing.F) {
	f.Add(429, "", "0", "1795683610", "Thu, 26 Nov 2026 09:00:00 GMT")
	f.Add(403, "30", "", "", "")
	f.Add(403, "", "0", "9223372036854775807", "")
	f.Add(429, "1e300", "0", "-9223372036854775808", "Sat, 01 Jan 0000 00:00:00 GMT")
	f.Add(500, "NaN", "-1", "x", "x")
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, after, remaining, reset, date string) {
		if status < 300 || status > 599 {
			return
		}
		h := http.Header{}
		for key, v := range map[string]string{"Retry-After": after, "X-Ratelimit-Remaining": remaining, "X-Ratelimit-Reset": reset, "Date": date} {
			if v != "" {
				h.Set(key, v)
			}
		}
		for _, name := range forge.Names() {
			var waits []time.Duration
			g, err := forge.Open(forge.Place{Forge: name, Repository: "a/b", Number: 1}, forge.Options{Network: refusals{status, h}, Token: token, Now: func() time.Time { return now },
				Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Upsert(t.Context(), forge.Comment{Key: "k", Body: "x"}); err == nil {
				t.Errorf("%s: no error", name)
			}
			if len(waits) > 20 {
				t.Errorf("%s: %d attempts", name, len(waits))
			}
			until := now // time until which a forge with a limit asks to wait
			if unix, err := strconv.ParseInt(reset, 10, 64); err == nil && remaining == "0" && (status == 403 || status == 429) && transport.RetryAfter(h, now) == 0 {
				sent, err := http.ParseTime(date)
				if err != nil {
					sent = now
				}
				if unix = min(unix, sent.Unix()+3600); unix > sent.Unix() {
					until = now.Add(time.Duration(unix-sent.Unix()) * time.Second)
				}
			}
			for _, d := range waits {
				if d <= 0 || d > 5*time.Minute || now.Add(d).Before(until) {
					t.Errorf("%s: it waits for %v until %v", name, d, until)
				}
			}
		}
	})
}
