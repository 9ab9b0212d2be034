package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// paid answers every question for half a dollar.
type paid struct{ id string }

func (p paid) ID() string { return p.id }

func (p paid) Answer(context.Context, proviso.Ask) (proviso.Output, error) {
	cost := 0.5
	return proviso.Output{Value: "yes", Cost: &cost}, nil
}

// TestOperator: the judge that the operator chose is opened with the operator's rights; a judge
// that a suite names, with the suite's. A request cannot name another judge. All of them share
// one budget.
func TestOperator(t *testing.T) {
	t.Parallel()
	const chosen, other = "openai:chat:chosen", "openai:chat:other"
	opened := map[string]bool{} // untrusted, by id
	budget := 1.0
	o := engine.Options{
		Judge: engine.Judge{Name: chosen},
		Engines: engine.Engines{Open: func(spec proviso.ProviderSpec, o provider.Options) (proviso.Provider, error) {
			opened[spec.ID] = o.Untrusted
			return paid{spec.ID}, nil
		}},
	}
	own := o
	own.Policy = engine.Policy{Trusted: true, Budget: &budget}
	operator := open(t, nil, own)
	o.Engines.Operator = operator
	for _, c := range []struct {
		name     string
		suite    *proviso.Suite
		grader   any
		refused  bool
		trusting bool
	}{
		{"a request", nil, nil, false, true},
		{"a request for another judge", nil, other, true, false},
		{"a suite", &proviso.Suite{}, nil, false, true},
		{"a suite with another judge", &proviso.Suite{}, other, false, false},
		{"a suite that configures the judge", &proviso.Suite{}, value.ObjectOf("id", chosen, "config", value.ObjectOf("apiHost", "evil.example")), false, false},
	} {
		clear(opened)
		j, err := open(t, c.suite, o).Judge()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.grader != nil {
			clear(opened)
		}
		err = j.Prepare(proviso.Question{Type: "llm-rubric", Grader: c.grader})
		var e *proviso.Error
		if c.refused != (errors.As(err, &e) && e.Code == proviso.Refused) || !c.refused && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.refused != (len(opened) == 0) {
			t.Errorf("%s: opened %v", c.name, opened)
		}
		for id, untrusted := range opened {
			if untrusted == c.trusting {
				t.Errorf("%s: %s was opened with Untrusted %v", c.name, id, untrusted)
			}
		}
	}
	p, err := open(t, &proviso.Suite{}, o).Provider(proviso.ProviderSpec{ID: other})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err = p.Answer(t.Context(), proviso.Ask{Prompt: "p"})
	}
	if err == nil || operator.Budget().Spent() != 1 {
		t.Errorf("the third answer: %v; %v spent", err, operator.Budget().Spent())
	}
}
