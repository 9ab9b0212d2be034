package propose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/internal/spadetest"
	"github.com/proviso-eval/proviso/spade/propose"
)

// TestProposeRefusesTheOpposite: a model's candidate that contradicts its sentence is dropped,
// with and without the candidates of the rules.
func TestProposeRefusesTheOpposite(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		sentence, candidate string
		kept                bool
	}{
		{`Never say "sorry".`, `"type":"icontains","text":"sorry"`, false},
		{`Never say "sorry".`, `"type":"not-icontains","text":"sorry"`, true},
		{`Mention "refund".`, `"type":"not-icontains","text":"refund"`, false},
		{"Answer in at most 3 sentences.", `"type":"sentence-count","min":3,"max":null`, false},
		{"Answer in at most 3 sentences.", `"type":"sentence-count","min":1,"max":3`, true},
		{"Answer without HTML.", `"type":"contains-html"`, false},
		{"Never:\n- use emojis", `"type":"chars","class":"emoji","min":1,"max":null`, false},
	} {
		for _, byRules := range []bool{false, true} {
			m := &spadetest.Model{Reply: func(q spadetest.Question) (string, error) {
				if q.Step == "criteria" {
					return fmt.Sprintf(`{"criteria":[{"n":1,"quote":%q,"category":"Exclusion","criterion":"It is as asked.","vague":false}]}`, strings.TrimPrefix(x.sentence, "Never:\n- ")), nil
				}
				return `{"candidates":[{"name":"mine","description":"As asked.","covers":[1],` + x.candidate + `}]}`, nil
			}}
			p := proposeWith(t, m, propose.Options{Rules: byRules}, x.sentence)
			var mine []string
			for i := range p.Candidates {
				if p.Candidates[i].Model != "" {
					mine = append(mine, p.Candidates[i].Name)
				}
			}
			if got := len(mine) > 0; got != x.kept {
				t.Errorf("%s, rules %v: %s: kept %v, dropped %+v", x.sentence, byRules, x.candidate, mine, p.Dropped)
			}
			if !x.kept && !strings.Contains(fmt.Sprint(p.Dropped), "contradicts its sentence") {
				t.Errorf("%s: %+v", x.sentence, p.Dropped)
			}
		}
	}
}
