package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestOpenAPIDocument: the embedded document matches the routes and their types. The server
// does not generate it at its start, because the library for that would slow down the start of
// every command.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	want, err := openAPIOf(routes())
	if err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // the next build embeds it
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(openAPIJSON, "\n")); diff != "" {
		t.Errorf("openapi.json is not what the routes give (-routes +file): go test ./server -run TestOpenAPIDocument -update\n%s", diff)
	}
}

// TestOpenAPIVersion: the document contains the version, whatever characters it has.
func TestOpenAPIVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1.2.3", "devel", "", `a"b<c>\`} {
		var doc struct {
			Info struct{ Title, Version string } `json:"info"`
		}
		if err := json.Unmarshal(openAPI(version), &doc); err != nil || doc.Info.Version != version || doc.Info.Title != "proviso" {
			t.Errorf("%q: %+v, %v", version, doc.Info, err)
		}
	}
}

// openAPIOf returns the OpenAPI 3.1 document of the routes. The schemas come from the types of
// requests and responses.
func openAPIOf(list []*route) ([]byte, error) {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(typeOf[value.Object](), typeOf[map[string]any]())
	schemas.RegisterTypeAlias(typeOf[json.RawMessage](), typeOf[any]())
	schemas.RegisterTypeAlias(typeOf[judge.Criterion](), typeOf[criterion]())
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "proviso", Version: anyVersion,
			Description: "Tells whether the output of a language model keeps the promises of its prompt.",
			License:     &huma.License{Name: "MIT", Identifier: "MIT"},
		},
		Components: &huma.Components{
			Schemas: schemas,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"key": {Type: "http", Scheme: "bearer", Description: "An API key: `proviso key create` makes one."},
			},
		},
	}
	for _, r := range list {
		if !r.Hidden {
			doc.AddOperation(operation(schemas, r))
		}
	}
	schemas.Schema(typeOf[Event](), true, "Event") // the data of the event stream
	sent := map[string]bool{}
	for _, r := range list {
		if r.Request != nil {
			reach(schemas, schemas.Schema(r.Request, true, ""), sent)
		}
	}
	for name, schema := range schemas.Map() {
		sharpen(schema, schemas.TypeFromRef(schemaPrefix+name), sent[name])
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("make the OpenAPI document: %w", err)
	}
	var lines bytes.Buffer
	err = json.Indent(&lines, data, "", " ")
	lines.WriteByte('\n')
	return lines.Bytes(), err
}

// criterion is the schema of a [judge.Criterion].
type criterion struct{}

// Schema describes a criterion: a text, or a template with parameters.
func (criterion) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A question that yes or no answers, as a text; or a shipped template with its parameters",
		OneOf: []*huma.Schema{
			{Type: "string"},
			{Type: "object", Properties: map[string]*huma.Schema{"text": {Type: "string"}}, Required: []string{"text"}, AdditionalProperties: false},
			{Type: "object", Properties: map[string]*huma.Schema{"template": {Type: "string"}}, Required: []string{"template"},
				Description: "Members beside template are its parameters", AdditionalProperties: true},
		},
	}
}

// Schema implements huma.SchemaProvider: an item may be null.
func (SeriesBuckets) Schema(r huma.Registry) *huma.Schema {
	one := r.Schema(typeOf[SeriesBucket](), true, "SeriesBucket")
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{OneOf: []*huma.Schema{one, {Type: "null"}}}}
}

// reach collects the schemas that a schema refers to.
func reach(schemas huma.Registry, s *huma.Schema, names map[string]bool) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, schemaPrefix); ok && !names[name] {
		names[name] = true
		reach(schemas, schemas.SchemaFromRef(s.Ref), names)
	}
	reach(schemas, s.Items, names)
	for _, p := range s.Properties {
		reach(schemas, p, names)
	}
}

// sharpen refines the schema of a struct by its fields. Lists are never null. A required field
// of pointer type may be null. Responses may get further members in later versions; requests
// may not.
func sharpen(s *huma.Schema, t reflect.Type, sent bool) {
	if !sent {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p != nil && p.Ref != "" && f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omitempty") {
			s.Properties[name] = &huma.Schema{OneOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, Description: p.Description}
		}
	}
}

// neverNull marks a list, and lists in it, as never null.
func neverNull(s *huma.Schema) {
	for ; s != nil && s.Type == huma.TypeArray; s = s.Items {
		s.Nullable = false
	}
}

// operation describes a route.
func operation(schemas huma.Registry, r *route) *huma.Operation {
	op := &huma.Operation{
		Method: r.Method, Path: r.Path, OperationID: r.ID, Summary: r.Summary, Description: r.Detail,
		Responses: map[string]*huma.Response{}, Security: []map[string][]string{},
	}
	if r.Scope != "" {
		op.Security = append(op.Security, map[string][]string{"key": {}})
		op.Description = strings.TrimSpace(op.Description + " Needs the scope `" + strings.ReplaceAll(scopesOf(r), " or ", "` or `") + "`.")
	}
	for _, p := range r.Params {
		in := "query"
		if p.Path {
			in = "path"
		}
		schema := &huma.Schema{Type: p.Kind}
		for _, e := range p.Enum {
			schema.Enum = append(schema.Enum, e)
		}
		op.Parameters = append(op.Parameters, &huma.Param{Name: p.Name, In: in, Description: p.Doc, Required: p.Path, Schema: schema})
	}
	if r.Scope != "" {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: projectParam, In: "query", Schema: &huma.Schema{Type: "string"},
			Description: "Another project than that of the key; needs the scope `admin`",
		})
	}
	if r.Method == http.MethodPost && r.Reads == nil && r.Scope != "" && !r.Secret {
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: "string"},
			Description: "A second request with the same key gets the answer of the first, and nothing is done twice",
		})
	}
	if r.Request != nil {
		op.RequestBody = &huma.RequestBody{Required: !r.Optional, Content: body(schemas, r.Request, mediaJSON)}
	}
	if r.Reads != nil {
		op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{}}
		for _, kind := range r.Reads {
			op.RequestBody.Content[kind] = &huma.MediaType{Schema: readAs(kind)}
		}
	}
	answer := &huma.Response{Description: http.StatusText(r.Status)}
	switch {
	case r.Response != nil:
		answer.Content = body(schemas, r.Response, mediaJSON)
	case r.MediaType != "":
		answer.Content = map[string]*huma.MediaType{r.MediaType: {Schema: &huma.Schema{Type: "string"}}}
	}
	op.Responses[strconv.Itoa(r.Status)] = answer
	op.Responses["default"] = &huma.Response{
		Description: "A problem (RFC 9457)", Content: body(schemas, typeOf[Problem](), "application/problem+json"),
	}
	return op
}

// readAs returns the schema of a body in a foreign format.
func readAs(mediaType string) *huma.Schema {
	if mediaType == mediaJSON {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	}
	return &huma.Schema{Type: huma.TypeString, Format: "binary"}
}

func body(schemas huma.Registry, t reflect.Type, mediaType string) map[string]*huma.MediaType {
	schema := schemas.Schema(t, true, t.Name())
	neverNull(schema)
	return map[string]*huma.MediaType{mediaType: {Schema: schema}}
}
