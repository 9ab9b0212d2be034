package fakemodel

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// stream writes a reply as server-sent events, with the pause Drip between them, or misbehaves in
// the middle as the reply defines.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, reply Reply, req Request) {
	frames := reply.frames(req)
	reply.ContentType = "text/event-stream; charset=utf-8"
	head(w, reply)
	w.WriteHeader(http.StatusOK)
	for i, f := range frames {
		if i == len(frames)/2 && reply.Cut {
			panic(http.ErrAbortHandler)
		}
		if i == len(frames)/2 && reply.Stall {
			s.hang(r)
		}
		if _, err := w.Write([]byte(f)); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // if the connection is closed, the next write fails
		if !s.wait(r, reply.Drip) {
			return
		}
	}
}

// frames returns the events of a stream in the form of an API.
func (r Reply) frames(req Request) []string {
	if r.Raw != "" {
		return strings.SplitAfter(r.Raw, "\n\n")
	}
	u := r.Usage
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	switch req.API {
	case Anthropic:
		return r.anthropicFrames(req, u)
	case Responses:
		return r.responseFrames(req, u)
	case Completions:
		var out []string
		for _, piece := range pieces(r.Text) {
			out = append(out, frame("", value.ObjectOf("id", "cmpl-1", "object", "text_completion", "model", req.Model,
				"choices", []any{value.ObjectOf("text", piece, "index", 0.0, "logprobs", nil, "finish_reason", nil)})))
		}
		last := r.answer(Completions, req)
		object(list(last.At("choices"))[0]).Set("text", "")
		return append(out, frame("", last), done)
	}
	return r.chatFrames(req, u)
}

const done = "data: [DONE]\n\n"

// frame formats one event.
func frame(name string, o *value.Object) string {
	text := "data: " + value.Stringify(o) + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	return text
}

// pieces splits a text as models stream it: about one word each.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// halves splits the arguments of a call, which need not be between words.
func halves(text string) []string { return []string{text[:len(text)/2], text[len(text)/2:]} }

func (r Reply) chatFrames(req Request, u proviso.Usage) []string {
	chunk := func(delta *value.Object, finish any) string {
		return frame("", value.ObjectOf("id", "chatcmpl-1", "object", "chat.completion.chunk", "created", 1.7e9, "model", req.Model, "system_fingerprint", "fp_1",
			"choices", []any{value.ObjectOf("index", 0.0, "delta", delta, "logprobs", nil, "finish_reason", finish)}))
	}
	out := []string{chunk(value.ObjectOf("role", "assistant", "content", ""), nil)}
	for _, part := range []struct{ key, text string }{{"reasoning_content", r.Thinking}, {"content", r.Text}, {"refusal", r.Refusal}} {
		for _, piece := range pieces(part.text) {
			out = append(out, chunk(value.ObjectOf(part.key, piece), nil))
		}
	}
	reason := "stop"
	for i, c := range r.Calls {
		reason = "tool_calls"
		call := func(o *value.Object) *value.Object { return value.ObjectOf("tool_calls", []any{o}) }
		out = append(out, chunk(call(value.ObjectOf("index", float64(i), "id", c.ID, "type", "function", "function", value.ObjectOf("name", c.Name, "arguments", ""))), nil))
		for _, half := range halves(c.Arguments) {
			out = append(out, chunk(call(value.ObjectOf("index", float64(i), "function", value.ObjectOf("arguments", half))), nil))
		}
	}
	out = append(out, chunk(value.NewObject(0), cmp.Or(r.FinishReason, reason)))
	if req.Body.Object("stream_options").At("include_usage") == true {
		out = append(out, frame("", value.ObjectOf("id", "chatcmpl-1", "object", "chat.completion.chunk", "model", req.Model, "choices", []any{}, "usage", openAIUsage(u))))
	}
	return append(out, done)
}

func (r Reply) anthropicFrames(req Request, u proviso.Usage) []string {
	whole := r.message(req, u)
	start := whole.Clone()
	usage := object(whole.At("usage")).Clone()
	usage.Set("output_tokens", 1.0)
	start.Set("content", []any{})
	start.Set("stop_reason", nil)
	start.Set("usage", usage)
	event := func(o *value.Object) string { return frame(o.Text("type"), o) }
	out := []string{event(value.ObjectOf("type", "message_start", "message", start)), event(value.ObjectOf("type", "ping"))}
	for i, v := range list(whole.At("content")) {
		b := object(v).Clone()
		var deltas []*value.Object
		split := func(key, kind, as string) {
			for _, piece := range pieces(b.Text(key)) {
				deltas = append(deltas, value.ObjectOf("type", kind, as, piece))
			}
			b.Set(key, "")
		}
		switch b.Text("type") {
		case "text":
			split("text", "text_delta", "text")
		case "thinking":
			split("thinking", "thinking_delta", "thinking")
		case "tool_use":
			for _, half := range halves(value.Stringify(b.At("input"))) {
				deltas = append(deltas, value.ObjectOf("type", "input_json_delta", "partial_json", half))
			}
			b.Set("input", value.NewObject(0))
		}
		out = append(out, event(value.ObjectOf("type", "content_block_start", "index", float64(i), "content_block", b)))
		for _, d := range deltas {
			out = append(out, event(value.ObjectOf("type", "content_block_delta", "index", float64(i), "delta", d)))
		}
		out = append(out, event(value.ObjectOf("type", "content_block_stop", "index", float64(i))))
	}
	return append(out, event(value.ObjectOf("type", "message_delta", "delta", value.ObjectOf("stop_reason", whole.At("stop_reason"), "stop_sequence", nil),
		"usage", value.ObjectOf("output_tokens", float64(u.Completion)))), event(value.ObjectOf("type", "message_stop")))
}

func (r Reply) responseFrames(req Request, u proviso.Usage) []string {
	whole := r.response(req, u)
	begun := whole.Clone()
	begun.Set("status", "in_progress")
	begun.Set("output", []any{})
	begun.Set("usage", nil)
	event := func(o *value.Object) string { return frame(o.Text("type"), o) }
	out := []string{event(value.ObjectOf("type", "response.created", "response", begun)), event(value.ObjectOf("type", "response.in_progress", "response", begun))}
	for i, v := range list(whole.At("output")) {
		at := float64(i)
		o := object(v)
		empty := o.Clone()
		empty.Set("status", "in_progress")
		for _, key := range []string{"content", "summary"} {
			if empty.Has(key) {
				empty.Set(key, []any{})
			}
		}
		if empty.Has("arguments") {
			empty.Set("arguments", "")
		}
		out = append(out, event(value.ObjectOf("type", "response.output_item.added", "output_index", at, "item", empty)))
		for j, c := range list(o.At("content")) {
			for kind, key := range map[string]string{"output_text": "text", "refusal": "refusal"} {
				for _, piece := range pieces(object(c).Text(key)) {
					out = append(out, event(value.ObjectOf("type", "response."+kind+".delta", "output_index", at, "content_index", float64(j), "delta", piece)))
				}
			}
		}
		if o.Text("type") == "function_call" {
			for _, half := range halves(o.Text("arguments")) {
				out = append(out, event(value.ObjectOf("type", "response.function_call_arguments.delta", "output_index", at, "delta", half)))
			}
		}
		out = append(out, event(value.ObjectOf("type", "response.output_item.done", "output_index", at, "item", o)))
	}
	return append(out, event(value.ObjectOf("type", "response."+whole.Text("status"), "response", whole)))
}

func object(v any) *value.Object {
	o, _ := v.(*value.Object)
	return o
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
