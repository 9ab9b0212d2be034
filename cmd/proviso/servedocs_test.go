package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
)

// TestDocsOfAPI compares the tables of the API's page with those of the server.
func TestDocsOfAPI(t *testing.T) {
	var b strings.Builder
	b.WriteString("| | | scope | |\n|---|---|---|---|\n")
	for _, e := range server.Endpoints() {
		scope := string(e.Scope)
		for _, also := range e.Also {
			scope += ", " + string(also)
		}
		if scope == "" {
			scope = "no key"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", e.Method, e.Path, scope, e.Summary)
	}
	wantBlock(t, "docs/api.md", "endpoints", b.String())
	b.Reset()
	b.WriteString("| status | code | title |\n|---|---|---|\n")
	for _, m := range server.Problems() {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", m.Status, m.Code, m.Title)
	}
	wantBlock(t, "docs/api.md", "problems", b.String())
}
