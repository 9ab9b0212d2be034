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
	id        string // of the provider, for messages
	base      string
	keyFrom   string // origin of the key, for messages
	need      string // what of the user's environment the key is, as of settings.need; "" if it is the suite's
	header    http.Header
	secrets   []string
	login     login // nil if the header is enough
	tentative bool  // a 403 may concern the request, such as a shape, and not the key
	lists     bool  // answers may be lists, which become the member list of an object
	client    *http.Client
	replays   bool // answers are recorded ones, which say nothing of today's limits
	gate      *gate
	retries   int
	timeout   time.Duration
	backoff   time.Duration
	now       func() time.Time
	sleep     func(context.Context, time.Duration) error
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

// anyHost follows redirects, up to a bound. The transport removes the headers
// of a request that leaves its host.
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

// ask posts body to a path of the API and returns the object in the response.
// It remembers errors that no retry can solve, so that further calls fail at
// once with the same error. Its errors are *proviso.Error, the error of ctx, or
// a *fault if a content filter rejected the request.
func (e *endpoint) ask(ctx context.Context, path string, body *value.Object) (reply, error) {
	return e.persist(ctx, path, value.AppendJSON(nil, body))
}

// look makes a GET request to a path of the API, as ask does.
func (e *endpoint) look(ctx context.Context, path string) (reply, error) {
	return e.persist(ctx, path, nil)
}

// persist makes a request until it succeeds or cannot succeed. A request
// without data is a GET.
func (e *endpoint) persist(ctx context.Context, path string, data []byte) (reply, error) {
	for attempt := 0; ; attempt++ {
		r, err := e.attempt(ctx, path, data)
		var f *fault
		if err == nil || !errors.As(err, &f) {
			return r, err
		}
		if f.filtered() {
			return r, f
		}
		if f.stop {
			if e.tentative && f.status == http.StatusForbidden {
				return r, e.failure(f)
			}
			return r, e.gate.stop(e.failure(f))
		}
		if !f.again || attempt >= e.attempts(f) {
			return r, e.giveUp(f, attempt)
		}
		wait := e.wait(attempt, f.after)
		if f.after > e.timeout {
			f.message += ", and asks to wait " + f.after.Round(time.Second).String()
			return r, e.failure(f)
		}
		if err := e.sleep(ctx, wait); err != nil {
			return r, err
		}
	}
}

// refusedRetries is the number of retries after a refused connection: enough
// for a server that restarts, and few enough that a wrong address, the usual
// cause, does not look like a run that hangs.
const refusedRetries = 2

// attempts is the number of retries for a fault.
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
	if f.again && f.code == proviso.Unavailable && e.gate.silent() {
		return e.gate.stop(err)
	}
	return err
}

// wait is the time before the next attempt: the endpoint's value, or
// exponential backoff. Up to a quarter of random time is added, so that
// requests do not all return at once.
func (e *endpoint) wait(attempt int, after time.Duration) time.Duration {
	d := after
	if d <= 0 {
		d = min(e.backoff<<min(attempt, 16), maxWait)
	}
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// attempt makes one attempt, when the endpoint's limits allow it.
func (e *endpoint) attempt(ctx context.Context, path string, data []byte) (reply, error) {
	if err := e.gate.err(); err != nil {
		return reply{}, err
	}
	if err := e.gate.enter(ctx); err != nil {
		return reply{}, err
	}
	defer e.gate.leave()
	estimate := float64(len(data)) / 4 // approximate bytes of a token
	t, err := e.gate.throttle.pass(ctx, e, estimate)
	if err != nil {
		return reply{}, err
	}
	if err := e.gate.err(); err != nil {
		return reply{}, err
	}
	if e.login != nil {
		if err := e.login.ready(ctx); err != nil {
			if ctx.Err() != nil {
				return reply{}, ctx.Err()
			}
			return reply{}, loginFault(err)
		}
	}
	start := e.now()
	r, err := e.send(ctx, path, data, &t)
	end := e.now()
	if r.latency == unmeasured {
		r.latency = end.Sub(start)
	}
	e.report(ctx, err, &t, start, end)
	if err == nil {
		e.gate.throttle.settle(estimate, usedTokens(r.Object))
	}
	return r, err
}

// report passes the result of an attempt to the gate.
func (e *endpoint) report(ctx context.Context, err error, t *ticket, start, end time.Time) {
	var f *fault
	limited := errors.As(err, &f) && f.status == http.StatusTooManyRequests
	t.report.Accepted = !limited
	throttle := e.gate.throttle
	explained := throttle.tell(ctx, e.now, t, start)
	if !t.reports() && (err == nil || limited && f.after <= 0) {
		throttle.answered(start, err == nil)
	}
	switch {
	case err == nil:
		e.gate.succeeded(start, end, end.Sub(start))
	case !errors.As(err, &f) || f.status == 0:
	case f.overloaded():
		if explained || limited && throttle.refused(ctx, e.now, t.epoch) {
			e.gate.heard() // all processes slow down together, or wait until the limit is there again
		} else {
			e.gate.refused(start, end)
		}
		if f.after > 0 && f.after <= e.timeout { // no request waits for longer
			throttle.hold(ctx, e.now, f.after)
		}
	default:
		e.gate.heard()
	}
}

// errDeadline is the cause of a context that ended because a call took too long.
var errDeadline = errors.New("deadline of the call")

// send makes one HTTP request.
func (e *endpoint) send(ctx context.Context, path string, data []byte, t *ticket) (reply, error) {
	call, cancel := context.WithTimeoutCause(ctx, e.timeout, errDeadline)
	defer cancel()
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if data != nil {
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(call, method, e.base+path, body)
	if err != nil {
		return reply{}, &fault{code: proviso.Invalid, message: "the URL is malformed"}
	}
	req.Header = e.header.Clone()
	if e.login != nil {
		if err := e.login.sign(call, req, data); err != nil {
			return reply{}, loginFault(err)
		}
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return reply{}, e.broken(ctx, call, err)
	}
	defer resp.Body.Close()
	e.hear(resp.Header, t)
	answer, err := readBody(resp, maxReply)
	if err != nil {
		return reply{}, e.broken(ctx, call, err)
	}
	if e.lists {
		answer = asObject(answer)
	}
	r, err := read(resp, answer, e.now())
	r.latency = unmeasured
	if d, ok := transport.RecordedLatency(resp); ok {
		r.latency = d
	}
	return r, err
}

// unmeasured is the latency of an answer whose latency was not recorded.
const unmeasured = -1

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

// broken is the fault of a request without a complete response.
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
	u, _ := o.At("usage").(*value.Object)
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
