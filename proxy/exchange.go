package proxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
)

// errSilent ends a request whose upstream sends nothing.
var errSilent = errors.New("the upstream is silent")

// exchange is one request and its reply.
type exchange struct {
	upstream string
	path     string // after the name of the upstream, escaped
	api      *api   // nil if the format is not recorded
	method   string
	start    time.Time
	client   context.Context // ends when the client disconnects
	out      http.Header     // header of the reply to the client
	quiet    *time.Timer
	silence  time.Duration
	passed   bool         // the whole reply was written
	body     *requestBody // body of the request; nil if there is none

	mu      sync.Mutex // the bodies of request and reply are read concurrently
	status  int        // 0 before the reply
	local   bool       // the proxy itself answered
	first   time.Time  // time of the first byte of the reply's body
	last    time.Time
	bytes   int64 // bytes read of the reply's body
	sent    int64 // bytes read of the request's body
	end     error // io.EOF, or why the reply ended early
	upload  error // why the request ended early
	failure string
	record  *record // nil if it is not recorded
}

// names identify an event.
type names struct {
	agent, conversation, user, event, version, trace string
	segment                                          map[string]string
}

// begin reads the head of a request.
func (p *Proxy) begin(r *http.Request, upstream, rest string) *exchange {
	x := &exchange{upstream: upstream, path: rest, method: r.Method, start: time.Now(), api: apiOf(r.Method, rest), client: r.Context()}
	p.metrics.open.Inc()
	if p.recorder == nil || x.api == nil {
		return x
	}
	n := p.config.Identify.names(r.Header)
	if n.event == "" {
		n.event = "px_" + random()
	}
	if !sampled(n, p.config.Record.Sample) {
		p.recorder.count(unsampled, 1)
		return x
	}
	x.record = newRecord(p.budget, x.api, n, secretsIn(r))
	x.record.request(r.Header)
	return x
}

// names reads the identifying headers of a request.
func (i *Identify) names(h http.Header) names {
	n := names{agent: i.Agent.of(h), conversation: i.Conversation.of(h), user: i.User.of(h), event: i.Event.of(h), version: i.Version.of(h)}
	for name, s := range i.Segment {
		if v := s.of(h); v != "" {
			if n.segment == nil {
				n.segment = map[string]string{}
			}
			n.segment[name] = v
		}
	}
	if parts := strings.Split(h.Get("Traceparent"), "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		if _, err := hex.DecodeString(parts[1]); err == nil && strings.Trim(parts[1], "0") != "" {
			n.trace = strings.ToLower(parts[1])
		}
	}
	return n
}

// of returns the text of a source for a request.
func (s Source) of(h http.Header) string {
	if s.Header == "" {
		return s.Text
	}
	return nameOf(h.Get(s.Header))
}

func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// sampled decides whether an exchange is recorded. Conversations are sampled as a whole.
func sampled(n names, share float64) bool {
	if share >= 1 {
		return true
	}
	group := "e:" + n.event
	if n.conversation != "" {
		group = "c:" + n.conversation
	}
	sum := sha256.Sum256([]byte("proviso proxy\x00" + group))
	return float64(binary.BigEndian.Uint64(sum[:])) < share*math.Pow(2, 64)
}

// secretsIn returns the keys in a request, so that they are not recorded if a reply repeats them.
func secretsIn(r *http.Request) []string {
	var list []string
	for name, values := range r.Header {
		if !proviso.IsSecret(name) {
			continue
		}
		for _, v := range values {
			list = append(list, v)
			if _, token, ok := strings.Cut(v, " "); ok {
				list = append(list, token)
			}
		}
	}
	for name, values := range r.URL.Query() {
		if lower := strings.ToLower(name); proviso.IsSecret(name) || strings.Contains(lower, "key") || strings.Contains(lower, "sig") {
			list = append(list, values...)
		}
	}
	if _, password, ok := r.BasicAuth(); ok {
		list = append(list, password)
	}
	return list
}

// apiName is the name of the format for logs and metrics.
func (x *exchange) apiName() string {
	if x.api == nil {
		return "other"
	}
	return x.api.name
}

// watch cancels the request if nothing passes for the given time.
func (x *exchange) watch(silence time.Duration, cancel context.CancelCauseFunc) {
	x.silence = silence
	x.quiet = time.AfterFunc(silence, func() { cancel(errSilent) })
}

// alive records that something has passed.
func (x *exchange) alive() { x.quiet.Reset(x.silence) }

// head records the head of a reply.
func (x *exchange) head(resp *http.Response) {
	x.alive()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status = resp.StatusCode
	if x.record != nil {
		x.record.reply(resp)
	}
}

// failed records why there is no answer.
func (x *exchange) failed(why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == "" {
		x.failure = why
	}
}

// unreached records that the proxy answers in place of the upstream.
func (x *exchange) unreached(status int, why string) {
	x.failed(why)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.local = status, true
}

func (x *exchange) uploadBroke() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.upload != nil
}

// recorded reports whether an exchange with a request body is recorded.
func (x *exchange) recorded() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.record != nil && x.body != nil
}

// requestBody is the body of a request on its way to the upstream.
type requestBody struct {
	from   io.Reader
	x      *exchange
	turn   sync.Mutex // held while reading
	closed atomic.Bool
}

// Close stops the upstream from reading. The server closes the body itself.
func (b *requestBody) Close() error {
	b.closed.Store(true)
	return nil
}

// Read reads the next part for the upstream.
func (b *requestBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	return asks{b}.Read(p)
}

// asks reads a body even after the upstream has closed it.
type asks struct{ *requestBody }

// Read reads the next part of the body, and records it.
func (b asks) Read(p []byte) (int, error) {
	b.turn.Lock()
	defer b.turn.Unlock()
	n, err := b.from.Read(p)
	x := b.x
	x.alive()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent += int64(n)
	if err != nil && err != io.EOF {
		x.upload = err
	}
	if x.record != nil && n > 0 {
		x.record.asks(p[:n])
	}
	return n, err
}

// replyBody is the body of a reply on its way to the client. A part is recorded only after the
// client has received it, when the next part is read.
type replyBody struct {
	io.ReadCloser
	x       *exchange
	pending []byte
	at      time.Time
}

// Read reads the next part for the client.
func (b *replyBody) Read(p []byte) (int, error) {
	x := b.x
	if len(b.pending) > 0 {
		x.mu.Lock()
		b.look()
		x.mu.Unlock()
	}
	n, err := b.ReadCloser.Read(p)
	x.alive()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = time.Now()
	if n > 0 {
		if x.first.IsZero() {
			x.first = x.last
		}
		x.bytes += int64(n)
		if x.record != nil {
			b.pending, b.at = append(b.pending[:0], p[:n]...), x.last
			x.record.rest = b
		}
	}
	if err != nil {
		x.end = err
	}
	return n, err
}

// look records the part that has passed.
func (b *replyBody) look() {
	b.x.record.says(b.pending, b.at)
	b.pending = b.pending[:0]
}

// outcome returns why an exchange ended early; "" if it did not.
func (x *exchange) outcome(ctx error) string {
	switch {
	case x.failure != "":
		return x.failure
	case ctx == errSilent:
		return "the upstream sent nothing for " + x.silence.String() + " in the middle of its reply"
	case x.passed && (x.end == io.EOF || x.status == http.StatusSwitchingProtocols):
		return ""
	case x.client.Err() != nil, x.end == nil || x.end == io.EOF:
		if x.bytes == 0 && x.status == 0 {
			return "the client left before the reply"
		}
		return "the client left before the end of the reply"
	}
	return "the upstream ended its reply early"
}
