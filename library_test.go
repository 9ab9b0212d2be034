package proviso_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// libraryBlock matches a part of docs/library.md that shows declarations from example
// tests: a folder and the names in it. For an Example function, the page shows its body.
var libraryBlock = regexp.MustCompile(`(?s)(<!-- begin code (\S+) ([^\n]+) -->\n)(.*?)(<!-- end code -->)`)

// TestLibraryPage checks that the code in docs/library.md is the code of Example
// functions, which go test compiles and runs.
func TestLibraryPage(t *testing.T) {
	t.Parallel()
	const page = "docs/library.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	shown := 0
	want := libraryBlock.ReplaceAllStringFunc(text, func(block string) string {
		m := libraryBlock.FindStringSubmatch(block)
		shown++
		return m[1] + "```go\n" + exampleCode(t, m[2], strings.Fields(m[3])) + "```\n" + m[5]
	})
	if shown != strings.Count(want, "```go") || shown < 6 {
		t.Errorf("%s has %d blocks of Go, of which %d are those of examples", page, strings.Count(want, "```go"), shown)
	}
	switch {
	case want == text:
	case *updateArchitecture:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not the code of the examples; run go test . -run TestLibraryPage -update", page)
	}
}

// exampleCode returns declarations from the example tests in a folder, in the given
// order.
func exampleCode(t *testing.T, dir string, names []string) string {
	t.Helper()
	found := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "example*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		between := func(from, to token.Pos) string {
			return string(data[set.Position(from).Offset:set.Position(to).Offset])
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					id, _ := d.Recv.List[0].Type.(*ast.Ident)
					found[id.Name+"."+d.Name.Name] = between(d.Pos(), d.End())
				} else if strings.HasPrefix(d.Name.Name, "Example") {
					body := strings.Trim(between(d.Body.Lbrace+1, d.Body.Rbrace), "\n")
					found[d.Name.Name] = strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:]
				}
			case *ast.GenDecl:
				if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
					found[spec.Name.Name] = between(d.Pos(), d.End())
				}
			}
		}
	}
	var parts []string
	for _, name := range names {
		if found[name] == "" {
			t.Errorf("%s has no example %s", dir, name)
		}
		parts = append(parts, found[name])
	}
	return strings.Join(parts, "\n\n") + "\n"
}
