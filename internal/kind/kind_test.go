package kind_test

import (
	"testing"

	"github.com/proviso-eval/proviso/internal/kind"
	"github.com/proviso-eval/proviso/value"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	all := []kind.Set{kind.Text, kind.Number, kind.Boolean, kind.List, kind.Object}
	for i, c := range []struct {
		v    any
		want string
	}{
		{"a", "a text"},
		{1.0, "a number"},
		{true, "a boolean"},
		{[]any{}, "a list"},
		{value.NewObject(0), "an object"},
	} {
		if got := kind.Of(c.v); got != c.want || all[i].String() != got {
			t.Errorf("Of(%v) = %q, and %q as a set, want %q", c.v, got, all[i], c.want)
		}
		for j, s := range all {
			if s.Has(c.v) != (i == j) {
				t.Errorf("%s has %v: %v", s, c.v, s.Has(c.v))
			}
		}
	}
	for _, v := range []any{nil, value.Undefined{}} {
		if got := kind.Of(v); got != "null" {
			t.Errorf("Of(%v) = %q", v, got)
		}
		if !kind.Text.Has(v) {
			t.Errorf("%v does not count as absent", v)
		}
	}
}

func TestSetNames(t *testing.T) {
	t.Parallel()
	for s, want := range map[kind.Set]string{
		0:                                    "nothing",
		kind.Any:                             "any value",
		kind.Text | kind.Null:                "a text",
		kind.Text | kind.List | kind.Boolean: "a text, a boolean or a list",
		kind.Number | kind.Object:            "a number or an object",
	} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}
