package textlist_test

import (
	"slices"
	"testing"

	"github.com/proviso-eval/proviso/internal/textlist"
	"github.com/proviso-eval/proviso/value"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want []string
	}{
		{nil, nil},
		{"a", nil},
		{[]any{"a", 1.0, nil, "b"}, []string{"a", "b"}},
		{value.ObjectOf("a", "b"), nil},
	} {
		if got := textlist.Of(c.v); !slices.Equal(got, c.want) {
			t.Errorf("Of(%v) = %q, want %q", c.v, got, c.want)
		}
	}
	if got := textlist.Values([]string{"a", "b"}); !slices.Equal(got, []any{"a", "b"}) {
		t.Errorf("Values = %v", got)
	}
	if got := textlist.Values(nil); got == nil {
		t.Error("Values of no texts is not the empty list")
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{text: "", want: []string{}},
		{text: " , ,", want: []string{}},
		{text: "a, b c ,,d", want: []string{"a", "b c", "d"}},
		{text: `"a, b" , c`, want: []string{"a, b", "c"}},
		{text: `"a\"b\\c""d", e`, want: []string{`a"b\c"d`, "e"}},
		{text: "a\"b, c", want: []string{"a\"b", "c"}},
		{text: "\u00a0a\u00a0,b", want: []string{"a", "b"}},
		{text: `""`, want: []string{""}},
		{text: `"a" b, c`, err: `expected a comma after the quoted text in the list, found "b, c"`},
		{text: `a, "b`, err: "a quoted text in the list is not closed"},
	} {
		got, err := textlist.Split(c.text)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if message != c.err || c.err == "" && !slices.Equal(got, c.want) {
			t.Errorf("Split(%q) = %q, %q, want %q, %q", c.text, got, message, c.want, c.err)
		}
	}
}
