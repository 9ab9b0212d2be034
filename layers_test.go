package proviso_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/proviso-eval/proviso"

// ranks is the layering of the packages: a package imports only packages of lower rank.
// Packages of the same rank are connected through small interfaces. ARCHITECTURE.md
// describes each package.
var ranks = map[string]int{
	"value":                0,
	"stats":                0,
	"spade/solve":          0,
	"internal/excerpt":     0,
	"internal/plural":      0,
	"internal/glob":        0,
	"internal/harmless":    0,
	"internal/jstoken":     0,
	"internal/programtest": 0,
	"internal/recent":      0,
	"internal/tokens":      0,
	"internal/turns":       0,
	"internal/usd":         0,
	"internal/watch":       0,
	"internal/pattern":     0,

	".":                           1,
	"web":                         1,
	"store/postgres/postgrestest": 1,
	"internal/marked":             1,
	"internal/shape":              2,

	"permit":              1,
	"internal/kind":       2,
	"internal/textlist":   2,
	"internal/blobs":      2,
	"internal/document":   2,
	"internal/expr":       2,
	"internal/fakeforge":  2,
	"internal/fakejudge":  2,
	"internal/fakemodel":  2,
	"internal/flowyaml":   2,
	"internal/githistory": 2,
	"internal/htmltext":   2,
	"internal/jsonpath":   2,
	"internal/language":   2,
	"internal/meteor":     2,
	"internal/ngram":      2,
	"internal/rowscan":    2,
	"internal/runfile":    2,
	"internal/script":     2,
	"internal/secrets":    2,
	"internal/segment":    2,
	"internal/stance":     2,
	"internal/duration":   1,
	"internal/transport":  2,
	"provider/throttle":   2,
	"internal/xmltext":    2,
	"judge/record":        2,

	"ingest":              3,
	"internal/assertion":  3,
	"internal/jsonschema": 3,
	"internal/literal":    3,
	"internal/matrix":     3,
	"internal/dataset":    3,
	"internal/mathjs":     3,
	"internal/regex":      3,
	"internal/sqlparser":  3,
	"internal/template":   3,
	"label":               3,

	"check":    4,
	"forge":    4,
	"otlp":     4,
	"provider": 4,
	"report":   4,
	"sandbox":  4,
	"monitor":  4,
	"store":    4,
	"suite":    4,

	"client":                   5,
	"convert":                  5,
	"gate":                     5,
	"judge/align":              5,
	"judge/criteria":           5,
	"judge/lint":               5,
	"proxy":                    5,
	"notify":                   5,
	"internal/plainpage":       5,
	"internal/suiteschema":     5,
	"spade/candidate/python":   5,
	"spade/internal/exported":  5,
	"spade/internal/format":    5,
	"spade/hub":                5,
	"spade/internal/spadetest": 5,
	"report/trend":             5,
	"store/export":             5,
	"store/sqldb":              5,
	"store/storetest":          5,

	"gate/baseline":   6,
	"gate/runs":       6,
	"judge":           6,
	"spade/candidate": 6,
	"spade/delta":     6,
	"spade/trial":     6,
	"store/files":     6,
	"store/postgres":  6,
	"store/sqlite":    6,

	"gate/show":    7,
	"mutate":       7,
	"judge/attack": 7,
	"run":          7,
	"spade/ask":    7,
	"spade/matrix": 7,
	"spade/rules":  7,

	"engine":          8,
	"spade/classify":  8,
	"spade/label":     8,
	"spade/selection": 8,
	"spade/subsume":   8,

	"doctor":         9,
	"server/dataset": 9,
	"server/outage":  9,
	"spade/coverage": 9,
	"spade/propose":  9,
	"spade/update":   9,

	"mutate/score": 10,
	"spade":        10,

	"mutate/show":     11,
	"server/proposal": 11,
	"spade/show":      11,

	"server": 12,

	"attacks":     13,
	"bench":       13,
	"cmd/proviso": 13,
	"conformance": 13,

	"examples/playground":    13,
	"internal/fakeforge/job": 13,
	"internal/generate":      13,
	"internal/release":       13,
}

// TestImportsGoDown reads every source file, including tests, and checks its imports
// against the ranks.
func TestImportsGoDown(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, file := range goFiles(t) {
		pkg := path.Dir(filepath.ToSlash(file))
		rank, ok := ranks[pkg]
		if !ok {
			t.Errorf("%s: package %s has no rank in layers_test.go", file, pkg)
			continue
		}
		seen[pkg] = true
		for _, imported := range importsOf(t, file) {
			if imported == pkg { // an external test of the same package
				continue
			}
			other, ok := ranks[imported]
			switch {
			case !ok:
				t.Errorf("%s imports %s, which has no rank", file, imported)
			case other >= rank:
				t.Errorf("%s (rank %d) imports %s (rank %d): imports go strictly down", file, rank, imported, other)
			}
		}
	}
	for pkg := range ranks {
		if !seen[pkg] {
			t.Errorf("package %s has a rank but no files", pkg)
		}
	}
}

// TestOneAssembly: only package engine and tests assemble the parts of an evaluation.
func TestOneAssembly(t *testing.T) {
	t.Parallel()
	engines := []string{"internal/script", "internal/template", "internal/mathjs", "internal/regex", "internal/sqlparser"}
	makes := map[string]string{"run": "New", "sandbox": "New", "judge": "New", "check": "New"}
	for _, file := range goFiles(t) {
		dir := path.Dir(filepath.ToSlash(file))
		if strings.HasSuffix(file, "_test.go") || dir != "server" && dir != "cmd/proviso" {
			continue
		}
		for _, imported := range importsOf(t, file) {
			if slices.Contains(engines, imported) {
				t.Errorf("%s imports %s: package engine opens engines", file, imported)
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && makes[x.Name] == s.Sel.Name {
					t.Errorf("%s calls %s.%s: package engine does", file, x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestFileNames: an underscore in a Go file name occurs only before test, an operating
// system or a processor.
func TestFileNames(t *testing.T) {
	t.Parallel()
	tags := []string{"test", "linux", "windows", "darwin", "unix", "nolinux", "other", "amd64", "arm64"}
	for _, file := range goFiles(t) {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
		for _, part := range parts[1:] {
			if !slices.Contains(tags, part) {
				t.Errorf("%s: a name without underscores is expected; only %s stand behind one", file, strings.Join(tags, ", "))
			}
		}
	}
}

// goFiles returns the module's Go files, except test data.
func goFiles(t *testing.T) []string {
	t.Helper()
	return filesNamed(t, ".go")
}

// filesNamed returns the module's files with an ending, except test data.
func filesNamed(t *testing.T, ending string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "dist") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); d.IsDir() && name != "." && err == nil {
			return filepath.SkipDir // another module, such as examples/embed
		}
		if strings.HasSuffix(name, ending) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// importsOf returns the packages of this module that a file imports.
func importsOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if name == module {
			list = append(list, ".")
		} else if rest, ok := strings.CutPrefix(name, module+"/"); ok {
			list = append(list, rest)
		}
	}
	return list
}
