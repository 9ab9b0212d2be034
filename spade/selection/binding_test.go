package selection_test

import (
	"context"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/selection"
)

func TestBind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		matrix  string
		o       selection.Options
		implies []candidate.Implication
		want    *selection.Binding
	}{
		{name: "nothing implies anything", matrix: small, o: selection.Options{Method: "sub", Alpha: 0.3, Tau: 0.25}, want: &selection.Binding{Tau: true, Cov: 1}},
		{name: "nothing binds", matrix: small, o: selection.Options{Method: "sub", Alpha: 0.3, Tau: 1}, want: &selection.Binding{Cov: 1}},
		{name: "alpha binds", matrix: "id,label,wide,a,b\n1,1,1,1,1\n2,1,0,1,1\n3,0,1,0,1\n4,0,1,0,0\n", o: selection.Options{Method: "sub", Alpha: 1, Tau: 0.5, Cost: map[string]int{"a": 9, "b": 1}},
			implies: []candidate.Implication{{A: "wide", B: "a"}, {A: "wide", B: "b"}}, want: &selection.Binding{Alpha: true, Cov: 1}},
		{name: "another method", matrix: small, o: selection.Options{Method: "cov", Alpha: 0.3, Tau: 0.25}},
	} {
		s, err := selection.Select(context.Background(), read(t, c.matrix), c.implies, c.o)
		if err == nil {
			err = s.Bind(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		if (s.Binding == nil) != (c.want == nil) || s.Binding != nil && *s.Binding != *c.want {
			t.Errorf("%s: %+v of %v, want %+v", c.name, s.Binding, s.Selected(), c.want)
		}
	}
}
