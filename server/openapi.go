package server

import (
	"bytes"
	_ "embed" // openapi.json
	"encoding/json"
	"strings"
)

// openAPIJSON is the OpenAPI 3.1 document of the routes, for [anyVersion]. TestOpenAPIDocument
// makes it from the table of routes and from the types of requests and responses, and
// compares it.
//
//go:embed openapi.json
var openAPIJSON string

// anyVersion is in the place of the version in the document that is built in.
const anyVersion = "{version}"

// schemaPrefix begins a reference to a schema of the document.
const schemaPrefix = "#/components/schemas/"

// openAPI returns the document for a version, as JSON on one line.
func openAPI(version string) []byte {
	quoted, _ := json.Marshal(version) // a text has a JSON
	var line bytes.Buffer
	line.Grow(len(openAPIJSON))
	doc := strings.Replace(openAPIJSON, `"`+anyVersion+`"`, string(quoted), 1)
	_ = json.Compact(&line, []byte(doc)) // the test reads it
	line.WriteByte('\n')
	return line.Bytes()
}
