package convert_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/convert"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// exported writes a suite for promptfoo.
func exported(t testing.TB, name string, data []byte) (*convert.Result, error) {
	t.Helper()
	return convert.Exporters()[0].Write(context.Background(), convert.File{Name: name, Data: data})
}

// meaning returns the cases and assertions of a suite, one per line; ok is false if
// the suite has a mistake.
func meaning(dir, name string) (lines []string, ok bool) {
	s, list := suite.Read(context.Background(), []string{name}, suite.Options{Dir: dir, Facts: proviso.Facts{Types: check.Facts(), Providers: provider.Facts()},
		Env: proviso.EnvMap{"SET": "from-env"}})
	if slices.ContainsFunc(list, func(m proviso.Mistake) bool { return !m.Warning }) || s == nil {
		return nil, false
	}
	for _, p := range s.Prompts {
		lines = append(lines, "prompt "+p.ID+" "+p.Label+" "+p.Raw)
	}
	for _, p := range s.Providers {
		lines = append(lines, "provider "+p.ID+" "+p.Label+" "+value.Stringify(p.Config))
	}
	for c, err := range s.Cases() {
		if err != nil {
			return nil, false
		}
		line := "case " + c.Description + " " + value.Stringify(c.Vars) + value.Stringify(c.Metadata) + value.Stringify(c.Options.Extra)
		if c.Threshold != nil {
			line += " threshold " + value.FormatNumber(*c.Threshold)
		}
		lines = append(lines, line)
		for _, a := range c.Assert {
			lines = append(lines, "  "+value.Stringify(a.Raw))
		}
	}
	return lines, true
}

// TestRoundTrip: after export, a suite of promptfoo's shape is read with the same
// prompts, providers, cases and assertions.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	compared := 0
	try := func(name, dir, file string, data []byte) {
		before, ok := meaning(dir, file)
		if !ok {
			return
		}
		r, err := exported(t, file, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, n := range r.Notes {
			t.Errorf("%s: a suite of promptfoo's loses %s", name, n)
		}
		const again = "promptfooconfig-again.yaml"
		if err := os.WriteFile(filepath.Join(dir, again), r.Files[0].Data, 0o600); err != nil {
			t.Fatal(err)
		}
		after, ok := meaning(dir, again)
		if !ok || !slices.Equal(before, after) {
			t.Errorf("%s: written as\n%s\nread as\n%s\nnot as\n%s", name, r.Files[0].Data, strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
		compared++
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "promptfoo"))); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "promptfooconfig.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	try("examples/promptfoo", dir, "promptfooconfig.yaml", data)
	for _, pattern := range []string{"suite/testdata/*/*.txtar", "cmd/proviso/testdata/*.txtar"} {
		files, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			archive, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := txtar.Write(archive, dir); err != nil {
				continue
			}
			for _, part := range archive.Files {
				if strings.HasPrefix(filepath.Base(part.Name), "promptfooconfig") {
					try(filepath.Base(f)+"/"+part.Name, filepath.Join(dir, filepath.Dir(part.Name)), filepath.Base(part.Name), part.Data)
				}
			}
		}
	}
	if compared < 12 {
		t.Errorf("only %d suites were compared", compared)
	}
}

// TestRoundTripCorpus: every assertion recorded from promptfoo keeps its keys.
func TestRoundTripCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "conformance", "corpus", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			v, err := value.ParseJSON(line)
			if err != nil {
				t.Fatal(err)
			}
			a := v.(*value.Object).Object("assert")
			halved := strings.Contains(value.Stringify(a), `\ud8`) // half of a surrogate pair, which YAML cannot represent
			if a.Text("type") != "" && convert.LackedByPromptfoo(a) == "" && !halved {
				all = append(all, a)
			}
		}
	}
	if len(all) < 1000 {
		t.Fatalf("only %d assertions", len(all))
	}
	root := value.ObjectOf("prompts", []any{"hi"}, "providers", []any{"echo"}, "tests", []any{value.ObjectOf("assert", all)})
	r, err := exported(t, "promptfooconfig.json", value.AppendJSON(nil, root))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.ParseYAML("promptfooconfig.yaml", r.Files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := document.Lookup(doc.Root, "/tests/0/assert")
	written, _ := v.([]any)
	if len(written) != len(all) {
		t.Fatalf("%d assertions, want %d", len(written), len(all))
	}
	for i := range all {
		if got, want := value.Stringify(written[i]), value.Stringify(all[i]); got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
	}
}

// FuzzPromptfoo: no suite makes the exporter panic, and it writes YAML.
func FuzzPromptfoo(f *testing.F) {
	f.Add([]byte("prompts: [hi]\nproviders: [echo]\njudge: {panel: [a, b], votes: 3}\nassertions: [{id: a, criteria: [x, {text: y}], check: {type: contains, value: z}}]\ndefaultTest: {assert: [{type: contains, value: \"\\x01\", ignoreCase: true}]}"))
	f.Add([]byte(`{"prompts":[{"raw":"a\n\tb ","assert":[]}],"tests":[null,1,{"assert":{"type":1},"options":{"repeat":2}}],"scenarios":[{"config":{},"tests":"x"}],"evaluateOptions":{"repeat":{"n":2}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := exported(t, "proviso.yaml", data)
		if err != nil {
			return
		}
		if _, err := document.ParseYAML("promptfooconfig.yaml", r.Files[0].Data); err != nil {
			t.Errorf("%v\n%q", err, r.Files[0].Data)
		}
	})
}
