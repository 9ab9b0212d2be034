package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/value"
)

// TestEmptyListsAndUnknownKeysAreMistakes covers the whole table: no type accepts an
// empty list without a message, or an object with an unknown key. Where the verdicts
// are promptfoo's, the messages are warnings with that verdict, unless promptfoo's
// verdict is an error too.
func TestEmptyListsAndUnknownKeysAreMistakes(t *testing.T) {
	t.Parallel()
	for _, promptfoo := range []bool{false, true} {
		c := check.New(check.Options{Lenient: promptfoo})
		for _, k := range check.Kinds() {
			if k.Type == "assert-set" || k.Type == "judge" {
				continue // they have no value
			}
			if !k.Empty {
				wantMistake(t, c, promptfoo, k.Type, []any{})
			}
			if k.Keys != "" {
				val := value.ObjectOf("a~/b", 1.0)
				for _, key := range strings.Fields(k.Numbers) {
					val.Set(key, "3")
				}
				wantMistake(t, c, promptfoo, k.Type, val)
			}
		}
	}
}

func wantMistake(t *testing.T, c *check.Compiler, promptfoo bool, name string, val any) {
	t.Helper()
	a := assertion.Of(value.ObjectOf("type", name, "value", val), "/a")
	_, mistakes := c.Compile([]*proviso.Assertion{a})
	found := false
	for _, e := range mistakes {
		if !strings.HasPrefix(e.Pointer, "/a/value") {
			t.Errorf("%s: a mistake at %s: %v", name, e.Pointer, e)
		}
		if e.Warning && (!promptfoo || !strings.Contains(e.Message, "checks nothing") && !strings.Contains(e.Message, "it is read as 3")) {
			t.Errorf("%s: a warning: %v", name, e)
		}
		found = true
	}
	if !found {
		t.Errorf("%s takes %s in silence", name, value.Stringify(val))
	}
}

// TestTextsForNumbers: a text in place of a number in the value of a count is a
// mistake, or a warning that explains how it is read.
func TestTextsForNumbers(t *testing.T) {
	t.Parallel()
	for _, promptfoo := range []bool{false, true} {
		c := check.New(check.Options{Lenient: promptfoo})
		for _, k := range check.Kinds() {
			if !k.Coerced {
				continue
			}
			for text, want := range map[string]string{"1": "must be a number, not \"1\"", "x": "must be a number, found \"x\""} {
				val := value.ObjectOf("max", text)
				if strings.Contains(k.Keys, "regex") {
					val.Set("text", "o")
				}
				if strings.Contains(k.Keys, "class") {
					val.Set("class", "letters")
				}
				a := assertion.Of(value.ObjectOf("type", k.Type, "value", val), "/a")
				_, mistakes := c.Compile([]*proviso.Assertion{a})
				switch {
				case len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, want) || mistakes[0].Warning != (promptfoo && text == "1"):
					t.Errorf("%s, %s: %v", k.Type, text, mistakes)
				case mistakes[0].Warning && !strings.HasSuffix(mistakes[0].Message, "; it is read as 1"):
					t.Errorf("%s: %v", k.Type, mistakes[0])
				}
			}
		}
	}
}

// TestEmptySetsAreMistakes covers an assert-set that would pass for any output.
func TestEmptySetsAreMistakes(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]*value.Object{
		"absent": value.ObjectOf("type", "assert-set"),
		"null":   value.ObjectOf("type", "assert-set", "assert", nil),
		"empty":  value.ObjectOf("type", "assert-set", "assert", []any{}),
	} {
		for _, promptfoo := range []bool{false, true} {
			c := check.New(check.Options{Lenient: promptfoo})
			a := assertion.Of(raw, "/a")
			_, mistakes := c.Compile([]*proviso.Assertion{a})
			if len(mistakes) != 1 || mistakes[0].Pointer != "/a/type" || mistakes[0].Warning != promptfoo {
				t.Errorf("%s, promptfoo %v: %v", name, promptfoo, mistakes)
			}
		}
	}
}

// TestMadeListsAreNotEmpty covers a value that is known only in the row.
func TestMadeListsAreNotEmpty(t *testing.T) {
	t.Parallel()
	row := &check.Row{Output: &proviso.Output{Value: "hello"}, Vars: value.ObjectOf("none", " , ")}
	a := assertion.Of(value.ObjectOf("type", "not-contains-any", "value", "{{none}}"), "/a")
	for promptfoo, want := range map[bool]proviso.Status{false: proviso.Errored, true: proviso.Pass} {
		c := check.New(check.Options{Lenient: promptfoo, Templates: lookup{}})
		if v := c.Decide(t.Context(), a, row); v.Status != want {
			t.Errorf("promptfoo %v: %v, %s", promptfoo, v.Status, v.Reason)
		}
	}
}

// TestLimitsOfTheCase covers a limit that is a variable of the case.
func TestLimitsOfTheCase(t *testing.T) {
	t.Parallel()
	row := &check.Row{Output: &proviso.Output{Value: "one two three"}, Vars: value.ObjectOf("n", 3.0, "word", "three", "none", " ")}
	c := check.New(check.Options{Templates: lookup{}})
	for limit, want := range map[string]string{
		"{{n}}": "pass Assertion passed", "{{word}}": `error max of "word-count" must be a number, found "three"`,
		"{{none}}": `error max of "word-count" must be a number, found " "`,
	} {
		a := assertion.Of(value.ObjectOf("type", "word-count", "value", value.ObjectOf("max", limit)), "/a")
		if v := c.Decide(t.Context(), a, row); v.Status.String()+" "+v.Reason != want {
			t.Errorf("%s: %v, %s", limit, v.Status, v.Reason)
		}
	}
}

// lookup renders a template that is one variable.
type lookup struct{}

func (lookup) Render(_ context.Context, text string, vars *value.Object) (string, error) {
	return value.ToString(vars.At(strings.Trim(text, "{}"))), nil
}

func (lookup) Check(string) error { return nil }

func (lookup) Mark(_ context.Context, text string, _ *value.Object) (string, *value.Object, error) {
	return text, nil, nil
}

func (lookup) Needs(string) ([]string, error) { return nil, nil }

// TestValuesThatHoldThemselves: an infinite Go value is a mistake.
func TestValuesThatHoldThemselves(t *testing.T) {
	t.Parallel()
	m := map[string]any{}
	m["a"] = m
	_, mistakes := check.New(check.Options{}).Compile([]*proviso.Assertion{{Type: "equals", Value: m, Pointer: "/a"}})
	if len(mistakes) != 1 || mistakes[0].Pointer != "/a/value" || !strings.Contains(mistakes[0].Message, "nested too deep") {
		t.Errorf("got %v", mistakes)
	}
}
