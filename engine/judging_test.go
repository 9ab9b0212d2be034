package engine

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
)

// TestDefaultJudges checks that the file of default judges is as the code expects.
func TestDefaultJudges(t *testing.T) {
	t.Parallel()
	for _, role := range []judge.Role{judge.Text, judge.Embedding, judge.Moderation} {
		rows := DefaultJudges(role)
		if len(rows) == 0 {
			t.Errorf("no default for %s", role)
		}
		for _, row := range rows {
			if !strings.HasSuffix(row.Key, "_API_KEY") || row.Provider == "" {
				t.Errorf("%s: %+v", role, row)
			}
			open := provider.Options{Env: proviso.EnvMap{row.Key: "k"}}
			if _, err := provider.Open(proviso.ProviderSpec{ID: row.Provider}, open); err != nil {
				t.Errorf("%s: %v", row.Provider, err)
			}
		}
	}
}

// TestOperatorKeepsNothing: an operator's engine does not grow with the suites under it,
// although it opens their judges, which issue warnings in this test.
func TestOperatorKeepsNothing(t *testing.T) {
	t.Parallel()
	o := Options{Judge: Judge{Name: "openai:chat:x"}, Engines: Engines{Env: proviso.EnvMap{"OPENAI_API_KEY": "sk-of-the-test", "OPENAI_TEMPERATURE": "warm"}}}
	own := o
	own.Policy.Trusted = true
	operator, err := Open(t.Context(), nil, own)
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	o.Engines.Operator = operator
	before := len(operator.owned)
	for range 3 {
		e, err := Open(t.Context(), &proviso.Suite{}, o)
		if err != nil {
			t.Fatal(err)
		}
		j, err := e.Judge()
		if err == nil {
			err = j.Prepare(proviso.Question{Type: "judge"})
		}
		if err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(operator.tariffs)+len(operator.mistakes.list) > 0 || len(operator.owned) != before {
		t.Errorf("kept %d tariffs, %d mistakes, %d things to close", len(operator.tariffs), len(operator.mistakes.list), len(operator.owned)-before)
	}
}
