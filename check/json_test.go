package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

const (
	itemSchema = `{"type":"object","required":["id","name","tags","summary"],"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":3},"tags":{"type":"array","items":{"type":"string"},"minItems":1},"summary":{"type":"string"}}}`
	itemOutput = `{"id": 12, "name": "item-00012", "tags": ["amber", "harbor", "violet"], "summary": "lantern copper meadow signal harbor velvet timber orchard lantern copper meadow signal harbor velvet timber orchard amber quartz willow ember"}`
)

func jsonAssertion(t testing.TB, kind, schema string) *proviso.Assertion {
	t.Helper()
	v, err := value.ParseJSON(schema)
	if err != nil {
		t.Fatal(err)
	}
	return &proviso.Assertion{Type: kind, Value: v, Threshold: value.Undefined{}}
}

func outputRow(text string) *check.Row {
	return &check.Row{Output: &proviso.Output{Value: text}, Vars: value.NewObject(0)}
}

func TestContainsJSONGivesUpOnHostileText(t *testing.T) {
	t.Parallel()
	a := jsonAssertion(t, "not-contains-json", `null`)
	v := check.New(check.Options{}).Decide(t.Context(), a, outputRow(strings.Repeat("a, # {\n", 40_000)))
	if v.Status != proviso.Errored {
		t.Errorf("got %s (%s), want an error", v.Status, v.Reason)
	}
}

func TestSchemaMistakesAreFoundWhenCompiling(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{})
	for schema, found := range map[string]bool{
		`{"type":"objekt"}`: true, `{"pattern":"["}`: true, `{"$ref":"#/a"}`: true, `{"format":"nope"}`: true, `{"pattern":"^\\p{L}+$"}`: false,
	} {
		_, mistakes := c.Compile([]*proviso.Assertion{jsonAssertion(t, "is-json", schema)})
		if (len(mistakes) > 0) != found {
			t.Errorf("%s: %v", schema, mistakes)
		}
		for _, m := range mistakes {
			var e *proviso.Error
			if !errors.As(m, &e) || e.Code != proviso.Invalid {
				t.Errorf("%s: %v", schema, m)
			}
		}
	}
}

func TestLaxSchemas(t *testing.T) {
	t.Parallel()
	a := jsonAssertion(t, "is-json", `{"type":"object","example":1}`)
	if v := check.New(check.Options{LaxSchemas: true}).Decide(t.Context(), a, outputRow("{}")); v.Status != proviso.Pass {
		t.Errorf("got %s (%s)", v.Status, v.Reason)
	}
}

// BenchmarkIsJSONSchema decides one row whose assertion was decoded again, like the
// rows of a JSONL suite.
func BenchmarkIsJSONSchema(b *testing.B) {
	c := check.New(check.Options{})
	row := outputRow(itemOutput)
	list := []*proviso.Assertion{jsonAssertion(b, "is-json", itemSchema)}
	b.Run("compiled", func(b *testing.B) {
		set, _ := c.Compile(list)
		b.ReportAllocs()
		for b.Loop() {
			if v := set.Eval(b.Context(), row); v[0].Status != proviso.Pass {
				b.Fatal(v[0].Reason)
			}
		}
	})
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			set, _ := c.Compile(list)
			if v := set.Eval(b.Context(), row); v[0].Status != proviso.Pass {
				b.Fatal(v[0].Reason)
			}
		}
	})
}

func BenchmarkContainsJSON(b *testing.B) {
	c := check.New(check.Options{})
	for name, text := range map[string]string{
		"prose":  "Here is the item you asked for:\n```json\n" + itemOutput + "\n```\nAnything else?",
		"python": "Here is the item: " + strings.NewReplacer(`"`, "'", "true", "True").Replace(itemOutput),
		"none":   strings.Repeat("no braces in here at all, only words ", 100),
		"code":   strings.Repeat("func f(a int) { if a > 0 { return g(a) } }\n", 100),
	} {
		set, _ := c.Compile([]*proviso.Assertion{jsonAssertion(b, "contains-json", itemSchema)})
		row := outputRow(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := set.Eval(b.Context(), row); v[0].Status == proviso.Errored {
					b.Fatal(v[0].Reason)
				}
			}
		})
	}
}
