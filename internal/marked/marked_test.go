package marked_test

import (
	"math"
	"testing"

	"github.com/proviso-eval/proviso/internal/marked"
	"github.com/proviso-eval/proviso/value"
)

func TestEncoder(t *testing.T) {
	t.Parallel()
	v := []any{nil, true, "a", "\x01n", 1.5, 3, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), value.Undefined{},
		[]string{"\x01"}, value.ObjectOf("u", value.Undefined{}, "k", 1.0), (*value.Object)(nil)}
	for _, c := range []struct {
		e    marked.Encoder
		want string
	}{
		{marked.Encoder{}, `[null,true,"a","\u0001s\u0001n",1.5,3,"\u0001n","\u0001+","\u0001-","\u00010","\u0001u",["\u0001s\u0001"],{"u":"\u0001u","k":1},null]`},
		{marked.Encoder{Plain: true}, `[null,true,"a","\u0001n",1.5,3,null,null,null,null,null,["\u0001"],{"u":null,"k":1},null]`},
		{marked.Encoder{NoUndefined: true}, `[null,true,"a","\u0001s\u0001n",1.5,3,"\u0001n","\u0001+","\u0001-","\u00010",null,["\u0001s\u0001"],{"k":1},null]`},
	} {
		if err := c.e.Value(v); err != nil || string(c.e.Buf) != c.want || !c.e.Special {
			t.Errorf("%s, %v, special %v, want %s", c.e.Buf, err, c.e.Special, c.want)
		}
	}
	e := marked.Encoder{}
	if err := e.Value([]any{"a", 1.0}); err != nil || e.Special {
		t.Errorf("plain values are special: %v", err)
	}
	if err := e.Value(&value.Opaque{Kind: "set"}); err == nil {
		t.Error("an opaque value is encoded")
	}
	if e = (marked.Encoder{Opaque: true}); e.Value(&value.Opaque{Kind: "set"}) != nil || string(e.Buf) != "null" {
		t.Errorf("an opaque value is %s", e.Buf)
	}
}

func TestRevive(t *testing.T) {
	t.Parallel()
	const text = `["\u0001u","\u0001n","\u0001+","\u0001-","\u00010","\u0001s\u0001n","\u0001","\u0001x",{"a":"\u0001u"}]`
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	list := marked.Revive(v).([]any)
	if f, ok := list[1].(float64); !ok || !math.IsNaN(f) {
		t.Errorf("NaN is %v", list[1])
	}
	if f, ok := list[4].(float64); !ok || f != 0 || !math.Signbit(f) {
		t.Errorf("-0 is %v", list[4])
	}
	u := value.Undefined{}
	if list[0] != u || list[2] != math.Inf(1) || list[3] != math.Inf(-1) || list[5] != "\x01n" || list[6] != "\x01" || list[7] != "\x01x" || list[8].(*value.Object).At("a") != u {
		t.Errorf("got %q", list)
	}
}
