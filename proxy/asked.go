package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// asked is the content of a request.
type asked struct {
	model        string
	prompt       []string // texts of the system prompt
	input        string   // the user's last text
	context      []string // tool results since then
	user         string
	conversation string
	messages     []any // without the system prompt
	settings     *value.Object
}

// settingNames are the parameters that are stored in the metadata if they are scalars.
var settingNames = []string{"temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens", "reasoning_effort", "seed", "n", "tool_choice", "service_tier", "background", "previous_response_id"}

// read reads the body of a request.
func (a *api) read(body *value.Object) *asked {
	q := &asked{model: body.Text("model"), settings: value.NewObject(4)}
	q.user = firstText(body.At("safety_identifier"), body.At("user"), body.Object("metadata").At("user_id"))
	q.conversation = firstText(body.At("conversation"), body.Object("conversation").At("id"))
	for _, key := range settingNames {
		switch v := body.At(key).(type) {
		case float64, bool:
			q.settings.Set(key, v)
		case string:
			q.settings.Set(key, excerpt.Bytes(v, maxName))
		}
	}
	var tools []any
	for _, t := range list(body.At("tools")) {
		name := firstText(object(t).At("name"), object(object(t).At("function")).At("name"), object(t).At("type"))
		if len(tools) < 64 {
			tools = append(tools, excerpt.Bytes(name, 100))
		}
	}
	if tools != nil {
		q.settings.Set("tools", tools)
	}
	q.reads(body)
	return q
}

// reads finds the system prompt and the conversation in a request of any API.
func (q *asked) reads(body *value.Object) {
	for _, system := range []any{body.At("instructions"), body.At("system")} { // of /responses and /messages
		if s := contentText(system); s != "" {
			q.prompt = append(q.prompt, s)
		}
	}
	prompt := contentText(body.At("prompt")) // of /completions
	for _, s := range []string{prompt, body.Text("input")} {
		if s != "" {
			q.said("user", s)
		}
	}
	for _, v := range append(list(body.At("messages")), list(body.At("input"))...) {
		q.message(object(v))
	}
}

func firstText(values ...any) string {
	for _, v := range values {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// isSystem reports whether a role marks the system prompt.
func isSystem(role string) bool { return role == "system" || role == "developer" }

// said adds a message to the conversation.
func (q *asked) said(role, text string, more ...any) {
	switch role {
	case "user":
		if text != "" {
			q.input, q.context = text, nil
		}
	case "tool":
		q.context = append(q.context, text)
	}
	o := value.ObjectOf("role", role, "content", text)
	for i := 0; i+1 < len(more); i += 2 {
		o.Set(more[i].(string), more[i+1])
	}
	q.messages = append(q.messages, o)
}

// message reads a message, or an item of /responses.
func (q *asked) message(m *value.Object) {
	role, kind := m.Text("role"), m.Text("type")
	calls, blocks := list(m.At("tool_calls")), list(m.At("content"))
	for _, b := range blocks {
		switch o := object(b); o.Text("type") {
		case "tool_result":
			q.said("tool", contentText(o.At("content")))
		case "tool_use":
			calls = append(calls, value.ObjectOf("name", o.At("name"), "arguments", o.At("input")))
		}
	}
	content := contentText(m.At("content"))
	switch {
	case isSystem(role):
		q.prompt = append(q.prompt, content)
	case kind == "function_call":
		q.said("assistant", "", "tool_calls", []any{value.ObjectOf("name", m.At("name"), "arguments", m.At("arguments"))})
	case strings.HasSuffix(kind, "_output"):
		q.said("tool", contentText(m.At("output")))
	case len(calls) > 0:
		q.said(role, content, "tool_calls", calls)
	case role != "" && (content != "" || len(blocks) == 0):
		q.said(role, content)
	}
}

// contentText returns the text of a message's content. Other parts, such as pictures, are only
// named.
func contentText(content any) string {
	switch v := content.(type) {
	case string:
		return v
	case *value.Object:
		return contentText([]any{v})
	}
	var texts []string
	for _, v := range list(content) {
		if s := text(v); s != "" {
			texts = append(texts, s)
			continue
		}
		o := object(v)
		switch kind := o.Text("type"); kind {
		case "tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning": // not part of the text, or read elsewhere
		default:
			if s := firstText(o.At("text"), o.At("refusal")); s != "" {
				texts = append(texts, s)
			} else if kind != "" && !strings.HasSuffix(kind, "text") {
				texts = append(texts, "["+excerpt.Bytes(kind, 40)+"]")
			}
		}
	}
	return strings.Join(texts, "\n")
}

// maxShort bounds each text within a structure in the metadata.
const maxShort = 16 << 10

// shortened returns a structure with its long texts cut.
func shortened(v any, depth int) any {
	switch v := v.(type) {
	case string:
		return excerpt.Bytes(v, maxShort)
	case []any:
		if depth > maxNesting {
			return nil
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = shortened(v[i], depth+1)
		}
		return out
	case *value.Object:
		if depth > maxNesting {
			return nil
		}
		out := value.NewObject(v.Len())
		for key, member := range v.All() {
			out.Set(key, shortened(member, depth+1))
		}
		return out
	}
	return v
}

// latest returns the end of a conversation, as far as it fits into this many bytes of JSON, and the
// number of earlier messages that are left out.
func latest(messages []any, most int) (kept []any, left int) {
	for i, m := range slices.Backward(messages) {
		m = shortened(m, 0)
		n := len(value.AppendJSON(nil, m))
		if most -= n + 1; most < 0 {
			left = i + 1
			break
		}
		kept = append(kept, m)
	}
	slices.Reverse(kept)
	return kept, left
}

// nameOf returns a name for an event. A name that is too long, or has characters that a server
// rejects in names, is replaced by its hash, so that the event is not lost.
func nameOf(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}
