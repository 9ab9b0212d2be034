package value_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/proviso-eval/proviso/value"
)

func TestFormatNumber(t *testing.T) {
	t.Parallel()
	tenth := 0.1 // a variable, since Go adds constants exactly
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 1.5: "1.5", 1e21: "1e+21", 1e20: "100000000000000000000",
		123456789012345680000: "123456789012345680000", 1e-6: "0.000001", 1e-7: "1e-7", 1.25e-9: "1.25e-9", -1e-7: "-1e-7",
		tenth + 2*tenth: "0.30000000000000004", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e+308",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 1e100: "1e+100", 999999999999999: "999999999999999",
		1e15: "1000000000000000", 4294967296.5: "4294967296.5",
	} {
		if got := value.FormatNumber(f); got != want {
			t.Errorf("FormatNumber(%g) = %s, want %s", f, got, want)
		}
	}
	if got := value.FormatNumber(math.NaN()); got != "NaN" {
		t.Errorf("FormatNumber(NaN) = %s", got)
	}
}

func TestToNumber(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   any
		want float64
	}{
		{nil, 0}, {true, 1}, {false, 0}, {"", 0}, {" \u00a0 ", 0}, {"12", 12}, {" 1.5e3\n", 1500}, {"0x1F", 31}, {"0b101", 5},
		{"0o17", 15}, {"0X1f", 31}, {"0x200000000000011", 144115188075855900}, {"0x20000000000001", 9007199254740992}, {"0x20000000000003", 9007199254740996},
		{"0x200000000000010000000000000000000000", 2.787593149816328e42}, {"0x200000000000010000000000000000000001", 2.7875931498163285e42}, {"0x" + strings.Repeat("0", 99) + "8", 8},
		{"0b" + strings.Repeat("1", 54), 18014398509481984}, {"0o400000000000000022", 9007199254741010}, {"0x" + strings.Repeat("f", 256), math.Inf(1)}, {"-Infinity", math.Inf(-1)}, {".5", .5}, {"5.", 5}, {"+3", 3}, {[]any{7.0}, 7}, {[]any{}, 0}, {"1e400", math.Inf(1)},
	} {
		if got := value.ToNumber(tc.in); got != tc.want {
			t.Errorf("ToNumber(%#v) = %v, want %v", tc.in, got, tc.want)
		}
	}
	for _, in := range []any{"a", "1_000", "inf", "nan", "0x", "0xg", "1 2", "--1", value.Undefined{}, &value.Object{}, []any{1.0, 2.0}, "0x1p4"} {
		if got := value.ToNumber(in); !math.IsNaN(got) {
			t.Errorf("ToNumber(%#v) = %v, want NaN", in, got)
		}
	}
}

// TestToNumberRoundsOnce compares digits of base 2, 8 and 16 with math/big.
func TestToNumberRoundsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 140).Draw(t, "bytes"))
		n.Lsh(n, rapid.UintRange(0, 80).Draw(t, "shift"))
		want, _ := new(big.Float).SetInt(n).Float64()
		for base, prefix := range map[int]string{2: "0b", 8: "0o", 16: "0X"} {
			if got := value.ToNumber(prefix + n.Text(base)); got != want {
				t.Fatalf("%s%s is %v, want %v", prefix, n.Text(base), got, want)
			}
		}
	})
}

func TestToString(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   any
		want string
	}{
		{nil, "null"}, {value.Undefined{}, "undefined"}, {"a", "a"}, {true, "true"}, {1.0, "1"},
		{[]any{1.0, nil, "b", []any{2.0, 3.0}}, "1,,b,2,3"}, {&value.Object{}, "[object Object]"},
	} {
		if got := value.ToString(tc.in); got != tc.want {
			t.Errorf("ToString(%#v) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestObjectOrder(t *testing.T) {
	t.Parallel()
	o := value.ObjectOf("b", 1.0, "10", 2.0, "a", 3.0, "2", 4.0, "01", 5.0)
	if diff := cmp.Diff([]string{"2", "10", "b", "a", "01"}, o.Keys()); diff != "" {
		t.Errorf("array indices come first, the rest as inserted (-want +got):\n%s", diff)
	}
	o.Set("b", 9.0)
	o.Delete("10")
	if got := value.Stringify(o); got != `{"2":4,"b":9,"a":3,"01":5}` {
		t.Errorf("after Set and Delete: %s", got)
	}
	for i := range 100 {
		o.Set(strings.Repeat("k", i+1), float64(i))
	}
	if v, ok := o.Get(strings.Repeat("k", 60)); !ok || v != 59.0 || o.Len() != 104 {
		t.Errorf("a large object loses members: %v %v %d", v, ok, o.Len())
	}
	var none *value.Object
	if none.Len() != 0 || none.At("x") != nil || none.Has("x") || len(none.Keys()) != 0 {
		t.Error("a nil object is not empty")
	}
}

func TestParseJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		` {"a" : [1, 2.50, -0, 1e3, "x\u00e9\n\ud83d\ude00"], "b":null, "a2":{}, "c":[]} `: `{"a":[1,2.5,0,1000,"xé\n😀"],"b":null,"a2":{},"c":[]}`,
		`{"a":1,"a":2}`:         `{"a":2}`,
		`"\ud83d"`:              `"\ud83d"`,
		`"\ud83d\u0041"`:        `"\ud83dA"`,
		`12345678901234567890`:  `12345678901234567000`,
		`1E400`:                 `null`,
		"\"\u2028\x7f\"":        "\"\u2028\x7f\"",
		`"\u0000\u001f\/\b\f"`:  `"\u0000\u001f/\b\f"`,
		`{"2":"b","1":"a"}`:     `{"1":"a","2":"b"}`,
		"[true,false,null,\t0]": `[true,false,null,0]`,
	} {
		v, err := value.ParseJSON(text)
		if err != nil {
			t.Errorf("ParseJSON(%s): %v", text, err)
			continue
		}
		if got := value.Stringify(v); got != want {
			t.Errorf("ParseJSON(%s) is %s, want %s", text, got, want)
		}
	}
}

func TestParseJSONMistakes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "{", "[", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "[1 2]", "01", "-", "1.", "1.e3", "1e", "+1", ".5", "tru", "nul", "NaN",
		`"`, `"\x"`, `"\u12"`, "\"\n\"", "'a'", "{a:1}", "1 2", "\ufeff1", "\u00a01", "// c\n1", strings.Repeat("[", value.MaxDepth+1),
	} {
		if v, err := value.ParseJSON(text); err == nil {
			t.Errorf("ParseJSON(%.20q) = %v, want an error", text, v)
		}
	}
}

// TestParseUniqueJSON: keys are compared after unescaping, and two objects may have
// the same key.
func TestParseUniqueJSON(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]} {`: "-", `[]`: "-", `{}`: "-",
		`{"a":1,"a":1}`: "a", `{"a":false,"\u0061":true}`: "a", `{"x":[{"y":{"":1,"b":2,"":3}}]}`: "",
		`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":10,"11":11,"12":12,"13":13,"1":2}`: "1",
	} {
		v, n, err := value.ParseUniqueJSON(text)
		got := "-"
		if twice := new(value.DuplicateKeyError); errors.As(err, &twice) {
			got = twice.Key
		}
		if got != key {
			t.Errorf("%s: %v", text, err)
		}
		same, m, err := value.ParseJSONPrefix(text)
		if err != nil || n != m || value.Stringify(v) != value.Stringify(same) {
			t.Errorf("%s: %v, %d bytes, want %v, %d (%v)", text, v, n, same, m, err)
		}
	}
	if _, _, err := value.ParseUniqueJSON(`{"a":1,"a":`); !errors.As(err, new(*value.SyntaxError)) {
		t.Errorf("a broken object with a key twice: %v", err)
	}
}

func TestUTF16Len(t *testing.T) {
	t.Parallel()
	lone, _ := value.ParseJSON(`"a\ud83db"`)
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "😀": 2, lone.(string): 3, "\xff": 1} {
		if got := value.UTF16Len(s); got != want || len(value.UTF16(s)) != want {
			t.Errorf("UTF16Len(%q) = %d, UTF16 has %d, want %d", s, got, len(value.UTF16(s)), want)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b",null]}`, `"\ud83d\ude00"`, `-1.5e-7`, `[[]]`, `{"1":1,"0":2}`, "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.ParseJSON(text)
		if valid := json.Valid([]byte(text)); valid != (err == nil) && strings.Count(text, "[")+strings.Count(text, "{") < value.MaxDepth {
			t.Fatalf("ParseJSON(%q): %v, encoding/json says valid is %v", text, err, valid)
		}
		if err != nil {
			return
		}
		out := value.Stringify(v)
		again, err := value.ParseJSON(out)
		if err != nil || value.Stringify(again) != out {
			t.Fatalf("%q is written as %q, which reads as %v (%v)", text, out, again, err)
		}
	})
}

func BenchmarkParseJSON(b *testing.B) {
	const row = `{"description":"test 1","vars":{"output":"{\"id\": 1, \"name\": \"item-00001\", \"tags\": [\"a\", \"b\"]}"},"assert":[{"type":"contains","value":"item-00001"},{"type":"is-json","value":{"type":"object","required":["id"],"properties":{"id":{"type":"integer","minimum":0}}}}]}`
	b.SetBytes(int64(len(row)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.ParseJSON(row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	v, err := value.ParseJSON(`{"type":"is-json","value":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","minimum":0},"name":{"type":"string"}}}}`)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = value.AppendJSON(buf[:0], v)
	}
}
