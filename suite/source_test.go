package suite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

func TestExpander(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{Facts: facts}, map[string]string{
		"gen.js":       "x",
		"proviso.yaml": "{prompts: [hi], providers: [echo], tests: [{vars: {q: a}}, {path: gen.js, config: {n: 2}}], defaultTest: {assert: [{type: is-json}]}}",
	})
	source := s.CaseSource.(proviso.CaseExpander).WithExpander(func(g *proviso.Generator) (any, error) {
		if g.File != "gen.js" || g.Config.At("n") != 2.0 {
			return nil, fmt.Errorf("asked for %+v", g)
		}
		return []any{
			value.ObjectOf("vars", value.ObjectOf("q", []any{"b", "c"})),
			value.ObjectOf("q", "d", "__expected", "contains: d"),
			7.0,
		}, nil
	})
	var got []string
	for c, err := range source.Cases() {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprintf("%d %s %d", c.Index, c.Vars.At("q"), len(c.Assert)))
	}
	if want := "0 a 1, 1 b 1, 2 c 1, 3 d 2, gen.js, case 3: expected a case, got the number 7"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
	failing := s.CaseSource.(proviso.CaseExpander).WithExpander(func(*proviso.Generator) (any, error) { return nil, errors.New("boom") })
	if _, errs := names(failing); len(errs) != 1 || errs[0] != "boom" {
		t.Errorf("a generator that fails gives %v", errs)
	}
}

func TestModelOutputs(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"proviso.yaml": "{prompts: [hi], providers: [echo], tests: [{vars: {q: a}}]}",
		"out.json":     `["one", {"output": "two", "tags": ["a", "b"]}, "file://secret.txt", {"output": {"k": 1}}]`,
		"out.jsonl":    "\"one\"\n{\"output\": \"two\"}\n",
		"asserts.yaml": "- {type: contains, value: o}\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	for name, want := range map[string]string{
		"out.json":  `{"output":"one"} {"output":"two","tags":"a, b"} {"output":"file://secret.txt"} {"output":{"k":1}}`,
		"out.jsonl": `{"output":"one"} {"output":"two"}`,
	} {
		s, mistakes := suite.Read(t.Context(), nil, suite.Options{Facts: facts, Dir: dir, ModelOutputs: name, Assertions: "asserts.yaml"})
		if s == nil {
			t.Fatal(mistakes)
		}
		var got []string
		for c, err := range s.Cases() {
			if err != nil || len(c.Assert) != 1 || len(c.Raw.At("assert").([]any)) != 1 {
				t.Fatalf("got %+v, %v", c, err)
			}
			got = append(got, value.Stringify(c.Vars))
		}
		if strings.Join(got, " ") != want || s.Prompts[0].Raw != "{{output}}" || s.Providers[0].ID != "echo" {
			t.Errorf("%s: got %v with %+v, want %s", name, got, s.Prompts, want)
		}
	}
}

// TestCaseMembers checks members of cases that no report shows.
func TestCaseMembers(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{Facts: facts}, map[string]string{
		"f.js": "x",
		"proviso.yaml": `
prompts: [{label: one, raw: '{{q}}'}]
providers: [{id: echo, label: e}]
assertions: [{id: kind, instruction: be kind, criteria: [polite]}]
tests:
  - vars: {q: 'file://f.js:make'}
    providers: e
    prompts: [one]
    assertScoringFunction: file://f.js
    provider: {id: echo}
    providerOutput: {a: 1}
    options: {prefix: p, postprocess: t, transformVars: v, runSerially: true, rubricPrompt: r, provider: g, temperature: 1, factuality: {}}
    assert:
      - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: a, weight: 0, metric: m, severity: info}]}
      - {id: k, check: {type: not-contains, value: x}, when: 'true', scope: {section: {from: a, to: b}, each: line, match: any}}
`})
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		o := c.Options
		got := fmt.Sprint(c.Providers, c.Prompts, c.Scoring, c.HasOutput, value.Stringify(c.Output), o.Prefix, o.Transform, o.TransformVars,
			o.RunSerially, o.RubricPrompt, o.Grader, value.Stringify(o.Extra), len(c.Set), c.Set[0].Type)
		want := `[e] [one] file://f.js true {"a":1} p t v true r g {"temperature":1,"factuality":{}} 1 judge`
		if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
			t.Errorf("got %s, want %s", got, want)
		}
		if g := c.Scripts["q"]; g == nil || g.File != "f.js" || g.Entry != "make" {
			t.Errorf("got scripts %+v", c.Scripts)
		}
		inner, judged := c.Assert[0].Assert[0], c.Assert[1]
		if *inner.Weight != 0 || inner.Metric != "m" || inner.Severity != proviso.Info || judged.Check.Type != "not-contains" ||
			*judged.Scope != (proviso.Scope{From: "a", To: "b", Each: "line", Match: "any"}) || judged.Type != "judge" {
			t.Errorf("got %+v and %+v", inner, judged)
		}
		if place := s.Place(inner.Pointer); place.Line != 14 {
			t.Errorf("the inner assertion is at %s", place)
		}
	}
}

func TestSkipUnsupported(t *testing.T) {
	t.Parallel()
	s := read(t, suite.Options{SkipUnsupported: true}, map[string]string{
		"a.mp3":        "x",
		"proviso.yaml": "{prompts: [hi], providers: [echo], tests: [{vars: {q: 'file://a.mp3'}}, {vars: {q: b}}, sheet.xlsx]}",
	})
	var got []string
	for c, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Unsupported)
	}
	if len(got) != 2 || got[0] == "" || got[1] != "" || len(s.Warnings) != 2 {
		t.Errorf("got %q with %v", got, s.Warnings)
	}
}

func TestTooManyCombinations(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat("a, ", 99) + "a]"
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "proviso.yaml"),
		fmt.Appendf(nil, "{prompts: [hi], providers: [echo], tests: [{vars: {a: %s, b: %s, c: %s}}]}", list, list, list))
	_, mistakes := suite.Read(t.Context(), nil, suite.Options{Facts: facts, Dir: dir})
	if len(mistakes) != 1 || mistakes[0].Code != proviso.Limit {
		t.Errorf("got %v", mistakes)
	}
}

// TestLaterPasses checks that each pass over a file of lines gives the ids of a first
// pass, even after a line has changed.
func TestLaterPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(lines ...string) {
		writeFile(t, filepath.Join(dir, "t.jsonl"), []byte(strings.Join(lines, "\n")))
	}
	open := func() proviso.CaseSource {
		s, mistakes := suite.Read(t.Context(), []string{filepath.Join(dir, "proviso.yaml")}, suite.Options{Facts: facts})
		if s == nil {
			t.Fatal(mistakes)
		}
		return s.CaseSource
	}
	ids := func(source proviso.CaseSource) string {
		var list []string
		for c, err := range source.Cases() {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c.ID)
		}
		return strings.Join(list, " ")
	}
	const a, b, d, named = `{"vars": {"q": "a"}}`, `{"vars": {"q": "b"}}`, `{"vars": {"q": "d"}}`, `{"id": "x", "vars": {"q": "a"}}`
	for name, tests := range map[string]string{
		"lines":                  "file://t.jsonl",
		"lines and other cases":  "[{vars: {q: c}}, file://t.jsonl]",
		"lines with a list each": "file://t.jsonl", // below
	} {
		writeFile(t, filepath.Join(dir, "proviso.yaml"), []byte("{prompts: [hi], providers: [echo], tests: "+tests+"}"))
		lines := []string{a, b, a, named, a, d}
		if strings.Contains(name, "list") {
			lines[1] = `{"vars": {"q": ["b", "c"]}}`
		}
		write(lines...)
		kept := open()
		first := ids(kept)
		if again := ids(kept); again != first || !strings.Contains(first, "-3") {
			t.Errorf("%s: a second pass gives %s, the first %s", name, again, first)
		}
		for _, changed := range [][]string{{a, b, d, named, a, a}, {b, b, a, named, a, d}, {a, a, a, a, a, a, a}, {a}} {
			write(changed...)
			if got, want := ids(kept), ids(open()); got != want {
				t.Errorf("%s: after a change to %s a pass gives %s, want %s", name, changed, got, want)
			}
		}
	}
}

// TestCasesMemory checks that the memory of a pass does not grow with the file.
func TestCasesMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tests.jsonl")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := f.WriteString(benchLines()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s := read(t, suite.Options{Facts: facts}, map[string]string{
		"proviso.yaml": "{prompts: [hi], providers: [echo], tests: '" + filepath.ToSlash(name) + "'}",
	})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, n := heap(), uint64(0), 0
	for _, err := range s.Cases() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%(5*benchCases) == 0 {
			most = max(most, heap())
		}
	}
	if n != 20*benchCases || most > before+8<<20 {
		t.Errorf("%d cases took the heap from %d to %d bytes", n, before, most)
	}
}
