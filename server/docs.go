package server

import (
	"bytes"
	_ "embed" // openapi.json
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed docs.html
var docsHTML string

// examplesJSON has an exchange for each route, by route id. TestExamples records them from a
// real server, and checks them.
//
//go:embed examples.json
var examplesJSON []byte

// Example is an exchange with the server.
type Example struct {
	Path     string          `json:"path"`
	Headers  []string        `json:"headers,omitempty"` // beside the headers of every request
	Body     json.RawMessage `json:"body,omitempty"`    // JSON, or a text
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response,omitempty"` // JSON, or a text
}

// Examples returns an exchange for each route of the OpenAPI document, by route id.
func Examples() (map[string]Example, error) {
	var list map[string]Example
	err := json.Unmarshal(examplesJSON, &list)
	return list, err
}

// schemaDoc is the part of an OpenAPI schema that the page shows.
type schemaDoc struct {
	Type        any                  `json:"type"`
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Format      string               `json:"format"`
	Enum        []any                `json:"enum"`
	Items       *schemaDoc           `json:"items"`
	OneOf       []*schemaDoc         `json:"oneOf"`
	Properties  map[string]schemaDoc `json:"properties"`
	Required    []string             `json:"required"`
	Additional  any                  `json:"additionalProperties"`
}

// fieldDoc is a row of a table of fields.
type fieldDoc struct {
	Name, Type, Link, Doc string
	Required              bool
	Fields                []fieldDoc // fields of an inline body
}

type routeDoc struct {
	*route
	Params       []param
	Sent, Answer fieldDoc // the bodies
	Curl, Reply  string   // "" without an example
	ReplyStatus  int
}

type groupDoc struct {
	Name, ID string
	Routes   []routeDoc
}

type schemaTable struct {
	Name, Type, Doc string // Type equals Name
	Fields          []fieldDoc
}

// groupNames are the headings of routes, by the first part of their path after /v1/.
var groupNames = [][2]string{
	{"evaluate", "Evaluations"}, {"evaluations", "Evaluations"}, {"traces", "Evaluations"}, {"assertion-sets", "Assertion sets"},
	{"suites", "Suites"}, {"runs", "Runs"}, {"labels", "Labels"}, {"label-queues", "Labels"}, {"compare", "Compare"}, {"assertions", "Over several runs"}, {"judges", "Over several runs"},
	{"prompts", "Over several runs"}, {"spade", "Over several runs"}, {"session", "Session and settings"}, {"settings", "Session and settings"},
}

func groupOf(path string) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(path, "/v1/"), "/")
	for _, g := range groupNames {
		if g[0] == part {
			return g[1]
		}
	}
	return "Operation"
}

// apiDoc is the part of the OpenAPI document that the page shows.
type apiDoc struct {
	Components struct {
		Schemas map[string]schemaDoc `json:"schemas"`
	} `json:"components"`
	Paths map[string]map[string]operationDoc `json:"paths"`
}

type operationDoc struct {
	Parameters []struct {
		Name, In, Description string
		Schema                schemaDoc
	} `json:"parameters"`
	RequestBody bodiesDoc            `json:"requestBody"`
	Responses   map[string]bodiesDoc `json:"responses"`
}

type bodiesDoc struct {
	Content map[string]struct{ Schema schemaDoc } `json:"content"`
}

// body describes a body with a single media type.
func (doc *apiDoc) body(of bodiesDoc) (d fieldDoc) {
	for kind, body := range of.Content {
		s := &body.Schema
		table := doc.Components.Schemas[strings.TrimPrefix(s.Ref, schemaPrefix)]
		d = fieldDoc{Name: kind, Type: typeName(s), Link: linkOf(s), Doc: s.Description, Fields: tableOf("", &table).Fields}
	}
	return d
}

// route describes a route.
func (doc *apiDoc) route(r *route, examples map[string]Example) routeDoc {
	op := doc.Paths[r.Path][strings.ToLower(r.Method)]
	d := routeDoc{route: r, Sent: doc.body(op.RequestBody), Answer: doc.body(op.Responses[strconv.Itoa(r.Status)])}
	for _, p := range op.Parameters {
		if p.In != "header" && p.Name != projectParam { // the page explains these once
			d.Params = append(d.Params, param{Name: p.Name, Kind: typeName(&p.Schema), Doc: p.Description, Path: p.In == "path"})
		}
	}
	if e, ok := examples[r.ID]; ok {
		d.Curl, d.Reply, d.ReplyStatus = e.curl(r), readable(e.Response), e.Status
	}
	return d
}

// docsPage renders the API page from its OpenAPI document. The page has no script.
func docsPage(version string, document []byte, list []*route) (*asset, error) {
	var doc apiDoc
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("make the page of the API: %w", err)
	}
	examples, err := Examples()
	if err != nil {
		return nil, fmt.Errorf("make the page of the API: %w", err)
	}
	var groups []groupDoc
	for _, r := range list {
		if r.Hidden {
			continue
		}
		name := groupOf(r.Path)
		i := slices.IndexFunc(groups, func(g groupDoc) bool { return g.Name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, groupDoc{Name: name, ID: "group-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")})
		}
		groups[i].Routes = append(groups[i].Routes, doc.route(r, examples))
	}
	var tables []schemaTable
	for name, s := range doc.Components.Schemas {
		tables = append(tables, tableOf(name, &s))
	}
	slices.SortFunc(tables, func(a, b schemaTable) int { return strings.Compare(a.Name, b.Name) })
	page, err := template.New("docs").Funcs(template.FuncMap{"statusText": http.StatusText, "parts": codeParts}).Parse(docsHTML)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{"Version": version, "Groups": groups, "Schemas": tables, "Problems": Problems()})
	return newAsset("docs.html", b.Bytes()), err
}

// codePart is a part of a text in which backquotes enclose code.
type codePart struct {
	Code bool
	Text string
}

func codeParts(text string) []codePart {
	var list []codePart
	for i, part := range strings.Split(text, "`") {
		list = append(list, codePart{i%2 == 1, part})
	}
	return list
}

func tableOf(name string, s *schemaDoc) schemaTable {
	t := schemaTable{Name: name, Type: name, Doc: s.Description}
	for field, p := range s.Properties {
		doc := p.Description
		if len(p.Enum) > 0 {
			doc = strings.TrimSpace(doc + " One of " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.Enum)), ", "), "[]") + ".")
		}
		t.Fields = append(t.Fields, fieldDoc{Name: field, Type: typeName(&p), Link: linkOf(&p), Doc: doc, Required: slices.Contains(s.Required, field)})
	}
	slices.SortFunc(t.Fields, func(a, b fieldDoc) int {
		if a.Required != b.Required {
			return map[bool]int{true: -1, false: 1}[a.Required]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return t
}

// typeName describes a schema in a few words.
func typeName(s *schemaDoc) string {
	if name, ok := strings.CutPrefix(s.Ref, schemaPrefix); ok {
		return name
	}
	if len(s.OneOf) > 0 {
		var names []string
		for _, one := range s.OneOf {
			names = append(names, typeName(one))
		}
		return strings.Join(names, " or ")
	}
	name := "any"
	switch t := s.Type.(type) {
	case string:
		name = t
	case []any:
		var names []string
		for _, one := range t {
			names = append(names, fmt.Sprint(one))
		}
		name = strings.Join(names, " or ")
	}
	switch {
	case s.Items != nil:
		return "list of " + typeName(s.Items)
	case s.Format == "date-time":
		return "time"
	}
	return name
}

// linkOf returns the schema that a schema refers to, or "".
func linkOf(s *schemaDoc) string {
	for _, at := range append([]*schemaDoc{s, s.Items}, s.OneOf...) {
		if at != nil && at.Ref != "" {
			return strings.TrimPrefix(at.Ref, schemaPrefix)
		}
	}
	return ""
}

// curl returns the request as a curl command.
func (e *Example) curl(r *route) string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	line := "curl -s"
	if r.Method != http.MethodGet {
		line += " -X " + r.Method
	}
	line += " " + quote("http://localhost:8080"+e.Path)
	if r.Scope != "" {
		line += ` -H "Authorization: Bearer $KEY"`
	}
	for _, h := range e.Headers {
		line += " \\\n  -H " + quote(h)
	}
	if len(e.Body) > 0 {
		line += " \\\n  --data-binary " + quote(readable(e.Body))
	}
	return line
}

// readable indents JSON. It returns a JSON string as its text.
func readable(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if len(data) == 0 || json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}

func (s *Server) documentation(c *call) error {
	page, err := s.docs()
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Security-Policy", docsPolicy)
	c.w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	page.serve(c)
	return nil
}

// openAPIJSON is the OpenAPI 3.1 document of the routes, for [anyVersion]. TestOpenAPIDocument
// generates it from the table of routes and the request and response types, and compares the
// two.
//
//go:embed openapi.json
var openAPIJSON string

// anyVersion is the placeholder for the version in the embedded document.
const anyVersion = "{version}"

// schemaPrefix starts a reference to a schema of the document.
const schemaPrefix = "#/components/schemas/"

// openAPI returns the document for a version, as JSON on one line.
func openAPI(version string) []byte {
	quoted, _ := json.Marshal(version) // strings always marshal
	var line bytes.Buffer
	line.Grow(len(openAPIJSON))
	doc := strings.Replace(openAPIJSON, `"`+anyVersion+`"`, string(quoted), 1)
	_ = json.Compact(&line, []byte(doc)) // a test checks that the document is valid JSON
	line.WriteByte('\n')
	return line.Bytes()
}
