package value_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/value"
)

// lines are texts in an order that lets a Parser share some values and not others.
var lines = []string{
	`{"a":1,"b":{"c":[1,2,"x\n"]},"d":"e"}`,
	`{"a":12,"b":{"c":[1,2,"x\n"]},"d":"e"}`,
	`{"a":1,"b":{"c":[1,2,"x\n"],"e":0}}`,
	`{"a":1.5e3,"d":"e","b":null}`,
	`{"a":1.5e31,"d":"e","b":nullx}`,
	`{"a":1,"a":2}`,
	`{"a":1,"a":2}`,
	`{"1":1,"0":2}`,
	`{"1":1,"0":3}`,
	`[[],[1],[1,2],{}]`,
	`[[],[1],[1,2,3],{}]`,
	`[[],[1],[1,2,3],{"k":"\ud83d\ude00"}]`,
	`{}`,
	`{"b":1}`,
	`{"long":"0123456789abcdef\u0000 0123456789"}`,
	"{\"long\":\"0123456789abcdef\x010123456789\"}",
	`1`,
	`12`,
	`true`,
	``,
}

func TestParserIsParseJSON(t *testing.T) {
	t.Parallel()
	var p value.Parser
	for i, text := range lines {
		compareParsers(t, &p, text)
		compareParsers(t, &p, lines[len(lines)-1-i])
	}
}

func compareParsers(t *testing.T, p *value.Parser, text string) {
	t.Helper()
	want, wantErr := value.ParseJSON(text)
	got, err := p.Parse(text)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("Parse(%q): got error %v, want %v", text, err, wantErr)
	}
	if d := cmp.Diff(value.Stringify(want), value.Stringify(got)); d != "" {
		t.Errorf("Parse(%q): -want +got\n%s", text, d)
	}
}

func TestParserShares(t *testing.T) {
	t.Parallel()
	var p value.Parser
	first, _ := p.Parse(`{"n":1,"schema":{"type":"object"}}`)
	second, _ := p.Parse(`{"n":2,"schema":{"type":"object"}}`)
	a, b := first.(*value.Object), second.(*value.Object)
	if a.At("schema") != b.At("schema") {
		t.Error("equal members are not shared")
	}
	a.Delete("n")
	a.Set("x", 1.0)
	if got := value.Stringify(b); got != `{"n":2,"schema":{"type":"object"}}` {
		t.Errorf("a change to one object shows in another: %s", got)
	}
}

func TestDeleteOfMany(t *testing.T) {
	t.Parallel()
	o := &value.Object{}
	for i := range 20 {
		o.Set("k"+value.FormatNumber(float64(i)), float64(i))
	}
	o.Delete("k3")
	if o.Len() != 19 || o.Has("k3") || o.At("k4") != 4.0 || o.At("k19") != 19.0 {
		t.Errorf("after deleting k3: %s", value.Stringify(o))
	}
}

func FuzzParser(f *testing.F) {
	f.Add(strings.Join(lines, "\n"))
	f.Fuzz(func(t *testing.T, text string) {
		var p value.Parser
		for line := range strings.SplitSeq(text, "\n") {
			compareParsers(t, &p, line)
		}
	})
}
