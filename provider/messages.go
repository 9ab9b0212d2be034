package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

// messagesOf reads a prompt as a chat: a list of messages in JSON, or in YAML
// if it begins with "- role:". Any other prompt becomes one user message.
func messagesOf(prompt string) []any {
	if chat, ok := chatOf(prompt); ok {
		return chat
	}
	return []any{value.ObjectOf("role", "user", "content", prompt)}
}

// chatOf returns the messages of a prompt that is a chat.
func chatOf(prompt string) ([]any, bool) {
	text := value.TrimSpace(prompt)
	var v any
	switch {
	case strings.HasPrefix(text, "["):
		var err error
		if v, err = value.ParseJSON(text); err != nil {
			return nil, false
		}
	case strings.HasPrefix(text, "- role:"):
		doc, err := document.ParseYAML("prompt", []byte(text))
		if err != nil {
			return nil, false
		}
		v = doc.Root
	}
	chat := list(v)
	for _, m := range chat {
		if !object(m).Has("role") {
			return nil, false
		}
	}
	return chat, len(chat) > 0
}

// part is one piece of a message's content, independent of the vendor.
type part struct {
	text  string
	image *image
	other *value.Object // in the vendor's own form
}

// image is a picture in a message.
type image struct{ mediaType, data, url string } // either base64 data or a URL

// partsOf reads the content of a message: text, or a list of parts in OpenAI's
// form.
func partsOf(content any) []part {
	if _, ok := content.([]any); !ok {
		if content == nil {
			return nil
		}
		return []part{{text: value.Text(content)}}
	}
	var parts []part
	for _, v := range list(content) {
		o := object(v)
		switch {
		case o == nil:
			parts = append(parts, part{text: value.Text(v)})
		case o.At("type") == "text" && o.Len() == 2, o.At("type") == "input_text":
			parts = append(parts, part{text: o.Text("text")})
		case o.At("type") == "image_url":
			parts = append(parts, part{image: imageOf(cmp.Or(o.Text("image_url"), o.Object("image_url").Text("url")))})
		case o.At("type") == "input_image":
			parts = append(parts, part{image: imageOf(o.Text("image_url"))})
		default:
			parts = append(parts, part{other: inlined(o)})
		}
	}
	return parts
}

// inlined replaces a data URL in a part of Anthropic's or Google's form by its data, as promptfoo
// does with picture variables. Any other part is returned unchanged.
func inlined(o *value.Object) *value.Object {
	for _, form := range [...]struct{ member, kind string }{{"source", "media_type"}, {"inlineData", "mimeType"}, {"inline_data", "mime_type"}} {
		holder := object(o.At(form.member))
		picture := imageOf(holder.Text("data"))
		if holder == nil || picture.data == "" {
			continue
		}
		holder = holder.Clone()
		if str(holder.At(form.kind)) == "" {
			holder.Set(form.kind, picture.mediaType)
		}
		holder.Set("data", picture.data)
		o = o.Clone()
		o.Set(form.member, holder)
	}
	return o
}

// imageOf reads a data URL (RFC 2397) in base64, or keeps the URL.
func imageOf(url string) *image {
	head, data, ok := strings.Cut(url, ",")
	head, data64 := strings.CutSuffix(head, ";base64")
	if mediaType, isData := strings.CutPrefix(head, "data:"); ok && data64 && isData {
		mediaType, _, _ = strings.Cut(mediaType, ";")
		return &image{mediaType: mediaType, data: data}
	}
	return &image{url: url}
}

// splitAt splits the text of the message at an index: the first part has this many bytes. It
// returns the chat and the index. If the message has no longer text, it returns the chat unchanged
// and -1.
func splitAt(chat []any, at, bytes int) ([]any, int) {
	if bytes <= 0 || at >= len(chat) {
		return chat, -1
	}
	m := object(chat[at])
	text, ok := m.At("content").(string)
	if !ok || bytes >= len(text) || systemRole(m) {
		return chat, -1
	}
	m = m.Clone()
	m.Set("content", []any{value.ObjectOf("type", "text", "text", text[:bytes]), value.ObjectOf("type", "text", "text", text[bytes:])})
	chat = slices.Clone(chat)
	chat[at] = m
	return chat, at
}

// systemRole reports whether a message contains instructions for the model.
func systemRole(m *value.Object) bool {
	role := m.At("role")
	return role == "system" || role == "developer"
}

// argumentsOf returns the arguments of a function call in OpenAI's form.
func argumentsOf(function *value.Object) any {
	v, err := value.ParseJSON(function.Text("arguments"))
	if err != nil {
		return value.NewObject(0)
	}
	return v
}

// toolCall is a call in OpenAI's form.
func toolCall(id, name, arguments any) *value.Object {
	return value.ObjectOf("id", id, "type", "function", "function", value.ObjectOf("name", name, "arguments", arguments))
}
