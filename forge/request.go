package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/transport"
)

const (
	maxAttempts = 5               // per request that may be repeated
	firstWait   = time.Second     // before the second attempt; doubles after each
	maxWait     = 2 * time.Minute // longest wait accepted from a forge
	maxReset    = 24 * time.Hour  // longest wait for the end of a rate limit; GitHub's last an hour
	secondary   = time.Minute     // wait if GitHub's secondary limit names none, as its manual says
	timeout     = 30 * time.Second
	maxAnswer   = 64 << 20 // bytes
)

// client sends requests to one forge.
type client struct {
	*kind
	place   *Place
	base    *url.URL
	token   string
	network *http.Client
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
}

// request is one API request.
type request struct {
	method   string
	address  string // absolute, on the host of the base address
	body     any    // sent as JSON; nil sends none
	harmless bool   // the request is idempotent
}

// fault is why an attempt has no usable response.
type fault struct {
	status  int // 0 if there was no response
	message string
	limited bool          // a rate limit: the request had no effect
	after   time.Duration // the wait that the forge asks for
	err     error         // network error
}

func (f *fault) Error() string { return f.message }

// again reports whether another attempt can succeed.
func (f *fault) again() bool { return f.limited || f.status == 0 || f.status >= 500 || f.status == 408 }

func (c *client) get(ctx context.Context, path string, query url.Values, into any) (http.Header, error) {
	address := c.base.String() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return c.call(ctx, request{method: http.MethodGet, address: address, harmless: true}, into)
}

// call sends a request until it succeeds or cannot succeed. It repeats a request that is
// not harmless only if a rate limit refused it. After another fault, the caller has to find
// out whether the request took effect.
func (c *client) call(ctx context.Context, r request, into any) (http.Header, error) {
	for attempt := 1; ; attempt++ {
		header, err := c.send(ctx, r, into)
		var f *fault
		if err == nil || !errors.As(err, &f) {
			return header, err
		}
		if !f.again() || !f.limited && !r.harmless || attempt == maxAttempts || f.after > maxWait {
			return nil, err
		}
		if err := c.wait(ctx, attempt, f.after); err != nil {
			return nil, err
		}
	}
}

// wait waits before the next attempt: at least as long as the forge asks, otherwise an
// exponential backoff with jitter, so that many jobs do not retry at the same time.
func (c *client) wait(ctx context.Context, attempt int, after time.Duration) error {
	d := firstWait << (attempt - 1)
	if c.sleep(ctx, max(after, d/2+rand.N(d/2))) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// send makes one attempt.
func (c *client) send(ctx context.Context, r request, into any) (http.Header, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(limited, r.method, r.address, body)
	if err != nil {
		return nil, proviso.Errorf(proviso.Invalid, "the address of %s's API is malformed", c.title)
	}
	c.authorize(req.Header, c.token)
	req.Header.Set("User-Agent", "proviso")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.network.Do(req)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	defer resp.Body.Close()
	answer := io.LimitReader(resp.Body, maxAnswer)
	if resp.StatusCode/100 != 2 {
		return nil, c.refused(resp, answer)
	}
	if into == nil || resp.StatusCode == http.StatusNoContent {
		return resp.Header, nil
	}
	if err := json.NewDecoder(answer).Decode(into); err != nil {
		return nil, c.broken(ctx, fmt.Errorf("the answer is not complete JSON: %w", err))
	}
	return resp.Header, nil
}

// broken is the fault of an attempt without a complete response.
func (c *client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = transport.Redact(err)
	var policy *proviso.Error
	if errors.As(err, &policy) && policy.Code != proviso.Unavailable && policy.Code != proviso.Timeout {
		return proviso.Errorf(policy.Code, "%s: %s", c.title, c.hide(err.Error()))
	}
	return &fault{message: c.hide(err.Error()), err: err}
}

// refused is the fault of a response with an error status.
func (c *client) refused(resp *http.Response, answer io.Reader) error {
	f := &fault{status: resp.StatusCode, after: transport.RetryAfter(resp.Header, c.now())}
	var said struct {
		Message any `json:"message"` // GitLab also sends objects
		Error   any `json:"error"`
	}
	data, err := io.ReadAll(io.LimitReader(answer, 64<<10))
	if err == nil && json.Unmarshal(data, &said) == nil {
		if text := cmp.Or(said.Message, said.Error); text != nil {
			f.message = fmt.Sprint(text)
		}
	}
	f.message = excerpt.Plain(c.hide(cmp.Or(excerpt.Line(f.message, 200), http.StatusText(f.status), "no reason")))
	c.limits(f, resp.Header)
	return f
}

// limits detects a rate limit. GitHub uses 403 and 429: for its primary limit with
// X-RateLimit-Remaining: 0, for its secondary limits with Retry-After or only with a
// message. GitLab uses 429.
func (c *client) limits(f *fault, h http.Header) {
	if f.status != http.StatusTooManyRequests && f.status != http.StatusForbidden {
		return
	}
	remaining, reset := cmp.Or(h.Get("X-Ratelimit-Remaining"), h.Get("Ratelimit-Remaining")), cmp.Or(h.Get("X-Ratelimit-Reset"), h.Get("Ratelimit-Reset"))
	switch {
	case f.after > 0:
		f.limited = true
	case remaining == "0":
		f.limited = true
		if unix, err := strconv.ParseInt(reset, 10, 64); err == nil {
			now := transport.ServerTime(h, c.now())
			unix = min(max(unix, now.Unix()), now.Add(maxReset).Unix())
			f.after = max(time.Unix(unix, 0).Sub(now), 0) + time.Second // the reset is in whole seconds
		}
	case f.status == http.StatusTooManyRequests, strings.Contains(strings.ToLower(f.message), "secondary rate limit"):
		f.limited, f.after = true, secondary
	}
}

// hide removes the token from a text of the forge or the network.
func (c *client) hide(text string) string {
	if c.token == "" {
		return text
	}
	return strings.ReplaceAll(text, c.token, "[REDACTED]")
}

// sentence describes the last fault of a request in one sentence, with what to do.
func (c *client) sentence(doing string, err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	code, text := proviso.Unavailable, fmt.Sprintf("%s: HTTP %d: %s", c.title, f.status, f.message)
	switch why := c.explain(c.place, f); {
	case f.limited:
		text = fmt.Sprintf("%s's rate limit is exhausted until %s; run the job again then", c.title, c.now().Add(f.after).UTC().Format("15:04:05 MST"))
	case f.status == 0:
		text = fmt.Sprintf("%s: %s", c.title, f.message)
	case why != "":
		text = why + " (" + f.message + ")"
	case f.status >= 500:
		text += fmt.Sprintf(" (after %d attempts)", maxAttempts)
	}
	return proviso.Because(err, code, "%s: %s", doing, text)
}

// sameHost keeps a redirect, and with it the token, on the host of the base address.
func (c *client) sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != c.base.Scheme || req.URL.Host != c.base.Host {
		return proviso.Errorf(proviso.Refused, "a redirect to %s, which is another host than that of the API", req.URL.Host)
	}
	if len(via) >= 5 {
		return proviso.Errorf(proviso.Limit, "more than 5 redirects")
	}
	return nil
}
