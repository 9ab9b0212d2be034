package transport

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/permit"
)

// quotaNames are the header names for a limit, the rest of it and its reset, in the order of
// lookup. The window is set if the names imply it.
type quotaNames struct {
	limit, left, reset string
	window             time.Duration
}

// requestQuotas and tokenQuotas name the headers that vendors of models send.
var (
	requestQuotas = [...]quotaNames{
		{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", 0},                                // OpenAI, Azure, Groq, …
		{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset", 0},        // Anthropic
		{"X-Ratelimit-Limit-Req-Minute", "X-Ratelimit-Remaining-Req-Minute", "", time.Minute},                                            // Mistral
		{"X-Ratelimit-Limit-Requests-Minute", "X-Ratelimit-Remaining-Requests-Minute", "X-Ratelimit-Reset-Requests-Minute", time.Minute}, // Cerebras
		{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", 0},                                                                 // IETF, until draft 6
		{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", 0},                                                           // OpenRouter, Together, …
	}
	tokenQuotas = [...]quotaNames{
		{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", 0},
		{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", 0},
		{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset", 0},
		{"X-Ratelimit-Limit-Tokens-Minute", "X-Ratelimit-Remaining-Tokens-Minute", "X-Ratelimit-Reset-Tokens-Minute", time.Minute},
	}
)

// Remaining reads what a vendor reports in an answer about its limits of requests and tokens;
// [permit.Remaining.Usable] is false if no rate follows from it. It knows the headers of OpenAI and
// of vendors that copy them, of Anthropic, Mistral and Cerebras, and of
// draft-ietf-httpapi-ratelimit-headers (RateLimit, and RateLimit-Limit as in drafts up to 6). A
// reset may be a duration, seconds, or a time, which is compared with the Date header as
// [RetryAfter] does.
func Remaining(h http.Header, now time.Time) (requests, tokens permit.Remaining) {
	now = ServerTime(h, now)
	for _, names := range requestQuotas {
		if requests = remaining(h, names, now); requests.Usable() {
			break
		}
	}
	if !requests.Usable() {
		requests = listed(h)
	}
	for _, names := range tokenQuotas {
		if tokens = remaining(h, names, now); tokens.Usable() {
			break
		}
	}
	return requests, tokens
}

// ServerTime returns the server's time from the Date header of its answer, because the local clock
// may be wrong (RFC 9110, section 6.6.1). Without the header it returns now.
func ServerTime(h http.Header, now time.Time) time.Time {
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		return theirs
	}
	return now
}

// remaining reads one limit.
func remaining(h http.Header, names quotaNames, now time.Time) permit.Remaining {
	left, ok := count(h.Get(names.left))
	if !ok {
		return permit.Remaining{}
	}
	limit, _ := count(h.Get(names.limit))
	r := permit.Remaining{Limit: limit, Left: left, Reset: names.window}
	if reset := strings.TrimSpace(h.Get(names.reset)); reset != "" {
		r.Reset = until(reset, now)
	}
	return r
}

// count reads a number of requests or tokens. Of a list, such as "100, 100;w=60", it takes the
// first number.
func count(text string) (float64, bool) {
	if at := strings.IndexAny(text, ",;"); at >= 0 {
		text = text[:at]
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && n >= 0 && !math.IsInf(n, 0)
}

// From these values on, a reset in seconds is a Unix time, in seconds or milliseconds.
const (
	unixSeconds = 1e9
	unixMillis  = 1e12
)

// until reads the time until a limit is reset: 6m0s, 8.64s, 30, 2030-01-02T03:04:05Z or 1893553445.
// It returns 0 for an empty text, and a negative value for any other text. Whole seconds, and the
// milliseconds of a duration, count up to their end, because vendors round them.
func until(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case !(s >= 0 && s < 1e15):
			return unread
		case s >= unixMillis:
			return left(time.UnixMilli(int64(s)).Sub(now))
		case s >= unixSeconds:
			return left(time.Unix(int64(s)+1, 0).Sub(now))
		case s == math.Trunc(s):
			s++
		}
		return left(time.Duration(s * float64(time.Second)))
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return left(d + time.Millisecond)
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		if t.Nanosecond() == 0 {
			t = t.Add(time.Second)
		}
		return left(t.Sub(now))
	}
	return unread
}

// unread marks a reset that could not be parsed.
const unread = -1

// left returns the time until a reset. If the reset has passed, it returns the shortest time,
// because the whole limit is available.
func left(d time.Duration) time.Duration { return max(d, time.Millisecond) }

// maxListed bounds how many limits of a RateLimit header are read.
const maxListed = 16

// listed reads the fields of draft-ietf-httpapi-ratelimit-headers: since draft 8
//
//	RateLimit-Policy: "burst";q=100;w=60, "daily";q=1000;w=86400
//	RateLimit: "burst";r=50;t=30
//
// and in draft 7 "limit=100, remaining=50, reset=30". Of several limits it takes the one that
// binds first. Limits of bytes or of requests in flight are left out.
func listed(h http.Header) (tightest permit.Remaining) {
	policies := map[string]map[string]string{}
	for name, has := range members(h, "Ratelimit-Policy") {
		policies[name] = has
	}
	old := permit.Remaining{}
	for name, has := range members(h, "Ratelimit") {
		switch value := has[""]; name {
		case "limit":
			old.Limit, _ = count(value)
		case "remaining":
			old.Left, _ = count(value)
		case "reset":
			old.Reset = until(value, time.Time{})
		}
		n, ok := count(has["r"])
		unit := strings.Trim(policies[name]["qu"], `"`)
		if !ok || unit != "" && unit != "requests" && unit != "request" {
			continue
		}
		q := permit.Remaining{Left: n, Reset: until(has["t"], time.Time{})}
		q.Limit, _ = count(policies[name]["q"])
		if q.Reset == 0 {
			q.Reset = until(policies[name]["w"], time.Time{})
		}
		if q.Usable() && (!tightest.Usable() || bindsBefore(q, tightest)) {
			tightest = q
		}
	}
	if old.Usable() {
		return old
	}
	return tightest
}

// bindsBefore reports whether a limits requests more tightly than b: it allows fewer requests per
// second until its reset, or the same rate but has fewer left, or both are used up and a is reset
// later. The order in which limits are listed does not matter.
func bindsBefore(a, b permit.Remaining) bool {
	return cmp.Or(
		cmp.Compare(a.Left*b.Reset.Seconds(), b.Left*a.Reset.Seconds()),
		cmp.Compare(a.Left, b.Left),
		cmp.Compare(b.Reset, a.Reset),
		cmp.Compare(a.Limit, b.Limit),
	) < 0
}

// members reads a list of a structured field (RFC 9651) with the parameters of each member. For a
// member of the form name=value, the parameter "" is the value. Malformed members are left out.
func members(h http.Header, field string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for item := range strings.SplitSeq(strings.Join(h.Values(field), ","), ",") {
		if len(out) == maxListed {
			break
		}
		parts := strings.SplitN(item, ";", maxListed)
		name, value, _ := strings.Cut(parts[0], "=")
		has := map[string]string{"": strings.TrimSpace(value)}
		for _, part := range parts[1:] {
			key, value, _ := strings.Cut(part, "=")
			has[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
		out[strings.Trim(strings.TrimSpace(name), `"`)] = has
	}
	return out
}
