package attacks

import (
	"fmt"
	"strings"
	"testing"
)

// TestMistakesBeyondTheLimit: a list of mistakes that is limited to 100 reports how many
// more there are.
func TestMistakesBeyondTheLimit(t *testing.T) {
	t.Parallel()
	const head = "prompts: [a]\nproviders: [echo]\n"
	each := func(format string) string {
		var b strings.Builder
		for i := range 150 {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		args  []string
		want  string
		total string
	}{
		{"of a plan", map[string]string{"proviso.yaml": head + "tests:\n" + each("  - assert: [{type: regex, value: '(#'}]\n")},
			[]string{"validate"}, "and 50 more mistakes\n", "proviso: 150 mistakes; nothing was run"},
		{"of a suite", map[string]string{"proviso.yaml": head + each("k#: 1\n") + "tests: [{}]\n"},
			[]string{"validate"}, "and 50 more mistakes\n", "proviso: 150 mistakes; nothing was run"},
		{"columns, and a case without an assertion", map[string]string{"proviso.yaml": head + "tests: file://a.csv\n", "a.csv": "a" + each(",c#,c#") + "\n1" + each(",1,1") + "\n"},
			[]string{"validate"}, "and 51 more warnings\n", ""},
		{"candidates", map[string]string{"c.yaml": each("- {id: c#, type: contains, value: a, weight: x}\n"), "e.jsonl": `{"output":"a"}` + "\n"},
			[]string{"spade", "matrix", "--candidates", "c.yaml", "--examples", "e.jsonl"}, "c.yaml: error: and 50 more mistakes\n", ""},
		{"labels", map[string]string{"c.yaml": "- {id: c, type: contains, value: a}\n", "e.jsonl": `{"id":"a","output":"a"}` + "\n", "l.csv": "id,label\n" + each("a#,perhaps\n")},
			[]string{"spade", "matrix", "--candidates", "c.yaml", "--examples", "e.jsonl", "--labels", "l.csv"}, "and 50 more mistakes\n", ""},
		{"labels of people", map[string]string{"l.jsonl": each(`{"label_id":"l#"}` + "\n")},
			[]string{"labels", "import", "l.jsonl"}, "and 50 more mistakes\n", "proviso: 150 mistakes; nothing was run"},
		{"a sheet of labels", map[string]string{"l.csv": "case,assertion,human\n" + each("a#,b,perhaps\n")},
			[]string{"labels", "import", "l.csv", "--run", "last", "--by", "ana"}, "and 50 more mistakes\n", "proviso: 150 mistakes; nothing was run"},
		{"evals of OpenAI", map[string]string{"e.jsonl": each("{\n")},
			[]string{"import", "openai-evals", "e.jsonl"}, "and 50 more mistakes\n", "proviso: 150 mistakes; nothing was written"},
		{"a baseline", map[string]string{"proviso.yaml": head + "tests: [{}]\n", "b.jsonl": `{"proviso":"baseline","format":1,"columns":[{"provider":"echo"}]}` + "\n" + each("1\n")},
			[]string{"gate", "--baseline", "b.jsonl"}, "and 50 more mistakes\n", "proviso: 150 mistakes"},
		{"events", map[string]string{"w.yaml": "w: {match: {agent: a}, assertions: file://s.yaml}\n", "s.yaml": "- {id: a, check: {type: is-json}}\n", "e.jsonl": each("1\n")},
			[]string{"monitor", "replay", "e.jsonl", "--watch", "w.yaml"}, "and 50 more mistakes\n", "proviso: 150 mistakes"},
		{"versions of a prompt", map[string]string{"v.jsonl": each("{}\n")},
			[]string{"spade", "deltas", "v.jsonl"}, "and 50 more mistakes\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, test.files)
			out, _ := command(t, dir, test.args...).CombinedOutput() // the text shows the result
			if !strings.Contains(string(out), test.want) || !strings.Contains(string(out), test.total) {
				t.Errorf("want %q and %q: %s", test.want, test.total, tail(string(out)))
			}
		})
	}
	s := serveBinary(t, t.TempDir(), "--rate", "0")
	for _, test := range []struct{ path, body, want string }{
		{"/v1/evaluate", `{` + each(`"k#":1,`) + `"agent_input":"","agent_output":"","assertions":[]}`, "mistakes, of which 100 are listed; the first: "},
		{"/v1/suites", `{` + each(`"k#":1,`) + `"suite":"prompts: [a]"}`, "150 mistakes, of which 100 are listed; the first: "},
		{"/v1/suites", `{"name":"a","suite":{"prompts":["a"],"providers":["echo"],` + each(`"k#":1,`) + `"tests":[{}]}}`, "150 mistakes, of which 100 are listed; the first: "},
	} {
		if status, answer := s.post(t.Context(), test.path, test.body); status != 422 || !strings.Contains(answer, test.want) {
			t.Errorf("%s: %d %.400s", test.path, status, answer)
		}
	}
}
