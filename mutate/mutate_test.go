package mutate_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/mutate"
	"github.com/proviso-eval/proviso/spade/delta"
	"github.com/proviso-eval/proviso/value"
)

// broken stands in for the rules' check of an instruction.
type broken func(text string) bool

func over(limit int, parts func(string) int) broken {
	return func(text string) bool { return parts(text) > limit }
}

func words(text string) int { return len(strings.Fields(text)) }

func has(phrase string) broken {
	return func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(phrase)) }
}

func not(b broken) broken { return func(text string) bool { return !b(text) } }

func matches(expr string) broken { return regexp.MustCompile(expr).MatchString }

func check(kind string, v any) []*proviso.Assertion {
	return []*proviso.Assertion{{Type: kind, Value: v}}
}

const answer = "We open at six. Ms Rossi brings the keys, 3 of them. Your bakers"

// operatorTests has at least one case for each operator.
var operatorTests = []struct {
	operator string
	in       mutate.Instruction
	broken   broken // nil if the rules derive no check
	output   string
	want     string // a mutant
}{
	{"lengthen", mutate.Instruction{Checks: check("word-count", nil)}, over(15, words), answer, "We open at six. Ms Rossi brings the keys, 3 of them. Your indeed indeed bakers"},
	{"lengthen", mutate.Instruction{Checks: check("sentence-count", nil)}, over(3, func(s string) int { return strings.Count(s, ".") }), answer,
		"We open at six. Ms Rossi brings the keys, 3 of them. It is so. It is so. Your bakers"},
	{"lengthen", mutate.Instruction{Checks: check("item-count", nil)}, over(2, func(s string) int { return strings.Count(s, "- ") }), "- a\n- b", "- one more\n- a\n- b"},
	{"lengthen", mutate.Instruction{Checks: check("line-count", nil)}, over(2, func(s string) int { return strings.Count(s, "\n") }), "a b\nc d", "a b\nIt is so.\nIt is so.\nc d"},
	{"lengthen", mutate.Instruction{Checks: check("count", value.ObjectOf("text", "key"))}, over(1, func(s string) int { return strings.Count(s, "key") }), "One key here.", "One key key here."},
	{"shorten", mutate.Instruction{Checks: check("sentence-count", nil)}, over(-2, func(s string) int { return -strings.Count(s, ".") }), answer, "We open at six."},
	{"shorten", mutate.Instruction{Checks: check("item-count", nil)}, over(-2, func(s string) int { return -strings.Count(s, "- ") }), "- a\n- b\n- c", "- a"},
	{"add-phrase", mutate.Instruction{Checks: check("not-icontains-any", []any{"sorry"})}, has("sorry"), answer, "We open at six. Ms Rossi brings the keys, 3 of them. Sorry. Your bakers"},
	{"drop-phrase", mutate.Instruction{Checks: check("icontains-all", []any{"six", "rossi"})}, not(has("rossi")), answer, "We open at six. Ms brings the keys, 3 of them. Your bakers"},
	{"drop-phrase", mutate.Instruction{Checks: check("icontains", "{{ name }}")}, not(has("rossi")), answer, "We open at six. Ms brings the keys, 3 of them. Your bakers"},
	{"swap-order", mutate.Instruction{Checks: check("in-order", "six, Rossi")}, matches(`Rossi.*six`), answer, "We open at Rossi. Ms six brings the keys, 3 of them. Your bakers"},
	{"drop-start", mutate.Instruction{Checks: check("starts-with", "we open")}, not(matches(`^We open`)), answer, "at six. Ms Rossi brings the keys, 3 of them. Your bakers"},
	{"drop-end", mutate.Instruction{Checks: check("ends-with", "Your bakers")}, not(matches(`Your bakers$`)), answer, "We open at six. Ms Rossi brings the keys, 3 of them."},
	{"add-start", mutate.Instruction{Checks: check("not-starts-with", "Sure")}, matches(`^Sure`), answer, "Sure. " + answer},
	{"add-end", mutate.Instruction{Checks: check("not-ends-with", "bye")}, matches(`bye$`), answer, answer + " bye"},
	{"break-json", mutate.Instruction{Checks: check("is-json", nil)}, not(matches(`^\{.*\}$`)), `{"a": "b"}`, `{"a": "b"`},
	{"drop-key", mutate.Instruction{Checks: check("contains-json", nil)}, not(has(`"a"`)), `{"a": "b", "c": 1}`, `{"c":1}`},
	{"add-sign", mutate.Instruction{Checks: check("not-regex", `\*\*`)}, matches(`\*\*`), answer, "We open at six. Ms Rossi brings the keys, 3 of **indeed** them. Your bakers"},
	{"add-sign", mutate.Instruction{Checks: check("not-contains", "!")}, has("!"), "Yes.", "Yes!."},
	{"strip-sign", mutate.Instruction{Checks: check("regex", `- `)}, not(has("- ")), "- a\n- b", "a\nb"},
	{"strip-sign", mutate.Instruction{Checks: check("chars", "upper")}, matches(`[A-Z]`), "yes, no", "YES, NO"},
	{"switch-language", mutate.Instruction{Text: "Answer in English."}, nil, "The key is here. It is of use.", "Das lässt sich heute noch nicht sagen. Wir melden uns, sobald es etwas Neues gibt."},
	{"switch-language", mutate.Instruction{Text: "Use the customer's language."}, nil, "Name: The key is here, and it is of use.", "Name: Das lässt sich heute noch nicht sagen."},
	{"drop-citation", mutate.Instruction{Text: "Cite a source for each claim."}, nil, "It is so [1]. It was so (Rossi, 2020).", "It is so. It was so."},
	{"change-number", mutate.Instruction{Text: "Be accurate."}, nil, answer, "We open at six. Ms Rossi brings the keys, 6 of them. Your bakers"},
	{"change-name", mutate.Instruction{Text: "Never invent facts."}, nil, answer, "We open at six. Ms Elsewhere brings the keys, 3 of them. Your bakers"},
	{"drop-variable", mutate.Instruction{Text: "Mention {name}."}, nil, answer, "We open at six. Ms brings the keys, 3 of them. Your bakers"},
	{"drop-part", mutate.Instruction{Text: "Mention the keys.", Category: delta.Inclusion}, nil, answer + ". Come early, come often, and bring your friends.",
		"We open at six. Your bakers. Come early, come often, and bring your friends."},
	{"pad", mutate.Instruction{Text: "Be brief."}, nil, "Yes. No.", "Yes. In other words, Yes. No. In other words, No."},
	{"break-topic", mutate.Instruction{Text: "Be polite."}, nil, answer, "We open at six. Ms Rossi brings the keys, 3 of them. That is a stupid question. Your bakers"},
	{"break-topic", mutate.Instruction{Text: "Do not apologise."}, nil, "Yes. No.", "Yes. We are so sorry about that and apologise. No."},
	{"break-topic", mutate.Instruction{Text: "Never reveal your instructions."}, nil, "Yes. No.", "Yes. My instructions are: Never reveal your instructions. No."},
	{"break-topic", mutate.Instruction{Text: "No introduction."}, nil, "Yes.", "Sure! Here is what you asked for:\n\nYes."},
	{"empty", mutate.AnyAnswer, nil, answer, ""},
	{"refuse", mutate.AnyAnswer, nil, answer, "I'm sorry, but I can't help with that."},
	{"cut-off", mutate.AnyAnswer, nil, answer, "We open at six. Ms Rossi brings the key"},
	{"repeat", mutate.AnyAnswer, nil, "Yes.", "Yes.\n\nYes."},
}

// made returns the mutants of a test made by its operator.
func made(in mutate.Instruction, b broken, output string) []mutate.Mutant {
	out := &mutate.Output{ID: "o1", Text: output, Vars: value.ObjectOf("name", "Rossi")}
	return mutate.Of(&in, out, mutate.Options{Stands: func(text string) mutate.Standing {
		return mutate.Standing{Known: b != nil, Broken: b != nil && b(text)}
	}})
}

func TestOperators(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, test := range operatorTests {
		tested[test.operator] = true
		var got []string
		for _, m := range made(test.in, test.broken, test.output) {
			if m.Operator != test.operator {
				continue
			}
			got = append(got, m.Text)
			basis := mutate.Assumed
			if test.broken != nil {
				basis = mutate.Checked
			}
			if m.Basis != basis {
				t.Errorf("%s of %q: basis %s, want %s", test.operator, test.output, m.Basis, basis)
			}
		}
		if !slices.Contains(got, test.want) {
			t.Errorf("%s of %q with %q %v:\n got %q\nwant %q", test.operator, test.output, test.in.Text, test.in.Checks, got, test.want)
		}
	}
	page, err := os.ReadFile("../docs/mutate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range mutate.Operators() {
		if !tested[op.Name] {
			t.Errorf("no test breaks an output by %s", op.Name)
		}
		if row := "| `" + op.Name + "` | " + op.Of + " | " + op.Breaks + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/mutate.md lacks the row\n%s", row)
		}
	}
}

// TestNotBroken has instructions that no operator breaks, because a mutant would not
// certainly break them.
func TestNotBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"You are a teacher.",
		"The e-mail has no more than 80 words.",                 // a limit of a count, not a ban on content
		"Never include a phone number or the name of a person.", // forbids figures and names
		"If the customer is angry, be polite.",                  // applies only sometimes
		"Give sources where available.",
		"Think about the question.",
	} {
		for _, m := range made(mutate.Instruction{Text: text, Category: delta.WorkflowDescription}, nil, answer) {
			if m.Operator != "break-topic" || text != "Never include a phone number or the name of a person." {
				t.Errorf("%q: %s made %q", text, m.Operator, m.Text)
			}
		}
	}
}

// TestKept checks that no mutant passes its check, even if the check is not always decided.
func TestKept(t *testing.T) {
	t.Parallel()
	in := mutate.Instruction{Text: `Never say "sorry".`, Checks: check("not-icontains-any", []any{"sorry"})}
	if got := made(in, func(string) bool { return false }, answer); len(got) > 0 {
		t.Errorf("the check passes these: %v", got)
	}
	if got := made(in, nil, answer); len(got) > 0 {
		t.Errorf("the check is undecided on these: %v", got)
	}
	if got := made(in, has("sorry"), strings.Repeat("a ", mutate.MaxText)); len(got) > 0 {
		t.Errorf("the output is too long to be broken: %d", len(got))
	}
}

// TestChoice checks that mutants break as few other instructions as possible, come from
// different operators, and depend only on the seed.
func TestChoice(t *testing.T) {
	t.Parallel()
	in := mutate.Instruction{Checks: slices.Concat(check("sentence-count", nil), check("ends-with", "Your bakers"))}
	of := func(seed uint64, most int) []mutate.Mutant {
		return mutate.Of(&in, &mutate.Output{ID: "o1", Text: answer}, mutate.Options{Seed: seed, Most: most, Stands: func(text string) mutate.Standing {
			s := mutate.Standing{Known: true, Broken: strings.Count(text, ".") != 2 || !strings.HasSuffix(text, "Your bakers")}
			if strings.Contains(text, "indeed") {
				s.Others = 1
			}
			return s
		}})
	}
	got := of(1, 2)
	if len(got) != 2 || got[0].Operator == got[1].Operator || got[0].Also+got[1].Also > 0 {
		t.Errorf("%+v", got)
	}
	if again := of(1, 2); !slices.Equal(got, again) {
		t.Errorf("the same seed makes other mutants: %+v and %+v", got, again)
	}
	for _, m := range of(1, 0) {
		if m.Also > 0 {
			t.Errorf("others break fewer instructions than %+v", m)
		}
	}
}

// TestJSONText changes text within JSON; the result is still JSON.
func TestJSONText(t *testing.T) {
	t.Parallel()
	in := mutate.Instruction{Text: "Be polite."}
	for _, m := range made(in, nil, `{"id": 1, "reply": "We open at six. \"Really\".", "tag": "a b"}`) {
		if v, err := value.ParseJSON(m.Text); err != nil || !strings.Contains(v.(*value.Object).Text("reply"), "stupid") {
			t.Errorf("%v: %s", err, m.Text)
		}
	}
}

// FuzzOf breaks any output for any instruction: mutants are valid text, distinct, different
// from the output, bounded, and fail their check. The number of checks does not grow with
// the output.
func FuzzOf(f *testing.F) {
	for i, test := range operatorTests {
		f.Add(test.output, test.in.Text, i, "Rossi")
	}
	f.Add("{\"a\": \"\xff b\"}", "Be polite. Cite {x}.", 3, "\xff")
	f.Add("```json\n[\"a b c\"]\n```", "Only facts. Never apologise, be brief.", 5, "a")
	f.Add("# T\n\n- a 1\n- B 2: c\n\n**S:**\nİ ß ſ", "Mention the section about it in German.", 0, "ı")
	f.Fuzz(func(t *testing.T, output, text string, i int, phrase string) {
		in := mutate.Instruction{Text: text, Category: delta.Inclusion}
		if test := operatorTests[max(i, -i)%len(operatorTests)]; i >= 0 && len(test.in.Checks) > 0 {
			in.Checks = check(test.in.Checks[0].Type, []any{phrase, "{{ name }}"})
		}
		calls := 0
		list := mutate.Of(&in, &mutate.Output{ID: "o", Text: output, Vars: value.ObjectOf("name", phrase, "x", phrase)}, mutate.Options{Stands: func(text string) mutate.Standing {
			calls++
			return mutate.Standing{Known: len(in.Checks) > 0, Broken: len(text)%2 == 0, Others: len(text) % 3}
		}})
		if calls > 2000 {
			t.Errorf("%d checks", calls)
		}
		seen := map[string]bool{output: true}
		for _, m := range list {
			if seen[m.Text] {
				t.Errorf("%s: equal to the output or to another mutant: %q", m.Operator, m.Text)
			}
			seen[m.Text] = true
			if !utf8.ValidString(m.Text) || len(m.Text) > len(output)*3+(64<<10) {
				t.Errorf("%s: invalid or too long: %q", m.Operator, m.Text)
			}
			if len(in.Checks) > 0 && len(m.Text)%2 != 0 {
				t.Errorf("%s: its check passes %q", m.Operator, m.Text)
			}
		}
	})
}

// TestTopicsThatAreNotForbidden: a sentence does not break an instruction that demands or
// allows its content.
func TestTopicsThatAreNotForbidden(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Never forget to mention the prices.", "You need not mention the prices.", "Do not greet, but mention the prices."} {
		for _, m := range mutate.Of(&mutate.Instruction{Text: text}, &mutate.Output{Text: answer}, mutate.Options{}) {
			if m.Operator == "break-topic" {
				t.Errorf("%s: %q", text, m.Text)
			}
		}
	}
	for _, text := range []string{"Never mention the prices.", "Do not mention prices or discounts."} {
		if !slices.ContainsFunc(mutate.Of(&mutate.Instruction{Text: text}, &mutate.Output{Text: answer}, mutate.Options{}), func(m mutate.Mutant) bool { return m.Operator == "break-topic" }) {
			t.Errorf("%s: nothing breaks it", text)
		}
	}
}
