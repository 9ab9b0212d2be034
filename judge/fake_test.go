package judge_test

import (
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
)

type (
	fake     = fakejudge.Model
	seen     = fakejudge.Call
	asserted = fakejudge.Assertion
)

// one returns a judge with one fake seat.
func one(t testing.TB, f *fake, change ...func(*judge.Options)) *judge.Judge {
	t.Helper()
	o := judge.Options{Judges: []judge.Seat{seat(f)}}
	for _, c := range change {
		c(&o)
	}
	j, err := judge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func seat(f *fake) judge.Seat {
	return judge.Seat{Provider: f, Spec: proviso.ProviderSpec{ID: f.ID()}, Identity: f.ID()}
}

// wants returns an assertion with the given criteria.
func wants(id string, criteria ...string) judge.Assertion {
	a := judge.Assertion{ID: id, Instruction: "Do " + id + "."}
	for _, text := range criteria {
		a.Criteria = append(a.Criteria, judge.Criterion{Text: text})
	}
	return a
}

// evaluate evaluates assertions on one output.
func evaluate(t testing.TB, j *judge.Judge, list ...judge.Assertion) *judge.Response {
	t.Helper()
	return request(t, j, &judge.Request{Input: "What is new?", Output: "Nothing is “new” here.\nReally.", Assertions: list})
}

func request(t testing.TB, j *judge.Judge, r *judge.Request) *judge.Response {
	t.Helper()
	out, err := j.Evaluate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// statuses lists the status of each result, in order.
func statuses(r *judge.Response) string {
	var all []string
	for _, res := range r.Results {
		all = append(all, res.ID+"="+res.Status)
	}
	return strings.Join(all, " ")
}
