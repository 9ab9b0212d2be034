package check_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/script"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// TestJavascriptVerdicts compares with the recorded verdicts, reasons included.
func TestJavascriptVerdicts(t *testing.T) {
	t.Parallel()
	const corpus = "../conformance/corpus"
	code := script.New(script.Options{})
	t.Cleanup(func() { code.Close() })
	c := check.New(check.Options{Code: code, Templates: template.New(template.Options{}), Files: dirFiles(filepath.Join(corpus, "fixtures"))})
	for _, rec := range readFixtures(t, filepath.Join(corpus, "javascript.jsonl")) {
		if rec.Has("quirk") {
			continue
		}
		restore(rec.Object)
		want := rec.At("expect").(*value.Object)
		got := rec.decide(t, c)
		switch {
		case want.Has("error"):
			if got.Status != proviso.Errored {
				t.Errorf("%s: %s, want an error", rec.text("id"), got.Status)
			}
			continue
		case got.Status == proviso.Errored && want.At("pass") == false && want.At("score") == 0.0 && neverRan(want):
			continue
		case got.Status == proviso.Errored, (got.Status == proviso.Pass) != want.At("pass"), !sameScore(got.Score, want.At("score")):
			t.Errorf("%s: %s %v (%s), want %s", rec.text("id"), got.Status, got.Score, got.Reason, value.Stringify(want))
			continue
		}
		reason, _ := want.At("reason").(string)
		if want.At("reasonMode") != "prefix" && got.Reason != reason {
			t.Errorf("%s: reason %q, want %q", rec.text("id"), got.Reason, reason)
		}
		if named, ok := want.At("namedScores").(*value.Object); ok && named.Len() != len(got.Named) {
			t.Errorf("%s: named scores %v, want %v", rec.text("id"), got.Named, value.Stringify(named))
		}
	}
}

// neverRan reports whether the recorded failure is a script that did not run.
func neverRan(want *value.Object) bool {
	reason, _ := want.At("reason").(string)
	return strings.Contains(reason, "Unexpected token 'return'") || strings.Contains(reason, "must have a string value")
}

func sameScore(got float64, want any) bool {
	w, ok := want.(float64)
	return ok && (math.Abs(got-w) <= 1e-9 || (math.IsNaN(got) && math.IsNaN(w)))
}

// restore puts the values that JSON lacks in place of {"$js": name}.
func restore(o *value.Object) {
	for _, k := range o.Keys() {
		v, ok := o.At(k).(*value.Object)
		if !ok {
			continue
		}
		switch v.At("$js") {
		case "NaN":
			o.Set(k, math.NaN())
		case "undefined":
			o.Set(k, value.Undefined{})
		default:
			restore(v)
		}
	}
}

func TestJavascriptComponents(t *testing.T) {
	t.Parallel()
	a := &proviso.Assertion{Type: "javascript", Value: "({pass: true, score: 1, reason: 'r', componentResults: [{pass: true, score: 1, reason: 'c1'}, 5, " +
		"{pass: false, score: 0.5, reason: 'c2', assertion: {type: 'contains', value: 'x'}, componentResults: [{pass: false, score: 0, reason: 'c3'}]}]})"}
	v := compiler(t).Decide(t.Context(), a, &check.Row{Output: &proviso.Output{Value: "x"}})
	if v.Status != proviso.Pass || len(v.Components) != 2 {
		t.Fatalf("got %+v", v)
	}
	first, second := v.Components[0], v.Components[1]
	if first.Status != proviso.Pass || first.Assertion.Type != "javascript" || first.Reason != "c1" {
		t.Errorf("first component %+v", first)
	}
	if second.Status != proviso.Fail || second.Assertion.Type != "contains" || second.Score != 0.5 || len(second.Components) != 1 {
		t.Errorf("second component %+v", second)
	}
}

// Mistakes in the code have their place in the value as written.
func TestJavascriptMistakes(t *testing.T) {
	t.Parallel()
	c := compiler(t)
	for value, want := range map[string]string{
		"output.length > 2 +":      "line 1, column 20",
		"let a = 1; a b":           "line 1, column 14",
		"const a = 1;\nreturn a b": "line 2, column 10",
		"return true":              "leave out return",
		"file://x.ts":              "x.ts",
		"file://x.py":              "not a JavaScript file",
		"file://missing.js":        "missing.js",
	} {
		v := c.Decide(t.Context(), &proviso.Assertion{Type: "javascript", Value: value}, &check.Row{Output: &proviso.Output{Value: "x"}})
		if v.Status != proviso.Errored || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s %s, want %s", value, v.Status, v.Reason, want)
		}
	}
}

func BenchmarkJavascript(b *testing.B) {
	c := compiler(b)
	for _, bench := range []struct{ name, value string }{
		{"output", "output.length > 2 && output.includes('fox')"},
		{"context", "output.length > context.vars.n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			a := &proviso.Assertion{Type: "javascript", Value: bench.value}
			row := &check.Row{Output: &proviso.Output{Value: "A quick fox"}, Vars: value.ObjectOf("n", 3.0)}
			b.ReportAllocs()
			for b.Loop() {
				if v := c.Decide(b.Context(), a, row); v.Status != proviso.Pass {
					b.Fatal(v.Reason)
				}
			}
		})
	}
}
