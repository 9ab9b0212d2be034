package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider/throttle"
	"github.com/proviso-eval/proviso/value"
)

// Limits of answers, in bytes. Parsing and showing a text takes many times its
// size: a body of 60 MB of small objects took 4.3 GB.
const (
	maxReply  = 64 << 20 // for a vendor's API, whose answers may contain pictures
	maxAnswer = 16 << 20 // for a configured address, or a command
)

// maxWait is the longest backoff between two attempts.
const maxWait = time.Minute

// endpoint is one model of one API, with its key. All providers over HTTP share
// this layer. It respects the endpoint's limits, retries when that can help,
// and returns errors without keys.
type endpoint struct {
	id        string // provider id, for messages
	base      string
	keyFrom   string // origin of the key, for messages
	need      string // name of the key in the user's environment, as settings.need returns it; "" if the key comes from the suite
	header    http.Header
	secrets   []string
	login     login // nil if the header is enough
	tentative bool  // a 403 may concern the request, such as a shape, and not the key
	varies    bool  // requests go to several addresses, so one failure says nothing about the others
	lists     bool  // a response may be a JSON list; see [listKey]
	client    *http.Client
	replays   bool // answers are replayed, so they say nothing about today's limits
	gate      *throttle.Gate
	retries   int
	timeout   time.Duration
	backoff   time.Duration
	clock     throttle.Clock
}

// reply is an answer of an API.
type reply struct {
	*value.Object
	latency time.Duration // latency of the last attempt alone, or the recorded one
}

// client returns the client of an endpoint, with a policy for redirects.
func (s settings) client(next func(*http.Request, []*http.Request) error) *http.Client {
	if s.o.Client == nil {
		c := transport.New(transport.Options{Env: s.o.Env}).Client()
		c.CheckRedirect = next
		return c
	}
	c := *s.o.Client
	c.CheckRedirect = next
	return &c
}

// maxRedirects bounds how many redirects are followed, as net/http does.
const maxRedirects = 10

// sameHostOnly follows redirects that lead to the same host and repeat the
// request unchanged. Other hosts must not receive a key, and the login page of
// a proxy is not an answer.
func sameHostOnly(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) >= maxRedirects || req.Method != first.Method || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// anyHost follows redirects, up to maxRedirects. The transport removes the headers of a request
// that leaves its host.
func anyHost(_ *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

// authorize adds the key and the other headers that the vendor requires.
func (e *endpoint) authorize(a api, key string) {
	for name, v := range a.extra {
		e.header.Set(name, v)
	}
	switch {
	case key == "":
		return
	case a.header != "":
		e.header.Set(a.header, key)
	default:
		e.header.Set("Authorization", "Bearer "+key)
	}
	e.secrets = append(e.secrets, key)
}

// addHeaders adds the configured headers. Their values may be keys.
func (e *endpoint) addHeaders(v any) {
	o, _ := v.(*value.Object)
	for name, v := range o.All() {
		text := value.ToString(v)
		e.header.Set(name, text)
		if secret := strings.TrimPrefix(text, "Bearer "); len(secret) >= 8 {
			e.secrets = append(e.secrets, secret)
		}
	}
}

// ask posts body to a path of the API and returns the object in the response. It remembers errors
// that no retry can solve, so that further calls fail at once with the same error. Errors are
// *proviso.Error, the error of ctx, or a *fault if a content filter rejected the request.
func (e *endpoint) ask(ctx context.Context, path string, body *value.Object) (reply, error) {
	return e.exchange(ctx, http.MethodPost, path, value.AppendJSON(nil, body))
}

// look makes a GET request to a path of the API, like ask.
func (e *endpoint) look(ctx context.Context, path string) (reply, error) {
	return e.exchange(ctx, http.MethodGet, path, nil)
}

// exchange repeats a request to a path of the API until it succeeds or no retry can help.
func (e *endpoint) exchange(ctx context.Context, method, path string, data []byte) (r reply, err error) {
	err = e.persist(ctx, len(data), func(t *throttle.Ticket) error {
		start := e.clock.Now()
		resp, body, err := e.roundTrip(ctx, method, e.base+path, e.header, data, maxReply, t)
		if err != nil {
			return err
		}
		r, err = read(resp, body, e.clock.Now(), e.lists)
		var recorded bool
		if r.latency, recorded = transport.RecordedLatency(resp); !recorded {
			r.latency = e.clock.Now().Sub(start)
		}
		if err == nil {
			e.gate.Settle(tokensOf(len(data)), usedTokens(r.Object))
		}
		return err
	})
	return r, err
}

// persist repeats an attempt that sends size bytes until it succeeds or no retry can help.
func (e *endpoint) persist(ctx context.Context, size int, try func(*throttle.Ticket) error) error {
	for attempt := 0; ; attempt++ {
		err := e.attempt(ctx, size, try)
		var f *fault
		switch {
		case err == nil || !errors.As(err, &f):
			return err
		case f.filtered():
			return f
		case f.stop && (e.varies || e.tentative && f.status == http.StatusForbidden):
			return e.failure(f)
		case f.stop:
			return e.gate.Stop(e.failure(f))
		case !f.again || attempt >= e.attempts(f):
			return e.giveUp(f, attempt)
		case f.after > e.timeout:
			f.message += ", and asks to wait " + f.after.Round(time.Second).String()
			return e.failure(f)
		}
		if err := e.clock.Sleep(ctx, e.wait(attempt, f.after)); err != nil {
			return err
		}
	}
}

// refusedRetries is the number of retries after a refused connection: enough
// for a server that restarts, and few enough that a wrong address, the usual
// cause, does not look like a run that hangs.
const refusedRetries = 2

// attempts returns the maximum number of retries after a fault.
func (e *endpoint) attempts(f *fault) int {
	if f.refused {
		return min(e.retries, refusedRetries)
	}
	return e.retries
}

// refused reports whether the connection was refused.
func refused(err error) bool {
	const windows = syscall.Errno(10061) // WSAECONNREFUSED
	var errno syscall.Errno
	return errors.As(err, &errno) && (errno == syscall.ECONNREFUSED || runtime.GOOS == "windows" && errno == windows)
}

// giveUp returns the error of the last attempt. It stops all further requests
// to an endpoint that has never responded.
func (e *endpoint) giveUp(f *fault, attempt int) error {
	if attempt > 0 {
		f.message += " (" + strconv.Itoa(attempt+1) + " attempts)"
	}
	err := e.failure(f)
	if f.again && f.code == proviso.Unavailable && e.gate.Silent() {
		return e.gate.Stop(err)
	}
	return err
}

// wait returns the time before the next attempt: what the endpoint asked for, or exponential
// backoff. Random jitter of up to a quarter is added, so that requests do not all return at once.
func (e *endpoint) wait(attempt int, after time.Duration) time.Duration {
	d := after
	if d <= 0 {
		d = min(e.backoff<<min(attempt, 16), maxWait)
	}
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// tokensOf estimates the number of tokens in a text of size bytes.
func tokensOf(size int) float64 { return float64(size) / 4 }

// attempt makes one attempt as soon as the endpoint's limits allow it.
func (e *endpoint) attempt(ctx context.Context, size int, try func(*throttle.Ticket) error) error {
	t, err := e.gate.Enter(ctx, e.clock, tokensOf(size))
	if err != nil {
		return err
	}
	defer e.gate.Leave()
	if e.login != nil {
		if err := e.login.ready(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return loginFault(err)
		}
	}
	start := e.clock.Now()
	err = try(&t)
	a := throttle.Answer{Accepted: err == nil, Heard: err == nil, Patience: e.timeout}
	var f *fault
	if errors.As(err, &f) {
		a.Heard, a.Limited, a.Overloaded, a.After = f.status != 0, f.status == http.StatusTooManyRequests, f.overloaded(), f.after
	}
	e.gate.Note(ctx, e.clock, &t, start, a)
	return err
}

// errDeadline is the cause of a context that ended because a call took too long.
var errDeadline = errors.New("deadline of the call")

// roundTrip makes one HTTP request and reads the body of the answer, up to a limit in bytes.
func (e *endpoint) roundTrip(ctx context.Context, method, address string, header http.Header, data []byte, most int64, t *throttle.Ticket) (*http.Response, []byte, error) {
	call, cancel := context.WithTimeoutCause(ctx, e.timeout, errDeadline)
	defer cancel()
	req, err := http.NewRequestWithContext(call, method, address, bytes.NewReader(data))
	if err != nil {
		return nil, nil, &fault{code: proviso.Invalid, message: "the request is malformed: " + transport.Redact(err).Error()}
	}
	req.Header = header.Clone()
	if e.login != nil {
		if err := e.login.sign(call, req, data); err != nil {
			return nil, nil, loginFault(err)
		}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, nil, e.broken(ctx, call, err)
	}
	defer resp.Body.Close()
	if !e.replays {
		t.Reports(transport.Remaining(resp.Header, e.clock.Now()))
	}
	body, err := readBody(resp, most)
	if err != nil {
		return nil, nil, e.broken(ctx, call, err)
	}
	return resp, body, nil
}

// readBody reads a body up to a limit in bytes.
func readBody(resp *http.Response, most int64) ([]byte, error) {
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= most {
		b.Grow(int(n) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(resp.Body, most+1))
	if err == nil && n > most {
		err = proviso.Errorf(proviso.Limit, "the answer has more than %d bytes", most)
	}
	return b.Bytes(), err
}

// broken returns the fault of a request that got no complete response.
func (e *endpoint) broken(ctx, call context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if context.Cause(call) == errDeadline {
		return &fault{code: proviso.Timeout, message: "no answer within " + e.timeout.String()}
	}
	err = transport.Redact(err)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &fault{code: proviso.Unavailable, message: "the answer was cut off", again: true}
	}
	f := &fault{code: proviso.Unavailable, message: err.Error(), again: true, refused: refused(err)}
	var known *proviso.Error
	if errors.As(err, &known) {
		f.code = known.Code
		lost := errors.Is(err, transport.ErrUnrecorded)
		f.again = !lost && (known.Code == proviso.Unavailable || known.Code == proviso.Timeout)
		f.stop = lost || known.Code == proviso.Refused || known.Code == proviso.Invalid
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		f.stop = true
	}
	return f
}

// usedTokens is the number of tokens that the answer reports.
func usedTokens(o *value.Object) float64 {
	u := o.Object("usage")
	if u == nil {
		u, _ = o.At("usageMetadata").(*value.Object)
	}
	for _, key := range []string{"total_tokens", "totalTokenCount"} {
		if n, ok := u.At(key).(float64); ok {
			return n
		}
	}
	in, _ := u.At("input_tokens").(float64)
	out, _ := u.At("output_tokens").(float64)
	return in + out
}
