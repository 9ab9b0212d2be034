package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestContract checks request and response against the contract, name by name.
func TestContract(t *testing.T) {
	t.Parallel()
	r, err := judge.ReadRequest([]byte(`{"agent_input": "in", "agent_output": "out", "assertions": [
		{"id": "cite", "instruction": "Cite.", "criteria": ["names a source", "links it"]},
		{"id": "kind", "instruction": "Be kind.", "criteria": ["no: is kind"]},
		{"id": "short", "check": {"type": "word-count", "value": {"max": 3}}},
		{"id": "calm", "instruction": "Be calm.", "criteria": ["is calm"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	out := request(t, one(t, f), r)
	got, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(got, &all); err != nil {
		t.Fatal(err)
	}
	results, _ := all["results"].([]any)
	delete(all, "results")
	want := map[string]any{"score": 0.75, "passed": 3.0, "failed": 1.0, "total": 4.0, "status": "fail", "threshold": 1.0, "passed_threshold": false}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	first, _ := results[0].(map[string]any)
	delete(first, "judge")
	wantFirst := map[string]any{
		"id": "cite", "pass": true, "reasoning": "Because of names a source; Because of links it.", "status": "pass", "score": 1.0, "cost": 0.005,
		"usage": map[string]any{"prompt": 500.0, "completion": 50.0, "cached": 450.0, "total": 550.0, "requests": 0.0},
		"criteria": []any{
			map[string]any{"criterion": "names a source", "pass": true, "reasoning": "Because of names a source.", "status": "pass"},
			map[string]any{"criterion": "links it", "pass": true, "reasoning": "Because of links it.", "status": "pass"},
		},
	}
	wantFirst["usage"], wantFirst["cost"] = first["usage"], first["cost"] // see TestCost
	if diff := cmp.Diff(wantFirst, first); diff != "" {
		t.Error(diff)
	}
	if got := statuses(out); got != "cite=pass kind=fail short=pass calm=pass" {
		t.Error(got)
	}
	if f.Count() != 1 {
		t.Errorf("%d calls, want one for all", f.Count())
	}
	if strings.Contains(f.Calls()[0].User, "word-count") || strings.Contains(f.Calls()[0].User, "short") {
		t.Error("what is counted reached the model")
	}
}

// TestScore has the scores that follow from each section of the contract.
func TestScore(t *testing.T) {
	t.Parallel()
	half, tenth := 0.5, 0.1
	weighted := func(a judge.Assertion, w float64) judge.Assertion { a.Weight = &w; return a }
	when := func(a judge.Assertion, condition string) judge.Assertion { a.When = condition; return a }
	severe := func(a judge.Assertion, s string) judge.Assertion { a.Severity = s; return a }
	broken := wants("broken", "broken")
	pass, fail := wants("pass", "yes"), wants("fail", "no: it is not")
	named := func(a judge.Assertion, id string) judge.Assertion { a.ID = id; return a }
	for name, c := range map[string]struct {
		threshold   *float64
		allowErrors bool
		list        []judge.Assertion
		want        string
	}{
		"all":             {nil, false, []judge.Assertion{pass}, `score=1 1/0/1 pass true`},
		"three of four":   {ptr(0.75), false, []judge.Assertion{pass, named(pass, "b"), named(pass, "c"), fail}, `score=0.75 3/1/4 pass true`},
		"two of three":    {ptr(2.0 / 3), false, []judge.Assertion{pass, named(pass, "b"), fail}, `score=0.6666666666666666 2/1/3 pass true`},
		"below":           {ptr(0.76), false, []judge.Assertion{pass, named(pass, "b"), named(pass, "c"), fail}, `score=0.75 3/1/4 fail false`},
		"error":           {nil, false, []judge.Assertion{pass, broken}, `score=null 1/0/2 error false errors=broken`},
		"error and fail":  {&half, false, []judge.Assertion{pass, broken, fail}, `score=null 1/1/3 error false errors=broken`},
		"certain to fail": {nil, false, []judge.Assertion{pass, broken, fail}, `score=null 1/1/3 fail false errors=broken`},
		"must, and error": {&tenth, false, []judge.Assertion{pass, broken, severe(fail, "must")}, `score=null 1/1/3 fail false errors=broken`},
		"weight decides":  {&half, false, []judge.Assertion{pass, broken, weighted(fail, 9)}, `score=null 1/1/3 fail false errors=broken`},
		"allowed error":   {&half, true, []judge.Assertion{pass, broken, fail}, `score=0.5 1/1/3 pass true errors=broken`},
		"errors alone":    {&tenth, true, []judge.Assertion{broken}, `score=null 0/0/1 error false errors=broken`},
		"nothing applied": {nil, false, []judge.Assertion{when(pass, "vars.kind == 'x'")}, `score=null 0/0/0 skip true skipped=1`},
		"skip apart":      {nil, false, []judge.Assertion{pass, when(fail, "metadata.kind == 'x'")}, `score=1 1/0/1 pass true skipped=1`},
		"info":            {nil, false, []judge.Assertion{pass, severe(fail, "info")}, `score=1 1/0/1 pass true`},
		"must":            {&half, false, []judge.Assertion{pass, severe(fail, "must")}, `score=0.5 1/1/2 fail false`},
		"should":          {&half, false, []judge.Assertion{pass, severe(fail, "should")}, `score=0.5 1/1/2 pass true`},
		"weight":          {ptr(0.8), false, []judge.Assertion{weighted(pass, 0.7), weighted(named(pass, "b"), 0.1), weighted(fail, 0.2)}, `score=0.6666666666666666 2/1/3 pass true weighted=0.8`},
		"weight below":    {ptr(0.81), false, []judge.Assertion{weighted(pass, 8), weighted(fail, 2)}, `score=0.5 1/1/2 fail false weighted=0.8`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{Reply: func(c seen) string {
				return fakejudge.Answered(c, func(_ asserted, text string) bool { return fakejudge.Met(text) })
			}, Fail: func(c seen) error {
				for _, a := range c.Assertions {
					if a.ID == "broken" {
						return proviso.Errorf(proviso.Unavailable, "no connection")
					}
				}
				return nil
			}}
			j := one(t, f, func(o *judge.Options) { o.Mode = judge.Single })
			r := request(t, j, &judge.Request{
				Output: "x", Assertions: c.list, Threshold: c.threshold, AllowErrors: c.allowErrors,
				Vars: value.ObjectOf("kind", "y"), Metadata: value.ObjectOf("kind", "y"),
			})
			if got := summary(t, r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func ptr(f float64) *float64 { return &f }

// summary formats a response as one line.
func summary(t testing.TB, r *judge.Response) string {
	t.Helper()
	number := func(f *float64) string {
		if f == nil {
			return "null"
		}
		return value.FormatNumber(*f)
	}
	text := "score=" + number(r.Score) + " " + value.FormatNumber(float64(r.Passed)) + "/" + value.FormatNumber(float64(r.Failed)) +
		"/" + value.FormatNumber(float64(r.Total)) + " " + r.Status
	if r.PassedThreshold {
		text += " true"
	} else {
		text += " false"
	}
	if r.WeightedScore != nil {
		text += " weighted=" + number(r.WeightedScore)
	}
	if r.Skipped > 0 {
		text += " skipped=" + value.FormatNumber(float64(r.Skipped))
	}
	for _, e := range r.Errors {
		text += " errors=" + e.ID
		if e.Message == "" {
			t.Error("an error does not say why")
		}
	}
	return text
}

// TestChecks has deterministic parts besides criteria; they decide first.
func TestChecks(t *testing.T) {
	t.Parallel()
	counted := func(check string, criteria ...string) judge.Assertion {
		a := wants("a", criteria...)
		v, err := value.ParseJSON(check)
		if err != nil {
			t.Fatal(err)
		}
		a.Check = v.(*value.Object)
		return a
	}
	negated := counted(`{"type":"contains","value":"missing"}`, "yes")
	negated.Type = "not-judge"
	for name, c := range map[string]struct {
		a     judge.Assertion
		want  string
		calls int
	}{
		"both hold":           {counted(`{"type":"contains","value":"new"}`, "yes"), "a=pass", 1},
		"check fails":         {counted(`{"type":"contains","value":"missing"}`, "yes"), "a=fail", 0},
		"criterion fails":     {counted(`{"type":"contains","value":"new"}`, "no: not"), "a=fail", 1},
		"check alone":         {counted(`{"type":"not-contains","value":"old"}`), "a=pass", 0},
		"check cannot decide": {counted(`{"type":"latency","threshold":5}`, "yes"), "a=error", 0},
		"negated":             {negated, "a=pass", 0},
		"template of a check": {judge.Assertion{ID: "a", Criteria: []judge.Criterion{{Template: "max-length", Params: value.ObjectOf("words", 2.0)}}}, "a=fail", 0},
		"template of a question": {judge.Assertion{ID: "a", Criteria: []judge.Criterion{{Template: "cites-sources"}}},
			"a=fail", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			r := evaluate(t, one(t, f), c.a)
			if got := statuses(r); got != c.want || f.Count() != c.calls {
				t.Errorf("got %s after %d calls (%s), want %s after %d", got, f.Count(), r.Results[0].Reasoning, c.want, c.calls)
			}
		})
	}
}

// TestNegation: negation inverts verdicts but never errors.
func TestNegation(t *testing.T) {
	t.Parallel()
	negated := func(a judge.Assertion) judge.Assertion { a.Type = "not-judge"; return a }
	f := &fake{Reply: func(c seen) string {
		if c.Assertions[0].ID == "silent" {
			return "I would rather not."
		}
		return fakejudge.Honest(c)
	}}
	j := one(t, f, func(o *judge.Options) { o.Mode = judge.Single })
	r := evaluate(t, j, negated(wants("met", "yes")), negated(wants("unmet", "no: x", "yes")), negated(wants("silent", "yes")))
	if got := statuses(r); got != "met=fail unmet=pass silent=error" {
		t.Error(got)
	}
	if got := *r.Results[1].Score; got != 1 {
		t.Errorf("the score of an inverted verdict is %v", got)
	}
}

// TestStrict: one unmet criterion decides, whatever the others are.
func TestStrict(t *testing.T) {
	t.Parallel()
	// The second criterion never gets a verdict.
	f := &fake{Reply: func(c seen) string { return silenced(fakejudge.Honest(c), 2) }}
	r := evaluate(t, one(t, f), wants("a", "no: x", "yes"), wants("b", "yes", "yes too"))
	if got := statuses(r); got != "a=fail b=error" {
		t.Error(got)
	}
	if f.Count() != 2 {
		t.Errorf("%d calls, want the question and one for what is missing", f.Count())
	}
	if got := r.Results[0].Criteria[1].Status; got != "error" {
		t.Errorf("a criterion without a verdict is %s", got)
	}
}

// silenced removes the verdict from the criteria with number n.
func silenced(reply string, n float64) string {
	v, _ := value.ParseJSON(reply)
	for _, e := range v.(*value.Object).At("results").([]any) {
		for _, c := range e.(*value.Object).At("criteria").([]any) {
			if o := c.(*value.Object); o.At("n") == n {
				o.Set("met", nil)
			}
		}
	}
	return value.Stringify(v)
}

// dropped removes the criteria with number n from a reply.
func dropped(reply string, n float64) string {
	v, _ := value.ParseJSON(reply)
	results, _ := v.(*value.Object).At("results").([]any)
	for _, e := range results {
		o := e.(*value.Object)
		var kept []any
		for _, c := range o.At("criteria").([]any) {
			if c.(*value.Object).At("n") != n {
				kept = append(kept, c)
			}
		}
		o.Set("criteria", kept)
	}
	return value.Stringify(v)
}

// TestCost: the usage of a call is divided among criteria without loss.
func TestCost(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := evaluate(t, one(t, f), wants("a", "1", "2", "3"), wants("b", "4"), wants("c", "5", "6", "7"))
	var cost float64
	var sum judge.Usage
	for _, res := range r.Results {
		cost += *res.Cost
		sum.Prompt += res.Usage.Prompt
		sum.Completion += res.Usage.Completion
		sum.Cached += res.Usage.Cached
		sum.Total += res.Usage.Total
		sum.Requests += res.Usage.Requests
	}
	if want := (judge.Usage{Prompt: 1000, Completion: 100, Cached: 900, Total: 1100, Requests: 1}); sum != want {
		t.Errorf("the parts sum up to %+v", sum)
	}
	if cost < 0.00999 || cost > 0.01001 || *r.Results[0].Cost < 2.9**r.Results[1].Cost {
		t.Errorf("cost %v, of which %v and %v", cost, *r.Results[0].Cost, *r.Results[1].Cost)
	}
}

// TestSpentOnErrors: money spent without a verdict is reported.
func TestSpentOnErrors(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(seen) string { return "no" }}
	r := evaluate(t, one(t, f), wants("a", "1"))
	if res := r.Results[0]; res.Status != "error" || res.Usage == nil || res.Usage.Requests != 2 || *res.Cost < 0.019 || res.Cached {
		t.Errorf("got %+v", res)
	}
}

// TestOptions: invalid options are refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	f := &fake{}
	for name, o := range map[string]judge.Options{
		"mode":        {Mode: "bulk"},
		"chunk":       {Chunk: -1},
		"votes":       {Votes: 1000},
		"threshold":   {Threshold: ptr(2)},
		"temperature": {Temperature: ptr(-1)},
		"twice":       {Judges: []judge.Seat{seat(f), seat(f)}},
		"no provider": {Judges: []judge.Seat{{}}},
		"panel":       {Judges: make([]judge.Seat, 30)},
	} {
		if j, err := judge.New(o); err == nil || j != nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestNoJudge: a missing judge is reported before anything is decided.
func TestNoJudge(t *testing.T) {
	t.Parallel()
	j, err := judge.New(judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Evaluate(t.Context(), &judge.Request{Assertions: []judge.Assertion{wants("a", "x")}}); err == nil || !strings.Contains(err.Error(), "no model") {
		t.Errorf("got %v", err)
	}
	r := request(t, j, &judge.Request{Output: "x", Assertions: []judge.Assertion{{ID: "a", Check: value.ObjectOf("type", "contains", "value", "x")}}})
	if got := statuses(r); got != "a=pass" {
		t.Errorf("what needs no judge is %s", got)
	}
}

// TestEvaluateTrustsNobody: a request runs no code and opens no file.
func TestEvaluateTrustsNobody(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"type":"javascript","value":"true"}`,
		`{"type":"python","value":"True"}`,
		`{"type":"contains","value":"file:///etc/passwd"}`,
		`{"type":"is-json","value":"file://schema.json"}`,
		`{"type":"webhook","value":"http://169.254.169.254/"}`,
		`{"type":"contains","value":"x","transform":"process.exit()"}`,
		`{"type":"llm-rubric","value":"x"}`,
		`{"type":"select-best","value":"x"}`,
		`{"type":"assert-set","assert":[{"type":"llm-rubric","value":"x"}]}`,
	} {
		v, _ := value.ParseJSON(text)
		f := &fake{}
		r, err := judge.Evaluate(t.Context(), &judge.Request{Assertions: []judge.Assertion{{ID: "a", Check: v.(*value.Object)}}},
			judge.Options{Judges: []judge.Seat{seat(f)}, Check: check.Options{}})
		if err == nil && r.Results[0].Status != "error" || f.Count() > 0 {
			t.Errorf("%s: %v, %+v", text, err, r)
		}
	}
}
