package otlp

import (
	"strconv"

	"github.com/proviso-eval/proviso/value"
)

// roleOfEvent maps the events that hold one message each to the message's role. They were part of
// the semantic conventions for generative AI until version 1.36 ("Events", gen_ai.*.message).
var roleOfEvent = map[string]string{
	"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool",
}

// contents collects messages from the events of a span, in the form of the attributes that
// [messagesOf] reads.
type contents struct {
	found  *value.Object // nil if there are no messages
	asked  int           // messages to the agent
	chosen bool
}

// event reads an event.
func (c *contents) event(name string, about *value.Object) {
	switch role, message := roleOfEvent[name]; {
	case message && c.asked < maxMessages:
		at := "gen_ai.prompt." + strconv.Itoa(c.asked) + "."
		c.asked++
		c.set(at+"role", role)
		c.set(at+"content", about.Text("content"))
	case name == "gen_ai.choice" && !c.chosen:
		c.chosen = true
		c.set("gen_ai.completion.0.role", "assistant")
		c.set("gen_ai.completion.0.content", chosen(about))
	case name == "gen_ai.content.prompt":
		c.set("gen_ai.prompt", about.At("gen_ai.prompt"))
	case name == "gen_ai.content.completion":
		c.set("gen_ai.completion", about.At("gen_ai.completion"))
	}
}

// chosen returns the text of a choice. Its message is an object, the JSON of an object, or the
// attribute content.
func chosen(about *value.Object) string {
	message := about.At("message")
	if text, ok := message.(string); ok {
		v, err := value.ParseJSON(text)
		if err != nil {
			return text
		}
		message = v
	}
	if o, ok := message.(*value.Object); ok {
		return o.Text("content")
	}
	return about.Text("content")
}

func (c *contents) set(key string, v any) {
	if v == nil || v == "" {
		return
	}
	if c.found == nil {
		c.found = value.NewObject(4)
	}
	c.found.Set(key, v)
}

// into adds the collected attributes to those of a span. Attributes that the span already has take
// precedence.
func (c *contents) into(attributes *value.Object) {
	if c.found == nil {
		return
	}
	for key, v := range c.found.All() {
		if !attributes.Has(key) {
			attributes.Set(key, v)
		}
	}
}
