package provider

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// shape asks an API for an answer of one shape, in the API's own form. If the suite configures the
// answer format itself, it leaves body unchanged and returns false.
type shape func(m *model, body *value.Object, r *proviso.Reply) bool

// shaped adds the shape of the answer to a body, if the API supports it and the suite does not
// forbid it. It returns false if the shape is left out.
func (m *model) shaped(body, cfg *value.Object, r *proviso.Reply) bool {
	if r == nil || m.api.shape == nil || cfg.At("structured") == false || m.shapeless.Load() {
		return false
	}
	return m.api.shape(m, body, r)
}

// plainly reports whether a rejected request may be repeated without the shape of the answer: many
// endpoints implement a vendor's API without that part. It also finds requests on a cassette that
// were recorded without it.
func plainly(f *fault) bool {
	switch f.status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return (!f.stop || f.status == http.StatusForbidden) && !f.filtered()
	case 0:
		return f.code == proviso.NotFound
	}
	return false
}

// verbatim returns the settings without those that make proviso parse an output as JSON.
func verbatim(cfg *value.Object) *value.Object {
	formats := []string{"response_format", "output_format", "output_config"}
	if !slices.ContainsFunc(formats, cfg.Has) {
		return cfg
	}
	cfg = cfg.Clone()
	for _, name := range formats {
		cfg.Delete(name)
	}
	return cfg
}

// replyName is the name of a reply in a request.
func replyName(r *proviso.Reply) string { return cmp.Or(r.Name, "answer") }

// anyObject is the schema of a reply that has none.
func anyObject() *value.Object { return value.ObjectOf("type", "object") }

func replySchema(r *proviso.Reply) *value.Object { return cmp.Or(r.Schema, anyObject()) }

// schema is the schema of a reply in the vendor's form.
func (m *model) schema(r *proviso.Reply) *value.Object {
	if m.loose {
		return unbounded(r.Schema, 0)
	}
	return r.Schema
}

// bounds are the JSON Schema keywords that bound a value. Anthropic and Cohere reject a schema that
// has one (issue 302 of agentjido/req_llm shows the error), and a request with a rejected schema is
// repeated without any. The reader of the reply checks the bounds.
var bounds = [...]string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

// unbounded is a schema without bounds.
func unbounded(s *value.Object, depth int) *value.Object {
	if s == nil || depth > maxSchemaDepth {
		return s
	}
	out := value.NewObject(s.Len())
	for key, v := range s.All() {
		switch {
		case slices.Contains(bounds[:], key):
			continue
		case key == "properties" || key == "$defs" || key == "definitions":
			named := value.NewObject(object(v).Len())
			for name, member := range object(v).All() {
				named.Set(name, unboundedValue(member, depth))
			}
			v = named
		case key == "items" || key == "anyOf" || key == "allOf" || key == "oneOf":
			v = unboundedValue(v, depth)
		}
		out.Set(key, v)
	}
	return out
}

// unboundedValue is a schema, or a list of schemas, without bounds.
func unboundedValue(v any, depth int) any {
	switch v := v.(type) {
	case *value.Object:
		return unbounded(v, depth+1)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unboundedValue(e, depth)
		}
		return out
	}
	return v
}

// chatShape is the response_format of OpenAI's chat.
func chatShape(m *model, body *value.Object, r *proviso.Reply) bool {
	if body.Has("response_format") {
		return false
	}
	if r.Schema == nil || m.objects {
		body.Set("response_format", value.ObjectOf("type", "json_object"))
		return true
	}
	body.Set("response_format", value.ObjectOf("type", "json_schema",
		"json_schema", value.ObjectOf("name", replyName(r), "strict", true, "schema", m.schema(r))))
	return true
}

// responsesShape is the text.format of OpenAI's responses.
func responsesShape(m *model, body *value.Object, r *proviso.Reply) bool {
	text := body.Object("text")
	if text.Has("format") {
		return false
	}
	text = text.Clone()
	if r.Schema == nil {
		text.Set("format", value.ObjectOf("type", "json_object"))
	} else {
		text.Set("format", value.ObjectOf("type", "json_schema", "name", replyName(r), "strict", true, "schema", m.schema(r)))
	}
	body.Set("text", text)
	return true
}

// ollamaShape is the format of Ollama: a schema, or just JSON.
func ollamaShape(_ *model, body *value.Object, r *proviso.Reply) bool {
	if body.Has("format") {
		return false
	}
	if r.Schema == nil {
		body.Set("format", "json")
	} else {
		body.Set("format", r.Schema)
	}
	return true
}

// anthropicShape sets Claude's output format for models that have one, and otherwise a tool that
// the model must call. A model that thinks cannot be forced to call a tool.
func anthropicShape(m *model, body *value.Object, r *proviso.Reply) bool {
	config := body.Object("output_config")
	if body.Has("tool_choice") || body.Has("output_format") || config.Has("format") {
		return false
	}
	if formats(m.name) {
		if r.Schema == nil {
			return false
		}
		config = config.Clone()
		config.Set("format", value.ObjectOf("type", "json_schema", "schema", unbounded(r.Schema, 0)))
		body.Set("output_config", config)
		return true
	}
	if thinks(body) {
		return false
	}
	tool := value.ObjectOf("name", replyName(r), "description", "Gives the answer.", "input_schema", replySchema(r))
	body.Set("tools", append(slices.Clone(list(body.At("tools"))), tool))
	body.Set("tool_choice", value.ObjectOf("type", "tool", "name", replyName(r)))
	return true
}

// unwrapped replaces the calls of the reply tool by their arguments: the caller gets the JSON text.
// If there are several calls, or JSON in the text beside them, the caller gets all of it, because
// only the caller can tell whether they agree.
func unwrapped(out *proviso.Output, r *proviso.Reply) {
	v, _ := out.Value.(*value.Object)
	if v != nil && len(out.ToolCalls) == 0 {
		out.Value = value.Stringify(v)
	}
	var texts []string
	if text := contentText(v.At("content")); strings.Contains(text, "{") {
		texts = append(texts, text)
	}
	var others []any
	called := false
	for _, c := range out.ToolCalls {
		f := object(c).Object("function")
		if f.At("name") != replyName(r) {
			others = append(others, c)
			continue
		}
		called = true
		if text := f.Text("arguments"); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if !called {
		return
	}
	out.Value = strings.Join(texts, "\n")
	if out.ToolCalls = others; len(others) == 0 && out.FinishReason == finishTools {
		out.FinishReason = finishStop
	}
}

// replyKey describes r for the cache key; "" if r is nil.
func replyKey(r *proviso.Reply) string {
	if r == nil {
		return ""
	}
	return "reply " + value.Stringify([]any{r.Name, value.Sorted(r.Schema)})
}
