package fakemodel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Limiter simulates a vendor's rate limit, which may be reported in headers. It is safe for
// concurrent use. The fields must not be changed once it is in use.
type Limiter struct {
	Requests float64       // requests per window; 0 means no limit
	Tokens   float64       // tokens of prompts and answers per window; 0 means no limit
	Window   time.Duration // 0 means a minute
	// Fixed counts by whole windows, which start at multiples of Window. Otherwise the limit is a
	// token bucket.
	Fixed bool
	// Now is the clock of a [Server]; nil means the real one.
	Now func() time.Time
	// Says reports what is left in the headers of an answer: [OpenAISays], …; nil reports nothing.
	Says func(h http.Header, now time.Time, requests, tokens Left)

	mu       sync.Mutex
	last     time.Time
	used     [2]float64 // requests and tokens
	admitted int
	refused  int
}

// Left is the rest of a limit.
type Left struct {
	Limit, Left float64
	Reset       time.Duration // until the whole limit is available again
}

// Admit decides on a request of this many tokens, and returns the headers of its answer.
func (l *Limiter) Admit(now time.Time, tokens float64) (h http.Header, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	window := l.window()
	limits := [...]float64{l.Requests, l.Tokens}
	begins := !now.Truncate(window).Equal(l.last.Truncate(window))
	for i, limit := range limits {
		switch {
		case l.Fixed && begins:
			l.used[i] = 0
		case !l.Fixed:
			l.used[i] = max(l.used[i]-limit*now.Sub(l.last).Seconds()/window.Seconds(), 0)
		}
	}
	l.last = now
	ok = true
	for i, n := range [...]float64{1, tokens} {
		ok = ok && (limits[i] == 0 || l.used[i]+n <= limits[i]+1e-9)
	}
	if ok {
		l.used[0]++
		l.used[1] += tokens
		l.admitted++
	} else {
		l.refused++
	}
	h = http.Header{}
	if l.Says != nil {
		l.Says(h, now, l.left(0, limits[0], now), l.left(1, limits[1], now))
	}
	return h, ok
}

// limit returns r with the headers, or a refusal. A nil Limiter returns r.
func (l *Limiter) limit(r Reply) Reply {
	if l == nil {
		return r
	}
	now := time.Now()
	if l.Now != nil {
		now = l.Now()
	}
	h, ok := l.Admit(now, float64(r.Usage.Total))
	if !ok {
		r = RateLimited("")
	}
	header := map[string]string{}
	maps.Copy(header, r.Header)
	for name := range h {
		header[name] = h.Get(name)
	}
	r.Header = header
	return r
}

func (l *Limiter) window() time.Duration { return cmp.Or(l.Window, time.Minute) }

func (l *Limiter) left(i int, limit float64, now time.Time) Left {
	reset := now.Truncate(l.window()).Add(l.window()).Sub(now)
	if !l.Fixed {
		reset = time.Duration(l.used[i] / max(limit, 1) * float64(l.window()))
	}
	return Left{limit, max(math.Floor(limit-l.used[i]), 0), reset}
}

// Counts returns the numbers of admitted and refused requests.
func (l *Limiter) Counts() (admitted, refused int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.admitted, l.refused
}

// number formats a whole number for a header.
func number(n float64) string { return strconv.FormatFloat(n, 'f', 0, 64) }

// both calls say for each of the two limits that is set.
func both(requests, tokens Left, say func(name string, l Left)) {
	for name, l := range map[string]Left{"Requests": requests, "Tokens": tokens} {
		if l.Limit > 0 {
			say(name, l)
		}
	}
}

// OpenAISays writes durations, such as 6m0s.
func OpenAISays(h http.Header, now time.Time, requests, tokens Left) {
	AzureSays(h, now, requests, tokens)
	both(requests, tokens, func(name string, l Left) {
		h.Set("X-Ratelimit-Limit-"+name, number(l.Limit))
		h.Set("X-Ratelimit-Reset-"+name, l.Reset.Round(time.Millisecond).String())
	})
}

// AzureSays writes no limit and no reset.
func AzureSays(h http.Header, _ time.Time, requests, tokens Left) {
	both(requests, tokens, func(name string, l Left) { h.Set("X-Ratelimit-Remaining-"+name, number(l.Left)) })
}

// AnthropicSays writes times in whole seconds.
func AnthropicSays(h http.Header, now time.Time, requests, tokens Left) {
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	both(requests, tokens, func(name string, l Left) {
		h.Set("Anthropic-Ratelimit-"+name+"-Limit", number(l.Limit))
		h.Set("Anthropic-Ratelimit-"+name+"-Remaining", number(l.Left))
		h.Set("Anthropic-Ratelimit-"+name+"-Reset", now.Add(l.Reset).UTC().Format(time.RFC3339))
	})
}

// DraftSays writes the fields of draft-ietf-httpapi-ratelimit-headers-10, for requests only.
func DraftSays(h http.Header, _ time.Time, requests, _ Left) {
	h.Set("Ratelimit-Policy", fmt.Sprintf(`"default";q=%s;w=60, "daily";q=1000000;w=86400`, number(requests.Limit)))
	h.Set("Ratelimit", fmt.Sprintf(`"daily";r=900000;t=40000, "default";r=%s;t=%s`, number(requests.Left), number(math.Floor(requests.Reset.Seconds()))))
}

// OldDraftSays writes the fields of draft-ietf-httpapi-ratelimit-headers-06, for requests only.
func OldDraftSays(h http.Header, _ time.Time, requests, _ Left) {
	h.Set("Ratelimit-Limit", number(requests.Limit)+", "+number(requests.Limit)+";w=60")
	h.Set("Ratelimit-Remaining", number(requests.Left))
	h.Set("Ratelimit-Reset", number(math.Floor(requests.Reset.Seconds())))
}
