// Package suiteschema describes suites as a JSON Schema (draft-07), for editors and
// other tools. The schema is made from the tables that check suites: those of the
// suite reader, the assertion types and the providers. Start at [Of].
package suiteschema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// dialect is the version of JSON Schema that [Of] uses.
const dialect = "http://json-schema.org/draft-07/schema#"

// Of returns the schema of a suite file. Editors cannot check what they do not see:
// other files, names of prompts and providers, templates, scripts. The schema
// refuses keys that promptfoo ignores, although a suite of promptfoo's shape may
// have them.
func Of() *value.Object {
	b := builder{definitions: value.NewObject(0), tables: map[string][]suite.KeyDoc{}}
	for _, k := range suite.KeyDocs() {
		b.tables[k.Object] = append(b.tables[k.Object], k)
	}
	b.define("reference", referenceSchema())
	for _, object := range [...]string{
		"prompt", "provider", "options", "scenario", "repeat", "sandbox", "evaluateOptions",
		"commandLineOptions", "derived metric", "gate", "gate.assertions", "gate.cost", "gate.latency", "tracing", "tracing.otlp", "tracing.otlp.http", "tracing.forwarding",
	} {
		b.define(object, b.object(object))
	}
	b.define("judge", b.judge())
	b.define("case", b.object("case"))
	b.assertions()
	s := b.object("suite")
	s.Delete("anyOf")
	s.Set("patternProperties", value.ObjectOf("^x-", value.ObjectOf("description", "any name that begins with x- may hold values for anchors and references")))
	root := value.ObjectOf("$schema", dialect, "title", "a suite of proviso",
		"description", "prompts, providers and cases, and the assertions that every answer must keep")
	for key, v := range s.All() {
		root.Set(key, v)
	}
	root.Set("definitions", b.definitions)
	return root
}

// builder collects the definitions of a schema.
type builder struct {
	definitions *value.Object
	tables      map[string][]suite.KeyDoc
}

// define adds a definition; ref refers to it.
func (b *builder) define(name string, schema *value.Object) { b.definitions.Set(nameOf(name), schema) }

// nameOf is the name of an object as part of a URI.
func nameOf(object string) string { return strings.NewReplacer(" ", "-", ".", "-").Replace(object) }

func ref(name string) *value.Object {
	return value.ObjectOf("$ref", "#/definitions/"+nameOf(name))
}

// referenceSchema describes a reference, which stands for the value that it points to.
func referenceSchema() *value.Object {
	return value.ObjectOf("type", "object", "required", []any{"$ref"}, "properties", value.ObjectOf(
		"$ref", value.ObjectOf("type", "string", "description", "a pointer such as #/x-common, or file://other.yaml#/part; its target takes the place of this object")))
}

// object describes an object by its table. Keys that are not in the table are
// mistakes, except among the options of a case, which may have settings for the
// provider.
func (b *builder) object(object string) *value.Object {
	properties := value.NewObject(0)
	for _, k := range b.tables[object] {
		properties.Set(k.Key, b.member(k))
	}
	s := value.ObjectOf("type", types(kind.Object|kind.Null), "properties", properties)
	if object != "options" {
		s.Set("additionalProperties", false)
		properties.Set("$ref", referenceSchema().At("properties").(*value.Object).At("$ref"))
		if object == "suite" {
			properties.Delete("$ref")
		}
	}
	return s
}

// member describes the value of one key.
func (b *builder) member(k suite.KeyDoc) *value.Object {
	switch {
	case k.State == suite.KeyUnsupported && k.Beside == "":
		return value.ObjectOf("description", "unsupported: "+k.Doc, "enum", []any{nil, false, []any{}})
	case k.State != "":
		return value.ObjectOf("description", k.State+": "+k.Doc)
	}
	s := value.ObjectOf("description", k.Doc)
	form, ok := forms()[k.Object+"/"+k.Key]
	if !ok {
		if k.Kind != kind.Any {
			s.Set("type", types(k.Kind|kind.Null))
		}
		return s
	}
	s.Set("anyOf", append(slices.Clone(form), value.ObjectOf("type", "null"), ref("reference")))
	return s
}

// types lists the JSON types of a set of kinds.
func types(s kind.Set) any {
	var list []any
	for i, name := range [...]string{"string", "number", "boolean", "array", "object", "null"} {
		if s&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// listOf describes a list.
func listOf(members ...any) *value.Object {
	if len(members) == 1 {
		return value.ObjectOf("type", "array", "items", members[0])
	}
	return value.ObjectOf("type", "array", "items", value.ObjectOf("anyOf", members))
}

// named describes an object whose keys are the user's names and whose values have a
// form.
func named(form any) *value.Object {
	return value.ObjectOf("type", "object", "additionalProperties", form)
}

// forms returns the forms of values with more structure than a kind, by object and
// key.
func forms() map[string][]any {
	text := value.ObjectOf("type", "string")
	entry := []any{text, ref("provider"), value.ObjectOf("type", "object", "maxProperties", 1.0, "additionalProperties", ref("provider"),
		"description", "the id of a provider and its settings")}
	asked := append([]any{providerID()}, entry[1:]...)
	providers := append(slices.Clone(asked), listOf(append(slices.Clone(asked), ref("reference"))...))
	prompt := []any{text, ref("prompt"), value.ObjectOf("type", "object", "additionalProperties", text, "description", "names of files and their labels",
		"propertyNames", value.ObjectOf("not", value.ObjectOf("enum", []any{"raw", "id", "label"})))}
	code := value.ObjectOf("type", "object", "required", []any{"path"}, "additionalProperties", false,
		"properties", value.ObjectOf("path", text, "config", value.ObjectOf("type", "object")))
	cases := []any{text, code, listOf(text, code, ref("case"), ref("reference"))}
	assertions := []any{listOf(ref("assertion"), ref("reference"))}
	share := value.ObjectOf("type", "number", "minimum", 0.0, "maximum", 1.0)
	rate := []any{share, value.ObjectOf("type", "string", "pattern", `^\s*[0-9.]+\s*%?\s*$`, "description", "a share of 1, or N%")}
	repeat := []any{value.ObjectOf("type", "integer", "minimum", 1.0), ref("repeat")}
	texts := []any{text, listOf(text)}
	return map[string][]any{
		"suite/prompts": append(slices.Clone(prompt), listOf(append(slices.Clone(prompt), ref("reference"))...)), "suite/providers": providers, "suite/targets": providers, "suite/target": providers,
		"suite/tests": cases, "suite/defaultTest": {text, ref("case")}, "suite/scenarios": {text, listOf(text, ref("scenario"))},
		"suite/assertions": {text, listOf(text, ref("assertion"), ref("reference"))}, "suite/judge": {text, listOf(entry...), ref("judge")},
		"suite/threshold": {share}, "suite/evaluateOptions": {ref("evaluateOptions")}, "suite/commandLineOptions": {ref("commandLineOptions")},
		"suite/derivedMetrics": {listOf(ref("derived metric"))}, "suite/sandbox": {ref("sandbox")}, "suite/tracing": {ref("tracing")},
		"suite/extensions": {listOf(text)}, "suite/envPath": texts, "suite/outputPath": texts,
		"suite/tags":        {named(value.ObjectOf("type", types(kind.Text|kind.Number|kind.Boolean)))},
		"prompt/assert":     assertions,
		"provider/id":       {providerID()},
		"provider/env":      {named(value.ObjectOf("type", types(kind.Text|kind.Number|kind.Boolean|kind.Null)))},
		"provider/prompts":  texts,
		"judge/panel":       {listOf(entry...)},
		"judge/mode":        {value.ObjectOf("enum", []any{"batch", "single"})},
		"judge/votes":       {value.ObjectOf("type", "integer", "minimum", 1.0)},
		"judge/chunk":       {value.ObjectOf("type", "integer", "minimum", 1.0)},
		"case/vars":         {text, listOf(text), value.ObjectOf("type", "object")},
		"case/assert":       assertions,
		"case/options":      {ref("options")},
		"case/provider":     entry,
		"case/repeat":       repeat,
		"options/provider":  entry,
		"options/repeat":    repeat,
		"scenario/config":   {text, ref("case"), listOf(text, ref("case"), ref("reference"))},
		"scenario/tests":    cases,
		"repeat/n":          {repeat[0]},
		"repeat/pass":       {repeat[0]},
		"tracing/otlp":      {ref("tracing.otlp")},
		"tracing/emit":      {ref("tracing.forwarding")},
		"tracing.otlp/http": {ref("tracing.otlp.http")},

		"suite/gate": {ref("gate")}, "gate/assertions": {named(ref("gate.assertions"))}, "gate/cost": {ref("gate.cost")}, "gate/latency": {ref("gate.latency")},
		"gate/alpha": rate, "gate/margin": rate, "gate/minScore": rate, "gate.assertions/margin": rate, "gate.assertions/min": rate, "gate.cost/margin": rate, "gate.latency/margin": rate,
		"gate/mustPass": {listOf(text)}, "evaluateOptions/passRate": rate,
		"tracing/forwarding": {ref("tracing.forwarding")}, "evaluateOptions/repeat": repeat, "commandLineOptions/repeat": repeat,
		"evaluateOptions/maxConcurrency": {value.ObjectOf("type", "integer", "minimum", 1.0)}, "commandLineOptions/maxConcurrency": {value.ObjectOf("type", "integer", "minimum", 1.0)},
	}
}

// providerID describes the id of a provider by the prefixes that an id may have.
func providerID() *value.Object {
	var patterns []string
	var names []any
	for _, k := range provider.Kinds() {
		pattern := "^" + regexp.QuoteMeta(k.Name)
		if !strings.HasSuffix(k.Name, ":") {
			pattern += "$"
		}
		patterns, names = append(patterns, pattern), append(names, k.Name)
	}
	return value.ObjectOf("type", "string", "pattern", strings.Join(append(patterns, `\{\{`), "|"), "examples", names,
		"description", "kind and model, such as openai:chat:gpt-5")
}

// judge describes a judge that is an object: the keys of a provider, and those of a
// judge.
func (b *builder) judge() *value.Object {
	s := b.object("judge")
	properties := s.At("properties").(*value.Object)
	for _, k := range b.tables["provider"] {
		if !properties.Has(k.Key) {
			properties.Set(k.Key, b.member(k))
		}
	}
	return s
}

// fields describes the keys of an assertion or of a part of one.
func fields(object string) *value.Object {
	properties := value.NewObject(0)
	for _, k := range assertion.Tables()[object] {
		s := value.ObjectOf("description", k.Doc)
		if k.OneOf != nil {
			list := []any{nil}
			for _, v := range k.OneOf {
				list = append(list, v)
			}
			s.Set("enum", list)
		} else if k.Kind != kind.Any {
			s.Set("type", types(k.Kind|kind.Null))
		}
		properties.Set(k.Name, s)
	}
	return value.ObjectOf("type", types(kind.Object|kind.Null), "properties", properties, "additionalProperties", false)
}
