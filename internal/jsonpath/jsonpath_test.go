package jsonpath_test

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/jsonpath"
	"github.com/proviso-eval/proviso/value"
)

// TestQueries compares paths with the answers of another implementation of RFC 9535
// (json-p3 2): a record is path, document and the list of values, or {"$error": …} for
// an invalid path.
func TestQueries(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/queries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		v, err := value.ParseJSON(sc.Text())
		if err != nil {
			t.Fatal(err)
		}
		rec := v.([]any)
		p, err := jsonpath.Compile(rec[0].(string))
		want, valid := rec[2].([]any)
		if valid != (err == nil) {
			t.Errorf("%s: got error %v, want %s", rec[0], err, value.Stringify(rec[2]))
		}
		if err != nil {
			continue
		}
		got, err := p.Select(rec[1])
		if err != nil || len(got) != len(want) || len(got) > 0 && value.Stringify(got) != value.Stringify(want) {
			t.Errorf("%s on %s: got %s (%v), want %s", rec[0], value.Stringify(rec[1]), value.Stringify(got), err, value.Stringify(want))
		}
	}
	if n == 0 {
		t.Error("no records")
	}
}

func TestMistakesHaveAPlace(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a":                              "a path begins with $ at character 1",
		"$.é[":                           "at character 5",
		"$[?@.a==1==2]":                  "expected , or ] at character 10",
		"$[?length(@)]":                  "compare it",
		"$[?@.*==1]":                     "only a path to one value",
		"$[?nope(@)]":                    "one of the functions",
		"$[?" + strings.Repeat("(", 300): "nest too deeply",
	} {
		_, err := jsonpath.Compile(path)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	list := make([]any, 200)
	for i := range list {
		list[i] = []any{1.0, 2.0}
	}
	for _, path := range []string{"$" + strings.Repeat("..*", 3) + strings.Repeat("[*,*,*,*,*,*,*,*]", 12), "$[?count($..*[?count($..*) > 1]) > 1]"} {
		p, err := jsonpath.Compile(path)
		if err != nil {
			t.Fatal(err)
		}
		var root any = list
		for range 15 {
			root = []any{root, list}
		}
		_, err = p.Select(root)
		var e *proviso.Error
		if !errors.As(err, &e) || e.Code != proviso.Limit {
			t.Errorf("%s: got %v, want a limit", path, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	doc, err := value.ParseJSON(`{"a":[{"b":"x","c":1},[2,[3]],null],"é":{"d":[true,{"e":"yx"}]}}`)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"$..a[?@.b=='x'||!(@.c<2)&&match(@.b,'x.')]", "$['a','é'][-1:0:-1]", "$..*[?count(@..*)>length(value($.a[0].b))]", `$["\ud83d\ude00"]`, "$[?search(@, '[a-')]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		p, err := jsonpath.Compile(path)
		if err != nil {
			return
		}
		nodes, err := p.Select(doc)
		if err != nil && nodes != nil {
			t.Errorf("%q: values and an error", path)
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	doc, err := value.ParseJSON(`{"items":[{"id":1,"price":3},{"id":2,"price":30},{"id":3,"price":9}]}`)
	if err != nil {
		b.Fatal(err)
	}
	p, err := jsonpath.Compile("$.items[?@.price < 10].id")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if nodes, err := p.Select(doc); err != nil || len(nodes) != 2 {
			b.Fatal(nodes, err)
		}
	}
}
