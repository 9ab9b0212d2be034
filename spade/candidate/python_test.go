package candidate_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/candidate/python"
)

const pythonFile = `"""Assertions; def no(example, prompt, response): is text."""
import re
from helpers import ask_llm

LIMIT = 3  # def neither(example, prompt, response):
TEXT = '''
def nor(example, prompt, response):
'''


def short(text: str) -> bool:
    return len(text) < LIMIT


async def is_short(example: dict, prompt: str, response: str) -> bool:
    """
    Checks that the response is short.
    """
    return short(response)


@decorator
def  spread (
    example: dict,
    prompt: str,
    response: str,
):
    # a comment
    return re.search("x", response) is not None

async def kind(example: dict, prompt: str, response: str) -> bool:
    "Is it kind?"
    # A model can tell, in "words".
    question = "Is the response kind " "and warm?"
    return await ask_llm(prompt, response, question)

async def unkind(example: dict, prompt: str, response: str):
    return not await ask_llm(prompt, response, "Is it rude?")

async def both(example: dict, prompt: str, response: str):
    return len(response) > 3 and await ask_llm(prompt, response, "Is it kind?")

async def twice(example, prompt, response):
    return True

async def twice(example, prompt, response):
    return False

ALL_FUNCTIONS = [is_short, spread, kind]
`

func TestReadPython(t *testing.T) {
	t.Parallel()
	list, mistakes := candidate.Read("c.py", []byte(pythonFile))
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	for _, m := range mistakes {
		warnings = append(warnings, m.Message)
	}
	want := []string{
		"a function twice is defined earlier; this one counts",
		"ALL_FUNCTIONS is not followed: each function of three parameters is a candidate, 6 in all; --ban NAME takes one out of a selection",
		"left out, since no candidate uses it: ask_llm, which the judge answers (line 3); TEXT (line 6)",
	}
	if !reflect.DeepEqual(warnings, want) {
		t.Errorf("%q", warnings)
	}
	byName := map[string]proviso.Candidate{}
	var names []string
	for _, c := range list {
		byName[c.Name] = c
		names = append(names, c.Name)
	}
	if want := []string{"is_short", "spread", "kind", "unkind", "both", "twice"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("%v", names)
	}
	short := byName["is_short"]
	f, ok := python.Of(short.Assertion)
	for _, part := range []string{"LIMIT = 3", "def short(text", "async def is_short("} {
		if !strings.Contains(f.Text, part) {
			t.Errorf("%q is missing in\n%s", part, f.Text)
		}
	}
	if !ok || f.Entry != "is_short" || short.Description != "Checks that the response is short." || strings.Contains(f.Text, "ALL_FUNCTIONS") || strings.Contains(f.Text, "import re") || strings.Contains(f.Text, "\nreturn ") {
		t.Errorf("%v %+v\n%s", ok, short, f.Text)
	}
	// The value is the body of a function with output and context.
	if value := short.Assertion.Value.(string); !strings.HasSuffix(value, "\nreturn is_short(context.get(\"vars\"), context.get(\"prompt\"), output)\n") {
		t.Errorf("%s", value)
	}
	if f, ok := python.Of(byName["spread"].Assertion); !ok || f.Entry != "spread" || !strings.Contains(f.Text, "@decorator\n") {
		t.Errorf("%v %+v", ok, f)
	}
	if f, ok := python.Of(byName["twice"].Assertion); !ok || !strings.Contains(f.Text, "return False") || strings.Contains(f.Text, "return True") {
		t.Errorf("%v %+v", ok, f)
	}
	if a := byName["kind"].Assertion; a.Type != "judge" || a.Criteria[0].Text != "The answer to this question about the output is yes: Is the response kind and warm?" {
		t.Errorf("%+v", a)
	}
	if a := byName["unkind"].Assertion; a.Type != "not-judge" || !strings.HasSuffix(a.Criteria[0].Text, "Is it rude?") {
		t.Errorf("%+v", a)
	}
	// The written candidates can be read again.
	if got := plainly(candidates(t, "c.yaml", string(candidate.YAML(list, nil)))); !reflect.DeepEqual(got, plainly(list)) {
		t.Errorf("%v", got)
	}
	for _, text := range []string{"", "x = 1\n", "def f(a, b):\n  return 1\n", "\x00def f(example, prompt, response):\n"} {
		if _, mistakes := candidate.Read("c.py", []byte(text)); mistakes.Err() == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func FuzzPython(f *testing.F) {
	f.Add(pythonFile)
	f.Add("def a(example, prompt, response): return \"\"\"x")
	f.Fuzz(func(t *testing.T, text string) {
		list, mistakes := candidate.Read("c.py", []byte(text))
		if mistakes.Err() == nil && len(list) == 0 {
			t.Error("no mistake, and no candidate")
		}
	})
}
