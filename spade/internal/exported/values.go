package exported

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// TimeOf returns the first of several members that is a time.
func TimeOf(o *value.Object, keys ...string) time.Time {
	for _, key := range keys {
		switch v := o.At(key).(type) {
		case string:
			for _, layout := range [...]string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05.999999", "2006-01-02"} {
				if t, err := time.Parse(layout, v); err == nil {
					return t.UTC()
				}
			}
		case float64:
			if v > 1e6 && v < 1e11 { // seconds since 1970
				return time.Unix(int64(v), 0).UTC()
			}
		}
	}
	return time.Time{}
}

// textOf returns the first of several members that is a non-empty string or a number.
func textOf(o *value.Object, keys ...string) string {
	for _, key := range keys {
		switch v := o.At(key).(type) {
		case string:
			if v != "" {
				return strings.Clone(v)
			}
		case float64:
			return value.FormatNumber(v)
		}
	}
	return ""
}

// parsed returns a value, decoded if it is a string of JSON.
func parsed(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, `"`) {
		if inner, err := value.ParseJSON(t); err == nil {
			return inner
		}
	}
	return v
}

// asked fills in a model's input: messages, variables, or a text.
func (o *Output) asked(v any) {
	switch v := parsed(v).(type) {
	case nil:
	case string:
		o.Prompt, o.Vars = v, value.ObjectOf("input", v)
	case []any:
		o.messages(v)
	case *value.Object:
		if list, ok := v.At("messages").([]any); ok {
			if inner, nested := first(list).([]any); nested { // LangChain's chat models take several lists
				list = inner
			}
			o.messages(list)
			return
		}
		o.Vars = v
	}
}

// messages fills in what precedes the answer in a conversation.
func (o *Output) messages(list []any) {
	var system []string
	var users []string
	for _, m := range list {
		message, ok := m.(*value.Object)
		if !ok {
			continue
		}
		role, text, ok := messageOf(message)
		switch {
		case !ok:
		case role == "system" || role == "developer":
			system = append(system, text)
		case role == "user":
			users = append(users, text)
		}
	}
	o.System = strings.Join(system, "\n\n")
	o.Prompt, _ = chatText(list)
	if len(users) > 0 {
		o.Vars = value.ObjectOf("input", users[len(users)-1])
	}
}

// answered returns a model's answer, as a text if there is one.
func answered(v any) any {
	v = parsed(v)
	switch v := v.(type) {
	case []any:
		if text := lastAnswer(v); text != "" {
			return text
		}
	case *value.Object:
		if role, text, ok := messageOf(v); ok && (role == "assistant" || v.Has("content") && v.Len() <= 3) && text != "" {
			return text
		}
		if list, ok := v.At("messages").([]any); ok {
			if text := lastAnswer(list); text != "" {
				return text
			}
		}
		if list, ok := v.At("choices").([]any); ok {
			if choice, ok := first(list).(*value.Object); ok {
				if text := textOf(choice, "text"); text != "" {
					return text
				}
				return answered(choice.At("message"))
			}
		}
		if v.Len() == 1 {
			for _, only := range v.All() {
				if text, ok := only.(string); ok {
					return text
				}
			}
		}
	}
	return v
}

// lastAnswer returns the text of the last message, if it is the assistant's.
func lastAnswer(list []any) string {
	if len(list) == 0 {
		return ""
	}
	o, ok := list[len(list)-1].(*value.Object)
	if !ok {
		return ""
	}
	if role, text, ok := messageOf(o); ok && role == "assistant" {
		return text
	}
	return ""
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func nearest(name string, names []string) string { return document.Nearest(name, names) }

func sorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// some lists names, the first few of many.
func some(names []string) string {
	const most = 8
	if n := len(names); n > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ")
}
