package otlp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/transport"
)

// Limits of an [Exporter].
const (
	queued      = 256              // requests in the queue
	queuedBytes = 64 << 20         // bytes of these requests
	sendTimeout = 10 * time.Second // for one attempt
	attempts    = 3
	closeWait   = 5 * time.Second // time for queued requests at the end of the run
)

// ExporterOptions configure an exporter.
type ExporterOptions struct {
	// Endpoint is a base URL, to which the path of the signal is appended, or a URL that already
	// has that path.
	Endpoint string
	Header   http.Header
	// Client makes the requests and decides which hosts may be reached.
	Client *http.Client
}

// Exporter sends requests to an OTLP endpoint, one after the other in the
// background, so that callers do not wait. Requests that cannot be sent are
// counted and dropped. It is safe for concurrent use.
type Exporter struct {
	o      ExporterOptions
	url    string
	cancel context.CancelFunc
	queue  chan message
	done   chan struct{}

	mu     sync.Mutex
	closed bool
	bytes  int // bytes in the queue
	items  int // items passed to Send
	lost   int
	err    error // why the first item was lost
}

// message is one queued request.
type message struct {
	kind  string
	body  []byte
	items int
}

// NewExporter returns an exporter for the path of a signal, such as
// [TracesPath].
func NewExporter(signal string, o ExporterOptions) (*Exporter, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, proviso.Errorf(proviso.Invalid, "the endpoint is not a URL of http or https")
	}
	if !strings.HasSuffix(u.Path, signal) {
		u.Path = strings.TrimSuffix(u.Path, "/") + signal
	}
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the new host would get the headers, including keys
	o.Client = &client
	ctx, cancel := context.WithCancel(context.Background())
	e := &Exporter{o: o, url: u.String(), cancel: cancel, queue: make(chan message, queued), done: make(chan struct{})}
	go e.run(ctx)
	return e, nil
}

// Send queues a request with this many items. It never blocks and does not change body.
func (e *Exporter) Send(kind string, body []byte, items int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.items += items
	if e.closed || e.bytes+len(body) > queuedBytes {
		e.lose(items, fmt.Errorf("the endpoint is too slow"))
		return
	}
	select {
	case e.queue <- message{kind, body, items}:
		e.bytes += len(body)
	default:
		e.lose(items, fmt.Errorf("the endpoint is too slow"))
	}
}

// lose counts items that were not sent; e.mu is held.
func (e *Exporter) lose(items int, err error) {
	if e.lost += items; e.err == nil {
		e.err = err
	}
}

// run sends the queued requests.
func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	for m := range e.queue {
		err := e.deliver(ctx, m)
		e.mu.Lock()
		e.bytes -= len(m.body)
		if err != nil {
			e.lose(m.items, err)
		}
		e.mu.Unlock()
	}
}

// deliver sends one request, and retries if the status is retryable (OTLP 1.7,
// section "Retryable Response Codes").
func (e *Exporter) deliver(ctx context.Context, m message) error {
	pause := 200 * time.Millisecond
	for attempt := 1; ; attempt++ {
		again, err := e.post(ctx, m)
		if err == nil || !again || attempt == attempts || ctx.Err() != nil {
			return err
		}
		if transport.Wait(ctx, pause) != nil {
			return err
		}
		pause *= 4
	}
}

// post makes one request.
func (e *Exporter) post(ctx context.Context, m message) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(m.body))
	if err != nil {
		return false, proviso.Errorf(proviso.Invalid, "the request is malformed")
	}
	if e.o.Header != nil {
		req.Header = e.o.Header.Clone()
	}
	req.Header.Set("Content-Type", m.kind)
	resp, err := e.o.Client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be reused
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if resp.StatusCode/100 != 2 {
		err = fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	return again, err
}

// Close waits briefly for queued requests, and stops. It returns the number of items passed to
// Send, the number of lost items, and why the first was lost.
func (e *Exporter) Close() (items, lost int, err error) {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.queue)
	}
	e.mu.Unlock()
	select {
	case <-e.done:
	case <-time.After(closeWait):
		e.cancel() // the remaining requests fail at once
		<-e.done
	}
	e.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.items, e.lost, e.err
}
