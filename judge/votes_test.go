package judge_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
)

// TestModes checks how criteria are packed into calls.
func TestModes(t *testing.T) {
	t.Parallel()
	many := func(id string, n int) judge.Assertion {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("%s %d", id, i+1))
		}
		return wants(id, texts...)
	}
	list := []judge.Assertion{many("a", 3), many("b", 3), many("c", 3), many("d", 10)}
	for name, c := range map[string]struct {
		mode        judge.Mode
		chunk, want int
	}{
		"batch":       {judge.Batch, 0, 4}, // 19 criteria; c and d are not split to fill calls
		"default":     {"", 0, 4},
		"single":      {judge.Single, 0, 5}, // d is longer than a call
		"one a call":  {judge.Batch, 1, 19},
		"all at once": {judge.Batch, 100, 1},
	} {
		f := &fake{}
		r := evaluate(t, one(t, f, func(o *judge.Options) { o.Mode, o.Chunk = c.mode, c.chunk }), list...)
		if got := statuses(r); got != "a=pass b=pass c=pass d=pass" {
			t.Errorf("%s: %s", name, got)
		}
		criteria, seen := 0, map[string]bool{}
		for _, call := range f.Calls() {
			n := 0
			for _, a := range call.Assertions {
				n += len(a.N)
				for i, text := range a.Text {
					if seen[text] || !strings.HasPrefix(text, a.ID+" ") || a.N[i] != i+1 {
						t.Errorf("%s: criterion %d of %s is %q", name, a.N[i], a.ID, text)
					}
					seen[text] = true
				}
			}
			if c.chunk == 0 && n > 8 {
				t.Errorf("%s: a call has %d criteria", name, n)
			}
			criteria += n
		}
		if criteria != 19 || name != "batch" && name != "default" && f.Count() != c.want || f.Count() > c.want {
			t.Errorf("%s: %d criteria in %d calls, want %d calls", name, criteria, f.Count(), c.want)
		}
	}
}

// TestVotes: the majority decides each criterion, and dissenting votes are reported.
func TestVotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		votes  int
		ballot string // result of each vote: +, - or ! for a failed call
		want   string
		tally  judge.Votes
	}{
		"one mind":        {3, "+++", "pass", judge.Votes{Met: 3}},
		"majority for":    {3, "+-+", "pass", judge.Votes{Met: 2, Unmet: 1}},
		"majority not":    {3, "-+-", "fail", judge.Votes{Met: 1, Unmet: 2}},
		"tie":             {2, "+-", "error", judge.Votes{Met: 1, Unmet: 1}},
		"one is missing":  {3, "+!+", "pass", judge.Votes{Met: 2, Failed: 1}},
		"too few":         {3, "+!!", "error", judge.Votes{Met: 1, Failed: 2}},
		"tie of the rest": {3, "+-!", "error", judge.Votes{Met: 1, Unmet: 1, Failed: 1}},
		"all failed":      {2, "!!", "error", judge.Votes{Failed: 2}},
	} {
		f := &fake{}
		say := func(c2 seen) byte { return c.ballot[c2.Ask.Sample.Vote] }
		f.Fail = func(s seen) error {
			if say(s) == '!' {
				return proviso.Errorf(proviso.Unavailable, "gone")
			}
			return nil
		}
		f.Reply = func(s seen) string {
			return fakejudge.Answered(s, func(asserted, string) bool { return say(s) == '+' })
		}
		r := evaluate(t, one(t, f, func(o *judge.Options) { o.Votes = c.votes }), wants("a", "x"))
		res := r.Results[0]
		if res.Status != c.want || f.Count() != c.votes {
			t.Errorf("%s: %s after %d calls, want %s", name, res.Status, f.Count(), c.want)
		}
		if diff := cmp.Diff(&c.tally, res.Criteria[0].Votes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		shown := strings.Contains(res.Reasoning, "of 3 votes") || strings.Contains(res.Reasoning, "no majority")
		if agreed := c.tally.Met == c.votes; agreed == shown {
			t.Errorf("%s: the reason is %q", name, res.Reasoning)
		}
	}
}

// TestVotesByCriterion: votes are counted per criterion, not per assertion.
func TestVotesByCriterion(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(c seen) string {
		return fakejudge.Answered(c, func(_ asserted, text string) bool { return text != fmt.Sprint(c.Ask.Sample.Vote) })
	}}
	if got := statuses(evaluate(t, one(t, f, func(o *judge.Options) { o.Votes = 3 }), wants("a", "0", "1", "2"))); got != "a=pass" {
		t.Error(got)
	}
}

// TestSamples: samples are numbered by repeat and vote, never by the order of calls.
func TestSamples(t *testing.T) {
	t.Parallel()
	f := &fake{}
	j := one(t, f, func(o *judge.Options) { o.Votes, o.Mode = 2, judge.Single })
	qs := make([]proviso.Question, 2)
	for i, id := range []string{"a", "b"} {
		qs[i] = proviso.Question{
			Type: "judge", Assertion: &proviso.Assertion{ID: id}, Input: "i", Output: "o", Criteria: []proviso.Criterion{{Text: "x"}}, Sample: proviso.Sample{Repeat: 4},
		}
	}
	for _, g := range j.GradeSet(t.Context(), qs) {
		if g.Err != nil || !g.Grade.Pass {
			t.Errorf("got %+v", g)
		}
	}
	got := map[string]int{}
	for _, c := range f.Calls() {
		got[fmt.Sprint(c.Assertions[0].ID, c.Ask.Sample)]++
	}
	if diff := cmp.Diff(map[string]int{"a{4 0 0}": 1, "a{4 1 0}": 1, "b{4 0 0}": 1, "b{4 1 0}": 1}, got); diff != "" {
		t.Error(diff)
	}
}

// TestPanel counts the votes of several judges together.
func TestPanel(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	no := func(c seen) string { return fakejudge.Answered(c, func(asserted, string) bool { return false }) }
	a, b, c := &fake{Name: "a"}, &fake{Name: "b", Reply: no}, &fake{Name: "c"}
	panel := func(o *judge.Options) {
		o.Judges = []judge.Seat{seat(a), seat(b), seat(c)}
		o.Store = store
	}
	r := evaluate(t, one(t, a, panel), wants("x", "1"))
	res := r.Results[0]
	if res.Status != "pass" || !strings.HasPrefix(res.Judge, "a+b+c#") || *res.Cost < 0.029 {
		t.Errorf("got %+v", res)
	}
	if diff := cmp.Diff(&judge.Votes{Met: 2, Unmet: 1}, res.Criteria[0].Votes); diff != "" {
		t.Error(diff)
	}
	// If a judge joins, only the new judge is called.
	d := &fake{Name: "d", Reply: no}
	r = evaluate(t, one(t, a, panel, func(o *judge.Options) { o.Judges = append(o.Judges, seat(d)) }), wants("x", "1"))
	if got := statuses(r); got != "x=error" || a.Count()+b.Count()+c.Count() != 3 || d.Count() != 1 {
		t.Errorf("%s after %d and %d calls", got, a.Count()+b.Count()+c.Count(), d.Count())
	}
}

// TestEqualAssertions: equal assertions share a question, and different ones with the
// same id are separate.
func TestEqualAssertions(t *testing.T) {
	t.Parallel()
	f := &fake{}
	j := one(t, f)
	question := func(id, text string) proviso.Question {
		return proviso.Question{Type: "judge", Assertion: &proviso.Assertion{ID: id}, Output: "o", Criteria: []proviso.Criterion{{Text: text}}}
	}
	got := j.GradeSet(t.Context(), []proviso.Question{question("a", "x"), question("a", "no: y"), question("a", "x"), question("", "x"), question("", "no: z"), question("", " ")})
	want := []bool{true, false, true, true, false}
	for i, pass := range want {
		if got[i].Err != nil || got[i].Grade.Pass != pass {
			t.Errorf("question %d: %+v", i, got[i])
		}
	}
	if got[5].Err == nil {
		t.Error("an empty criterion is judged")
	}
	ids := map[string]bool{}
	for _, a := range f.Calls()[0].Assertions {
		ids[a.ID] = true
	}
	if f.Count() != 1 || len(ids) != 4 {
		t.Errorf("%d calls, ids %v", f.Count(), ids)
	}
}

// TestCanaries: a judge that approves of everything is detected.
func TestCanaries(t *testing.T) {
	t.Parallel()
	on := func(o *judge.Options) { o.Canaries = true }
	honestJudge := &fake{}
	if got := statuses(evaluate(t, one(t, honestJudge, on), wants("a", "yes"), wants("b", "no: x"))); got != "a=pass b=fail" || honestJudge.Count() != 1 {
		t.Errorf("%s after %d calls", got, honestJudge.Count())
	}
	call := honestJudge.Calls()[0]
	if len(call.Assertions) != 3 {
		t.Errorf("asked %+v", call.Assertions)
	}
	evaluate(t, one(t, honestJudge, on), wants("b", "no: x"), wants("a", "yes"))
	if again := honestJudge.Calls()[1]; again.Ask.Prompt != call.Ask.Prompt {
		t.Error("the canary is another when the same is asked again")
	}

	store := blobs.Open(t.TempDir())
	kept := func(o *judge.Options) { o.Store = store }
	yes := func(c seen) string {
		return strings.ReplaceAll(fakejudge.Answered(c, func(asserted, string) bool { return true }), `"verdict":"not_met"`, `"verdict":"met"`)
	}
	talked := &fake{Reply: yes}
	r := evaluate(t, one(t, talked, on, kept), wants("a", "yes"))
	if got := statuses(r); got != "a=error" || !strings.Contains(r.Results[0].Reasoning, "prompt injection") {
		t.Errorf("%s: %s", got, r.Results[0].Reasoning)
	}
	if got := statuses(evaluate(t, one(t, &fake{}, on, kept), wants("a", "no: not any more"))); got != "a=fail" {
		t.Errorf("after that: %s", got)
	}
	silent := &fake{Reply: func(c seen) string {
		return fakejudge.Answered(seen{Assertions: []asserted{{ID: "a", N: []int{1}, Text: []string{"yes"}}}}, func(asserted, string) bool { return true })
	}}
	if got := statuses(evaluate(t, one(t, silent, on), wants("a", "yes"))); got != "a=error" {
		t.Errorf("a canary without a verdict: %s", got)
	}
	unsure := &fake{Reply: func(c seen) string { return strings.ReplaceAll(fakejudge.Honest(c), `"not_met"`, `"cannot_tell"`) }}
	if got := statuses(evaluate(t, one(t, unsure, on), wants("a", "yes"))); got != "a=error" || unsure.Count() != 2 {
		t.Errorf("a canary that the judge cannot tell: %s after %d calls", got, unsure.Count())
	}
	places := map[string]bool{}
	for i := range 64 {
		f := &fake{}
		r := evaluate(t, one(t, f, on), wants("a", fmt.Sprint(i)))
		for at, a := range f.Calls()[0].Assertions {
			if a.ID != "a" {
				places[fmt.Sprint(at, a.ID)] = true
			}
		}
		if got := statuses(r); got != "a=pass" {
			t.Errorf("%d: %s", i, got)
		}
	}
	if len(places) < 8 {
		t.Errorf("canaries have %d forms and places in 64 calls", len(places))
	}
}

// TestNamedGraders: the grader that an assertion names is opened once.
func TestNamedGraders(t *testing.T) {
	t.Parallel()
	own, other := &fake{Name: "own"}, &fake{Name: "other"}
	var opens atomic.Int64
	j := one(t, own, func(o *judge.Options) {
		o.Open = func(grader any, role judge.Role) (judge.Seat, error) {
			opens.Add(1)
			if grader == "other" && role == judge.Text {
				return seat(other), nil
			}
			return judge.Seat{}, proviso.Errorf(proviso.Invalid, "unknown provider %v", grader)
		}
	})
	question := func(id string, grader any) proviso.Question {
		return proviso.Question{Type: "judge", Assertion: &proviso.Assertion{ID: id, Provider: grader}, Grader: grader, Output: "o", Criteria: []proviso.Criterion{{Text: "x"}}}
	}
	got := j.GradeSet(t.Context(), []proviso.Question{question("a", nil), question("b", "other"), question("c", "third"), question("d", "other")})
	if got[0].Err != nil || got[1].Err != nil || got[2].Err == nil || got[3].Err != nil {
		t.Errorf("got %+v", got)
	}
	if own.Count() != 1 || other.Count() != 1 || opens.Load() != 2 {
		t.Errorf("%d and %d calls, %d opened", own.Count(), other.Count(), opens.Load())
	}
	if !strings.HasPrefix(got[1].Grade.Judge, "other#") || strings.HasPrefix(got[0].Grade.Judge, "other#") {
		t.Errorf("judges %q and %q", got[0].Grade.Judge, got[1].Grade.Judge)
	}
	if err := j.Prepare(question("c", "third")); err == nil {
		t.Error("nothing is wrong with a grader that cannot be opened")
	}
	if err := j.Prepare(question("b", "other")); err != nil {
		t.Error(err)
	}
}

// TestConcurrency: the number of calls in flight is bounded.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var flying, peak atomic.Int64
		release := make(chan struct{})
		f := &fake{Fail: func(seen) error {
			n := flying.Add(1)
			for {
				p := peak.Load()
				if n <= p || peak.CompareAndSwap(p, n) {
					break
				}
			}
			<-release
			flying.Add(-1)
			return nil
		}}
		j := one(t, f, func(o *judge.Options) { o.Mode, o.Concurrency = judge.Single, 3 })
		var list []judge.Assertion
		for i := range 20 {
			list = append(list, wants(fmt.Sprint("a", i), "x"))
		}
		done := make(chan *judge.Response)
		go func() {
			r, err := j.Evaluate(t.Context(), &judge.Request{Assertions: list})
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		synctest.Wait()
		if flying.Load() != 3 {
			t.Errorf("%d calls in flight", flying.Load())
		}
		close(release)
		if r := <-done; r.Passed != 20 || peak.Load() != 3 {
			t.Errorf("%d passed, %d calls at once", r.Passed, peak.Load())
		}
	})
}
