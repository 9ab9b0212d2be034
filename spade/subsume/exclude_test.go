package subsume_test

import (
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/spade/candidate"
	"github.com/proviso-eval/proviso/spade/subsume"
)

// TestExclusive: of two assertions that contradict each other no output passes both.
func TestExclusive(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"{type: icontains, value: sorry}", "{type: not-icontains-any, value: [sorry], wholeWords: true}", true},
		{"{type: icontains-all, value: [a, b]}", "{type: not-icontains, value: b}", true},
		{"{type: word-count, value: {max: 50}}", "{type: not-word-count, value: {max: 50}}", true},
		{"{type: word-count, value: {max: 50}}", "{type: word-count, value: {min: 51}}", true},
		{"{type: word-count, value: {max: 50}}", "{type: word-count, value: {min: 50}}", false},
		{"{type: contains-html}", "{type: not-contains-html}", true},
		{"{type: contains-html}", "{type: not-contains-xml}", false},
		{"{type: chars, value: {class: emoji, min: 1}}", "{type: not-chars, value: {class: emoji, min: 1}}", true},
		{"{type: icontains-any, value: [a, b]}", "{type: not-icontains, value: b}", false},
		{"{type: icontains, value: a}", "{type: not-icontains, value: a, scope: {each: line}}", false},
		{"{type: icontains, value: a, when: vars.x == 1}", "{type: not-icontains, value: a}", false},
	} {
		list, mistakes := candidate.Read("c.yaml", []byte("- {id: a, "+x.a[1:]+"\n- {id: b, "+x.b[1:]+"\n"))
		if err := mistakes.Err(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := len(subsume.Exclusive(list, nil)) > 0; got != x.want {
				t.Errorf("%s and %s: exclusive is %v", x.a, x.b, got)
			}
			list = []proviso.Candidate{list[1], list[0]}
		}
	}
}
