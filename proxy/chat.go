package proxy

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// maxParts bounds the tool calls, items and blocks of one answer.
const maxParts = 256

// call is a tool call that arrives in pieces.
type call struct {
	id, name  string
	arguments []byte
}

func (c *call) object() *value.Object {
	return value.ObjectOf("id", c.id, "type", "function", "function", value.ObjectOf("name", c.name, "arguments", string(c.arguments)))
}

// chatStream is the stream of POST /chat/completions, and of POST /completions.
type chatStream struct {
	pieces
	plain                       bool         // a text without a message, as in /completions
	head                        value.Object // id, model, …
	content, refusal, reasoning []byte
	calls                       []*call
	function                    *call // of the API before tools
	finish, usage               any
	answered                    bool
}

func (s *chatStream) add(o *value.Object) {
	if e := o.At("error"); e != nil {
		s.fail(e)
		return
	}
	headOf(&s.pieces, &s.head, o)
	if u := o.Object("usage"); s.small(u) {
		s.usage = u
	}
	for _, v := range list(o.At("choices")) {
		choice := object(v)
		if n, ok := choice.Get("index"); ok && n != 0.0 {
			continue // if there are several answers, the first is recorded
		}
		if s.plain {
			s.answered = true
			s.text(&s.content, choice.At("text"))
		} else {
			s.delta(choice.Object("delta"))
		}
		if reason := choice.Text("finish_reason"); reason != "" && s.hold(reason) {
			s.finish, s.ended = reason, true
		}
	}
}

func (s *chatStream) delta(d *value.Object) {
	s.answered = s.answered || d != nil
	s.text(&s.content, d.At("content"))
	s.text(&s.refusal, d.At("refusal"))
	s.text(&s.reasoning, d.At("reasoning"))
	s.text(&s.reasoning, d.At("reasoning_content"))
	for _, v := range list(d.At("tool_calls")) {
		o := object(v)
		at, ok := whole(o.At("index"), maxParts)
		if !ok {
			at = max(0, len(s.calls)-1)
			if o.Text("id") != "" || len(s.calls) == 0 { // for a server that does not number its calls
				at = len(s.calls)
			}
		}
		if at > len(s.calls) || at >= maxParts {
			s.cut = true
			continue
		}
		if at == len(s.calls) {
			s.calls = append(s.calls, &call{})
		}
		s.call(s.calls[at], o.Text("id"), o.Object("function"))
	}
	if f := d.Object("function_call"); f != nil {
		if s.function == nil {
			s.function = &call{}
		}
		s.call(s.function, "", f)
	}
}

func (s *chatStream) call(c *call, id string, f *value.Object) {
	s.begun = true
	if id != "" && c.id == "" && s.hold(id) {
		c.id = id
	}
	if name := f.Text("name"); name != "" && c.name == "" && s.hold(name) {
		c.name = name
	}
	s.text(&c.arguments, f.At("arguments"))
}

func (s *chatStream) answer() *value.Object {
	if !s.answered {
		return nil
	}
	choice := value.ObjectOf("index", 0.0, "text", string(s.content))
	if !s.plain {
		choice = value.ObjectOf("index", 0.0, "message", s.message())
	}
	choice.Set("finish_reason", s.finish)
	o := s.head.Clone()
	o.Set("choices", []any{choice})
	if s.usage != nil {
		o.Set("usage", s.usage)
	}
	return o
}

// message returns the message so far.
func (s *chatStream) message() *value.Object {
	message := value.ObjectOf("role", "assistant", "content", nil, "refusal", nil)
	if len(s.content) > 0 || s.finish == "stop" && len(s.calls) == 0 && s.function == nil {
		message.Set("content", string(s.content))
	}
	if len(s.refusal) > 0 {
		message.Set("refusal", string(s.refusal))
	}
	if len(s.reasoning) > 0 {
		message.Set("reasoning_content", string(s.reasoning))
	}
	var calls []any
	for _, c := range s.calls {
		calls = append(calls, c.object())
	}
	if calls != nil {
		message.Set("tool_calls", calls)
	}
	if s.function != nil {
		message.Set("function_call", s.function.object().At("function"))
	}
	return message
}

// headOf stores the answer's own description: id, model and the like.
func headOf(p *pieces, head *value.Object, o *value.Object) {
	for _, key := range [...]string{"id", "model", "system_fingerprint", "service_tier"} {
		if v := text(o.At(key)); v != "" && !head.Has(key) && p.hold(v) {
			head.Set(key, strings.Clone(v))
		}
	}
}
