package check

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// Transcript formats a conversation for a judge: v is a list of messages with role
// and content, as in chat APIs, including tool calls and their results. Every line of
// a message's text begins with a bar, so that a message cannot imitate another one.
// It returns false if v is anything else.
func Transcript(v any) (string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return "", false
	}
	var b strings.Builder
	for _, e := range list {
		o, _ := e.(*value.Object)
		role, isText := o.At("role").(string)
		if !isText || role == "" || !o.Has("content") && !o.Has("tool_calls") {
			return "", false
		}
		message(&b, role, o)
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// message formats one message.
func message(b *strings.Builder, role string, o *value.Object) {
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
		writeTurn(b, speaker, content)
	default:
		writeTurn(b, speaker, value.Stringify(content))
	}
	calls, _ := o.At("tool_calls").([]any)
	for _, e := range calls {
		call, _ := e.(*value.Object)
		if fn, ok := call.At("function").(*value.Object); ok {
			call = fn
		}
		toolCall(b, role, call.At("name"), call.At("arguments"))
	}
}

// piece formats one part of a message's content, in the forms of OpenAI and
// Anthropic.
func piece(b *strings.Builder, speaker string, v any) {
	o, _ := v.(*value.Object)
	text, isText := o.At("text").(string)
	switch kind := o.Text("type"); {
	case isText:
		writeTurn(b, speaker, text)
	case kind == "tool_use":
		toolCall(b, speaker, o.At("name"), o.At("input"))
	case kind == "tool_result":
		if parts, ok := o.At("content").([]any); ok {
			for _, p := range parts {
				piece(b, "tool", p)
			}
			return
		}
		writeTurn(b, "tool", value.Text(o.At("content")))
	default:
		writeTurn(b, speaker, value.Text(v))
	}
}

func toolCall(b *strings.Builder, speaker string, name, arguments any) {
	writeTurn(b, speaker+" calls "+value.Text(name), value.Text(arguments))
}

// writeTurn writes the speaker, on one line, and the text.
func writeTurn(b *strings.Builder, speaker, text string) {
	b.WriteString(strings.Join(strings.Fields(speaker), " "))
	b.WriteString(":\n")
	for line := range strings.Lines(text) {
		b.WriteString("| ")
		b.WriteString(strings.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
}

// judged returns the output for a judge: a conversation as a transcript, anything
// else as text.
func (s *Subject) judged() string {
	if text, ok := Transcript(s.Value); ok {
		return text
	}
	return s.Text
}
