package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/value"
)

// TestAsPlainPython: typical model-written assertions give the same result in the sandbox as in
// plain CPython.
func TestAsPlainPython(t *testing.T) {
	t.Parallel()
	s := open(t, sandbox.Options{Ask: asker})
	example := value.ObjectOf("name", "Bob", "items", []any{"pen", "ink", "tea"}, "limit", 12.0)
	var cases []any
	for _, response := range []string{
		"", "The summary of the meeting on Monday: Bob bought the pen, the ink and a tea.", "# One\nshort\n# Two\n- a\n- b\n- c\n# Three\nend",
		`{"name": "Bob", "age": 33}`, "- pen\n- ink\n- tea", "Dear Bob,\n\nwrite to bob@example.com before 2024-05-06 😀. See https://example.com",
		"Bob has 3 items", "1. the the\n2. LOUD  text", "Bob: what time is it? Noon.", strings.Repeat("the longest word is uncharacteristicallyoverlong ", 20),
	} {
		cases = append(cases, []any{example, "Say what time? Please.", response})
	}
	cmd := exec.CommandContext(t.Context(), python(), "-I", "testdata/reference.py", "testdata/functions.py")
	cmd.Stdin, cmd.Stderr = strings.NewReader(value.Stringify(cases)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := value.ParseJSON(string(out))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/functions.py")
	if err != nil {
		t.Fatal(err)
	}
	rows := want.([]any)
	if len(rows) < 60 {
		t.Errorf("only %d functions", len(rows))
	}
	for _, row := range rows {
		name, results := row.([]any)[0].(string), row.([]any)[1].([]any)
		f, err := s.Compile(t.Context(), proviso.Source{Language: "python", Name: "functions.py", Text: string(text), Form: proviso.Module, Entry: name, Purpose: proviso.Synthesised})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range results {
			v, err := f.Call(t.Context(), cases[i].([]any)...)
			if err != nil {
				v = codeOf(err)
			}
			if got := value.Stringify(v); got != value.Stringify(want) {
				t.Errorf("%s of response %d gives %s %v, plain CPython %s", name, i, got, err, value.Stringify(want))
			}
		}
		_ = f.Close()
	}
	_, err = run(t, s, proviso.Module, "async def get_assert(output, context):\n    exec(output)\n    return True", "import os\nopen('/etc/passwd')", nil)
	if codeOf(err) != proviso.Refused {
		t.Errorf("a function that executes its response: %v", err)
	}
}
