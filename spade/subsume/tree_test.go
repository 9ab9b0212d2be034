package subsume_test

import (
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/sandbox"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/subsume"
	"github.com/proviso-eval/proviso/value"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// TestSyntaxTrees: functions that differ in name, docstring, comments or formatting are
// proven equal, and nothing else is.
func TestSyntaxTrees(t *testing.T) {
	t.Parallel()
	python := ""
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(path); err == nil && python == "" {
			python = path
		}
	}
	code := sandbox.New(sandbox.Options{Env: proviso.EnvMap{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "PROMPTFOO_PYTHON": python}})
	defer code.Close()
	if _, err := code.Compile(t.Context(), proviso.Source{Language: "python", Text: "True", Form: proviso.Expression}); err != nil {
		t.Skip(err)
	}
	const a = "import re\ndef a(example, prompt, response):\n    return len(response) > 3 and 'x' in response\n"
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{a, "import re  # for later\n\n\ndef b(example,\n      prompt, response):\n    '''Checks it.'''\n    # the length\n    return (len(response)>3\n            and \"x\" in response)\n", true},
		{a, strings.ReplaceAll(strings.ReplaceAll(a, "def a", "def b"), "3", "4"), false},
		{a, strings.Replace(a, "def a", "async def b", 1), false},
		{a, "import re\ndef b(prompt, example, response):\n    return len(response) > 3 and 'x' in response\n", false},
		{a, "import re\ndef b(example, prompt, response):\n    return len(response) > 3 and 'X' in response\n", false},
		{"def a(example, prompt, response):\n    return a.__name__ == 'a'\n", "def b(example, prompt, response):\n    return b.__name__ == 'a'\n", false},
		{"def a(example, prompt, response):\n    return 'a' in str(a)\n", "def b(example, prompt, response):\n    return 'a' in str(b)\n", false},
		{"def a(example, prompt, response):\n    'x'\n    return 'x' in a.__doc__\n", "def b(example, prompt, response):\n    'y'\n    return 'x' in b.__doc__\n", false},
		{"import sys\ndef a(example, prompt, response):\n    return sys._getframe().f_lineno > 3\n", "import sys\n\n\ndef b(example, prompt, response):\n    return sys._getframe().f_lineno > 3\n", false},
		{"def a(example, prompt, response):\n    return 'a' in globals()\n", "def b(example, prompt, response):\n    return 'a' in globals()\n", false},
		{"LIMIT = 3\ndef h(x):\n    'help'\n    return x > LIMIT\ndef a(example, prompt, response):\n    return h(len(response)) or a(1, 2, 3)\n", "LIMIT=3\ndef h( x ):\n    return x>LIMIT\ndef b(example, prompt, response):\n    return h(len(response)) or b(1, 2, 3)\n", true},
		{"def a(example, prompt, response):\n    return b\ndef b(example, prompt, response):\n    return a\n", "def b(example, prompt, response):\n    return a\ndef a(example, prompt, response):\n    return b\n", false},
		{"def a(example, prompt, response):\n    return '''x\n  y''' in response", "def b(example, prompt, response):\n    return '''x\n    y''' in response", false},
		{"def a(example, prompt, response):\n    return (\n", "def b(example, prompt, response):\n    return  (\n", false},
	} {
		var list []proviso.Candidate
		for i, text := range []string{c.a, c.b} {
			name := []string{"a", "b"}[i]
			call := "\nreturn " + name + "(context.get(\"vars\"), context.get(\"prompt\"), output)\n"
			more, mistakes := candidate.Read("c.json", []byte(value.Stringify([]any{value.ObjectOf("id", name, "type", "python", "value", text+call)})))
			if err := mistakes.Err(); err != nil {
				t.Fatal(err)
			}
			list = append(list, more...)
		}
		for _, with := range []proviso.Code{code, nil} {
			s, err := subsume.Find(t.Context(), list, subsume.Options{Code: with})
			if err != nil {
				t.Fatal(err)
			}
			want := c.equal && with != nil
			if (len(s.Pairs) == 2) != want || want && s.Pairs[0].Proof != subsume.ByEquality {
				t.Errorf("%s\n%s\n%v with Python %v", c.a, c.b, s.Pairs, with != nil)
			}
			_ = s.Close()
		}
	}
}
