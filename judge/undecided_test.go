package judge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// verdicts returns a reply about one assertion with these criteria.
func verdicts(id string, criteria ...string) string {
	return `{"results":[{"id":"` + id + `","criteria":[` + strings.Join(criteria, ",") + `]}]}`
}

// TestCannotTell: "cannot tell" is neither met nor not met.
func TestCannotTell(t *testing.T) {
	t.Parallel()
	const (
		met    = `{"n":1,"reasoning":"It is there.","verdict":"met"}`
		unmet  = `{"n":1,"reasoning":"It is not there.","verdict":"not_met"}`
		unsure = `{"n":2,"reasoning":"The handbook is not shown.","verdict":"cannot_tell"}`
	)
	for name, c := range map[string]struct {
		reply, typ, want, reason string
	}{
		"beside met":         {verdicts("a", met, unsure), "", "a=error", "1 of 2 criteria are undecided: the judge cannot tell: The handbook is not shown."},
		"beside not met":     {verdicts("a", unmet, unsure), "", "a=fail", "It is not there."},
		"negated":            {verdicts("a", met, unsure), "not-judge", "a=error", "the judge cannot tell"},
		"negated, not met":   {verdicts("a", unmet, unsure), "not-judge", "a=pass", ""},
		"in the older form":  {strings.ReplaceAll(verdicts("a", met, unsure), `"verdict"`, `"met"`), "", "a=error", "the judge cannot tell"},
		"in other letters":   {strings.ReplaceAll(verdicts("a", met, unsure), "cannot_tell", "Cannot tell"), "", "a=error", "the judge cannot tell"},
		"and failed as such": {strings.Replace(verdicts("a", met, unsure), `"id"`, `"pass":false,"id"`, 1), "", "a=error", "the judge cannot tell"},
	} {
		f := &fake{Reply: func(seen) string { return c.reply }}
		a := wants("a", "1", "2")
		a.Type = c.typ
		r := evaluate(t, one(t, f), a)
		res := r.Results[0]
		if got := statuses(r); got != c.want || f.Count() != 1 || !strings.Contains(res.Reasoning, c.reason) {
			t.Errorf("%s: %s after %d calls: %s", name, got, f.Count(), res.Reasoning)
		}
		last := res.Criteria[1]
		if !last.CannotTell || last.Pass || last.Status != "error" || last.Reasoning != "The handbook is not shown." || res.Criteria[0].CannotTell {
			t.Errorf("%s: the criteria are %+v", name, res.Criteria)
		}
	}
}

// TestCannotTellVotes: "cannot tell" is counted separately from all other votes.
func TestCannotTellVotes(t *testing.T) {
	t.Parallel()
	for ballot, c := range map[string]struct {
		want   string
		tally  judge.Votes
		unsure bool
		reason string
	}{
		"??+": {"error", judge.Votes{Met: 1, CannotTell: 2}, true, "(2 of 3 votes)"},
		"?++": {"pass", judge.Votes{Met: 2, CannotTell: 1}, false, "(2 of 3 votes)"},
		"?--": {"fail", judge.Votes{Unmet: 2, CannotTell: 1}, false, "(2 of 3 votes)"},
		"?+-": {"error", judge.Votes{Met: 1, Unmet: 1, CannotTell: 1}, false, "no majority of 3 votes: 1 met, 1 not met, 1 cannot tell, 0 without a verdict"},
		"???": {"error", judge.Votes{CannotTell: 3}, true, "the judge cannot tell: Because."},
	} {
		words := map[byte]string{'+': "met", '-': "not_met", '?': "cannot_tell"}
		f := &fake{Reply: func(s seen) string {
			return verdicts("a", `{"n":1,"reasoning":"Because.","verdict":"`+words[ballot[s.Ask.Sample.Vote]]+`"}`)
		}}
		res := evaluate(t, one(t, f, func(o *judge.Options) { o.Votes = 3 }), wants("a", "x")).Results[0]
		if res.Status != c.want || res.Criteria[0].CannotTell != c.unsure || !strings.Contains(res.Reasoning, c.reason) {
			t.Errorf("%s: %s, %v: %s", ballot, res.Status, res.Criteria[0].CannotTell, res.Reasoning)
		}
		if diff := cmp.Diff(&c.tally, res.Criteria[0].Votes); diff != "" {
			t.Errorf("%s: %s", ballot, diff)
		}
	}
}

// TestCannotTellIsKept: "cannot tell" is stored, because the answer was paid for.
func TestCannotTellIsKept(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	kept := func(o *judge.Options) { o.Store = store }
	f := &fake{Reply: func(seen) string {
		return verdicts("a", `{"n":1,"reasoning":"It is not shown.","verdict":"cannot_tell"}`)
	}}
	first := evaluate(t, one(t, f, kept), wants("a", "x")).Results[0]
	second := evaluate(t, one(t, f, kept), wants("a", "x")).Results[0]
	if f.Count() != 1 || first.Cached || !second.Cached || second.Status != "error" || !second.Criteria[0].CannotTell || second.Reasoning != first.Reasoning {
		t.Errorf("after %d calls %+v", f.Count(), second)
	}
}

// TestCannotTellInJSON: "cannot tell" has its own key, which is otherwise absent.
func TestCannotTellInJSON(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(seen) string {
		return verdicts("a", `{"n":1,"verdict":"cannot_tell"},{"n":2,"verdict":"met"}`)
	}}
	line, err := json.Marshal(evaluate(t, one(t, f), wants("a", "x", "y")))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(line), `"cannot_tell":true`); n != 1 || strings.Contains(string(line), `"cannot_tell":false`) {
		t.Errorf("got %s", line)
	}
}

// TestInventedEvidence: a criterion is not met if none of its quotes occurs. The output
// is: Nothing is “new” here.\nReally.
func TestInventedEvidence(t *testing.T) {
	t.Parallel()
	said := func(verdict string, quotes ...string) string {
		list := make([]any, len(quotes))
		for i, q := range quotes {
			list[i] = q
		}
		return verdicts("a", value.Stringify(value.ObjectOf("n", 1.0, "evidence", list, "reasoning", "r", "verdict", verdict)))
	}
	for name, c := range map[string]struct {
		first, second, want string
		calls               int
	}{
		"invented":                  {said("met", "It is old."), "", "a=error", 2},
		"all invented":              {said("met", "It is old.", "Very."), "", "a=error", 2},
		"then one that is there":    {said("met", "It is old."), said("met", "Really."), "a=pass", 2},
		"then not met":              {said("met", "It is old."), said("not_met"), "a=fail", 2},
		"then none":                 {said("met", "It is old."), said("met"), "a=pass", 2},
		"one is there":              {said("met", "It is old.", "Really"), "", "a=pass", 1},
		"no quotes":                 {said("met"), "", "a=pass", 1},
		"words for no quote":        {said("met", "", "N/A", "(none)"), "", "a=pass", 1},
		"not met, invented":         {said("not_met", "It is old."), "", "a=fail", 1},
		"cannot tell, and invented": {said("cannot_tell", "It is old."), "", "a=error", 1},
		"the sixth is there":        {said("met", "1x", "2x", "3x", "4x", "5x", "Really."), "", "a=pass", 1},
		"of the input":              {said("met", "What is new?"), "", "a=error", 2},
		"a letter is there":         {said("met", "It is old.", "e", "!"), "", "a=error", 2},
		"three letters are there":   {said("met", "It is old.", "e", "“new”"), "", "a=pass", 1},
		"behind many empty ones":    {said("met", append(make([]string, 40), "It is old.")...), "", "a=error", 2},
	} {
		f := &fake{}
		f.Reply = func(seen) string {
			if f.Count() > 1 && c.second != "" {
				return c.second
			}
			return c.first
		}
		r := evaluate(t, one(t, f), wants("a", "x"))
		if got := statuses(r); got != c.want || f.Count() != c.calls {
			t.Errorf("%s: %s after %d calls: %s", name, got, f.Count(), r.Results[0].Reasoning)
		}
		if c.calls == 2 && c.want == "a=error" && !strings.Contains(r.Results[0].Reasoning, "none of its quotes occurs in the output; it was asked twice") {
			t.Errorf("%s: the reason is %q", name, r.Results[0].Reasoning)
		}
	}
}

// TestInventedEvidenceNegated: "not met" makes a not-judge pass, so its quotes, if there
// are any, must occur. A verdict stored for a judge is not reused for it.
func TestInventedEvidenceNegated(t *testing.T) {
	t.Parallel()
	const entry = `{"n":1,"evidence":["It is old."],"reasoning":"r","verdict":"not_met"}`
	f := &fake{Reply: func(seen) string { return verdicts("a", entry) }}
	j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: f}}, Store: blobs.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	a := wants("a", "x")
	if got := statuses(evaluate(t, j, a)); got != "a=fail" {
		t.Errorf("judge: %s", got)
	}
	a.Type = "not-judge"
	if got := statuses(evaluate(t, j, a)); got != "a=error" || f.Count() != 3 {
		t.Errorf("not-judge: %s after %d calls", got, f.Count())
	}
}

// TestWhyItIsAskedAgain: the judge is told why it is asked again, in proviso's words.
func TestWhyItIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(seen) string { return verdicts("a", `{"n":0,"reasoning":"SAY TRUE","verdict":"met"}`) }}
	evaluate(t, one(t, f), wants("a", "x"))
	second := f.Calls()[1].Ask.Prompt
	_, last, _ := strings.Cut(second, `{"role":"assistant"`)
	_, last, _ = strings.Cut(last, `{"role":"user"`)
	if !strings.Contains(last, "it does not number the criteria of an assertion as it was asked to") || strings.Contains(last, "SAY TRUE") {
		t.Errorf("the last message is %s", last)
	}
}

// TestReasonsAtOdds: reasoning that clearly contradicts its verdict gets a note, and the
// verdict is unchanged.
func TestReasonsAtOdds(t *testing.T) {
	t.Parallel()
	const note = "the reasoning of the judge contradicts its verdict"
	for _, c := range []struct {
		criterion, reasoning, verdict string
		odd                           bool
	}{
		{"The output names a price.", "Not met: there is no price.", "met", true},
		{"The output names a price.", "The criterion is not met.", "met", true},
		{"The output names a price.", "The output does not name a price.", "met", true},
		{"The output names a price.", "The output lacks a price.", "met", true},
		{"The output names no price.", "Not met.", "met", true},
		{"The output names no price.", "The output does not name a price.", "met", false},
		{"The output is free of prices.", "The output does not name a price.", "met", false},
		{"If a price is named, it is in euros.", "The output does not name a price.", "met", false},
		{"The output names a price.", "The output does not name it directly, but 5 euros follow from it.", "met", false},
		{"The output names a price.", "The output does not only name a price.", "met", false},
		{"The output names a price.", "The output names a price.", "met", false},
		{"The output names a price.", "Met. The price is 5 euros.", "not_met", true},
		{"The output names a price.", "This criterion is met by the price.", "not_met", true},
		{"The output names no price.", "Yes, it names a price.", "not_met", false},
		{"The output names a price.", "The output does not name a price.", "not_met", false},
		{"The output names a price.", "Not met.", "not_met", false},
		{"The output names a price.", "Not met.", "cannot_tell", false},
		{"The output names a price.", "Meters are named.", "not_met", false},
	} {
		f := &fake{Reply: func(seen) string {
			return verdicts("a", value.Stringify(value.ObjectOf("n", 1.0, "reasoning", c.reasoning, "verdict", c.verdict)))
		}}
		res := evaluate(t, one(t, f), wants("a", c.criterion)).Results[0]
		want := map[string]string{"met": "pass", "not_met": "fail", "cannot_tell": "error"}[c.verdict]
		if got := res.Criteria[0].Note == note; got != c.odd || res.Status != want {
			t.Errorf("%q of %q, %s: %s, note %q", c.reasoning, c.criterion, c.verdict, res.Status, res.Criteria[0].Note)
		}
	}
}

// TestCanaryAskedAgain: a reply with only wrong numbers is requested again, and a reply
// that passes the canary counts for nothing.
func TestCanaryAskedAgain(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.Reply = func(c seen) string {
		if f.Count() == 1 {
			return strings.ReplaceAll(fakejudge.Honest(c), `"n":1`, `"n":0`)
		}
		return fakejudge.Honest(c)
	}
	if got := statuses(evaluate(t, one(t, f, func(o *judge.Options) { o.Canaries = true }), wants("a", "yes"))); got != "a=pass" || f.Count() != 2 {
		t.Errorf("%s after %d calls", got, f.Count())
	}
}
