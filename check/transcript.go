package check

import (
	"strings"

	"github.com/proviso-eval/proviso"
)

// Transcript words a conversation for a judge: v is a list of messages with role
// and content, as chat APIs have them, tool calls and their results among them.
// Every line that somebody said begins with a bar, so that no message can pass
// for another one. It is false if v is something else.
func Transcript(v any) (string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return "", false
	}
	var b strings.Builder
	for _, e := range list {
		o, _ := e.(*proviso.Object)
		role, isText := o.At("role").(string)
		if !isText || role == "" || !o.Has("content") && !o.Has("tool_calls") {
			return "", false
		}
		message(&b, role, o)
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// message words one message.
func message(b *strings.Builder, role string, o *proviso.Object) {
	speaker := role
	if name, ok := o.At("name").(string); ok && name != "" {
		speaker += " " + name
	}
	switch content := o.At("content").(type) {
	case nil:
	case []any:
		for _, e := range content {
			piece(b, speaker, e)
		}
	case string:
		said(b, speaker, content)
	default:
		said(b, speaker, proviso.Stringify(content))
	}
	calls, _ := o.At("tool_calls").([]any)
	for _, e := range calls {
		call, _ := e.(*proviso.Object)
		if fn, ok := call.At("function").(*proviso.Object); ok {
			call = fn
		}
		toolCall(b, role, call.At("name"), call.At("arguments"))
	}
}

// piece words one part of a message's content, in the forms of OpenAI and
// Anthropic.
func piece(b *strings.Builder, speaker string, v any) {
	o, _ := v.(*proviso.Object)
	text, isText := o.At("text").(string)
	switch kind, _ := o.At("type").(string); {
	case isText:
		said(b, speaker, text)
	case kind == "tool_use":
		toolCall(b, speaker, o.At("name"), o.At("input"))
	case kind == "tool_result":
		if parts, ok := o.At("content").([]any); ok {
			for _, p := range parts {
				piece(b, "tool", p)
			}
			return
		}
		said(b, "tool", asText(o.At("content")))
	default:
		said(b, speaker, asText(v))
	}
}

func toolCall(b *strings.Builder, speaker string, name, arguments any) {
	said(b, speaker+" calls "+asText(name), asText(arguments))
}

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return proviso.Stringify(v)
}

// said writes who speaks, on one line, and what was said.
func said(b *strings.Builder, speaker, text string) {
	b.WriteString(strings.Join(strings.Fields(speaker), " "))
	b.WriteString(":\n")
	for line := range strings.Lines(text) {
		b.WriteString("| ")
		b.WriteString(strings.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
}

// judged is the output as a judge sees it: a conversation in words, anything else
// as text.
func (s *Subject) judged() string {
	if text, ok := Transcript(s.Value); ok {
		return text
	}
	return s.Text
}
