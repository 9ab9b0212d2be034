package exported

import (
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// PromptText returns the text of a prompt: a string, the messages of a chat, an object with
// either under a usual name, or a prompt as LangChain serialises it. A chat becomes one text,
// with the role of each message on the line before it.
func PromptText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		return chatText(v)
	case *value.Object:
		for _, key := range [...]string{"template", "prompt", "text", "messages", "manifest", "kwargs"} {
			if text, ok := PromptText(v.At(key)); ok && v.At(key) != nil {
				return text, true
			}
		}
	}
	return "", false
}

// IsChat reports whether a list is the messages of one prompt.
func IsChat(list []any) bool {
	_, ok := chatText(list)
	return ok && len(list) > 0
}

// chatText joins the messages of a chat; ok is false if a member is not a message.
func chatText(list []any) (text string, ok bool) {
	var b strings.Builder
	for _, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			return "", false
		}
		role, text, ok := messageOf(o)
		if !ok {
			return "", false
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if role != "" {
			b.WriteString(role + ":\n")
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// roleOf maps LangChain's message classes and types to roles.
var roleOf = map[string]string{
	"SystemMessagePromptTemplate": "system", "SystemMessage": "system", "HumanMessagePromptTemplate": "user", "HumanMessage": "user",
	"AIMessagePromptTemplate": "assistant", "AIMessage": "assistant", "human": "user", "ai": "assistant", "system": "system",
}

// messageOf returns the role and text of a message in the form of OpenAI, LangChain or
// PromptLayer; ok is false if it is none. A placeholder for messages becomes its name in
// braces.
func messageOf(o *value.Object) (role, text string, ok bool) {
	if role = o.Text("role"); role == "" {
		role = roleOf[o.Text("type")]
	}
	if o.Text("type") == "placeholder" && o.Text("name") != "" { // Langfuse
		return "messages", "{{" + o.Text("name") + "}}", true
	}
	text, ok = o.At("content").(string)
	if parts, isList := o.At("content").([]any); isList {
		text, ok = partsText(parts)
	}
	if data := o.Object("data"); !ok && data != nil && role != "" {
		text, ok = data.At("content").(string)
	}
	if prompt := o.Object("prompt"); !ok && prompt != nil && role != "" { // PromptLayer's older form
		text, ok = prompt.At("template").(string)
	}
	id, isList := o.At("id").([]any)
	if !isList || len(id) == 0 {
		return role, text, ok
	}
	class, _ := id[len(id)-1].(string)
	kwargs := o.Object("kwargs")
	if kwargs == nil {
		return "", "", false
	}
	switch role = roleOf[class]; {
	case class == "MessagesPlaceholder":
		return "messages", "{" + kwargs.Text("variable_name") + "}", true
	case kwargs.At("content") != nil:
		if parts, isList := kwargs.At("content").([]any); isList {
			text, ok = partsText(parts)
		} else {
			text, ok = kwargs.At("content").(string)
		}
	default:
		text, ok = PromptText(kwargs)
	}
	return role, text, ok
}

// partsText joins the text parts of a message's content.
func partsText(parts []any) (string, bool) {
	var list []string
	for _, p := range parts {
		o, ok := p.(*value.Object)
		if !ok {
			return "", false
		}
		if s, ok := o.At("text").(string); ok {
			list = append(list, s)
		}
	}
	return strings.Join(list, "\n"), true
}
