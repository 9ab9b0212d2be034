package provider

import (
	"slices"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// googleShape sets Gemini's responseSchema, or its responseJsonSchema if the
// former cannot express the schema. With tools, the API does not return JSON.
func googleShape(_ *model, body *value.Object, r *proviso.Reply) bool {
	g := body.Object("generationConfig")
	if g.Has("responseMimeType") || g.Has("responseSchema") || g.Has("responseJsonSchema") || body.Has("tools") {
		return false
	}
	if g = g.Clone(); g == nil {
		g = value.NewObject(2)
	}
	g.Set("responseMimeType", "application/json")
	if r.Schema != nil {
		if own, ok := openAPISchema(r.Schema, 0); ok {
			g.Set("responseSchema", own)
		} else {
			g.Set("responseJsonSchema", r.Schema)
		}
	}
	body.Set("generationConfig", g)
	return true
}

// openAPIKeywords are the keywords of JSON Schema that mean the same in
// Google's Schema, a subset of OpenAPI 3.0.
var openAPIKeywords = [...]string{
	"title", "description", "format", "pattern", "nullable", "minItems", "maxItems", "minProperties", "maxProperties",
	"minLength", "maxLength", "minimum", "maximum", "default", "propertyOrdering",
}

// maxSchemaDepth bounds the depth of a schema.
const maxSchemaDepth = 64

// openAPISchema converts a JSON Schema to Google's Schema. It keeps the order of properties, which
// the API would otherwise sort: a model's reasoning has to come before its verdict. It returns
// false if a part of the schema cannot be expressed.
func openAPISchema(s *value.Object, depth int) (*value.Object, bool) {
	out := value.NewObject(s.Len())
	for key, v := range s.All() {
		ok := depth < maxSchemaDepth
		switch key {
		case "type":
			ok = ok && openAPIType(out, v)
		case "const":
			out.Set("enum", []any{v})
			_, ok = v.(string)
		case "enum":
			out.Set("enum", v)
			ok = ok && !slices.ContainsFunc(list(v), func(e any) bool { _, text := e.(string); return !text })
		case "required":
			if len(list(v)) > 0 {
				out.Set("required", v)
			}
		case "properties":
			ok = ok && openAPIProperties(out, object(v), depth)
		case "items":
			var items *value.Object
			if items, ok = openAPISchema(object(v), depth+1); ok && object(v) != nil {
				out.Set("items", items)
			}
		case "anyOf":
			ok = ok && openAPIAny(out, list(v), depth)
		case "additionalProperties", "$schema", "$id", "$comment", "examples", "strict":
			// Leaving these out loses nothing but a schema for further properties.
			ok = key != "additionalProperties" || v == false || v == true
		default:
			if ok = ok && slices.Contains(openAPIKeywords[:], key); ok {
				out.Set(key, v)
			}
		}
		if !ok {
			return nil, false
		}
	}
	return out, true
}

// openAPIType writes a type. Google's Schema has a separate keyword for "or
// null".
func openAPIType(out *value.Object, v any) bool {
	types, several := v.([]any)
	if !several {
		out.Set("type", v)
		return v != "null"
	}
	types = slices.Clone(types)
	if i := slices.Index(types, any("null")); i >= 0 {
		types = slices.Delete(types, i, i+1)
		out.Set("nullable", true)
	}
	if len(types) != 1 {
		return false
	}
	out.Set("type", types[0])
	return true
}

func openAPIProperties(out, properties *value.Object, depth int) bool {
	mapped := value.NewObject(properties.Len())
	order := make([]any, 0, properties.Len())
	for name, v := range properties.All() {
		p, ok := openAPISchema(object(v), depth+1)
		if !ok {
			return false
		}
		mapped.Set(name, p)
		order = append(order, name)
	}
	out.Set("properties", mapped)
	if len(order) > 1 {
		out.Set("propertyOrdering", order)
	}
	return true
}

func openAPIAny(out *value.Object, options []any, depth int) bool {
	mapped := make([]any, len(options))
	for i, v := range options {
		o, ok := openAPISchema(object(v), depth+1)
		if !ok {
			return false
		}
		mapped[i] = o
	}
	out.Set("anyOf", mapped)
	return true
}
