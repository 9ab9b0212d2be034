package convert

import (
	"fmt"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

// prompt returns the prompt of the run: its messages, the item that holds them, or the
// item itself if the export does not say.
func (c *openAISuite) prompt() any {
	source := c.run.Object.Object("data_source")
	messages := source.Object("input_messages")
	if list, ok := messages.At("template").([]any); ok {
		if chat := c.messages("the prompt", found{messages, func(p string) proviso.Place { return c.run.place("/data_source/input_messages" + p) }}, "template", list); len(chat) > 0 {
			return value.ObjectOf("label", "prompt", "raw", chat)
		}
	}
	if at := messages.Text("item_reference"); at != "" {
		if t := parseTemplate("{{ " + at + " }}"); t.uses("item") {
			return value.ObjectOf("label", "prompt", "raw", t.nunjucks(func([]string) bool { return true }))
		}
	}
	if c.structured([]string{"input"}) {
		return value.ObjectOf("label", "prompt", "raw", "{{ item.input | dump }}")
	}
	if !c.ready() {
		c.note(c.eval.place(""), "the prompt", "the files do not hold it, so the item is sent as JSON", "write the prompt under prompts, with {{ item.NAME }} for parts of the item")
	}
	return value.ObjectOf("label", "prompt", "raw", "{{ item | dump }}")
}

// ready reports whether no grader looks at a model's output: the items themselves
// hold the graded texts.
func (c *openAISuite) ready() bool {
	list, _ := c.eval.At("testing_criteria").([]any)
	for _, v := range list {
		g, _ := v.(*value.Object)
		if g.Text("type") == "python" || parseTemplate(value.Stringify(g)).uses("sample") {
			return false
		}
	}
	return len(list) > 0
}

// providers returns the provider: the recorded outputs, else the run's model. With
// recorded outputs, the comment names the model.
func (c *openAISuite) providers(recorded bool) (list []any, comment string) {
	source := c.run.Object.Object("data_source")
	model := oneLine(source.Text("model"))
	if model == "" {
		model = oneLine(c.run.Text("model"))
	}
	kindOf := "chat"
	if source.Text("type") == "responses" {
		kindOf = "responses"
	}
	id := "openai:" + kindOf + ":" + model
	switch {
	case recorded && model != "":
		return []any{value.ObjectOf("id", "recorded:outputs.jsonl", "label", "recorded")}, "The outputs of the run are the answers. To ask the model again: proviso eval -r " + id
	case recorded:
		return []any{value.ObjectOf("id", "recorded:outputs.jsonl", "label", "recorded")}, "The outputs of the run are the answers. Add a model to ask it again."
	case c.ready():
		return []any{"echo"}, "The graders read only the items, so no model is asked."
	case model == "":
		c.note(c.eval.place(""), "the model", "the files do not name it, so the prompt itself is the answer (echo)", "name a model under providers, such as openai:chat:gpt-5")
		return []any{"echo"}, ""
	}
	entry := value.ObjectOf("id", id)
	if config := samplingOf(source.Object("sampling_params")); config.Len() > 0 {
		entry.Set("config", config)
	}
	return []any{entry}, ""
}

// samplingOf returns the model settings that a provider accepts.
func samplingOf(params *value.Object) *value.Object {
	config := value.NewObject(0)
	for key, v := range params.All() {
		number, isNumber := v.(float64)
		effort, isText := v.(string)
		switch key {
		case "max_completions_tokens", "max_completion_tokens":
			key = "max_completion_tokens"
		case "reasoning_effort":
			if isText {
				config.Set(key, oneLine(effort))
			}
		case "temperature", "top_p", "seed":
		default:
			continue
		}
		if isNumber && key != "reasoning_effort" {
			config.Set(key, number)
		}
	}
	return config
}

// messages returns a chat with its templates in the form of suites. Parts that are
// not text are listed.
func (c *openAISuite) messages(what string, in found, key string, list []any) []any {
	var chat []any
	for i, v := range list {
		at := document.Join("/"+key, i)
		m, ok := v.(*value.Object)
		if !ok {
			c.note(in.place(at), what, "a message is an object, not "+kind.Shown(v), "")
			continue
		}
		role := m.Text("role")
		switch role {
		case "user", "assistant", "system", "developer":
		default:
			role = "user"
		}
		text := c.content(what, in, at+"/content", m.At("content"))
		chat = append(chat, value.ObjectOf("role", role, "content", text))
	}
	return chat
}

// content returns the text of a message.
func (c *openAISuite) content(what string, in found, at string, v any) string {
	switch v := v.(type) {
	case string:
		t := parseTemplate(v)
		if name := t.unknown(); name != "" {
			c.note(in.place(at), what, fmt.Sprintf("its template uses %s, which a suite does not have; it stays empty", oneLine(name)), "")
			kept := t[:0]
			for _, p := range t {
				if (template{p}).unknown() == "" {
					kept = append(kept, p)
				}
			}
			t = kept
		}
		return t.nunjucks(c.structured)
	case []any:
		text := ""
		for i, e := range v {
			text += c.content(what, in, document.Join(at, i), e)
		}
		return text
	case *value.Object:
		if s, ok := v.At("text").(string); ok {
			return c.content(what, in, at+"/text", s)
		}
	}
	c.note(in.place(at), what, "only text is converted, not "+contentKind(v), "")
	return ""
}

// contentKind names what a message holds in place of a text.
func contentKind(v any) string {
	if o, ok := v.(*value.Object); ok && o.Text("type") != "" {
		return oneLine(o.Text("type"))
	}
	return kind.Shown(v)
}
