package template_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

//go:embed testdata/nunjucks.json
var recorded string

func newEngine(t testing.TB, o template.Options) *template.Engine {
	t.Helper()
	e := template.New(o)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func isCode(err error, codes ...string) bool {
	var e *proviso.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// TestRecorded compares with the results of nunjucks 3.2.4 in Node.
func TestRecorded(t *testing.T) {
	t.Parallel()
	v, err := value.ParseJSON(recorded)
	if err != nil {
		t.Fatal(err)
	}
	list := v.([]any)
	if len(list) < 220 {
		t.Fatalf("only %d snippets", len(list))
	}
	e := newEngine(t, template.Options{Env: func() *value.Object {
		return value.ObjectOf("HOME_CITY", "Oslo", "EMPTY", "")
	}}).Including(func(name string) (string, error) {
		return "", proviso.Errorf(proviso.NotFound, "no such file")
	})
	place := regexp.MustCompile(`^\(unknown path\) \[Line (\d+), Column (\d+)\]\n\s*(.*)`)
	for _, entry := range list {
		o := entry.(*value.Object)
		text := o.At("template").(string)
		got, err := e.Render(t.Context(), text, o.At("vars").(*value.Object))
		if want, ok := o.At("output").(string); ok {
			if err != nil || got != want {
				t.Errorf("%q renders as %q, %v, want %q", text, got, err, want)
			}
			continue
		}
		message := o.At("error").(string)
		if !isCode(err, proviso.Invalid, proviso.Undecided, proviso.NotFound) {
			t.Errorf("%q renders as %q, %v, want an error like %q", text, got, err, message)
			continue
		}
		if _, name, missing := strings.Cut(message, "template not found: "); missing { // found before rendering
			if want := fmt.Sprintf("including %q: no such file", name); !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%q gives the error %q, want %q", text, err, want)
			}
			continue
		}
		if m := place.FindStringSubmatch(message); m != nil {
			if want := fmt.Sprintf("template, line %s, column %s: %s", m[1], m[2], m[3]); err.Error() != want {
				t.Errorf("%q gives the error %q, want %q", text, err, want)
			}
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "{": false, "a { b }} %}": false, "{ {": false, "{{": true, "a{%": true, "x {#": true,
		"{ {{": true, "{{{": true, "#}": true, `{"a":{"b":1}}`: false,
	} {
		if got := template.Has(text); got != want {
			t.Errorf("Has(%q) = %v", text, got)
		}
	}
}

func TestCompileMistakes(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{})
	for text, want := range map[string]string{
		"a\n  {{ x y }}":         "template, line 2, column 8: expected variable end",
		"{{{x}}}":                "template, line 1, column 3: parseAggregate: expected colon after dict key",
		"{% if x %}":             "template: parseIf: expected elif, else, or endif, got end of file",
		"#}":                     "template: unexpected end of comment",
		"{# open":                "template: expected end of comment, got end of file",
		"{{ x | uper }}":         "template, line 1, column 8: filter not found: uper",
		"{% nope %}":             "template, line 1, column 4: unknown block tag: nope",
		"{% set a = 1 | nope %}": "template, line 1, column 16: filter not found: nope",
	} {
		_, err := e.Compile(text)
		if !isCode(err, proviso.Invalid) || err.Error() != want {
			t.Errorf("Compile(%q): %v, want %s", text, err, want)
		}
	}
	var known *proviso.Error
	if err := e.Check("{{ x | uper }}"); !errors.As(err, &known) || !slices.Contains(known.Valid, "upper") {
		t.Errorf("an unknown filter does not list the known ones: %v", err)
	}
	for _, text := range []string{"{% if x %}{{ x | nope }}{% endif %}", "{{ x }}", "{{ 'a' | upper }}", ""} {
		if err := e.Check(text); err != nil {
			t.Errorf("Check(%q): %v", text, err)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{})
	for text, want := range map[string]string{
		"":                                    "",
		"{{ a }} {{ b.c }} {{ a }}":           "a b",
		"{{ env.X }} {{ a[0] }}":              "a",
		"{{ a | upper }}{{ b | default(c) }}": "a c",
		"{% if a %}{{ a }}{{ b }}{% endif %}": "b",
		"{% for x, y in list %}{{ x }}{{ y }}{{ loop.index }}{% endfor %}": "list",
		"{% set q = w %}{{ q }}": "w",
		"{% macro m(a, b=c) %}{{ a }}{{ b }}{{ d }}{% endmacro %}{{ m(e, b=f) }}":               "c d e f",
		"{{ x is defined }}{{ y or z }}{{ 'a' if u else v }}":                                   "v z",
		"{{ o[key].p }}{{ {k: w}.k }}{{ range(n) }}{{ a.split(s) }}":                            "a key n o s w",
		"{% switch a %}{% case b %}{{ c }}{% default %}{{ d }}{% endswitch %}":                  "a b c d",
		"{% call(x) m(y) %}{{ x }}{{ z }}{% endcall %}{% filter upper %}{{ t }}{% endfilter %}": "m t y z",
	} {
		c, err := e.Compile(text)
		if err != nil {
			t.Errorf("Compile(%q): %v", text, err)
			continue
		}
		got := slices.Clone(c.Variables())
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("Variables of %q = %q, want %q", text, got, want)
		}
	}
}

func TestResultsAreNotRenderedAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{})
	vars := value.ObjectOf("a", "{{ b }} {% if %}", "b", "no")
	for _, text := range []string{"{{ a }}", "{{ a | trim }}", "x{{ a }}"} {
		if got, err := e.Render(t.Context(), text, vars); err != nil || !strings.HasSuffix(got, "{{ b }} {% if %}") {
			t.Errorf("%q renders as %q, %v", text, got, err)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{Filters: map[string]string{
		"twice":  "module.exports = (s) => s + s;",
		"upper":  "exports.default = function (s) { return 'U' + s; };",
		"data":   "module.exports = { a: 1 };",
		"broken": "module.exports = (",
		"peek":   "module.exports = function (s) { return this.ctx[s]; };",
	}})
	vars := value.ObjectOf("v", "ab", "hidden", "seen")
	for text, want := range map[string]string{
		"{{ v | twice }}":          "abab",
		"{{ v | upper }}":          "Uab",
		"{{ 'hidden' | peek }}":    "seen",
		"{{ v | twice | length }}": "4",
	} {
		if got, err := e.Render(t.Context(), text, vars); err != nil || got != want {
			t.Errorf("%q renders as %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"{{ v | broken }}": "filter broken: ",
		"{{ v | data }}":   "filter data: the file exports no function",
	} {
		if _, err := e.Render(t.Context(), text, vars); !isCode(err, proviso.Undecided) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

func TestHostileTemplates(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{Timeout: 300 * time.Millisecond, Memory: 32 << 20})
	nested := strings.Repeat("{% if x %}", 20000) + strings.Repeat("{% endif %}", 20000)
	for _, text := range []string{
		"{% for i in range(1000000000) %}{% endfor %}",
		"{% for i in range(100000) %}{% for j in range(100000) %}{% set z = j %}{% endfor %}{% endfor %}",
		"{% set s = 'xxxxxxxxxxxxxxxx' %}" + strings.Repeat("{% set s = s ~ s %}", 40) + "{{ s }}",
		"{{ 'x'.repeat(1000000000) }}",
		"{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
		"{{ r/^(a+)+$/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!') }}",
		"{{ range.constructor('for(;;);')() }}",
		nested,
		strings.Repeat("{{ (", 1) + strings.Repeat("(", 100000) + "1",
	} {
		start := time.Now()
		got, err := e.Render(t.Context(), text, nil)
		if !isCode(err, proviso.Timeout, proviso.Limit) {
			t.Errorf("%.60q renders as %.60q, %v", text, got, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%.60q took %v", text, took)
		}
	}
	if got, err := e.Render(t.Context(), "{{ 1 + 1 }}", nil); err != nil || got != "2" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{Timeout: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Render(ctx, "{% for i in range(1000000000) %}{% endfor %}", nil); err == nil {
		t.Error("a cancelled rendering has no error")
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			vars := value.ObjectOf("v", fmt.Sprint(i), "list", []any{1.0, 2.0})
			for range 20 {
				for text, want := range map[string]string{"<{{ v }}>": fmt.Sprintf("<%d>", i), "{{ list | join('-') }}{{ v }}": fmt.Sprintf("1-2%d", i)} {
					if got, err := e.Render(t.Context(), text, vars); err != nil || got != want {
						t.Errorf("%q renders as %q, %v", text, got, err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestManyTemplates(t *testing.T) {
	t.Parallel()
	e := newEngine(t, template.Options{})
	for i := range 1500 {
		if got, err := e.Render(t.Context(), fmt.Sprintf("{{ 'x' ~ %d }}", i%1200), nil); err != nil || got != fmt.Sprintf("x%d", i%1200) {
			t.Fatalf("%d: %q, %v", i, got, err)
		}
	}
}

// FuzzPlain compares templates rendered in Go with the same ones rendered by
// nunjucks, which an empty comment forces.
func FuzzPlain(f *testing.F) {
	vars := `{"a":"text","b":{"c":[1,null,{"d":true}],"length":3,"k k":"v"},"n":1.50,"z":null,"list":["x",[2]],"o":{"toString":1},"e":"é😀","env":{"A":"b"}}`
	for _, text := range []string{
		"{{ a }}", "{{a}}{{ b.c }}", "x{{ b.c[2].d }}y", "{{ b['k k'] }}{{ list[1][0] }}", "{{ n }} {{ z }} {{ b }}", "{{ a.length }}",
		"{{ o }}", "{{ list.length }}", "{{ toString }}", "{{ a[0] }}{{ e }}", "{{ {{ a }}", "{ {{ a }} }", "{{ a }}}", "{{ env.A }}", "{{ true }}",
		"{{ a -}} b", "{{- a }}", "{{ b . c }}", "{{ list[01] }}", "{{ b.c.d.e }}", "{{a.b}} #} ", "{{ a\u00a0}}", "{{ b.if }}", "{{ missing.x[0] }}",
	} {
		f.Add(text, vars)
	}
	e := template.New(template.Options{Timeout: 5 * time.Second})
	f.Cleanup(func() { _ = e.Close() })
	f.Fuzz(func(t *testing.T, text, data string) {
		if len(text) > 1000 || len(data) > 1000 || !utf8.ValidString(text+data) || strings.Contains(text, "constructor") {
			return
		}
		v, err := value.ParseJSON(data)
		object, ok := v.(*value.Object)
		if err != nil || !ok {
			return
		}
		got, err1 := e.Render(t.Context(), text, object)
		want, err2 := e.Render(t.Context(), "{##}"+text, object)
		if (err1 == nil) != (err2 == nil) || got != want {
			t.Errorf("%q with %s renders as %q, %v, and in nunjucks as %q, %v", text, data, got, err1, want, err2)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	e := newEngine(b, template.Options{})
	vars := value.ObjectOf("output", "The quick brown fox.", "user", value.ObjectOf("name", "Ada"), "list", []any{1.0, 2.0})
	for _, text := range []string{"{{output}}", "Say {{ output }} to {{ user.name }}!", "{{ output | upper }}", "{% for x in list %}{{ x }},{% endfor %}"} {
		b.Run(text, func(b *testing.B) {
			c, err := e.Compile(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Render(b.Context(), vars); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		e := template.New(template.Options{})
		if _, err := e.Render(b.Context(), "{{ 1 + 1 }}", nil); err != nil {
			b.Fatal(err)
		}
		_ = e.Close()
	}
}
