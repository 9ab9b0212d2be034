package delta

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/spade/internal/format"
	"github.com/proviso-eval/proviso/value"
)

// versionReader collects the versions of a file.
type versionReader struct {
	file     string
	list     []numbered
	mistakes proviso.Mistakes
}

// numbered is a version with its number, if it has one.
type numbered struct {
	Version
	number   float64
	has      bool
	timeless bool
}

func (r *versionReader) add(m proviso.Mistake) {
	r.mistakes = format.OneMoreMistake(r.mistakes, m)
}

func (r *versionReader) json(data []byte) {
	doc, err := document.ParseJSON(r.file, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		r.add(proviso.Mistake{Place: syntax.Place, Code: proviso.Invalid, Message: syntax.Message})
		return
	}
	list, at := doc.Root, ""
	if o, ok := list.(*value.Object); ok {
		for _, key := range []string{"versions", "commits"} {
			if l, ok := o.At(key).([]any); ok {
				list, at = l, "/"+key
			}
		}
	}
	entries, ok := list.([]any)
	if !ok || isChat(entries) {
		r.entry(list, doc.Place(at))
		return
	}
	for i, e := range entries {
		r.entry(e, doc.Place(document.Join(at, i)))
	}
}

// entry reads one version.
func (r *versionReader) entry(v any, at proviso.Place) {
	text, ok := promptText(v)
	if !ok {
		r.add(proviso.Mistake{Place: at, Code: proviso.Invalid, Message: "no prompt is here: an object with template, prompt, text, messages or manifest is expected"})
		return
	}
	n := numbered{Version: Version{Name: fmt.Sprintf("entry %d", len(r.list)+1), Text: text}, timeless: true}
	if o, ok := v.(*value.Object); ok {
		n.describe(o)
	}
	r.list = append(r.list, n)
}

// describe reads the name, number and time of a version.
func (n *numbered) describe(o *value.Object) {
	for _, key := range []string{"commit_hash", "commit", "name", "id", "version"} {
		switch v := o.At(key).(type) {
		case string:
			if v != "" {
				n.Name = v
			}
		case float64:
			n.Name = key + " " + value.FormatNumber(v)
		default:
			continue
		}
		break
	}
	switch v := o.At("version").(type) {
	case float64:
		n.number, n.has = v, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimPrefix(v, "v"), 64)
		n.number, n.has = f, err == nil
	}
	for _, key := range []string{"created_at", "timestamp", "time"} {
		if s, ok := o.At(key).(string); ok {
			for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05.999999", "2006-01-02"} {
				if t, err := time.Parse(layout, s); err == nil {
					n.Time, n.timeless = t.UTC(), false
				}
			}
		}
	}
}

// inOrder returns the versions, oldest first.
func (r *versionReader) inOrder() []Version {
	if all(r.list, func(n numbered) bool { return n.has }) {
		slices.SortStableFunc(r.list, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	} else if all(r.list, func(n numbered) bool { return !n.timeless }) {
		slices.SortStableFunc(r.list, func(a, b numbered) int { return a.Time.Compare(b.Time) })
	}
	out := make([]Version, len(r.list))
	for i, n := range r.list {
		out[i] = n.Version
	}
	return out
}

func all(list []numbered, is func(numbered) bool) bool {
	return !slices.ContainsFunc(list, func(n numbered) bool { return !is(n) })
}

// promptText returns the text of a prompt in any of the forms that
// [ReadVersions] knows.
func promptText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		return chatText(v)
	case *value.Object:
		for _, key := range []string{"template", "prompt", "text", "messages", "manifest", "kwargs"} {
			if text, ok := promptText(v.At(key)); ok && v.At(key) != nil {
				return text, true
			}
		}
	}
	return "", false
}

// isChat reports whether a list is the messages of one prompt.
func isChat(list []any) bool {
	_, ok := chatText(list)
	return ok && len(list) > 0
}

// roleOfClass are the roles of LangChain's classes of messages.
var roleOfClass = map[string]string{
	"SystemMessagePromptTemplate": "system", "SystemMessage": "system", "HumanMessagePromptTemplate": "user", "HumanMessage": "user",
	"AIMessagePromptTemplate": "assistant", "AIMessage": "assistant",
}

// chatText joins the messages of a chat.
func chatText(list []any) (string, bool) {
	var b strings.Builder
	for _, e := range list {
		o, ok := e.(*value.Object)
		if !ok {
			return "", false
		}
		role := o.Text("role")
		text, ok := o.At("content").(string)
		if parts, isList := o.At("content").([]any); isList {
			text, ok = partsText(parts)
		}
		if id, isList := o.At("id").([]any); isList && len(id) > 0 {
			class, _ := id[len(id)-1].(string)
			kwargs, _ := o.At("kwargs").(*value.Object)
			if kwargs == nil {
				return "", false
			}
			switch role = roleOfClass[class]; {
			case class == "MessagesPlaceholder":
				name := kwargs.Text("variable_name")
				role, text, ok = "messages", "{"+name+"}", true
			case kwargs.At("content") != nil:
				text, ok = kwargs.At("content").(string)
			default:
				text, ok = promptText(kwargs)
			}
		}
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
