package proxy

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/proviso-eval/proviso/value"
)

// sink receives a body in pieces.
type sink interface{ write(p []byte) }

// record collects the data of an exchange until it becomes an event.
type record struct {
	allow *allowance
	api   *api
	names names
	keys  []string // keys in the request, which must not be recorded

	asked    sink // nil if the request cannot be read
	answered sink
	rest     *replyBody // its last part was not recorded yet
	status   int
	stream   assembly // nil unless the reply is a stream
	retry    string   // Retry-After of an error reply
	first    time.Time
	at       time.Time // when the current part arrived
	unread   string    // why the request or the reply cannot be read
	closed   bool
}

func newRecord(b *budget, a *api, n names, keys []string) *record {
	r := &record{allow: &allowance{from: b}, api: a, names: n, keys: keys}
	r.allow.use(len(n.agent) + len(n.conversation) + len(n.user) + len(n.event) + 1024)
	return r
}

// request reads the head of the request.
func (r *record) request(h http.Header) { r.asked = r.sinkOf(h, maxRequest, nil) }

// sinkOf chooses how a body is recorded.
func (r *record) sinkOf(h http.Header, most int, stream func([]byte)) sink {
	switch coding := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); coding {
	case "", "identity":
		return r.plain(most, stream)
	case "gzip", "x-gzip", "deflate", "br", "zstd":
		return &encoded{allow: r.allow, coding: coding, to: r.plain(most, stream)}
	default:
		r.unread = "a body has a content coding that is not known"
		return nil
	}
}

func (r *record) plain(most int, stream func([]byte)) sink {
	if stream != nil {
		return &frames{allow: r.allow, event: stream}
	}
	return &trimmer{allow: r.allow, most: most, text: maxString}
}

// reply reads the head of the reply.
func (r *record) reply(resp *http.Response) {
	r.status = resp.StatusCode
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 400:
		r.retry = resp.Header.Get("Retry-After")
		if strings.HasSuffix(kind, "json") {
			r.answered = r.sinkOf(resp.Header, maxError, nil)
		}
	case kind == "text/event-stream":
		r.stream = r.api.stream(pieces{allow: r.allow, left: maxReply})
		r.answered = r.sinkOf(resp.Header, maxReply, r.event)
	default:
		r.answered = r.sinkOf(resp.Header, maxReply, nil)
	}
}

// maxError bounds the body of an error.
const maxError = 64 << 10

// asks records a part of the request.
func (r *record) asks(p []byte) {
	if r.asked != nil && !r.closed {
		r.asked.write(p)
	}
}

// says records a part of the reply.
func (r *record) says(p []byte, at time.Time) {
	if r.answered != nil && !r.closed {
		r.at = at
		r.answered.write(p)
	}
}

// event records the data of one event of the stream.
func (r *record) event(data []byte) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		r.stream.state().ended = true
		return
	}
	o := parse(data)
	if o == nil {
		return
	}
	r.stream.add(o)
	if s := r.stream.state(); s.begun && r.first.IsZero() && !r.closed {
		r.first = r.at
	}
}

// encoded holds a compressed body until it is complete.
type encoded struct {
	allow  *allowance
	coding string
	to     sink
	data   []byte
	cut    bool
}

func (e *encoded) write(p []byte) {
	if e.cut || len(e.data)+len(p) > maxEncoded || !e.allow.use(len(p)) {
		e.cut = true
		return
	}
	e.data = append(e.data, p...)
}

// maxDecoded bounds the decompressed size of a body that is read.
const maxDecoded = 32 << 20

// decode decompresses the body into the sink, as far as it can be read.
func (e *encoded) decode() {
	from, err := decoder(e.coding, e.data)
	if err != nil {
		e.cut = true
		return
	}
	defer from.Close()
	buf := make([]byte, 32<<10)
	for read := 0; read < maxDecoded; {
		n, err := from.Read(buf)
		read += n
		e.to.write(buf[:n])
		if err != nil {
			e.cut = e.cut || err != io.EOF
			return
		}
	}
	e.cut = true
}

func decoder(coding string, data []byte) (io.ReadCloser, error) {
	in := bytes.NewReader(data)
	switch coding {
	case "br":
		return io.NopCloser(brotli.NewReader(in)), nil
	case "zstd":
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case "deflate":
		return zlib.NewReader(in)
	}
	return gzip.NewReader(in)
}

// parse reads an object; nil if the data is not one.
func parse(data []byte) *value.Object {
	v, err := value.ParseReply(background, strings.ToValidUTF8(string(data), "\uFFFD"))
	if err != nil {
		return nil
	}
	return object(v)
}

// close ends the sinks. It returns the request, the reply, and the names of those that were cut
// off. Nothing is recorded after it.
func (r *record) close() (request, reply *value.Object, cut []string) {
	r.closed = true
	request, cutRequest := r.finish(r.asked)
	reply, cutReply := r.finish(r.answered)
	if r.stream != nil {
		reply = r.stream.answer()
		cutReply = cutReply || r.stream.state().cut
	}
	if cutRequest {
		cut = append(cut, "request")
	}
	if cutReply {
		cut = append(cut, "reply")
	}
	return request, reply, cut
}

// finish ends a sink and returns its object, and whether it was cut off.
func (r *record) finish(s sink) (*value.Object, bool) {
	switch s := s.(type) {
	case *encoded:
		s.decode()
		o, cut := r.finish(s.to)
		return o, cut || s.cut
	case *frames:
		s.end()
		return nil, s.cut || s.done
	case *trimmer:
		s.close()
		return parse(s.buf), s.cut
	}
	return nil, false
}

// budget is a number of bytes shared by everything that is recorded: the copies of requests and
// replies, and the events that wait to be sent.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes if they are available.
func (b *budget) take(n int64) bool {
	for {
		used := b.used.Load()
		if used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// give returns n bytes.
func (b *budget) give(n int64) { b.used.Add(-n) }

// allowance is the part of the budget that one exchange has reserved. It is not safe for concurrent
// use.
type allowance struct {
	from   *budget
	bytes  int64 // reserved
	used   int64
	denied bool // there was no room, so the exchange's data is incomplete
}

// step is the minimum growth of an allowance, so that streams rarely touch the shared counter.
const step = 4 << 10

// use reserves n more bytes and reports whether they may be held. Once denied, it stays denied.
func (a *allowance) use(n int) bool {
	if a.denied {
		return false
	}
	if more := a.used + int64(n) - a.bytes; more > 0 {
		if more = max(more, step); !a.from.take(more) {
			a.denied = true
			return false
		}
		a.bytes += more
	}
	a.used += int64(n)
	return true
}

// end returns all reserved bytes to the budget.
func (a *allowance) end() {
	a.from.give(a.bytes)
	a.bytes, a.used, a.denied = 0, 0, true
}
