package proviso_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Limits above which a file or a function needs a reason.
const (
	maxFileLines     = 600
	maxFunctionLines = 80
)

// allowedLong are the files and functions that may be longer, each with its
// reason.
var allowedLong = map[string]string{}

// TestSizes keeps files and functions short enough to read.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || allowedLong[name] != "" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d", name, n, maxFileLines)
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || allowedLong[name+":"+fn.Name.Name] != "" {
				continue
			}
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", set.Position(fn.Pos()), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}
