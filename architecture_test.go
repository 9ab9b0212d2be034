package proviso_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateArchitecture = flag.Bool("update", false, "write the table of packages into ARCHITECTURE.md")

// TestPackagesOfArchitecture checks that the table of packages in ARCHITECTURE.md
// matches the ranks in layers_test.go and the first sentences of the package
// comments.
func TestPackagesOfArchitecture(t *testing.T) {
	t.Parallel()
	const page, begin, end = "ARCHITECTURE.md", "<!-- begin packages -->\n", "<!-- end packages -->\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no part for the packages", page)
	}
	want := packageTable(t)
	switch {
	case got == want:
	case *updateArchitecture:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the packages are not those of layers_test.go; run go test . -run TestPackagesOfArchitecture -update\nwant:\n%s", page, want)
	}
}

// packageTable returns a table row for every ranked package, lowest rank first.
func packageTable(t *testing.T) string {
	t.Helper()
	comments := packageComments(t)
	var b strings.Builder
	b.WriteString("| rank | package | its one job |\n|---|---|---|\n")
	names := slices.Sorted(maps.Keys(ranks))
	slices.SortStableFunc(names, func(a, b string) int { return ranks[a] - ranks[b] })
	for _, name := range names {
		job := jobOf(comments[name])
		if job == "" {
			t.Errorf("package %s has no comment", name)
		}
		shown := "`" + name + "`"
		if name == "." {
			shown = "`proviso` (root)"
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", ranks[name], shown, job)
	}
	return b.String()
}

// packageComments reads the package comments. A package with only test files may have its
// comment in one of them.
func packageComments(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, file := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			comments[path.Dir(filepath.ToSlash(file))] = f.Doc.Text()
		}
	}
	return comments
}

var (
	subject = regexp.MustCompile(`^(?:Package|Command) \S+ `)
	docLink = regexp.MustCompile(`\[\*?([A-Za-z.]+)\]`)
)

// jobOf returns the first sentence of a package comment without its subject.
func jobOf(comment string) string {
	sentence := subject.ReplaceAllString(new(doc.Package).Synopsis(comment), "")
	sentence = docLink.ReplaceAllString(strings.TrimSuffix(sentence, "."), "`$1`")
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(sentence)
}
