package convert_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// importer returns the importer of a tool.
func importer(t testing.TB, tool string) convert.Tool {
	t.Helper()
	for _, i := range convert.Importers() {
		if i.Name == tool {
			return i
		}
	}
	t.Fatal("no importer for " + tool)
	return convert.Tool{}
}

// TestOpenAIEvals converts the files of testdata/openai-evals. A comment "eval: ID"
// chooses an eval. The expected files are in want/, with the notes in want/notes,
// or the mistakes in want/mistakes.
func TestOpenAIEvals(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Glob("testdata/openai-evals/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, fixture := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(fixture)
			if err != nil {
				t.Fatal(err)
			}
			var files []convert.File
			var want, kept []txtar.File
			for _, f := range archive.Files {
				if strings.HasPrefix(f.Name, "want/") {
					want = append(want, f)
					continue
				}
				kept = append(kept, f)
				files = append(files, convert.File{Name: f.Name, Data: f.Data})
			}
			o := convert.Options{}
			if _, id, ok := strings.Cut(string(archive.Comment), "eval: "); ok {
				o.Eval, _, _ = strings.Cut(id, "\n")
			}
			r, err := importer(t, "openai-evals").Read(context.Background(), files, o)
			got := result(t, r, err)
			if *update {
				archive.Files = append(kept, got...)
				if err := os.WriteFile(fixture, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if a, b := string(txtar.Format(&txtar.Archive{Files: got})), string(txtar.Format(&txtar.Archive{Files: want})); a != b {
				t.Errorf("got\n%s", a)
			}
		})
	}
}

// result returns the written files, and checks that they are a suite that compiles.
func result(t *testing.T, r *convert.Result, err error) []txtar.File {
	t.Helper()
	var wrong convert.Mistakes
	if errors.As(err, &wrong) {
		var b bytes.Buffer
		for _, m := range wrong.List {
			b.WriteString(m.Place.String() + ": " + m.Message + "\n")
		}
		return []txtar.File{{Name: "want/mistakes", Data: b.Bytes()}}
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var got []txtar.File
	for _, f := range r.Files {
		got = append(got, txtar.File{Name: "want/" + f.Name, Data: f.Data})
		name := filepath.Join(dir, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, f.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range mistakesIn(t, dir, r.Files[0].Name) {
		t.Errorf("%s of the result: %s", m.Place.String(), m.Message)
	}
	var b bytes.Buffer
	for _, n := range r.Notes {
		b.WriteString(n.Place.String() + ": " + n.String() + "\n")
	}
	return append(got, txtar.File{Name: "want/notes", Data: b.Bytes()})
}

// templates is one engine for all suites: the fuzzer reads hundreds per second.
var templates = sync.OnceValue(func() *template.Engine { return template.New(template.Options{}) })

// mistakesIn reads a suite with its cases.
func mistakesIn(t testing.TB, dir, name string) proviso.Mistakes {
	t.Helper()
	s, list := suite.Read(context.Background(), []string{name}, suite.Options{Dir: dir, Facts: proviso.Facts{Types: check.Facts(), Providers: provider.Facts()}})
	if s == nil {
		return list
	}
	c := check.New(check.Options{Templates: templates(), Files: suite.NewFiles(dir, suite.FilesOptions{}), Providers: provider.Facts()})
	defer c.Close()
	for one, err := range s.Cases() {
		if err != nil {
			list = append(list, proviso.Mistake{Message: err.Error()})
			continue
		}
		_, wrong := c.Compile(one.Assert)
		for _, e := range wrong {
			if !strings.Contains(e.Message, "interpreter") { // scripts have no engine here
				list = append(list, proviso.Mistake{Place: s.Places.Place(e.Pointer), Message: e.Message, Warning: e.Warning})
			}
		}
	}
	return slices.DeleteFunc(list, func(m proviso.Mistake) bool { return m.Warning })
}

// FuzzOpenAIEvals: no export makes the importer panic. It writes a suite that can
// be read, contains no templates but those of items and outputs, and names no files
// but its own.
func FuzzOpenAIEvals(f *testing.F) {
	fixtures, _ := filepath.Glob("testdata/openai-evals/*.txtar")
	for _, fixture := range fixtures {
		archive, err := txtar.ParseFile(fixture)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if !strings.HasPrefix(file.Name, "want/") {
				f.Add(file.Name, file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		r, err := importer(t, "openai-evals").Read(t.Context(), []convert.File{{Name: name, Data: data}}, convert.Options{})
		if err != nil {
			return
		}
		dir := t.TempDir()
		for _, file := range r.Files {
			if !filepath.IsLocal(file.Name) {
				t.Fatalf("a file named %q", file.Name)
			}
			full := filepath.Join(dir, file.Name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, file.Data, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(r.Files[0].Data, []byte("{{ env.")) || bytes.Contains(r.Files[0].Data, []byte("{{env.")) {
			t.Errorf("the suite reads the environment:\n%s", r.Files[0].Data)
		}
		for _, m := range mistakesIn(t, dir, "proviso.yaml") {
			t.Errorf("%s: %s\n%s", m.Place.String(), m.Message, r.Files[0].Data)
		}
	})
}

// TestScriptNames: graders with similar names get files of their own.
func TestScriptNames(t *testing.T) {
	t.Parallel()
	const export = `{"id":"e","testing_criteria":[` +
		`{"type":"python","name":"a","source":"def grade(sample, item):\n    return 1"},` +
		`{"type":"python","name":"a","source":"def grade(sample, item):\n    return 1"},` +
		`{"type":"python","name":"a 2","source":"def grade(sample, item):\n    return 1"}]}`
	files := []convert.File{{Name: "e.json", Data: []byte(export)}, {Name: "i.jsonl", Data: []byte(`{"item":{"q":"x"}}`)}}
	r, err := importer(t, "openai-evals").Read(t.Context(), files, convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range r.Files {
		if seen[f.Name] {
			t.Errorf("%s is written twice", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) < 4 {
		t.Errorf("%v", seen)
	}
}
