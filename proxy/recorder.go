package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/value"
)

// result is the fate of a record.
type result int

const (
	accepted   result = iota // the server accepted it
	duplicate                // the server already had it
	rejected                 // the server rejected it
	full                     // the buffer was full
	stopped                  // the proxy stopped before the server had accepted it
	unsampled                // left out by sampling
	unfinished               // the reply has no answer yet
	results
)

// resultNames are the values of the label result, in the order of the constants.
var resultNames = [results]string{"accepted", "duplicate", "rejected", "dropped_full", "dropped_stopped", "not_sampled", "not_finished"}

// recorder sends events to a server. Callers never wait for it.
type recorder struct {
	url    string
	key    string
	client *http.Client
	budget *budget
	log    *slog.Logger
	every  time.Duration // time between batches that are not full

	counts  [results]atomic.Int64
	batches atomic.Int64 // batches that were sent
	retries atomic.Int64

	mu      sync.Mutex
	queue   [][]byte
	bytes   int
	ending  bool
	wake    chan struct{} // holds one value: a batch is full, or the recorder is ending
	warned  time.Time     // when a drop was last logged
	dropped int64         // events dropped since then
	problem string        // why the server has not accepted the last batch; "" if it has
}

func newRecorder(c *Record, client *http.Client, b *budget, log *slog.Logger) *recorder {
	return &recorder{url: c.To.JoinPath("/v1/events").String(), key: c.Key, client: client, budget: b, log: log, every: batchEvery, wake: make(chan struct{}, 1)}
}

func (r *recorder) count(what result, n int) { r.counts[what].Add(int64(n)) }

// drop counts lost events, and logs them at most every ten seconds.
func (r *recorder) drop(why result, n int) {
	r.count(why, n)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped += int64(n)
	if now := time.Now(); now.Sub(r.warned) > 10*time.Second {
		r.log.Warn("events are dropped", "why", resultNames[why], "events", r.dropped, "buffer", r.budget.limit)
		r.warned, r.dropped = now, 0
	}
}

// add queues an event, or drops it if there is no room.
func (r *recorder) add(data []byte) {
	if !r.budget.take(int64(len(data))) {
		r.drop(full, 1)
		return
	}
	r.mu.Lock()
	r.queue = append(r.queue, data)
	r.bytes += len(data)
	full := r.full()
	r.mu.Unlock()
	if full {
		r.stir()
	}
}

// full reports whether a full batch is waiting. The caller holds the lock.
func (r *recorder) full() bool { return len(r.queue) >= batchEvents || r.bytes >= batchBytes }

func (r *recorder) stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// pending returns how much is waiting to be sent.
func (r *recorder) pending() (events, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue), r.bytes
}

// finish makes run return as soon as all events are sent.
func (r *recorder) finish() {
	r.mu.Lock()
	r.ending = true
	r.mu.Unlock()
	r.stir()
}

// run sends events until finish was called and all are sent, or ctx ends. Then the remaining events
// are dropped.
func (r *recorder) run(ctx context.Context) {
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for ctx.Err() == nil {
		due := false
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-tick.C:
			due = true
		}
		for ctx.Err() == nil {
			batch, ending := r.take(due)
			if len(batch) == 0 && ending {
				return
			}
			if len(batch) == 0 {
				break
			}
			r.send(ctx, batch)
		}
	}
	r.mu.Lock()
	rest := r.queue
	r.queue, r.bytes = nil, 0
	r.mu.Unlock()
	for _, data := range rest {
		r.budget.give(int64(len(data)))
	}
	if len(rest) > 0 {
		r.drop(stopped, len(rest))
	}
}

// take removes the next batch from the queue: a full one, or the rest if it is due or the recorder
// is ending.
func (r *recorder) take(due bool) (batch [][]byte, ending bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !due && !r.ending && !r.full() {
		return nil, false
	}
	n, size := 0, 0
	for n < len(r.queue) && n < batchEvents && (n == 0 || size+len(r.queue[n]) <= batchBytes) {
		size += len(r.queue[n])
		n++
	}
	batch = r.queue[:n:n]
	r.queue = r.queue[n:]
	r.bytes -= size
	return batch, r.ending
}

// send sends a batch until the server accepts it, rejects it, or ctx ends.
func (r *recorder) send(ctx context.Context, batch [][]byte) {
	size := int64(0)
	for _, data := range batch {
		size += int64(len(data))
	}
	defer r.budget.give(size)
	r.deliver(ctx, batch)
}

// deliver sends events. If the server rejects them as too large together, or one of them as wrong,
// it sends them in halves.
func (r *recorder) deliver(ctx context.Context, batch [][]byte) {
	body := bodyOf(batch)
	wait := firstBackoff
	for said := (time.Time{}); ; {
		verdict, after, why := r.post(ctx, body)
		r.note(verdict, why)
		switch {
		case verdict == taken:
			r.batches.Add(1)
			return
		case verdict == wrong && len(batch) > 1:
			r.deliver(ctx, batch[:len(batch)/2])
			r.deliver(ctx, batch[len(batch)/2:])
			return
		case verdict == wrong:
			r.count(rejected, 1)
			r.log.Warn("the server refuses an event", "error", why)
			return
		}
		r.retries.Add(1)
		if now := time.Now(); ctx.Err() == nil && now.Sub(said) > time.Minute {
			said = now
			r.log.Warn("events cannot be sent and wait", "error", why, "buffered", r.budget.used.Load())
		}
		pause := time.Duration(float64(wait) * (0.5 + rand.Float64()))
		if transport.Wait(ctx, min(max(pause, after), maxRetry)) != nil {
			r.drop(stopped, len(batch))
			return
		}
		wait = min(2*wait, maxBackoff)
	}
}

// note records why a batch is waiting.
func (r *recorder) note(v verdict, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problem = why; v != later {
		r.problem = ""
	}
}

// trouble returns why the server has not accepted the last batch; "" if it has.
func (r *recorder) trouble() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

func bodyOf(batch [][]byte) []byte {
	var b bytes.Buffer
	b.WriteString(`{"events":[`)
	for i, data := range batch {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(data)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// verdict is a server's answer to a batch.
type verdict int

const (
	taken verdict = iota
	later         // the server, the network or the key cannot accept it now
	wrong         // the server will never accept it in this form
)

// post sends a body once.
func (r *recorder) post(ctx context.Context, body []byte) (v verdict, after time.Duration, why string) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return later, 0, err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "proviso-proxy")
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return later, 0, transport.Redact(err).Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch status := resp.StatusCode; {
	case status/100 == 2 && err == nil:
		r.received(data)
		return taken, 0, ""
	case status == http.StatusRequestEntityTooLarge || status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return wrong, 0, resp.Status
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why = "the server refuses the key of record.key_env"
		if r.key == "" {
			why = "the server wants a key, and record.key_env names none"
		}
		return later, transport.RetryAfter(resp.Header, time.Now()), why + " (" + resp.Status + ")"
	case err != nil && !errors.Is(err, context.Canceled):
		return later, 0, "the reply of the server ended early"
	}
	return later, transport.RetryAfter(resp.Header, time.Now()), resp.Status
}

// received counts the events that the server reports as accepted.
func (r *recorder) received(data []byte) {
	v, err := value.ParseReply(background, string(data))
	o := object(v)
	if err != nil || o == nil {
		return
	}
	number := func(key string) int {
		n, _ := whole(o.At(key), 1<<20)
		return n
	}
	r.count(accepted, number("accepted"))
	r.count(duplicate, number("duplicate"))
	refused := list(o.At("rejected"))
	r.count(rejected, len(refused))
	if len(refused) > 0 {
		r.log.Warn("the server rejects events", "events", len(refused), "code", object(refused[0]).Text("code"))
	}
}
