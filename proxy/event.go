package proxy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/internal/secrets"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// background is the context of work that is never cancelled.
var background = context.Background()

// end logs and counts an exchange, and builds the event of its record.
func (p *Proxy) end(x *exchange, cause error) {
	x.quiet.Stop()
	x.mu.Lock()
	why := x.outcome(cause)
	r := x.record
	if x.first.IsZero() {
		x.first = x.last
	}
	p.metrics.exchange(x)
	p.logged(x, why)
	x.record = nil // the rest of the request is not recorded
	x.mu.Unlock()
	if r == nil {
		return
	}
	p.building.Go(func() {
		defer r.allow.end()
		p.builders <- struct{}{}
		defer func() { <-p.builders }()
		p.build(x, r, why)
	})
}

// logged writes the log line of an exchange.
func (p *Proxy) logged(x *exchange, why string) {
	args := []any{"upstream", x.upstream, "api", x.apiName(), "method", x.method, "status", x.status, "ms", time.Since(x.start).Milliseconds(), "sent", x.sent, "received", x.bytes}
	if !x.first.IsZero() {
		args = append(args, "first_ms", x.first.Sub(x.start).Milliseconds())
	}
	if why != "" {
		p.log.Warn("exchange", append(args, "error", why)...)
		return
	}
	p.log.Info("exchange", args...)
}

// build makes the event of an exchange and passes it to the recorder.
func (p *Proxy) build(x *exchange, r *record, why string) {
	if rest := r.rest; rest != nil && len(rest.pending) > 0 {
		r.says(rest.pending, rest.at)
	}
	request, reply, cut := r.close()
	if r.allow.denied {
		p.recorder.drop(full, 1)
		return
	}
	e, ok := x.event(r, request, reply, cut, why)
	if !ok {
		p.recorder.count(unfinished, 1)
		return
	}
	p.redactor.Event(&e)
	p.bound(&e)
	data := value.AppendJSON(nil, e.Object())
	if len(data) > maxEvent {
		e.Metadata = value.ObjectOf("cut", []any{"metadata"})
		e.Input, e.Output, e.Context, e.Prompt = excerpt.Bytes(e.Input, maxShort), excerpt.Bytes(e.Output, maxShort), "", ""
		data = value.AppendJSON(nil, e.Object())
	}
	known := &secrets.Set{}
	known.Add(r.keys...)
	p.recorder.add(known.RedactJSON(data))
}

// event returns the event of an exchange; false if there is nothing to report yet.
func (x *exchange) event(r *record, request, reply *value.Object, cut []string, why string) (ingest.Event, bool) {
	q := &asked{settings: value.NewObject(0)}
	if request != nil {
		q = r.api.read(request)
	}
	end := x.last
	if end.IsZero() {
		end = time.Now()
	}
	e := ingest.Event{
		ID: r.names.event, Agent: first(r.names.agent, q.model, x.upstream), Time: end, Conversation: first(r.names.conversation, q.conversation),
		TraceID: r.names.trace, Input: q.input, Context: strings.Join(q.context, "\n\n"), Version: r.names.version, Prompt: strings.Join(q.prompt, "\n\n"),
		Model: first(reply.Text("model"), q.model), Segment: r.names.segment, User: first(r.names.user, q.user), Latency: end.Sub(x.start), Error: why,
	}
	e.Metadata = value.ObjectOf("proxy", x.upstream, "api", r.api.name, "status", float64(x.status))
	meta := e.Metadata
	switch status := reply.Text("status"); {
	case x.status >= 400 && !x.local:
		e.Error = statusError(x.status, reply)
		if r.retry != "" {
			meta.Set("retry_after", excerpt.Bytes(r.retry, 100))
		}
		reply = nil
	case status == "queued" || status == "in_progress": // of POST /responses in the background
		return e, false
	}
	if r.stream != nil {
		r.streamed(&e)
	}
	if reply != nil {
		x.answered(&e, r, reply)
	}
	if reply == nil && e.Error == "" {
		e.Error = "the reply cannot be read"
	}
	t := r.first
	if t.IsZero() {
		t = x.first
	}
	if !t.IsZero() {
		meta.Set("first_token_ms", float64(t.Sub(x.start).Microseconds())/1000)
	}
	if q.settings.Len() > 0 {
		meta.Set("request", q.settings)
	}
	if len(q.messages) > 0 {
		meta.Set("messages", q.messages)
	}
	if r.unread != "" {
		meta.Set("unread", r.unread)
	}
	if len(cut) > 0 {
		meta.Set("cut", value.Of(cut))
	}
	return e, true
}

func first(texts ...string) string {
	if s := cmp.Or(texts...); s != "" {
		return nameOf(s)
	}
	return ""
}

// streamed records how a stream ended.
func (r *record) streamed(e *ingest.Event) {
	s := r.stream.state()
	e.Metadata.Set("stream", true)
	f, _ := r.answered.(*frames)
	switch {
	case s.failed != "":
		e.Error = s.failed
	case e.Error == "" && !s.ended && !s.cut && f != nil && !f.cut && !f.done:
		e.Error = "the stream ended without its last event"
	}
}

// answered reads the answer as the providers do.
func (x *exchange) answered(e *ingest.Event, r *record, reply *value.Object) {
	meta := e.Metadata
	if id := reply.Text("id"); id != "" {
		meta.Set("response_id", excerpt.Bytes(id, maxName))
	}
	out, err := provider.ReadAnswer(r.api.form, x.upstream, first(e.Model), reply)
	if err != nil {
		if e.Error == "" {
			e.Error = "the reply cannot be read: it is not an answer of this API"
		}
		return
	}
	e.Output, e.Usage = out.Text(), out.Usage
	if out.Cost != nil && *out.Cost >= 0 && *out.Cost <= ingest.MaxCost {
		e.Cost = *out.Cost
	}
	if out.FinishReason != "" {
		meta.Set("finish_reason", out.FinishReason)
	}
	if out.Refused {
		meta.Set("refused", true)
	}
	if len(out.ToolCalls) > 0 {
		meta.Set("tool_calls", out.ToolCalls)
	}
}

// statusError describes an error reply.
func statusError(status int, reply *value.Object) string {
	text := fmt.Sprintf("HTTP %d", status)
	if why := cmp.Or(errorText(reply.At("error")), reply.Text("message")); why != "" {
		text += ": " + why
	}
	return text
}

// bound cuts an event to the limits of events, after redaction.
func (p *Proxy) bound(e *ingest.Event) {
	meta := e.Metadata
	limit := func(name string, to *string, most int) {
		*to = strings.ToValidUTF8(*to, "\uFFFD")
		if len(*to) > most {
			*to = excerpt.Bytes(*to, most-len(mark))
			cut := append(list(meta.At("cut")), name)
			meta.Set("cut", cut)
		}
	}
	limit("input", &e.Input, maxTextOut)
	limit("output", &e.Output, maxTextOut)
	limit("prompt", &e.Prompt, maxTextOut)
	limit("context", &e.Context, maxContext)
	limit("error", &e.Error, ingest.MaxError)
	if messages := list(meta.At("messages")); messages != nil {
		kept, left := latest(messages, maxMessages)
		if meta.Set("messages", kept); left > 0 {
			meta.Set("messages_left_out", float64(left))
		}
	}
	if calls := meta.At("tool_calls"); calls != nil {
		if short := shortened(calls, 0); len(value.AppendJSON(nil, short)) <= maxMessages {
			meta.Set("tool_calls", short)
		} else {
			meta.Delete("tool_calls")
			meta.Set("cut", append(list(meta.At("cut")), "tool_calls"))
		}
	}
	if p.config.Versions == SystemPrompt && e.Version == "" {
		e.Version = ingest.PromptHash(e.Prompt)
	}
	if u := &e.Usage; !plausible(u.Prompt) || !plausible(u.Completion) || !plausible(u.Cached) || !plausible(u.Total) {
		*u = proviso.Usage{Requests: 1}
		e.Cost = 0
	}
}

// plausible reports whether a server accepts a number of tokens.
func plausible(n int64) bool { return n >= 0 && n <= 1e15 }
