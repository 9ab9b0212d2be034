package candidate_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/candidate"
)

func TestReadImplications(t *testing.T) {
	t.Parallel()
	names := []string{"short", "polite", "cites"}
	const file = "set,a,b,e\nfinal,short,polite,x\nfinal,short,polite,y\nold,polite,cites,\nfinal,short,short,\n"
	list, mistakes := candidate.ReadImplications("s.csv", strings.NewReader(file), "final", names)
	if mistakes.Err() != nil || len(list) != 1 || list[0] != (candidate.Implication{A: "short", B: "polite"}) {
		t.Errorf("%v, %v", list, mistakes)
	}
	for _, c := range []struct{ text, set, want string }{
		{file, "", "several sets: final, old"},
		{file, "finl", `no row has the set "finl"; there are final, old (did you mean "final"?)`},
		{"a,b\nshort,polit\n", "", `s.csv:2: no candidate is called "polit" (did you mean "polite"?)`},
		{"a,b\n", "final", "no column set"},
		{"from,to\n", "", "columns a and b"},
	} {
		_, mistakes := candidate.ReadImplications("s.csv", strings.NewReader(c.text), c.set, names)
		if got := mistakes.Error(); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %q", c.text, got, c.want)
		}
	}
}
