package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/provider"
)

// place allows names of types and providers in a folder or a file; no names means all. It says
// why, usually because the name is also an ordinary word.
type place struct{ in, names, why string }

func (p place) holds(file, name string) bool {
	return strings.HasPrefix(file, p.in) && (p.names == "" || slices.Contains(strings.Fields(p.names), name))
}

// elsewhere lists the allowed names of types and providers in other sources.
var elsewhere = []place{
	{in: "check/", why: "has the table of types, and decides them"},
	{in: "provider/", why: "has the table of providers, and opens them"},
	{in: "judge/table.go", why: "the table of how package judge asks about each type"},
	{in: "judge/", names: "agent-rubric answer-relevance context-faithfulness context-recall context-relevance conversation-relevance factuality g-eval llm-rubric model-graded-closedqa search-rubric select-best", why: "the prompts in judge/prompts have the names of types"},
	{in: "judge/", names: "count judge moderation", why: "a lint rule, columns of files, a role of a model"},
	{in: "facts.go", names: "assert-set equals judge", why: "the types that are part of the language of suites"},
	{in: "label/line.go", names: "judge", why: "a column of files of labels"},
	{in: "server/answers.go", names: "echo", why: "the provider that needs no key, with which a playground begins"},
	{in: "server/session.go", why: "the scheme of an origin"},
	{in: "store/row.go", names: "cost judge", why: "members of rows"},
	{in: "store/export/", names: "cost", why: "a member of records"},
	{in: "store/postgres/parameters.go", names: "exec", why: "a way to send queries to PostgreSQL"},
	{in: "mutate/table.go", why: "which of the checks that rules make each operator breaks"},
	{in: "spade/rules/", why: "writes assertions of a sentence"},
	{in: "spade/ask/forms.go", why: "the instructions for a model list what it may propose"},
	{in: "spade/propose/", names: "chars count", why: "forms of those instructions"},
	{in: "spade/subsume/facts.go", names: "chars contains-json contains-xml count finish-reason is-json is-xml token-count", why: "reads the values of each type, to prove what implies what"},
	{in: "spade/subsume/amount.go", names: "levenshtein meteor", why: "settings of each type, to prove what implies what"},
	{in: "spade/subsume/subsume.go", names: "file judge", why: "sources of implications"},
	{in: "spade/", names: "count python", why: "the name of a category, and a language of scripts, which candidates may be"},
	{in: "spade/wholesuite.go", names: "echo exec:", why: "the provider of cases that have their outputs; a prompt may be a command"},
	{in: "spade/internal/spadetest/", why: "tests"},
	{in: "internal/", why: "below the packages that know types and providers"},
	{in: "bench/", why: "writes suites to measure"},
	{in: "store/storetest/", why: "tests"},
	{in: "engine/", names: "javascript", why: "a language of scripts"},
	{in: "engine/engine.go", names: "judge", why: "a resource that the engine closes"},
	{in: "run/", names: "javascript python", why: "languages of scripts"},
	{in: "sandbox/", names: "javascript python ruby", why: "languages of scripts"},
	{in: "cmd/proviso/", names: "http https", why: "schemes of URLs"},
	{in: "client/", names: "http", why: "a scheme of URLs"},
	{in: "otlp/export.go", names: "http https", why: "schemes of URLs"},
	{in: "redact.go", names: "http", why: "the beginning of a URL"},
	{in: "server/", names: "http https", why: "schemes of URLs, and of authentication"},
	{in: "suite/t", names: "http https", why: "schemes of URLs, and a key"},
	{in: "run/promptcode.go", names: "exec:", why: "a prompt may be a command"},
	{in: "suite/prompts.go", names: "exec:", why: "a prompt may be a command"},
	{in: "suite/", names: "echo", why: "takes the place of the providers if outputs are recorded, and of one that is refused"},
	{in: "suite/", names: "cost factuality file judge latency", why: "keys of suites"},
	{in: "gate/", names: "cost judge latency", why: "figures of a run, rules of the gate, and a key of the header of a baseline"},
	{in: "convert/", why: "maps the assertions and providers of other tools to types and providers"},
	{in: "forge/", names: "github http https", why: "a forge, and schemes of URLs"},
	{in: "doctor/", names: "judge", why: "a role of a model"},
	{in: "server/inline.go", names: "judge", why: "a key of suites"},
	{in: "report/", names: "cost github guardrails judge", why: "keys of rows and of the header, and a format of reports"},
	{in: "cmd/proviso/", names: "cost file github judge", why: "names of flags, of a format of reports, and a noun"},
	{in: "store/sqlite/sqlite.go", names: "file", why: "a scheme of URLs"},
	{in: "ingest/", names: "cost", why: "a member of events"},
	{in: "spade/candidate/", names: "cost", why: "a setting of a candidate"},
	{in: "spade/show/", names: "cost", why: "a line of a selection"},
	{in: "spade/internal/exported/opinion.go", names: "cost latency", why: "words in the names of scores of other tools"},
	{in: "monitor/", names: "cost file judge", why: "members of events and watches, and a kind of alarm"},
	{in: "notify/", names: "github http https judge webhook", why: "kinds of targets, schemes of URLs, and a kind of alarm"},
	{in: "proxy/", names: "http https", why: "schemes of URLs"},
	{in: "server/", names: "judge", why: "a kind of alarm"},
	{in: "store/", names: "judge", why: "a kind of alarm, and a column"},
}

// TestTablesHoldTheNames: no source outside of the packages with the tables names an assertion
// type or a provider, so that facts about one are in its row.
func TestTablesHoldTheNames(t *testing.T) {
	t.Parallel()
	names := tableNames()
	for _, known := range []string{"contains", "not-contains", "exec:", "exec", "groq:", "echo"} {
		if !names[known] {
			t.Fatalf("%q is not looked for", known)
		}
	}
	used := make([]map[string]bool, len(elsewhere))
	for i := range used {
		used[i] = map[string]bool{}
	}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "node_modules", ".git", "dist", "examples"}, d.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(file), "../")
		for _, lit := range literals(f) {
			name, err := strconv.Unquote(lit.Value)
			if err != nil || !names[name] {
				continue
			}
			if row := slices.IndexFunc(elsewhere, func(p place) bool { return p.holds(rel, name) }); row >= 0 {
				used[row][name] = true
				continue
			}
			t.Errorf("%s:%d: %q is the name of a type or a provider: what is true of it belongs into its row of check/table.go or provider/table.go",
				rel, fset.Position(lit.Pos()).Line, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range elsewhere {
		if len(used[i]) == 0 {
			t.Errorf("no file in %s has a name: the row is not needed", p.in)
		}
		for _, name := range strings.Fields(p.names) {
			if !used[i][name] {
				t.Errorf("%s does not hold %q: the row is not needed for it", p.in, name)
			}
		}
	}
}

// tableNames returns the names to look for: types, negated types, and providers with and
// without the colon.
func tableNames() map[string]bool {
	names := map[string]bool{}
	for _, k := range check.Kinds() {
		names[k.Type], names["not-"+k.Type] = true, true
	}
	for _, k := range provider.Kinds() {
		names[k.Name], names[strings.TrimSuffix(k.Name, ":")] = true, true
	}
	return names
}

// literals returns the string literals of a file, without object keys, imports and tags.
func literals(f *ast.File) []*ast.BasicLit {
	var list []*ast.BasicLit
	skip := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			skip[n.Tag] = true
		case *ast.CallExpr:
			for i, arg := range n.Args {
				if isKey(n.Fun, i) {
					skip[arg] = true
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && !skip[n] {
				list = append(list, n)
			}
		}
		return true
	})
	return list
}

// isKey reports whether argument i of a function is the key of an object.
func isKey(function ast.Expr, i int) bool {
	name := ""
	switch f := function.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch name {
	case "At", "Get", "Has", "Text", "Object", "Set", "Delete":
		return i == 0
	case "ObjectOf":
		return i%2 == 0
	case "num": // in package report
		return i == 1
	}
	return false
}
