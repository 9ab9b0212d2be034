package transport_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/permit"
)

// TestRemaining reads headers as vendors send them.
func TestRemaining(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	none := permit.Remaining{}
	for name, tt := range map[string]struct {
		header           string
		requests, tokens permit.Remaining
	}{
		"nothing": {"Content-Type: text/plain", none, none},
		"OpenAI": {`x-ratelimit-limit-requests: 5000
x-ratelimit-limit-tokens: 160000
x-ratelimit-limit-tokens_usage_based: 160000
x-ratelimit-remaining-requests: 4999
x-ratelimit-remaining-tokens: 159976
x-ratelimit-reset-requests: 12ms
x-ratelimit-reset-tokens: 1m0.5s`, permit.Remaining{Limit: 5000, Left: 4999, Reset: 13 * time.Millisecond}, permit.Remaining{Limit: 160000, Left: 159976, Reset: 60501 * time.Millisecond}},
		"Azure":          {"x-ratelimit-remaining-requests: 79\nx-ratelimit-remaining-tokens: 61353", none, none},
		"Azure, unknown": {"x-ratelimit-limit-tokens: -1\nx-ratelimit-remaining-tokens: -1\nx-ratelimit-reset-tokens: 0", none, none},
		"Groq, of a day": {`x-ratelimit-limit-requests: 14400
x-ratelimit-remaining-requests: 14370
x-ratelimit-reset-requests: 2m59.56s
x-ratelimit-limit-tokens: 18000
x-ratelimit-remaining-tokens: 17997
x-ratelimit-reset-tokens: 7.66s`, none, permit.Remaining{Limit: 18000, Left: 17997, Reset: 7661 * time.Millisecond}},
		"Anthropic": {`date: Wed, 02 Jan 2030 09:04:05 GMT
anthropic-ratelimit-requests-limit: 1000
anthropic-ratelimit-requests-remaining: 999
anthropic-ratelimit-requests-reset: 2030-01-02T09:04:04Z
anthropic-ratelimit-input-tokens-limit: 80000
anthropic-ratelimit-input-tokens-remaining: 70000
anthropic-ratelimit-input-tokens-reset: 2030-01-02T09:04:12Z
anthropic-ratelimit-tokens-limit: 96000
anthropic-ratelimit-tokens-remaining: 86000
anthropic-ratelimit-tokens-reset: 2030-01-02T09:04:11Z`, permit.Remaining{Limit: 1000, Left: 999, Reset: time.Millisecond}, permit.Remaining{Limit: 96000, Left: 86000, Reset: 7 * time.Second}},
		"Mistral": {`x-ratelimit-limit-req-minute: 720
x-ratelimit-remaining-req-minute: 717
x-ratelimit-limit-tokens-minute: 5000000
x-ratelimit-remaining-tokens-minute: 4999911`, permit.Remaining{Limit: 720, Left: 717, Reset: time.Minute}, permit.Remaining{Limit: 5000000, Left: 4999911, Reset: time.Minute}},
		"Cerebras":                            {"x-ratelimit-limit-tokens-minute: 60000\nx-ratelimit-remaining-tokens-minute: 59000\nx-ratelimit-reset-tokens-minute: 11.38", none, permit.Remaining{Limit: 60000, Left: 59000, Reset: 11380 * time.Millisecond}},
		"seconds":                             {"x-ratelimit-limit: 20\nx-ratelimit-remaining: 7\nx-ratelimit-reset: 30", permit.Remaining{Limit: 20, Left: 7, Reset: 31 * time.Second}, none},
		"since 1970":                          {"x-ratelimit-limit: 20\nx-ratelimit-remaining: 7\nx-ratelimit-reset: 1893553455", permit.Remaining{Limit: 20, Left: 7, Reset: 11 * time.Second}, none},
		"milliseconds":                        {"x-ratelimit-limit: 20\nx-ratelimit-remaining: 7\nx-ratelimit-reset: 1893553446500", permit.Remaining{Limit: 20, Left: 7, Reset: 1500 * time.Millisecond}, none},
		"draft 10":                            {`RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400` + "\n" + `RateLimit: "daily";r=900;t=40000, "burst";r=50;t=30`, permit.Remaining{Limit: 100, Left: 50, Reset: 31 * time.Second}, none},
		"draft 10, two":                       {`RateLimit-Policy: "a";q=10;w=1, "b";q=50;w=60` + "\n" + `RateLimit: "a";r=9;t=1` + "\n" + `RateLimit: "b";r=5`, permit.Remaining{Limit: 50, Left: 5, Reset: 61 * time.Second}, none},
		"draft 10, used up":                   {`RateLimit-Policy: "burst";q=10;w=5, "daily";q=50;w=100` + "\n" + `RateLimit: "burst";r=0;t=5, "daily";r=0;t=100`, permit.Remaining{Limit: 50, Reset: 101 * time.Second}, none},
		"draft 10, used up, in another order": {`RateLimit-Policy: "burst";q=10;w=5, "daily";q=50;w=100` + "\n" + `RateLimit: "daily";r=0;t=100, "burst";r=0;t=5`, permit.Remaining{Limit: 50, Reset: 101 * time.Second}, none},
		"draft 10, as many a second":          {`RateLimit-Policy: "a";q=10;w=10, "b";q=50;w=50` + "\n" + `RateLimit: "b";r=15;t=29, "a";r=5;t=9`, permit.Remaining{Limit: 10, Left: 5, Reset: 10 * time.Second}, none},
		"no reset":                            {"X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0", none, none},
		"draft 10, of bytes":                  {`RateLimit-Policy: "peruser";q=65535;qu="content-bytes";w=10` + "\n" + `RateLimit: "peruser";r=5;t=10`, none, none},
		"draft 7":                             {"RateLimit: limit=100, remaining=50, reset=5\nRateLimit-Policy: 100;w=60", permit.Remaining{Limit: 100, Left: 50, Reset: 6 * time.Second}, none},
		"draft 6":                             {"RateLimit-Limit: 100, 100;w=60\nRateLimit-Remaining: 50\nRateLimit-Reset: 5", permit.Remaining{Limit: 100, Left: 50, Reset: 6 * time.Second}, none},
		"in a year":                           {"RateLimit-Limit: 100\nRateLimit-Remaining: 0\nRateLimit-Reset: 31536000", none, none},
		"no limit at all":                     {"RateLimit-Limit: 0\nRateLimit-Remaining: 0\nRateLimit-Reset: 5", none, none},
		"a word":                              {"RateLimit-Limit: 100\nRateLimit-Remaining: 5\nRateLimit-Reset: soon", none, none},
	} {
		requests, tokens := transport.Remaining(headers(tt.header), now)
		if usable(requests) != tt.requests || usable(tokens) != tt.tokens {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", name, requests, tokens, tt.requests, tt.tokens)
		}
	}
}

// usable returns q if a rate follows from it, and otherwise the zero value.
func usable(q permit.Remaining) permit.Remaining {
	if !q.Usable() {
		return permit.Remaining{}
	}
	return q
}

// headers reads one header per line.
func headers(text string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, v, ok := strings.Cut(line, ":"); ok {
			h.Add(name, strings.TrimSpace(v))
		}
	}
	return h
}

// FuzzRemaining: whatever the headers are, the result is within bounds or empty.
func FuzzRemaining(f *testing.F) {
	f.Add("x-ratelimit-limit-requests: 5\nx-ratelimit-remaining-requests: 1e9\nx-ratelimit-reset-requests: 1h")
	f.Add(`RateLimit-Policy: "a";q=10;w=1, "b";q=50;w=60` + "\n" + `RateLimit: "a";r=9;t=1, "b";r=1`)
	f.Add("anthropic-ratelimit-requests-limit: 1\nanthropic-ratelimit-requests-remaining: 0\nanthropic-ratelimit-requests-reset: 2030-01-02T09:04:04Z")
	f.Fuzz(func(t *testing.T, text string) {
		requests, tokens := transport.Remaining(headers(text), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		for _, q := range []permit.Remaining{requests, tokens} {
			if q.Usable() && (math.IsInf(q.Limit, 0) || !(q.Left >= 0) || q.Reset < 0 || q.Reset > 2*time.Minute) {
				t.Errorf("%q says %+v", text, q)
			}
		}
	})
}
