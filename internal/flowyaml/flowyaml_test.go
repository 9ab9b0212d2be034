package flowyaml_test

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/flowyaml"
	"github.com/proviso-eval/proviso/value"
)

func lines(t testing.TB, file string) [][]any {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list [][]any
	for sc := bufio.NewScanner(f); sc.Scan(); {
		v, err := value.ParseJSON(sc.Text())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v.([]any))
	}
	if len(list) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return list
}

// written makes values without a JSON form comparable with the records: {"$num":
// "NaN"}, and {"$sym": 1} for the merge key as a value.
func written(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return value.ObjectOf("$num", value.FormatNumber(v))
		}
	case value.Undefined:
		return value.ObjectOf("$sym", 1.0)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = written(e)
		}
		return out
	case *value.Object:
		o := value.NewObject(v.Len())
		for k, e := range v.All() {
			o.Set(k, written(e))
		}
		return o
	}
	return v
}

// TestParse compares mappings with the results of js-yaml 5.2: a record is the text,
// with {"v": value} or {"e": error}.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, rec := range lines(t, "testdata/mappings.jsonl") {
		text, want := rec[0].(string), rec[1].(*value.Object)
		o, err := flowyaml.Parse(text)
		switch v, ok := want.Get("v"); {
		case ok != (err == nil):
			t.Errorf("%q: got %s (%v), want %s", text, value.Stringify(written(o)), err, value.Stringify(want))
		case ok && value.Stringify(written(o)) != value.Stringify(v):
			t.Errorf("%q: got %s, want %s", text, value.Stringify(written(o)), value.Stringify(v))
		}
	}
}

func all(t testing.TB, text string) []any {
	t.Helper()
	list := []any{}
	for o, err := range flowyaml.Objects(text) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, written(o))
	}
	return list
}

// TestObjects compares the objects in texts with records: text, list of objects.
func TestObjects(t *testing.T) {
	t.Parallel()
	for _, rec := range lines(t, "testdata/objects.jsonl") {
		if got, want := value.Stringify(all(t, rec[0].(string))), value.Stringify(rec[1]); got != want {
			t.Errorf("%q: got %s, want %s", rec[0], got, want)
		}
	}
}

// TestWindow: an object of more than 100,000 UTF-16 units is cut off.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"just fits", `{"a":"` + strings.Repeat("x", 99_992) + `"} {"b":1}`, 2},
		{"only the brace is cut off", `{"a":"` + strings.Repeat("x", 99_993) + `"} {"b":1}`, 2},
		{"cut off inside a string", `{"a":"` + strings.Repeat("x", 99_994) + `"} {"b":1}`, 1},
		{"two bytes are one unit", `{"a":"` + strings.Repeat("é", 99_992) + `"} {"b":1}`, 2},
		{"four bytes are two units", `{"a":"` + strings.Repeat("😀", 49_996) + `"} {"b":1}`, 2},
		{"four bytes too long", `{"a":"` + strings.Repeat("😀", 49_997) + `"} {"b":1}`, 1},
	} {
		if got := len(all(t, tt.text)); got != tt.want {
			t.Errorf("%s: %d objects, want %d", tt.name, got, tt.want)
		}
	}
}

// TestHostile bounds the time for texts that cause many retries.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"braces":            strings.Repeat("{", 20_000),
		"open mappings":     strings.Repeat("{a: ", 6_000),
		"open JSON":         strings.Repeat(`{"a":`, 12_000),
		"balanced, broken":  strings.Repeat(`{"a":`, 8_000) + "'" + strings.Repeat("}", 8_000),
		"braces in remarks": strings.Repeat("a, # {\n", 3_000),
		"slashes":           strings.Repeat("{a//", 16_000),
		"open quotes":       strings.Repeat(`{" `, 20_000),
		"aliases":           "{a: &a [1], " + strings.Repeat("b: &a [*a,*a,*a,*a], ", 2_000),
		"merges":            "{a: &a {k: 1}, " + strings.Repeat("b: &a {<<: *a, x: 1}, ", 2_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			for _, err := range flowyaml.Objects(text) {
				var e *proviso.Error
				if err != nil && (!errors.As(err, &e) || e.Code != proviso.Limit) {
					t.Fatal(err)
				}
			}
			if took := time.Since(start); took > time.Minute { // slow code takes hours here
				t.Errorf("took %v", took)
			}
			t.Log(time.Since(start))
		})
	}
}

func TestStopsWhenNobodyWantsMore(t *testing.T) {
	t.Parallel()
	n := 0
	for range flowyaml.Objects("{} {} {}") {
		n++
		break
	}
	if n != 1 {
		t.Error(n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "{a: &x [1], b: *x}", "{<<: {a: 1}, ? k : v}", "{a: \"x\\\n y\", 'b''c': d\n e}",
		"{a: !!set {x}, b: !!omap [c: 1], d: !!binary aGk=, e: !!int 0b1, f: !<tag:yaml.org,2002:str> 1}", "{a: 2024-01-01 10:00:00.5 +01:00}", "{a: 1} # c\n...\n", "{a: &a {b: *a}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := flowyaml.Parse(text)
		if (o == nil) == (err == nil) && err != nil {
			t.Errorf("%q: %v and %v", text, o, err)
		}
	})
}

func FuzzObjects(f *testing.F) {
	for _, s := range []string{`x {"a":1} y {b: 2`, "{a: 1, // c {\n b: 2}", "{{{}", "{a: 'x // y', u: http://z}", "}{", "{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for o, err := range flowyaml.Objects(text) {
			if n++; (o == nil) == (err == nil) || n > strings.Count(text, "{") {
				t.Fatalf("%q: %v, %v", text, o, err)
			}
		}
	})
}

func BenchmarkObjects(b *testing.B) {
	for name, text := range map[string]string{
		"json":   `Here you are: {"id": 12, "name": "item-00012", "tags": ["a", "b", "c"], "summary": "some words about it"} Bye.`,
		"python": `Here you are: {'id': 12, 'name': 'item-00012', 'tags': ['a', 'b', 'c'], 'ok': True, 'summary': "it's"} Bye.`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(all(b, text)) != 1 {
					b.Fatal("not found")
				}
			}
		})
	}
}

// TestObjectsManyIndices reads the largest possible object with keys that are array
// indices, in the worst order.
func TestObjectsManyIndices(t *testing.T) {
	t.Parallel()
	const n = 10_000
	var text strings.Builder
	for i := n; i > 0; i-- {
		fmt.Fprintf(&text, "%d: 1, ", i)
	}
	for o, err := range flowyaml.Objects("{" + text.String() + "}") {
		if err != nil || o.Len() != n || o.Keys()[0] != "1" {
			t.Errorf("%d keys, %v", o.Len(), err)
		}
	}
}
