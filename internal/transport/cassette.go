package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Shelf is where a cassette keeps its exchanges, one file each; internal/blobs
// is one. It is safe for concurrent use.
type Shelf interface {
	// Key returns the key for the given parts.
	Key(parts ...string) string
	// Path returns the file of a key, for messages.
	Path(key string) string
	// Read returns the kept data, or an error that is fs.ErrNotExist.
	Read(key string) ([]byte, error)
	// Write keeps data, whole or not at all.
	Write(key string, data []byte) error
	// Keys yields the key of everything that is kept, sorted.
	Keys() iter.Seq2[string, error]
}

// CassetteOptions configure what a cassette omits and stores. A replay needs the same options as
// the recording.
type CassetteOptions struct {
	// Redact matches text that is replaced by [REDACTED], both in stored text and in the text that
	// keys are made of.
	Redact []*regexp.Regexp
	// Headers are names of response headers that are stored in addition to the usual ones.
	Headers []string
	// Hide redacts known secrets from an exchange. The exchange is JSON and must stay
	// JSON. If nil, nothing is redacted.
	Hide func(exchange []byte) []byte
	// Now is the clock for the dates of recordings; nil means the real one.
	Now func() time.Time
	// Failed is called once, with the error that [Cassette.Err] returns from then on. If nil,
	// nothing is called.
	Failed func(error)
}

// Cassette records exchanges with models, or answers from earlier recordings. [Cassette.Wrap] is
// for HTTP; providers that make no HTTP requests call [Cassette.Load] and [Cassette.Save]. It is
// safe for concurrent use.
type Cassette struct {
	shelf   Shelf
	replays bool
	redact  []*regexp.Regexp
	headers []string
	now     func() time.Time
	report  func(error)
	conceal func([]byte) []byte           // redacts known secrets
	failed  atomic.Pointer[proviso.Error] // why nothing can be recorded any more
}

// ErrUnrecorded is the cause of the error that [Cassette.Err] returns. A retry does not help.
var ErrUnrecorded = errors.New("the exchange is not recorded")

// Err returns why nothing can be recorded any more, such as a full disk, or nil. Callers should
// then make no further calls, because the answers could not be recorded.
func (c *Cassette) Err() error {
	if err := c.failed.Load(); err != nil {
		return err
	}
	return nil
}

// Record returns a cassette that records every exchange. An exchange that is already there is made
// again and replaced.
func Record(shelf Shelf, o CassetteOptions) *Cassette { return newCassette(shelf, o, false) }

// Replay returns a cassette that answers from its recordings and makes no calls.
func Replay(shelf Shelf, o CassetteOptions) *Cassette { return newCassette(shelf, o, true) }

func newCassette(shelf Shelf, o CassetteOptions, replays bool) *Cassette {
	c := &Cassette{shelf: shelf, replays: replays, redact: o.Redact, headers: slices.Clone(responseHeaders[:]), now: o.Now, report: o.Failed, conceal: o.Hide}
	if c.now == nil {
		c.now = time.Now
	}
	for _, name := range o.Headers {
		c.headers = append(c.headers, http.CanonicalHeaderKey(name))
	}
	return c
}

// Replays reports whether the cassette replays instead of recording.
func (c *Cassette) Replays() bool { return c.replays }

// Wrap wraps a network; use it as [Options].Wrap.
func (c *Cassette) Wrap(network http.RoundTripper) http.RoundTripper {
	if c.replays {
		return replayer{c}
	}
	return recorder{c, network}
}

// Exchange is one request and its answer, as stored in a file of a cassette.
type Exchange struct {
	Version  int       `json:"version"`
	Recorded time.Time `json:"recorded,omitzero"` // to the second, UTC; zero if unknown
	Sample   *sample   `json:"sample,omitempty"`  // nil means the first sample
	Request  Request   `json:"request"`
	Response Response  `json:"response"`
}

// Request is the request of an exchange. At most one of the three forms of a body is set.
type Request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Content
}

// Response is the answer of an exchange. Status is 0 if it did not come over HTTP.
type Response struct {
	Status    int               `json:"status,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	LatencyMS float64           `json:"latencyMs"`
	Content
}

// Content is a body: JSON as JSON without white space, other text as text, and the rest as bytes.
type Content struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Text  string          `json:"text,omitempty"`
	Bytes []byte          `json:"base64,omitempty"`
}

type sample struct {
	Repeat int `json:"repeat,omitempty"`
	Vote   int `json:"vote,omitempty"`
	Repair int `json:"repair,omitempty"`
}

const cassetteVersion = 1

// Latency is how long the answer took.
func (r *Response) Latency() time.Duration {
	return time.Duration(math.Round(r.LatencyMS*1000)) * time.Microsecond
}

// SetLatency sets the latency to d, rounded to a microsecond.
func (r *Response) SetLatency(d time.Duration) {
	r.LatencyMS = float64(d.Round(time.Microsecond)/time.Microsecond) / 1000
}

// bytes returns the body.
func (c *Content) bytes() ([]byte, error) {
	switch {
	case c.JSON != nil:
		var b bytes.Buffer
		err := json.Compact(&b, c.JSON)
		return b.Bytes(), err
	case c.Bytes != nil:
		return c.Bytes, nil
	}
	return []byte(c.Text), nil
}

// key returns the key of an exchange: a hash of the address, the request without secrets, and the
// number of the sample.
func (c *Cassette) key(q *Request, s proviso.Sample) string {
	body, kind := q.Text, "text"
	switch {
	case q.JSON != nil:
		body, kind = canonical(q.JSON), "json"
	case q.Bytes != nil:
		body, kind = string(q.Bytes), "bytes"
	}
	parts := []string{"exchange 1", q.Method, q.URL, kind, body,
		strconv.Itoa(s.Repeat), strconv.Itoa(s.Vote), strconv.Itoa(s.Repair)}
	for _, name := range requestHeaders {
		parts = append(parts, q.Headers[name])
	}
	return c.shelf.Key(parts...)
}

// canonical returns JSON without white space and with sorted members.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// Load finds the answer to a request. If it is not on the cassette, the error has the code
// NotFound; the error for an unreadable file names the file.
func (c *Cassette) Load(q Request, s proviso.Sample) (Response, error) {
	q = c.cleanRequest(q, nil)
	key := c.key(&q, s)
	data, err := c.shelf.Read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return Response{}, missing(&q, s)
	}
	if err != nil {
		return Response{}, proviso.Errorf(proviso.Unavailable, "replay: %w", err)
	}
	x, err := ParseExchange(data)
	if err != nil {
		return Response{}, proviso.Errorf(proviso.Invalid, "replay: %s is not a recorded exchange: %w; record it again", c.shelf.Path(key), err)
	}
	return x.Response, nil
}

// Save stores an exchange. Secrets are further texts that must not be stored. They are not part of
// the key, because a replay has other secrets, or none.
func (c *Cassette) Save(q Request, s proviso.Sample, r Response, secrets ...string) error {
	found := c.cleanRequest(q, nil)
	secrets = append(secrets, memberSecrets(q.JSON)...)
	q = c.cleanRequest(q, secrets)
	r.Content = c.clean(r.Content, secrets, false)
	for name, v := range r.Headers {
		r.Headers[name] = c.hide(v, secrets)
	}
	x := Exchange{Version: cassetteVersion, Recorded: c.now().UTC().Truncate(time.Second), Request: q, Response: r}
	if s != (proviso.Sample{}) {
		x.Sample = &sample{s.Repeat, s.Vote, s.Repair}
	}
	data, err := value.EncodeJSON(x, "  ")
	if err != nil {
		return proviso.Errorf(proviso.Unavailable, "record: %w", err)
	}
	if c.conceal != nil {
		data = c.conceal(data)
	}
	if err := c.shelf.Write(c.key(&found, s), data); err != nil {
		cause := fmt.Errorf("%w: %w", ErrUnrecorded, err)
		first := c.failed.CompareAndSwap(nil, proviso.Because(cause, proviso.Unavailable, "record: %v", err))
		if first && c.report != nil {
			c.report(c.Err())
		}
		return c.Err()
	}
	return nil
}

// ParseExchange reads a file of a cassette.
func ParseExchange(data []byte) (*Exchange, error) {
	var x Exchange
	if err := json.Unmarshal(data, &x); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset >= int64(len(bytes.TrimSpace(data))) {
			return nil, errors.New("it is cut off")
		}
		return nil, err
	}
	switch status := x.Response.Status; {
	case x.Version != cassetteVersion:
		return nil, fmt.Errorf("it has the version %d, not %d", x.Version, cassetteVersion)
	case x.Request.Method == "" || x.Request.URL == "":
		return nil, errors.New("it has no request")
	case status != 0 && (status < 100 || status > 599):
		return nil, fmt.Errorf("it has the status %d", status)
	case !(x.Response.LatencyMS >= 0 && x.Response.LatencyMS < 1e10):
		return nil, fmt.Errorf("it has a latency of %v ms", x.Response.LatencyMS)
	}
	return &x, nil
}

// missing is the error for an exchange that is not on the cassette.
func missing(q *Request, s proviso.Sample) error {
	text := "replay: no recorded exchange for " + q.Method + " " + q.URL
	if s != (proviso.Sample{}) {
		text += fmt.Sprintf(" (repeat %d, vote %d, repair %d)", s.Repeat, s.Vote, s.Repair)
	}
	if p := promptOf(&q.Content); p != "" {
		text += fmt.Sprintf(", prompt %q", p)
	}
	return &proviso.Error{Code: proviso.NotFound, Message: text + "; record it with --record, and the same --redact"}
}
