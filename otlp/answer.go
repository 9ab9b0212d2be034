package otlp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// Answer is an agent's answer, read from its span.
type Answer struct {
	Span  string        // id of the span
	Event *value.Object // as a member of the body of POST /v1/events
}

// answering is the kind of answer that a span holds.
type answering uint8

const (
	noAnswer answering = iota // a tool, a plan, a workflow or a search: only a part of an answer
	model                     // a model call
	chain                     // an OpenInference chain
	agent                     // a run of an agent
)

// answeringOf reads the attributes that name the kind of a span: those of both generations of GenAI
// conventions, of OpenInference and of OpenLLMetry.
func answeringOf(a *value.Object) answering {
	lower := func(key string) string { return strings.ToLower(a.Text(key)) }
	switch lower("gen_ai.operation.name") {
	case "invoke_agent":
		return agent
	case "chat", "text_completion", "generate_content":
		return model
	case "":
	default:
		return noAnswer
	}
	switch lower("openinference.span.kind") {
	case "agent":
		return agent
	case "llm":
		return model
	case "chain":
		return chain
	case "":
	default:
		return noAnswer
	}
	switch lower("traceloop.span.kind") {
	case "agent":
		return agent
	case "":
	default:
		return noAnswer
	}
	if kind := lower("llm.request.type"); kind == "chat" || kind == "completion" || a.Has("gen_ai.completion") || a.Has("gen_ai.completion.0.content") {
		return model
	}
	return noAnswer
}

// Answers returns the answers in the spans of a trace: those of its topmost agents, or, if it has
// none, of its topmost chains and models. Answers without an output or an error are left out,
// because their contents were not recorded. Unless final is set, so is a span whose ancestors have
// not all arrived; waits then reports that there are such spans.
func Answers(trace string, spans []proviso.Span, final bool) (list []Answer, waits bool) {
	t := tree{trace: trace, spans: spans, place: map[string]int{}, kinds: make([]answering, len(spans))}
	for i := range spans {
		t.place[spans[i].ID] = i
		t.kinds[i] = answeringOf(spans[i].Attributes)
	}
	agents := slices.Contains(t.kinds, agent)
	for i, kind := range t.kinds {
		s := &spans[i]
		if kind == noAnswer || agents && kind != agent || s.End.IsZero() {
			continue
		}
		known, top := t.top(i)
		switch {
		case !top:
		case !known && !final:
			waits = true
		default:
			if e := t.event(i); e != nil {
				list = append(list, Answer{s.ID, e})
			}
		}
	}
	return list, waits
}

// tree holds the spans of one trace.
type tree struct {
	trace string
	spans []proviso.Span
	place map[string]int // index of a span by its id
	kinds []answering
}

// top reports whether all ancestors of a span are known, and whether the span is not part of an
// answer of the same or a higher kind.
func (t *tree) top(i int) (known, top bool) {
	kind := t.kinds[i]
	for range t.spans {
		parent := t.spans[i].ParentID
		if parent == "" {
			return true, true
		}
		above, ok := t.place[parent]
		if !ok {
			return false, true
		}
		if t.kinds[above] >= kind {
			return true, false
		}
		i = above
	}
	return true, false // a cycle
}

// below reports whether a span is a descendant of another.
func (t *tree) below(i, above int) bool {
	for range t.spans {
		next, ok := t.place[t.spans[i].ParentID]
		if !ok {
			return false
		}
		if next == above {
			return true
		}
		i = next
	}
	return false
}

// first returns the first of the given attributes that is a text.
func first(a *value.Object, keys ...string) string {
	for _, key := range keys {
		if text := a.Text(key); text != "" {
			return text
		}
	}
	return ""
}

// Attributes of an answer. Those of the newest conventions come first.
var (
	modelKeys        = []string{"gen_ai.response.model", "gen_ai.request.model", "llm.model_name"}
	agentKeys        = []string{"gen_ai.agent.name", "agent.name", "traceloop.entity.name"}
	conversationKeys = []string{"gen_ai.conversation.id", "session.id"}
	userKeys         = []string{"user.id", "enduser.id"}
	promptTokens     = []string{"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"}
	completionTokens = []string{"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"}
)

// event returns the event of a span; nil if the span holds no answer.
func (t *tree) event(i int) *value.Object {
	s := &t.spans[i]
	a := s.Attributes
	said := messagesOf(a)
	e := value.ObjectOf("id", t.trace+"-"+s.ID, "trace_id", t.trace, "time", s.End.UTC().Format(time.RFC3339Nano))
	set := func(key, text string) {
		if text != "" {
			e.Set(key, text)
		}
	}
	e.Set("agent", cmp.Or(first(a, agentKeys...), strings.TrimPrefix(s.Name, "invoke_agent "), "unknown"))
	set("input", said.input)
	set("prompt", said.system)
	set("conversation", first(a, conversationKeys...))
	set("user", first(a, userKeys...))
	set("version", first(a, "gen_ai.agent.version"))
	set("output", said.output)
	if s.StatusCode == 2 {
		e.Set("error", cmp.Or(s.StatusMessage, first(a, "error.type"), "error"))
	}
	if !e.Has("output") && !e.Has("error") {
		return nil
	}
	if d := s.End.Sub(s.Start); d > 0 && !s.Start.IsZero() {
		e.Set("latency_ms", float64(d.Microseconds())/1000)
	}
	t.used(i, e)
	return e
}

// used adds model and token counts to an event: those of the span or, if it has none, of the model
// spans below it.
func (t *tree) used(i int, e *value.Object) {
	number := func(a *value.Object, keys []string) float64 {
		for _, key := range keys {
			if f, ok := a.At(key).(float64); ok && f > 0 {
				return f
			}
		}
		return 0
	}
	a := t.spans[i].Attributes
	name, in, out := first(a, modelKeys...), number(a, promptTokens), number(a, completionTokens)
	own := in+out > 0
	for n := range t.spans {
		if t.kinds[n] != model || n == i || !t.below(n, i) {
			continue
		}
		a := t.spans[n].Attributes
		if name == "" {
			name = first(a, modelKeys...)
		}
		if !own {
			in, out = in+number(a, promptTokens), out+number(a, completionTokens)
		}
	}
	if name != "" {
		e.Set("model", name)
	}
	if in+out > 0 {
		e.Set("usage", value.ObjectOf("prompt_tokens", in, "completion_tokens", out))
	}
}

// said holds the messages to and from an agent.
type said struct {
	input, output, system string
}

// messagesOf reads the messages, from the attributes of the first convention that has them.
func messagesOf(a *value.Object) said {
	var out said
	out.system, _ = spoken([]any{value.ObjectOf("role", "user", "parts", listOf(a, "gen_ai.system_instructions"))}, true)
	for _, form := range [...]struct{ in, out []any }{
		{listOf(a, "gen_ai.input.messages"), listOf(a, "gen_ai.output.messages")},
		{numbered(a, "gen_ai.prompt.", "role", "content"), numbered(a, "gen_ai.completion.", "role", "content")},
		{numbered(a, "llm.input_messages.", "message.role", "message.content"), numbered(a, "llm.output_messages.", "message.role", "message.content")},
		{listOf(a, "gen_ai.prompt"), listOf(a, "gen_ai.completion")},
	} {
		if out.input == "" {
			var system string
			out.input, system = spoken(form.in, false)
			out.system = cmp.Or(out.system, system)
		}
		if out.output == "" {
			out.output, _ = spoken(form.out, true)
		}
	}
	out.input = cmp.Or(out.input, plain(a, "input.value", "gen_ai.prompt", "traceloop.entity.input"))
	out.output = cmp.Or(out.output, plain(a, "output.value", "gen_ai.completion", "traceloop.entity.output"))
	return out
}

// plain returns the first of the given attributes as text; a structure as JSON.
func plain(a *value.Object, keys ...string) string {
	for _, key := range keys {
		switch v := a.At(key).(type) {
		case nil:
		case string:
			if v != "" {
				return v
			}
		default:
			return value.Stringify(v)
		}
	}
	return ""
}

// listOf reads a list, or a text that is the JSON of a list.
func listOf(a *value.Object, key string) []any {
	v := a.At(key)
	if text, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(text), "[") {
		v, _ = value.ParseJSON(text)
	}
	list, _ := v.([]any)
	return list
}

// maxMessages bounds the messages that are read from separate attributes.
const maxMessages = 1000

// numbered reads messages whose parts are separate attributes, such as gen_ai.prompt.0.content.
func numbered(a *value.Object, prefix, role, content string) []any {
	var list []any
	for n := range maxMessages {
		at := prefix + strconv.Itoa(n) + "."
		text, ok := a.Get(at + content)
		if !ok && !a.Has(at+role) {
			break
		}
		list = append(list, value.ObjectOf("role", a.At(at+role), "content", text))
	}
	return list
}

// spoken returns messages as text: the text of a single message; all texts in order if they are
// parts of an answer; otherwise the conversation as JSON. The system message is returned
// separately.
func spoken(messages []any, answer bool) (text, system string) {
	var rest []any
	var texts []string
	for _, m := range messages {
		o, ok := m.(*value.Object)
		if !ok {
			continue
		}
		says := textOfMessage(o)
		if role := o.Text("role"); (role == "system" || role == "developer") && !answer {
			system = cmp.Or(system, says)
			continue
		}
		rest = append(rest, m)
		if says != "" {
			texts = append(texts, says)
		}
	}
	switch {
	case len(rest) == 0:
		return "", system
	case answer && len(texts) > 0:
		return strings.Join(texts, "\n"), system
	case len(rest) == 1 && len(texts) == 1:
		return texts[0], system
	case answer && empty(rest):
		return "", system
	}
	return value.Stringify(rest), system
}

// empty reports whether messages have neither content nor parts.
func empty(messages []any) bool {
	return !slices.ContainsFunc(messages, func(m any) bool {
		o, _ := m.(*value.Object)
		list, _ := o.At("parts").([]any)
		return o.At("content") != nil && o.At("content") != "" || len(list) > 0
	})
}

// textOfMessage returns the text of a message: its content, or its parts of the type text.
func textOfMessage(o *value.Object) string {
	if text, ok := o.At("content").(string); ok {
		return text
	}
	parts, _ := o.At("parts").([]any)
	if list, ok := o.At("content").([]any); ok {
		parts = append(parts, list...)
	}
	var texts []string
	for _, p := range parts {
		if part, ok := p.(*value.Object); ok && part.Text("type") == "text" {
			texts = append(texts, cmp.Or(part.Text("content"), part.Text("text")))
		}
	}
	return strings.Join(texts, "\n")
}
