package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// rewriter reads a suite whose cases a hook may rewrite.
func rewriter(t *testing.T, text string) (*proviso.Suite, proviso.CaseRewriter) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "proviso.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Facts: facts})
	if err := mistakes.Err(); err != nil {
		t.Fatal(err)
	}
	return s, s.CaseSource.(proviso.CaseRewriter)
}

const rewritten = `
prompts: [p]
providers: [echo]
defaultTest: {assert: [{type: contains, value: x}], options: {provider: {id: echo, config: {apiKey: sesame}}}}
tests: [{vars: {a: 1}, metadata: {m: 1}}, {vars: {a: [b, c]}}]
`

// TestRewrite: only the parts that a hook changed are different.
func TestRewrite(t *testing.T) {
	t.Parallel()
	s, source := rewriter(t, rewritten)
	var first *proviso.Case
	for c := range s.Cases() {
		first = c
		break
	}
	same, err := source.Rewrite(first, first.Raw, "/x", "h.py:f")
	if err != nil || same != first {
		t.Errorf("a case that was not changed is another: %v", err)
	}
	test := first.Raw.Clone()
	test.Set("vars", value.ObjectOf("a", 2.0, "b", "new"))
	test.Set("threshold", 0.5)
	test.Delete("metadata")
	got, err := source.Rewrite(first, test, "/x", "h.py:f")
	if err != nil {
		t.Fatal(err)
	}
	if value.Stringify(got.Vars) != `{"a":2,"b":"new"}` || *got.Threshold != 0.5 || got.Metadata != nil || got.ID != first.ID || len(got.Assert) != 1 || got.Origin != "h.py:f" {
		t.Errorf("got %+v", got)
	}
	grader, _ := got.Options.Grader.(*value.Object)
	if config, _ := grader.At("config").(*value.Object); config.At("apiKey") != "sesame" {
		t.Error("what the hook did not see is gone")
	}
	if first.Raw.Has("threshold") || !first.Raw.Has("metadata") {
		t.Error("the case itself was changed")
	}
	test.Set("assert", []any{value.ObjectOf("type", "equals", "valu", "x")})
	if _, err := source.Rewrite(first, test, "/x", "h.py:f"); err == nil || !strings.Contains(err.Error(), `h.py:f: unknown key "valu"`) {
		t.Errorf("a mistake gives %v", err)
	}
}

// TestRewritten replaces all cases.
func TestRewritten(t *testing.T) {
	t.Parallel()
	_, source := rewriter(t, rewritten)
	tests := []any{
		value.ObjectOf("vars", value.ObjectOf("a", []any{"x", "y"})),
		value.ObjectOf("vars", value.ObjectOf("a", "z"), "assert", []any{value.ObjectOf("type", "equals", "value", "z")}),
	}
	describe := func(defaults *value.Object) string {
		var list []string
		for c, err := range source.Rewritten(tests, defaults, "/x", "h.py:f").Cases() {
			if err != nil {
				list = append(list, err.Error())
				continue
			}
			list = append(list, c.Origin+" "+value.Stringify(c.Vars)+strings.Repeat("!", len(c.Assert)))
		}
		return strings.Join(list, "|")
	}
	if got, want := describe(nil), `h.py:f, case 1 {"a":"x"}|h.py:f, case 1 {"a":"y"}|h.py:f, case 2 {"a":"z"}!`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	defaults := value.ObjectOf("vars", value.ObjectOf("b", 1.0), "assert", []any{value.ObjectOf("type", "contains", "value", "z")})
	if got, want := describe(defaults), `h.py:f, case 1 {"b":1,"a":"x"}!|h.py:f, case 1 {"b":1,"a":"y"}!|h.py:f, case 2 {"b":1,"a":"z"}!!`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tests = append(tests, 3.0)
	if got := describe(nil); !strings.HasSuffix(got, "|h.py:f, case 3: expected a case, got the number 3") {
		t.Errorf("got %s", got)
	}
}
