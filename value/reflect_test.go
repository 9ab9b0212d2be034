package value_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/value"
)

// TestValuesThatHoldThemselves: a value that contains itself is returned unchanged and is
// not valid.
func TestValuesThatHoldThemselves(t *testing.T) {
	t.Parallel()
	type knot *any
	m, l := map[string]any{}, []any{nil}
	m["a"], l[0] = []any{m}, l
	var self any
	self = knot(&self)
	for name, v := range map[string]any{"map": m, "list": l, "pointer": self, "map of maps": map[string]map[string]any{"x": m}} {
		if value.Valid(value.Of(v)) {
			t.Errorf("%s is a value", name)
		}
		_ = value.ObjectOf("a", v)
	}
	if text := value.Stringify(value.ObjectOf("a", m)); text != `{"a":null}` {
		t.Error(text)
	}
	deep := any("x")
	for range 900 {
		deep = map[string]any{"a": deep}
	}
	if !value.Valid(value.Of(deep)) {
		t.Error("a deep value is none")
	}
}

// TestValueOf converts all kinds of Go values.
func TestValueOf(t *testing.T) {
	t.Parallel()
	type level int
	type name string
	type pair struct {
		A int      `json:"a"`
		B []string `json:"b"`
	}
	n := 3
	for _, tt := range []struct {
		in   any
		want string // as JSON
	}{
		{nil, `null`}, {"a", `"a"`}, {true, `true`}, {2.5, `2.5`},
		{3, `3`}, {int8(-3), `-3`}, {int16(3), `3`}, {int32(3), `3`}, {int64(-3), `-3`}, {uint(3), `3`}, {uint8(3), `3`}, {uint16(3), `3`},
		{uint32(3), `3`}, {uint64(3), `3`}, {float32(0.1), `0.1`}, {json.Number("1e3"), `1000`}, {level(4), `4`}, {name("x"), `"x"`}, {&n, `3`}, {(*int)(nil), `null`},
		{[]any{1, "a", []any{uint8(2)}}, `[1,"a",[2]]`}, {[]int{1, 2}, `[1,2]`}, {[]string{"a", "b"}, `["a","b"]`}, {[2]float32{0.5, 1}, `[0.5,1]`},
		{[]byte("text"), `"text"`}, {json.RawMessage(`{"b":1,"a":2}`), `{"b":1,"a":2}`}, {[]map[string]int{{"a": 1}}, `[{"a":1}]`},
		{map[string]any{"b": 1, "a": []string{"x"}, "c": map[string]any{"10": 1, "9": nil}}, `{"a":["x"],"b":1,"c":{"9":null,"10":1}}`},
		{map[name]level{"k": 1}, `{"k":1}`}, {pair{1, []string{"x"}}, `{"a":1,"b":["x"]}`}, {&pair{}, `{"a":0,"b":null}`},
		{time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), `"2026-01-05T00:00:00Z"`}, {value.ObjectOf("a", 1), `{"a":1}`},
	} {
		got := value.Of(tt.in)
		if text := value.Stringify(got); text != tt.want {
			t.Errorf("ValueOf(%T %v) is %s, want %s", tt.in, tt.in, text, tt.want)
		}
		if again, err := value.ParseJSON(tt.want); err != nil || value.ToString(again) != value.ToString(got) || value.Truthy(again) != value.Truthy(got) {
			t.Errorf("ValueOf(%T %v) is %#v, unlike %#v", tt.in, tt.in, got, again)
		}
	}
	list := []any{1.0}
	if got := value.Of(list).([]any); &got[0] != &list[0] {
		t.Error("a list of values is copied")
	}
	if f, ok := value.Of(make(chan int)).(chan int); !ok || f == nil {
		t.Error("what has no JSON form is not kept")
	}
}

// TestGoNumbers uses Go's number types where a float64 is expected.
func TestGoNumbers(t *testing.T) {
	t.Parallel()
	type sentinel struct{ v any }
	o := value.ObjectOf("i", 3, "f", float32(0.1), "list", []any{1, uint8(2)}, "map", map[string]any{"x": int64(5)}, "texts", []string{"a"})
	if got := value.Stringify(o); got != `{"i":3,"f":0.1,"list":[1,2],"map":{"x":5},"texts":["a"]}` || o.At("i") != 3.0 {
		t.Errorf("%s, %#v", got, o.At("i"))
	}
	o.Set("own", []any{sentinel{1}, 2})
	if list := o.At("own").([]any); list[0] != (sentinel{1}) || list[1] != 2.0 {
		t.Errorf("a type of somebody else's became %#v", list)
	}
	if value.ToString(3) != "3" || value.ToNumber(uint16(3)) != 3 || value.Truthy(0) || !value.Truthy(int64(1)) || value.Stringify([]any{1}) != "[1]" {
		t.Error("an int is no number")
	}
	if !math.IsNaN(value.ToNumber(sentinel{})) {
		t.Error("something is a number")
	}
}

// TestWriteEndless: a value that contains itself is written as null in bounded time, even
// if each level contains it twice.
func TestWriteEndless(t *testing.T) {
	t.Parallel()
	list := make([]any, 2)
	list[0], list[1] = list, list
	object := value.NewObject(2)
	object.Set("a", object)
	object.Set("b", list)
	for name, v := range map[string]any{"list": list, "object": object, "inside": []any{1.0, object}} {
		if got := string(value.AppendJSON([]byte("x="), v)); got != "x=null" {
			t.Errorf("%s: %.40s", name, got)
		}
	}
	deep := strings.Repeat("[", value.MaxDepth) + strings.Repeat("]", value.MaxDepth)
	v, err := value.ParseJSON(deep)
	if err != nil {
		t.Fatal(err)
	}
	if got := value.Stringify([]any{value.ObjectOf("row", v)}); got != `[{"row":`+deep+"}]" {
		t.Errorf("what can be read is not written: %.40s", got)
	}
}
