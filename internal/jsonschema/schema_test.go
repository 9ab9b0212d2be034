package jsonschema_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jsonschema"
	"github.com/proviso-eval/proviso/value"
)

// goPattern stands in for the ECMAScript engine; the patterns here have the same
// meaning in both.
func goPattern(pattern, _ string) (jsonschema.Matcher, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, s string) (bool, error) { return re.MatchString(s), nil }, nil
}

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(parse(t, text), jsonschema.Options{Pattern: goPattern})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func lines(t testing.TB, file string) []any {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []any
	for sc := bufio.NewScanner(f); sc.Scan(); {
		list = append(list, parse(t, sc.Text()))
	}
	if len(list) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return list
}

// TestAjv compares verdicts, texts and details with those of Ajv 8.20 with ajv-formats
// 3.0.1. A record is a schema with values and their mistakes, or with the error of
// compiling it.
func TestAjv(t *testing.T) {
	t.Parallel()
	for _, line := range lines(t, "testdata/ajv.jsonl") {
		rec := line.(*value.Object)
		text := value.Stringify(rec.At("schema"))
		s, err := jsonschema.Compile(rec.At("schema"), jsonschema.Options{Pattern: goPattern})
		if rec.Has("error") != (err != nil) {
			t.Errorf("compile %s: got error %v, want %v", text, err, rec.At("error"))
		}
		if err != nil {
			continue
		}
		data, _ := rec.At("data").([]any)
		for _, d := range data {
			pair := d.([]any)
			checkVerdict(t, s, text, pair[0], pair[1])
		}
	}
}

func checkVerdict(t *testing.T, s *jsonschema.Schema, schema string, v, want any) {
	t.Helper()
	mistakes, err := s.Validate(v)
	if err != nil {
		t.Errorf("%s on %s: %v", schema, value.Stringify(v), err)
		return
	}
	recorded, failed := want.(*value.Object)
	if !failed {
		if mistakes != nil {
			t.Errorf("%s on %s: got %s, want none", schema, value.Stringify(v), jsonschema.ErrorsText(mistakes))
		}
		return
	}
	list := make([]any, len(mistakes))
	for i, m := range mistakes {
		list[i] = m.Object()
	}
	if got := value.Stringify(list); got != value.Stringify(recorded.At("errors")) || jsonschema.ErrorsText(mistakes) != recorded.At("text") {
		t.Errorf("%s\n on %s:\n got  %s\n want %s", schema, value.Stringify(v), got, value.Stringify(recorded.At("errors")))
	}
}

// TestFormats compares every format with recorded answers of ajv-formats.
func TestFormats(t *testing.T) {
	t.Parallel()
	schemas := map[string]*jsonschema.Schema{}
	for _, line := range lines(t, "testdata/formats.jsonl") {
		rec := line.([]any)
		name, text, want := rec[0].(string), rec[1].(string), rec[2].(bool)
		if schemas[name] == nil {
			schemas[name] = compile(t, `{"format":"`+name+`"}`)
		}
		mistakes, err := schemas[name].Validate(text)
		if got := mistakes == nil; got != want || err != nil {
			t.Errorf("%s %q: got %v (%v), want %v", name, text, got, err, want)
		}
	}
}

func TestNumberFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format string
		value  float64
		want   bool
	}{
		{"int32", 1<<31 - 1, true}, {"int32", 1 << 31, false}, {"int32", -1 << 31, true}, {"int32", 1.5, false},
		{"int64", 1e300, true}, {"int64", 0.5, false}, {"float", 0.5, true}, {"double", 1e300, true},
	} {
		mistakes, err := compile(t, `{"format":"`+tt.format+`"}`).Validate(tt.value)
		if got := mistakes == nil; got != tt.want || err != nil {
			t.Errorf("%s %v: got %v (%v), want %v", tt.format, tt.value, got, err, tt.want)
		}
	}
}

func TestFormatRegex(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"format":"regex"}`)
	for text, want := range map[string]bool{`a+`: true, `(`: false, `a\Z`: false, `\Z`: false, `a\\Z`: true} {
		if mistakes, _ := s.Validate(text); (mistakes == nil) != want {
			t.Errorf("%q: got %v, want %v", text, mistakes == nil, want)
		}
	}
}

func TestLax(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"foo":1}`, `{"format":"nope"}`, `{"then":{}}`, `{"additionalItems":false}`, `{"properties":{"ab":{}},"patternProperties":{"^a":{"type":"null"}}}`} {
		if _, err := jsonschema.Compile(parse(t, text), jsonschema.Options{Pattern: goPattern}); err == nil {
			t.Errorf("%s: no error in strict mode", text)
		}
		if _, err := jsonschema.Compile(parse(t, text), jsonschema.Options{Pattern: goPattern, Lax: true}); err != nil {
			t.Errorf("%s: %v in lax mode", text, err)
		}
	}
}

func TestMistakesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"objekt"}`:          "schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf",
		`[]`:                         "schema is invalid: data must be object,boolean",
		`"x"`:                        "schema must be object or boolean",
		`{"$schema":"http://x/"}`:    `no schema with key or ref "http://x/"`,
		`{"example":1}`:              `strict mode: unknown keyword: "example"`,
		`{"format":"nope"}`:          `unknown format "nope" ignored in schema at path "#"`,
		`{"$ref":"#/definitions/a"}`: "can't resolve reference #/definitions/a from id",
	} {
		_, err := jsonschema.Compile(parse(t, text), jsonschema.Options{})
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestUnknownKeywordIsTold(t *testing.T) {
	t.Parallel()
	_, err := jsonschema.Compile(parse(t, `{"prefixItems":[]}`), jsonschema.Options{})
	var k *jsonschema.KeywordError
	if !errors.As(err, &k) || k.Keyword != "prefixItems" {
		t.Errorf("got %v", err)
	}
}

func TestPatternsNeedAnEngine(t *testing.T) {
	t.Parallel()
	_, err := jsonschema.Compile(parse(t, `{"pattern":"a"}`), jsonschema.Options{})
	var e *proviso.Error
	if !errors.As(err, &e) || e.Code != proviso.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestPatternThatGivesUpIsAnError(t *testing.T) {
	t.Parallel()
	limit := errors.New("too slow")
	s, err := jsonschema.Compile(parse(t, `{"not":{"pattern":"a"}}`), jsonschema.Options{
		Pattern: func(string, string) (jsonschema.Matcher, error) {
			return func(context.Context, string) (bool, error) { return false, limit }, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Validate("x"); !errors.Is(err, limit) {
		t.Errorf("got %v, want %v", err, limit)
	}
}

// TestEndless checks the limits with schemas that need more work than any value should.
func TestEndless(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	for schema, value := range map[string]string{
		`{"$ref":"#"}`: `1`,
		`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`: deep,
	} {
		_, err := compile(t, schema).Validate(parse(t, value))
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit {
			t.Errorf("%s: got %v, want a limit", schema, err)
		}
	}
}

func TestDeepSchema(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"items":`, 9_000) + "{}" + strings.Repeat("}", 9_000)
	if _, err := jsonschema.Compile(parse(t, text), jsonschema.Options{}); err == nil {
		t.Error("no error")
	}
}

func TestReferencesInACircle(t *testing.T) {
	t.Parallel()
	text := `{"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`
	if _, err := jsonschema.Compile(parse(t, text), jsonschema.Options{}); err == nil {
		t.Error("no error")
	}
}

func TestManyUniqueItemsAreQuick(t *testing.T) {
	t.Parallel()
	list := make([]any, 100_000)
	for i := range list {
		list[i] = value.ObjectOf("i", float64(i))
	}
	s := compile(t, `{"uniqueItems":true}`)
	if mistakes, err := s.Validate(list); mistakes != nil || err != nil {
		t.Fatal(mistakes, err)
	}
	list[7] = value.ObjectOf("i", 99_999.0)
	mistakes, err := s.Validate(list)
	if want := "data must NOT have duplicate items (items ## 7 and 99999 are identical)"; err != nil || jsonschema.ErrorsText(mistakes) != want {
		t.Errorf("got %s (%v), want %s", jsonschema.ErrorsText(mistakes), err, want)
	}
}

const (
	benchSchema = `{"type":"object","required":["id","name","tags","summary"],"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":3,"format":"hostname"},"tags":{"type":"array","items":{"type":"string"},"minItems":1},"summary":{"anyOf":[{"type":"null"},{"type":"string"}]}},"additionalProperties":false}`
	benchValue  = `{"id": 12, "name": "item-00012", "tags": ["a", "b", "c"], "summary": "some words that say what the item is about"}`
)

func TestNothingIsAllocatedForAValueThatConforms(t *testing.T) {
	s, v := compile(t, benchSchema), parse(t, benchValue)
	if n := testing.AllocsPerRun(100, func() {
		if mistakes, err := s.Validate(v); mistakes != nil || err != nil {
			t.Fatal(mistakes, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkValidate(b *testing.B) {
	s, v := compile(b, benchSchema), parse(b, benchValue)
	b.ReportAllocs()
	for b.Loop() {
		if mistakes, err := s.Validate(v); mistakes != nil || err != nil {
			b.Fatal(mistakes, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	v := parse(b, benchSchema)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonschema.Compile(v, jsonschema.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(benchSchema, benchValue)
	f.Add(`{"$ref":"#/definitions/a","definitions":{"a":{"items":{"$ref":"#"}}}}`, `[[1]]`)
	f.Add(`{"$id":"http://a/b","properties":{"$ref":{"$ref":"c#x"}},"$defs":{"c":{"$id":"c","$anchor":"x"}}}`, `{"$ref":1}`)
	f.Add(`{"if":{"format":"uri"},"then":{"pattern":"a"},"else":{"uniqueItems":true}}`, `"a:/b"`)
	f.Add(`{"dependencies":{"a":["b"],"c":{"not":{}}},"propertyNames":{"maxLength":1},"patternProperties":{"a":{"enum":[{}]}}}`, `{"a":{},"c":1}`)
	for _, name := range []string{"date-time", "duration", "uri-reference", "uri-template", "url", "email", "ipv6", "byte", "relative-json-pointer"} {
		f.Add(`{"format":"`+name+`"}`, `"P1Y::1@a.b/{c}"`)
	}
	f.Fuzz(func(t *testing.T, schema, val string) {
		sv, err := value.ParseJSON(schema)
		if err != nil {
			return
		}
		v, err := value.ParseJSON(val)
		if err != nil {
			return
		}
		s, err := jsonschema.Compile(sv, jsonschema.Options{Pattern: goPattern})
		if err != nil {
			return
		}
		if mistakes, err := s.Validate(v); err == nil && mistakes != nil && jsonschema.ErrorsText(mistakes) == "" {
			t.Errorf("%s on %s: mistakes without a text", schema, val)
		}
	})
}
