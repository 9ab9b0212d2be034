package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/value"
)

func TestParseJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"object", `{"a": [1, "x"]}`, `{"a":[1,"x"]}`},
		{"byte order mark", "\ufeff[1]", `[1]`},
		{"comment", "{\n  // c\n  \"a\": 1}", "s.json:2:3: expected a quoted key in JSON; JSON has no comments"},
		{"trailing comma", "{\"a\": 1,\n}", "s.json:2:1: expected a quoted key in JSON; remove the comma before it"},
		{"empty", " \n", "the file is empty"},
		{"column in characters", `{"ä": x}`, "s.json:1:7: unexpected 'x' in JSON"},
		{"binary", "\x00", "s.json:1:1: the file is binary: it holds a NUL byte"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := document.Parse("s.json", []byte(tt.in))
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = value.Stringify(d.Root)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestJSONPlace(t *testing.T) {
	t.Parallel()
	d, err := document.ParseJSON("s.json", []byte("{\"a\\u0062\": [1, {\"x~/y\": true}],\n  \"b\": {\"c\": [], \"d\": \"]}\", \"e\": -1.5e3, \"e\": 2}}"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ pointer, value, key string }{
		{"", "1:1", "1:1"},
		{"/ab/0", "1:14", "1:14"},
		{"/ab/1/x~0~1y", "1:26", "1:18"},
		{"/b/c", "2:14", "2:9"},
		{"/b/c/0", "2:14", "2:14"},
		{"/b/d", "2:23", "2:18"},
		{"/b/e", "2:47", "2:42"},
		{"/zzz/1", "1:1", "1:1"},
	}
	for _, tt := range tests {
		v, k := d.Place(tt.pointer), d.KeyPlace(tt.pointer)
		if got := fmt.Sprintf("%d:%d", v.Line, v.Column); got != tt.value {
			t.Errorf("value of %s is at %s, want %s", tt.pointer, got, tt.value)
		}
		if got := fmt.Sprintf("%d:%d", k.Line, k.Column); got != tt.key {
			t.Errorf("key of %s is at %s, want %s", tt.pointer, got, tt.key)
		}
	}
}

func FuzzJSONPlace(f *testing.F) {
	f.Add(`{"a": [1, {"b": "]"}], "a": 2}`, "/a/1/b")
	f.Add(`[[], {}, "\""]`, "/2")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		d, err := document.ParseJSON("f.json", []byte(text))
		if err != nil {
			return
		}
		v, k := d.Place(pointer), d.KeyPlace(pointer)
		if v.Line < 1 || v.Column < 1 || k.Line < 1 || k.Column < 1 {
			t.Fatalf("%v %v", v, k)
		}
	})
}

func TestPointer(t *testing.T) {
	t.Parallel()
	p := document.Join(document.Join(document.Join("", "a/b~c"), 3), "")
	if p != "/a~1b~0c/3/" {
		t.Errorf("joined %q", p)
	}
	if got := document.Split(p); len(got) != 3 || got[0] != "a/b~c" || got[2] != "" {
		t.Errorf("split %q", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	valid := []string{"assert", "description", "options", "vars", "threshold", "id"}
	tests := map[string]string{
		"asert": "assert", "Assert": "assert", "thresold": "threshold", "desciption": "description", "var": "vars",
		"zebra": "", "": "", "i": "id", "optoins": "options", strings.Repeat("x", 100): "",
	}
	for in, want := range tests {
		if got := document.Nearest(in, valid); got != want {
			t.Errorf("nearest to %q is %q, want %q", in, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	if got := document.Excerpt("a\tb\x1b[31mc"); got != "a b\ufffd[31mc" {
		t.Errorf("got %q", got)
	}
	if got := document.Excerpt(strings.Repeat("ä", 500)); len([]rune(got)) != 121 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

// TestKeysOfObject: an object may have as many keys as the limit, at any depth; the
// error names the place.
func TestKeysOfObject(t *testing.T) {
	t.Parallel()
	object := func(n int) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range n {
			fmt.Fprintf(&b, `"k%d":1,`, i)
		}
		return strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, before := range []string{"", `{"a":[1,`} {
		after := ""
		if before != "" {
			after = "]}"
		}
		if _, err := document.ParseJSON("a.json", []byte(before+object(document.MaxKeys)+after)); err != nil {
			t.Errorf("%q: %v", before, err)
		}
		_, err := document.ParseJSON("a.json", []byte(before+"\n"+object(document.MaxKeys+1)+after))
		if err == nil || err.Error() != "a.json:2:1: the object has 10001 keys, and at most 10000 are read" {
			t.Errorf("%q: %v", before, err)
		}
	}
}
