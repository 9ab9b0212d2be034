package check_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/value"
)

// TestWholeWords: a text counts only where no letter, digit or mark continues it.
func TestWholeWords(t *testing.T) {
	t.Parallel()
	c := check.New(check.Options{})
	defer c.Close()
	for _, x := range []struct {
		kind   string
		value  any
		output string
		want   proviso.Status
	}{
		{"icontains", "no", "We know it now.", proviso.Fail},
		{"icontains", "no", "We know: no!", proviso.Pass},
		{"not-icontains", "no", "now", proviso.Pass},
		{"contains", "Sie", "Siehe Produkt", proviso.Fail},
		{"icontains", "rad", "Fahrrad und Rad", proviso.Pass},
		{"icontains", "rad", "Fahrrad", proviso.Fail},
		{"icontains", "öl", "Geröll", proviso.Fail},
		{"icontains", "öl", "„Öl“", proviso.Pass},
		{"icontains", "cafe", "cafe\u0301", proviso.Fail},
		{"contains", "e.g.", "see e.g.this", proviso.Pass}, // a full stop ends a word
		{"icontains-all", []any{"a", "b"}, "a cab", proviso.Fail},
		{"icontains-all", []any{"a", "b"}, "a, b", proviso.Pass},
		{"not-icontains-any", []any{"no", "nope"}, "now", proviso.Pass},
		{"not-icontains-any", []any{"no", "nope"}, "nope", proviso.Fail},
		{"starts-with", "I", "I am", proviso.Pass},
		{"starts-with", "I", "In", proviso.Fail},
		{"ends-with", "end", "the end", proviso.Pass},
		{"ends-with", "end", "a friend", proviso.Fail},
		{"starts-with", "I", "I", proviso.Pass},
		{"icontains", "a", "", proviso.Fail},
	} {
		set, wrong := c.Compile([]*proviso.Assertion{{Type: x.kind, Value: x.value, WholeWords: true}})
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		row := &check.Row{Output: &proviso.Output{Value: x.output}, Vars: value.NewObject(0)}
		for _, v := range set.Eval(t.Context(), row) {
			if v.Status != x.want {
				t.Errorf("%s %v on %q: %v", x.kind, x.value, x.output, v.Status)
			}
		}
	}
	if _, wrong := c.Compile([]*proviso.Assertion{{Type: "regex", Value: "a", WholeWords: true}}); len(wrong) != 1 || wrong[0].Error() != `wholeWords has no effect on "regex"` {
		t.Errorf("%v", wrong)
	}
}
