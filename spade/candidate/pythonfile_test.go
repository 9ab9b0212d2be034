package candidate_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
)

// TestAuthorsFile: a file as the paper's authors published it is read unchanged, and each
// candidate has exactly what its function uses.
func TestAuthorsFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/authors.py")
	if err != nil {
		t.Fatal(err)
	}
	list, mistakes := candidate.Read("authors.py", data)
	var said []string
	for _, m := range mistakes {
		if !m.Warning {
			t.Errorf("%+v", m)
		}
		said = append(said, fmt.Sprintf("%d: %s", m.Place.Line, m.Message))
	}
	want := []string{
		"28: unused is left out: no candidate calls it, and it is none itself, with 1 parameters where 3 are expected",
		"3: left out, since no candidate uses it: completion (line 3); openai (line 4); load_dotenv (line 7); load_dotenv() (line 9); openai.api_key = \"none\" (line 10); ask_llm, which the judge answers (line 15)",
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("%q", said)
	}
	has := map[string][]string{
		"assert_greets":         {"GREETINGS"},
		"assert_no_emoji":       {"import emoji"},
		"assert_short":          {"import re", "from typing", "def words", "def share"},
		"assert_kind_and_short": {"import re", "from typing", "def words", "def share", "def assert_short"},
	}
	parts := []string{"litellm", "completion", "import openai", "import emoji", "import re", "from typing", "dotenv", "GREETINGS =", "GREETINGS", "def words", "def share", "def assert_short", "ALL_FUNCTIONS"}
	names := 0
	for _, c := range list {
		if c.Name == "assert_kind" {
			if c.Assertion.Type != candidate.JudgeType {
				t.Errorf("%+v", c.Assertion)
			}
			continue
		}
		names++
		f, ok := python.Of(c.Assertion)
		if !ok || f.Entry != c.Name || f.AsksModel != (c.Name == "assert_kind_and_short") {
			t.Errorf("%s: %v %+v", c.Name, ok, f)
		}
		code := f.Text
		if at := strings.Index(code, `"""`); at >= 0 && c.Name == "assert_greets" {
			code = code[:at] + code[at+3+strings.Index(code[at+3:], `"""`):]
		}
		for _, part := range parts {
			wanted := slices.ContainsFunc(has[c.Name], func(w string) bool { return strings.HasPrefix(part, w) }) || part == "def "+c.Name
			if strings.Contains(code, part) != wanted {
				t.Errorf("%s has %q: %v\n%s", c.Name, part, !wanted, f.Text)
			}
		}
	}
	if names != len(has) {
		t.Errorf("%d candidates in Python", names)
	}
}

// TestWhatAFunctionUses: what a function uses is found through strings, attributes,
// blocks and other functions.
func TestWhatAFunctionUses(t *testing.T) {
	t.Parallel()
	const function = "\ndef f(a, b, c):\n    return "
	for _, c := range []struct{ before, body, has, lacks string }{
		{"import emoji, re\n", `"emoji" in c # emoji`, "", "import"},
		{"import emoji, re\n", `f"{re.escape(c)} emoji"`, "import re", "emoji,"},
		{"import emoji\n", "a.emoji", "", "import"},
		{"import os.path\nimport a.b as d\n", "os.sep in c", "import os.path", "a.b"},
		{"from x import (y,\n  z as q)\n", "q(c)", "from x import (y,\n  z as q)", "~"},
		{"try:\n    import emoji\nexcept ImportError:\n    emoji = None\n", "emoji is None", "except ImportError", "~"},
		{"WORDS = []\nWORDS.append('x')\nOTHER = []\nOTHER.append(1)\n", "c in WORDS", "WORDS.append('x')", "OTHER"},
		{"from __future__ import annotations\nA, B = 1, 2\n", "B", "from __future__ import annotations\nA, B", "~"},
		{"class T:\n    N = 1\n\nclass U(T):\n    pass\n", "U.N", "class T", "~"},
		{"LIMIT: int = 3\ndef g(x):\n    return x > LIMIT\n", "g(len(c))", "LIMIT: int", "~"},
		{"def g(x: dict[str, int], y=(1, 2), *, z=3):\n    return 1\ndef h(x, y, z):\n    return g(x)\n", "h(a, b, c)", "def g(", "~"},
	} {
		list, mistakes := candidate.Read("c.py", []byte(c.before+function+c.body+"\n"))
		if err := mistakes.Err(); err != nil || len(list) != 1 || list[0].Name != "f" {
			t.Errorf("%s: %d candidates, %v", c.before, len(list), err)
			continue
		}
		text := list[0].Assertion.Value.(string)
		if !strings.Contains(text, c.has) || strings.Contains(text, c.lacks) || !strings.HasSuffix(text, "\nreturn f(context.get(\"vars\"), context.get(\"prompt\"), output)\n") {
			t.Errorf("%s: %s", c.before, text)
		}
	}
}
