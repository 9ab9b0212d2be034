package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// lineFixtures are values of one line with what promptfoo 0.123.1 decided about
// the output "hello".
const lineFixtures = "testdata/scripts/lines.jsonl"

// TestJavascriptLine checks how one line is read: as an expression, or as
// declarations and an expression.
func TestJavascriptLine(t *testing.T) {
	t.Parallel()
	code := script.New(script.Options{})
	t.Cleanup(func() { code.Close() })
	options := check.Options{Code: code, Templates: template.New(template.Options{})}
	strict := check.New(options)
	options.Lenient = true
	lenient := check.New(options)
	row := &check.Row{Output: &proviso.Output{Value: "hello"}}
	for _, rec := range readFixtures(t, lineFixtures) {
		a := &proviso.Assertion{Type: "javascript", Value: rec.text("value"), Pointer: "/a"}
		got := lenient.Decide(t.Context(), a, row)
		want, message := rec.text("reason"), "Custom function threw error: "
		switch rec.At("value") {
		case "import('fs')", "new Boolean(true)": // there are no files to import; a script returns a boxed value as the value in it
			continue
		}
		if (got.Status == proviso.Pass) != rec.At("pass") || got.Status == proviso.Errored || !sameScore(got.Score, rec.At("score")) {
			t.Errorf("%s: %s %v (%s), want %s", rec.text("value"), got.Status, got.Score, got.Reason, value.Stringify(rec.Object))
		}
		if strings.HasPrefix(want, message+"Unexpected token '") && !strings.Contains(want, "'const'") && !strings.Contains(want, "';'") && !strings.Contains(want, "'true'") {
			message = want // in the wording of V8
		}
		if strings.HasPrefix(want, message) && !strings.HasPrefix(got.Reason, message) {
			t.Errorf("%s: reason %q, want %q", rec.text("value"), got.Reason, want)
		}
		if unread := strings.Contains(want, "Unexpected ") || strings.Contains(want, "await is only"); (strict.Decide(t.Context(), a, row).Status == proviso.Errored) != unread {
			t.Errorf("%s: where mistakes are not forgiven, it is not an error", rec.text("value"))
		}
	}
}

// TestJavascriptUnread: code that fails each output causes a warning with its place.
func TestJavascriptUnread(t *testing.T) {
	t.Parallel()
	code := script.New(script.Options{})
	t.Cleanup(func() { code.Close() })
	c := check.New(check.Options{Code: code, Templates: template.New(template.Options{}), Lenient: true})
	set, mistakes := c.Compile([]*proviso.Assertion{
		{Type: "javascript", Value: "if (output) return true", Pointer: "/0"},
		{Type: "not-javascript", Value: "output.length > 0; if (x) true", Pointer: "/1"},
	})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	verdicts := set.Eval(t.Context(), &check.Row{Output: &proviso.Output{Value: "x"}})
	if verdicts[0].Status != proviso.Fail || verdicts[1].Status != proviso.Fail {
		t.Errorf("%+v", verdicts)
	}
	warnings := set.Prepare(nil, true)
	if len(warnings) != 1 || !warnings[0].Warning || warnings[0].Pointer != "/0/value" || !strings.Contains(warnings[0].Message, "write statements on several lines, with return") {
		t.Errorf("%v", warnings)
	}
}

// TestTransformLine: a transform of one line is put after return, as in promptfoo.
func TestTransformLine(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for text, want := range map[string]any{
		"output.trim()":              "x",
		"output.trim();":             "x",
		"output.trim(); // the text": "x",
		"output.trim(); nothing":     "x",
		"({a: 1}).a;":                1.0,
	} {
		f, err := c.Transform(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := f.Apply(t.Context(), " x ", &check.Row{Vars: value.NewObject(0)}); got != want || err != nil {
			t.Errorf("%s: %v %v, want %v", text, got, err, want)
		}
	}
	var syntax *proviso.ScriptError
	if _, err := c.Transform("output b"); !errors.As(err, &syntax) || syntax.Column != 8 {
		t.Errorf("the place of a mistake: %+v", syntax)
	}
}
