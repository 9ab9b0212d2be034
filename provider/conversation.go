package provider

import "github.com/proviso-eval/proviso/value"

// conversationOf returns the record of a file that holds only the messages of
// one conversation, in the form of chat APIs; nil for any other file.
func conversationOf(records []record) *value.Object {
	var messages []any
	for _, rec := range records {
		m := object(rec.At("output"))
		role := m.Text("role")
		if rec.Len() != 1 || role == "" || !m.Has("content") && !m.Has("tool_calls") {
			return nil
		}
		messages = append(messages, m)
	}
	if messages == nil {
		return nil
	}
	return value.ObjectOf("output", messages)
}
