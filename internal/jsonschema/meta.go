package jsonschema

import (
	"sync"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// metaID is the id of the only dialect, without its empty fragment.
const metaID = "http://json-schema.org/draft-07/schema"

// checkDialect refuses schemas of other drafts.
func checkDialect(s *value.Object) error {
	if id, ok := s.Get("$id"); ok {
		if _, text := id.(string); !text {
			return invalid("schema $id must be string")
		}
	}
	dialect, ok := s.Get("$schema")
	if !ok || dialect == "" {
		return nil
	}
	text, ok := dialect.(string)
	if !ok {
		return invalid("$schema must be a string")
	}
	if trimFragment(text) != metaID {
		return &proviso.Error{
			Code:    proviso.Invalid,
			Message: "no schema with key or ref \"" + text + "\": only draft-07 is supported",
			Valid:   []string{metaID + "#"},
		}
	}
	return nil
}

// metaDocument is the meta-schema as a value. It is read when the first schema
// is compiled.
var metaDocument = sync.OnceValue(func() any {
	v, err := value.ParseJSON(metaText)
	if err != nil {
		return true // a test prevents this
	}
	return v
})

var metaSchema = sync.OnceValue(func() *Schema {
	root, err := newCompiler(metaDocument(), Options{}).compile()
	if err != nil {
		root = &node{boolean: true, accept: true} // a test prevents this
	}
	return &Schema{root: root}
})

// metaText is the draft-07 meta-schema (https://json-schema.org/draft-07/schema)
// without its annotations and without formats, which Ajv does not check in it.
// The order of keys is kept, because it decides which mistake is reported.
const metaText = `{
"$id":"http://json-schema.org/draft-07/schema#",
"definitions":{
"schemaArray":{"type":"array","minItems":1,"items":{"$ref":"#"}},
"nonNegativeInteger":{"type":"integer","minimum":0},
"nonNegativeIntegerDefault0":{"allOf":[{"$ref":"#/definitions/nonNegativeInteger"},{"default":0}]},
"simpleTypes":{"enum":["array","boolean","integer","null","number","object","string"]},
"stringArray":{"type":"array","items":{"type":"string"},"uniqueItems":true}
},
"type":["object","boolean"],
"properties":{
"$id":{"type":"string"},
"$schema":{"type":"string"},
"$ref":{"type":"string"},
"$comment":{"type":"string"},
"title":{"type":"string"},
"description":{"type":"string"},
"default":true,
"readOnly":{"type":"boolean"},
"examples":{"type":"array","items":true},
"multipleOf":{"type":"number","exclusiveMinimum":0},
"maximum":{"type":"number"},
"exclusiveMaximum":{"type":"number"},
"minimum":{"type":"number"},
"exclusiveMinimum":{"type":"number"},
"maxLength":{"$ref":"#/definitions/nonNegativeInteger"},
"minLength":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
"pattern":{"type":"string"},
"additionalItems":{"$ref":"#"},
"items":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/schemaArray"}]},
"maxItems":{"$ref":"#/definitions/nonNegativeInteger"},
"minItems":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
"uniqueItems":{"type":"boolean"},
"contains":{"$ref":"#"},
"maxProperties":{"$ref":"#/definitions/nonNegativeInteger"},
"minProperties":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
"required":{"$ref":"#/definitions/stringArray"},
"additionalProperties":{"$ref":"#"},
"definitions":{"type":"object","additionalProperties":{"$ref":"#"}},
"properties":{"type":"object","additionalProperties":{"$ref":"#"}},
"patternProperties":{"type":"object","additionalProperties":{"$ref":"#"}},
"dependencies":{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/stringArray"}]}},
"propertyNames":{"$ref":"#"},
"const":true,
"enum":{"type":"array","items":true,"minItems":1,"uniqueItems":true},
"type":{"anyOf":[{"$ref":"#/definitions/simpleTypes"},{"type":"array","items":{"$ref":"#/definitions/simpleTypes"},"minItems":1,"uniqueItems":true}]},
"format":{"type":"string"},
"contentMediaType":{"type":"string"},
"contentEncoding":{"type":"string"},
"if":{"$ref":"#"},
"then":{"$ref":"#"},
"else":{"$ref":"#"},
"allOf":{"$ref":"#/definitions/schemaArray"},
"anyOf":{"$ref":"#/definitions/schemaArray"},
"oneOf":{"$ref":"#/definitions/schemaArray"},
"not":{"$ref":"#"}
}}`
