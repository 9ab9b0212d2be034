package literal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/literal"
	"github.com/proviso-eval/proviso/value"
)

const python = `"""A module."""
import textwrap
# SYSTEM = "in a comment"
NAME = "Ada"
PLAIN = 'It\'s "fine".\n\u00e9'
RAW = r"\d+ \n"
JOINED = ("One. "
          'Two. '  # of two
          "Three.")
ADDED = "Rules:\n" + RULES + "\n" + other(1)
RULES = """
- Be brief.
- Sign as {name}.
"""
SYSTEM: str = f"""You are {NAME}.
{RULES}Ask {user.first_name!r}, at {price:.2f}, {{literally}}, {len(items)}.
"""
DEDENTED = textwrap.dedent("""\
    Answer:
      in lines
    Stop.
""").strip()
LIST = "\n".join(["First.", "Second."])
LOOP = "a" + LOOP
count = 3
equal = NAME == "Ada"
PARTS = "Begin."
PARTS += " End."
CALLED = ChatPromptTemplate.from_template(template="Say {what}.")
OPEN = "not closed
CONFIG = {"prompt": "From a dict.", "n": 1}
class Prompts:
    INNER = "In a class."
    SYSTEM = "not this one"
def f():
    return chat(system_prompt="An argument.")
ALIAS = SYSTEM
`

const script = "import x from 'y'\n" +
	"// const SYSTEM = 'in a comment'\n" +
	"export const SYSTEM: string = `You are ${NAME}.\nAnswer ${user.name.toUpperCase()} in ${ n > 1 ? `${n} words` : \"a word\" }.`\n" +
	"const NAME = \"Ada\" as const;\n" +
	"let added = 'One.\\n' +\n  \"Two.\";\n" +
	"const list = [ 'First.', `Second.` ].join('\\n');\n" +
	"const tagged = dedent`\n    Answer:\n      in lines\n  `;\n" +
	"export const prompts = { reply: 'Reply.', \"with quotes\": `Quoted.`, other: [1] };\n" +
	"function f(a: string = 'default') { const SYSTEM = 'inner'; return SYSTEM }\n" +
	"const same = (a) => a == 'no';\n" +
	"const regex = /`/g; const after = 'after';\n"

const yaml = `# prompts
prompts:
  system: |
    You are Ada.
    Be brief.
  reply:
    text: Reply.
  chat:
    - {role: system, content: Hello.}
other:
  text: Other.
n: 3
`

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, name, want string }{
		{"p.py", "NAME", "Ada"},
		{"p.py", "PLAIN", "It's \"fine\".\né"},
		{"p.py", "RAW", `\d+ \n`},
		{"p.py", "JOINED", "One. Two. Three."},
		{"p.py", "RULES", "\n- Be brief.\n- Sign as {name}.\n"},
		{"p.py", "SYSTEM", "You are Ada.\n\n- Be brief.\n- Sign as {name}.\nAsk {user.first_name}, at {price}, {literally}, {len_items}.\n"},
		{"p.py", "DEDENTED", "Answer:\n  in lines\nStop."},
		{"p.py", "LIST", "First.\nSecond."},
		{"p.py", "LOOP", "a{LOOP}"},
		{"p.py", "PARTS", "Begin. End."},
		{"p.py", "CALLED", "Say {what}."},
		{"p.py", "prompt", "From a dict."},
		{"p.py", "INNER", "In a class."},
		{"p.py", "system_prompt", "An argument."},
		{"p.py", "ALIAS", "You are Ada.\n\n- Be brief.\n- Sign as {name}.\nAsk {user.first_name}, at {price}, {literally}, {len_items}.\n"},
		{"p.ts", "SYSTEM", "You are Ada.\nAnswer {user.name.toUpperCase} in {n_1_n_words_a_word}."},
		{"p.ts", "NAME", "Ada"},
		{"p.ts", "added", "One.\nTwo."},
		{"p.ts", "list", "First.\nSecond."},
		{"p.ts", "tagged", "Answer:\n  in lines"},
		{"p.ts", "reply", "Reply."},
		{"p.ts", "with quotes", "Quoted."},
		{"p.ts", "after", "after"},
		{"p.yaml", "system", "You are Ada.\nBe brief.\n"},
		{"p.yaml", "prompts.reply.text", "Reply."},
		{"p.yaml", "reply.text", "Reply."},
		{"p.yaml", "chat", `[{"role":"system","content":"Hello."}]`},
	} {
		got, err := literal.Find(c.file, sourceOf(c.file), c.name)
		text, isText := got.(string)
		if !isText {
			text = value.Stringify(got)
		}
		if err != nil || text != c.want {
			t.Errorf("%s %s: %q, %v, want %q", c.file, c.name, text, err, c.want)
		}
	}
}

// TestFindFillsInNumbers: a whole number that the file assigns to a name is
// inserted into a text.
func TestFindFillsInNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ number, want string }{
		{"3", "At most 3."}, {"10", "At most 10."}, {"60  # words", "At most 60."}, {"1_000", "At most 1000."}, {"123456789", "At most 123456789."},
		{"1.5", "At most {N}."}, {"0x10", "At most {N}."}, {"6 + 1", "At most {N}."}, {"60 * 2", "At most {N}."}, {"1e3", "At most {N}."}, {"1234567890", "At most {N}."}, {"10 if X else 20", "At most {N}."}, {"10 % 3", "At most {N}."}, {"10, 20", "At most {N}."},
	} {
		for file, source := range map[string]string{"p.py": "N = " + c.number + "\nP = f\"At most {N}.\"\n", "p.js": "const N = " + strings.Replace(c.number, "#", "//", 1) + ";\nconst P = `At most ${N}.`;\n"} {
			if got, err := literal.Find(file, source, "P"); err != nil || got != c.want {
				t.Errorf("%s %s: %v, %v, want %s", file, c.number, got, err, c.want)
			}
		}
	}
}

func sourceOf(file string) string {
	switch {
	case strings.HasSuffix(file, ".py"):
		return python
	case strings.HasSuffix(file, ".ts"):
		return script
	}
	return yaml
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, name, want, nearest string }{
		{"p.py", "SYTEM", "no text is called SYTEM", "SYSTEM"},
		{"p.py", "count", "count is not a text", ""},
		{"p.py", "equal", "equal is not a text", ""},
		{"p.ts", "replay", "no text is called replay", "reply"},
		{"p.ts", "same", "same is not a text", ""},
		{"p.yaml", "systm", "no text is called systm", "system"},
		{"p.yaml", "text", "2 texts are called text: prompts.reply.text, other.text", ""},
		{"p.yaml", "n", "n is not a text", ""},
		{"p.yaml", "a.b", "no text is called a.b; the texts are prompts.system", ""},
	} {
		_, err := literal.Find(c.file, sourceOf(c.file), c.name)
		var wrong *literal.Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Message, c.want) || wrong.Nearest != c.nearest {
			t.Errorf("%s %s: %v (%+v), want %s (%s)", c.file, c.name, err, wrong, c.want, c.nearest)
		}
	}
}

// TestFindIsBounded: names that refer to each other many times do not grow without
// limit.
func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("A0 = 'text'\n")
	for i := range 40 {
		now, before := string(rune('A'+(i+1)/10))+string(rune('0'+(i+1)%10)), string(rune('A'+i/10))+string(rune('0'+i%10))
		b.WriteString(now + " = " + before + " + " + before + "\n")
	}
	if _, err := literal.Find("p.py", b.String(), "E0"); err == nil || !strings.Contains(err.Error(), "is longer than") {
		t.Errorf("%v", err)
	}
	if _, err := literal.Find("p.py", "X = "+strings.Repeat("(", 100_000)+"'a'", "X"); err == nil {
		t.Error("100,000 brackets are a text")
	}
}

func FuzzFind(f *testing.F) {
	f.Add("p.py", python, "SYSTEM")
	f.Add("p.ts", script, "SYSTEM")
	f.Add("p.yaml", yaml, "text")
	f.Fuzz(func(t *testing.T, file, text, name string) {
		got, err := literal.Find(file, text, name)
		if (got == nil) == (err == nil) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
