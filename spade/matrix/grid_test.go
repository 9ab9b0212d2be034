package matrix_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/matrix"
	"github.com/proviso-eval/proviso/spade/trial"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// pythonCode stands for a Python runner: the text after "# " in the first line defines what
// the function does.
type pythonCode struct {
	calls   atomic.Int64
	mu      sync.Mutex
	sources []proviso.Source
}

func (c *pythonCode) Compile(_ context.Context, src proviso.Source) (proviso.Function, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = append(c.sources, src)
	first, _, _ := strings.Cut(src.Text, "\n")
	what := strings.TrimPrefix(first, "# ")
	switch what {
	case "syntax":
		return nil, &proviso.ScriptError{Name: "SyntaxError", Message: "invalid syntax", Line: 2, Syntax: true}
	case "missing":
		return nil, proviso.Errorf(proviso.Unavailable, "no python3 here")
	}
	return &pythonFunction{c, what}, nil
}

type pythonFunction struct {
	code *pythonCode
	what string
}

func (f *pythonFunction) Close() error { return nil }

func (f *pythonFunction) Call(_ context.Context, args ...any) (any, error) {
	f.code.calls.Add(1)
	vars, _ := args[0].(*value.Object)
	prompt, _ := args[1].(string)
	response, _ := args[2].(string)
	switch f.what {
	case "short":
		return len(response) < 4 && prompt == "p" && vars.At("x") == "7", nil
	case "raise":
		return nil, &proviso.ScriptError{Name: "KeyError", Message: "'y'"}
	case "import":
		return nil, &proviso.ScriptError{Name: "ModuleNotFoundError", Message: "No module named 'emoji'"}
	case "none":
		return nil, nil
	case "number":
		return 1.0, nil
	}
	return nil, proviso.Errorf(proviso.Timeout, "it took longer than 5 s")
}

func pythonCandidates(t *testing.T, kinds ...string) []proviso.Candidate {
	t.Helper()
	text := "assertions:\n"
	for _, kind := range kinds {
		text += fmt.Sprintf("- {id: %q, type: python, value: \"# %s\\nasync def check_it(example: dict, prompt: str, response: str) -> bool:\\n  return True\\n\"}\n", kind, kind)
	}
	return candidates(t, "c.yaml", text)
}

func shownCells(g *matrix.Grid) string {
	var b bytes.Buffer
	_ = g.CSV(&b)
	return b.String()
}

// TestPythonFunctions: True and False decide. Any other result and an exception are a
// fail that counts as thrown. A function that could not run is undecided.
func TestPythonFunctions(t *testing.T) {
	t.Parallel()
	code := &pythonCode{}
	trials := []trial.Trial{}
	for i, text := range []string{"abc", "abcd"} {
		trials = append(trials, trial.Trial{ID: fmt.Sprint(i), Output: text, Prompt: "p", HasPrompt: true, Vars: value.ObjectOf("x", "7")})
	}
	list := pythonCandidates(t, "short", "raise", "import", "none", "number", "slow", "missing")
	g, err := matrix.Try(context.Background(), list, trial.List(trials), matrix.Options{Compiler: spadetest.Compiler(t), Code: code})
	if err != nil {
		t.Fatal(err)
	}
	want := "id,label,short,raise,import,none,number,slow,missing\n0,,1,0,,0,0,,\n1,,0,0,,0,0,,\n"
	if got := shownCells(g); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for j, threw := range []int{0, 2, 0, 2, 2, 0, 0} {
		if c := g.Columns[j]; c.Threw != threw || (c.NotRunnable != "") != (g.Names[j] == "missing") {
			t.Errorf("%s: %+v", g.Names[j], c)
		}
	}
	for _, s := range code.sources {
		if s.Language != "python" || s.Form != proviso.Module || s.Entry != "check_it" || s.Purpose != proviso.Synthesised {
			t.Errorf("compiled %+v", s)
		}
	}
	_, err = matrix.Try(context.Background(), pythonCandidates(t, "short", "syntax"), trial.List(trials), matrix.Options{Compiler: spadetest.Compiler(t), Code: code})
	if err == nil || !strings.Contains(err.Error(), "syntax: the Python cannot be read: SyntaxError: invalid syntax at line 2") {
		t.Error(err)
	}
	g, err = matrix.Try(context.Background(), list[:1], trial.List(trials), matrix.Options{Compiler: spadetest.Compiler(t)})
	if err != nil || g.Columns[0].NotRunnable == "" || g.Rates()[0].Undecided != 2 {
		t.Errorf("without an interpreter: %+v, %v", g.Columns, err)
	}
}

func TestPythonFunctionIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"async def a(example: dict, prompt: str, response: str) -> bool:\n  return True": "a",
		"import re\n\ndef b(example, prompt, response):\n  return True":                  "b",
		"def c(\n    example: dict,\n    prompt: str,\n    response: str,\n):\n  pass":   "c",
		"def d(output, context):\n  return True":                                         "",
		"len(output) < 3":                                                                "",
		"file://x.py":                                                                    "",
		"  def e(example, prompt, response): return True":                                "",
	} {
		f, ok := python.Of(&proviso.Assertion{Type: "python", Value: text})
		if f.Entry != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, f.Entry, ok)
		}
	}
	if _, ok := python.Of(&proviso.Assertion{Type: "javascript", Value: "def f(example, prompt, response)"}); ok {
		t.Error("JavaScript is taken for Python")
	}
	if f, _ := python.Of(&proviso.Assertion{Type: "python", Value: "def f(example, prompt, response):\n  return ask_llm(prompt, response, 'Is it kind?')"}); !f.AsksModel {
		t.Error("ask_llm asks no model")
	}
}

// TestThrows: a script that throws fails the output and is counted as thrown.
func TestThrows(t *testing.T) {
	t.Parallel()
	code := script.New(script.Options{})
	t.Cleanup(func() { _ = code.Close() })
	list := candidates(t, "c.yaml", "assertions:\n- {id: throws, type: javascript, value: JSON.parse(output).a}\n- {id: no_verdict, type: not-javascript, value: '\"a\"'}\n- {id: fails, type: javascript, value: 'false'}\n- {id: set, type: assert-set, assert: [{type: javascript, value: JSON.parse(output).a}]}\n")
	trials := []trial.Trial{{ID: "1", Output: `{"a": true}`}, {ID: "2", Output: "prose"}}
	o := matrix.Options{Compiler: check.New(check.Options{Code: matrix.Synthesised(code)})}
	g, err := matrix.Try(context.Background(), list, trial.List(trials), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shownCells(g), "id,label,throws,no_verdict,fails,set\n1,,1,0,0,1\n2,,0,0,0,0\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for j, want := range []matrix.Rate{{1, 1, 1, 0}, {0, 2, 2, 0}, {0, 2, 0, 0}, {1, 1, 1, 0}} {
		if got := g.Rates()[j]; got != want {
			t.Errorf("%s: %+v, want %+v", g.Names[j], got, want)
		}
	}
	data, err := g.JSON()
	if err != nil || !strings.Contains(string(data), `"throw_rate": 0.5`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestKeep: decided cells are kept; new, undecided and broken cells are decided again.
func TestKeep(t *testing.T) {
	t.Parallel()
	code := &pythonCode{}
	dir := t.TempDir()
	trials := []trial.Trial{{ID: "1", Output: "abc", Vars: value.NewObject(0)}, {ID: "2", Output: "abcdef"}}
	try := func(engine string, trials []trial.Trial, kinds ...string) *matrix.Grid {
		t.Helper()
		g, err := matrix.Try(context.Background(), pythonCandidates(t, kinds...), trial.List(trials), matrix.Options{
			Compiler: spadetest.Compiler(t), Code: code, Keep: &matrix.Keep{Store: blobs.Open(dir), Engine: engine},
		})
		if err := errors.Join(err, g.Unkept); err != nil {
			t.Fatal(err)
		}
		return g
	}
	wants := func(what string, calls int64) {
		t.Helper()
		if got := code.calls.Swap(0); got != calls {
			t.Errorf("%s: %d calls, want %d", what, got, calls)
		}
	}
	first := try("1", trials, "short", "raise", "slow")
	wants("the first time", 6)
	again := try("1", trials, "short", "raise", "slow")
	wants("the second time, what is undecided", 2)
	if shownCells(first) != shownCells(again) || again.Columns[1].Threw != 2 || again.Columns[0].Kept != 2 || again.Columns[2].Kept != 0 {
		t.Errorf("\n%s\n%s%+v", shownCells(first), shownCells(again), again.Columns)
	}
	try("1", trials, "none", "short")
	wants("a new candidate", 2)
	try("1", trials, "short", "raise")
	wants("the old ones", 0)
	try("1", append(trials, trial.Trial{ID: "3", Output: "x"}), "short")
	wants("a new output", 1)
	changed := []trial.Trial{{ID: "1", Output: "abc", Prompt: "p", HasPrompt: true}}
	try("1", changed, "short")
	wants("another prompt", 1)
	try("2", trials, "short")
	wants("another engine", 2)

	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("{\"passed\": [1], \"failed\": \"zz\""), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try("1", trials, "short")
	wants("broken entries", 2)
}

// TestKeepsNoFiles: a file can change between runs, and the judge keeps its own
// verdicts.
func TestKeepsNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := candidates(t, "c.yaml", "assertions:\n- {id: a, type: contains, value: x}\n- {id: b, type: is-json, value: 'file://x.json'}\n- {id: c, criteria: [The answer is kind.]}\n")
	o := matrix.Options{
		Compiler: check.New(check.Options{Files: suite.NewFiles(dir, suite.FilesOptions{})}),
		Keep:     &matrix.Keep{Store: blobs.Open(t.TempDir()), Engine: "1"},
	}
	for again := range 2 {
		g, err := matrix.Try(context.Background(), list, trial.List([]trial.Trial{{ID: "1", Output: "x"}}), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{g.Columns[0].Kept, g.Columns[1].Kept, g.Columns[2].Kept}; got != [3]int{again, 0, 0} {
			t.Errorf("%d: kept %v", again, got)
		}
	}
}

// TestStopped: a stopped run keeps what was decided, and nothing wrong.
func TestStopped(t *testing.T) {
	t.Parallel()
	code := &pythonCode{}
	ctx, cancel := context.WithCancel(context.Background())
	keep := &matrix.Keep{Store: blobs.Open(t.TempDir()), Engine: "1"}
	var trials []trial.Trial
	for i := range 500 {
		trials = append(trials, trial.Trial{ID: fmt.Sprint(i), Output: strings.Repeat("x", i%50) + fmt.Sprint(i)})
	}
	list := pythonCandidates(t, "short")
	o := matrix.Options{Compiler: spadetest.Compiler(t), Code: code, Keep: keep, Concurrency: 2, Tick: func(done int) {
		if done == 200 {
			cancel()
		}
	}}
	g, err := matrix.Try(ctx, list, trial.List(trials), o)
	if !errors.Is(err, context.Canceled) || len(g.Cells) != 500 {
		t.Fatalf("%d rows, %v", len(g.Cells), err)
	}
	before := code.calls.Swap(0)
	o.Tick = nil
	if g, err = matrix.Try(context.Background(), list, trial.List(trials), o); err != nil || g.Columns[0].Kept < 200 || code.calls.Load() != 500-int64(g.Columns[0].Kept) || before == 500 {
		t.Errorf("%d kept, %d calls before and %d after, %v", g.Columns[0].Kept, before, code.calls.Load(), err)
	}
}

// TestChangedFile: outputs that change between two reads are detected.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	list := candidates(t, "c.yaml", "assertions: [{id: a, type: contains, value: x}]")
	entries := entriesOf(t, outputs("a", "b"))
	other := outputs("a", "b")
	other[1].ID = "z"
	for name, now := range map[string][]trial.Trial{"another id": other, "fewer": other[:1], "more": outputs("a", "b", "c")} {
		_, err := matrix.Try(context.Background(), list, trial.Labelled(trial.List(now), entries), matrix.Options{Compiler: spadetest.Compiler(t)})
		if err == nil || !strings.Contains(err.Error(), "changed while they were read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkTryAll(b *testing.B) {
	text := "assertions:\n"
	for j := range 300 {
		text += [...]string{
			"- {id: c%d, type: icontains, value: 'word %[1]d'}\n", "- {id: c%d, type: word-count, value: {max: %[1]d}}\n",
			"- {id: c%d, type: sentence-count, value: {max: %[1]d}}\n", "- {id: c%d, type: regex, value: 'word\\.? %[1]d'}\n",
		}[j%4]
		text = fmt.Sprintf(text, j)
	}
	list, mistakes := candidate.Read("c.yaml", []byte(text))
	if err := mistakes.Err(); err != nil {
		b.Fatal(err)
	}
	var trials []trial.Trial
	for i := range 100 {
		trials = append(trials, trial.Trial{ID: fmt.Sprint(i), Output: strings.Repeat(fmt.Sprintf("A word %d. ", i), 100)})
	}
	o := matrix.Options{Compiler: check.New(check.Options{})}
	for b.Loop() {
		if _, err := matrix.Try(context.Background(), list, trial.List(trials), o); err != nil {
			b.Fatal(err)
		}
	}
}

func outputs(texts ...string) []trial.Trial {
	var list []trial.Trial
	for i, text := range texts {
		list = append(list, trial.Trial{ID: string(rune('a' + i)), Output: text})
	}
	return list
}

func entriesOf(t *testing.T, trials []trial.Trial) []trial.Entry {
	t.Helper()
	entries, err := trial.Entries(trial.List(trials))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
