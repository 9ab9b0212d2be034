package judge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/value"
)

// TestReplies has every kind of bad reply that models are known for. The call is about a
// (criteria 1 and 2) and b (criterion 1); again is the reply to the following calls, ""
// for the same reply.
func TestReplies(t *testing.T) {
	t.Parallel()
	const (
		a    = `{"id":"a","criteria":[{"n":1,"reasoning":"r","evidence":[],"met":true},{"n":2,"reasoning":"r","evidence":[],"met":true}]}`
		notA = `{"id":"a","criteria":[{"n":1,"reasoning":"r","evidence":[],"met":true},{"n":2,"reasoning":"r","evidence":[],"met":false}]}`
		b    = `{"id":"b","criteria":[{"n":1,"reasoning":"r","evidence":[],"met":true}]}`
		good = `{"results":[` + a + `,` + b + `]}`
	)
	withB := func(text string) string { return `{"results":[` + text + `,` + b + `]}` }
	for name, c := range map[string]struct {
		first, again string
		want         string
		calls        int
	}{
		"as asked":               {good, "", "a=pass b=pass", 1},
		"not met":                {withB(notA), "", "a=fail b=pass", 1},
		"white space":            {" \n\t" + good + "\n\n", "", "a=pass b=pass", 1},
		"prose around":           {"Here is {my} verdict [1]:\n" + good + "\nI hope {that} helps!", "", "a=pass b=pass", 1},
		"code fence":             {"```json\n" + good + "\n```", "", "a=pass b=pass", 1},
		"thoughts":               {"<think>Is it {\"met\": maybe}?</think>" + good, "", "a=pass b=pass", 1},
		"a list of results":      {`[` + a + `,` + b + `]`, "", "a=pass b=pass", 1},
		"an object a line":       {a + "\n" + b, "", "a=pass b=pass", 1},
		"two objects, the same":  {good + good, "", "a=pass b=pass", 1},
		"two objects, a part":    {`{"results":[` + a + `]} {"results":[` + b + `]}`, "", "a=pass b=pass", 1},
		"two objects, at odds":   {good + `{"results":[` + notA + `]}`, `{"results":[` + a + `]}`, "a=pass b=pass", 2},
		"at odds for ever":       {good + `{"results":[` + notA + `]}`, "", "a=error b=pass", 2},
		"truncated":              {good[:len(good)-20], good, "a=pass b=pass", 2},
		"truncated in a":         {good[:60], good, "a=pass b=pass", 2},
		"truncated for ever":     {good[:len(good)-20], "", "a=pass b=error", 2},
		"duplicate id":           {withB(a + `,` + a), "", "a=pass b=pass", 1},
		"duplicate id, at odds":  {withB(a + `,` + notA), good, "a=pass b=pass", 2},
		"met twice, at odds":     {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"met":false,"met":true}]}`), "", "a=error b=error", 2},
		"met twice, escaped":     {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"met":false,"\u006det":true}]}`), "", "a=error b=error", 2},
		"met twice, then good":   {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"met":false,"met":true}]}`), good, "a=pass b=pass", 2},
		"results twice":          {`{"results":[` + notA + `],"results":[` + a + `,` + b + `]}`, "", "a=error b=error", 2},
		"twice in a broken one":  {`{"x":{"id":"a","criteria":[{"n":1,"met":false,"met":true},{"n":2,"met":true}]},,` + b, "", "a=error b=error", 2},
		"twice in other JSON":    {`{"x":1,"x":2}` + good, "", "a=pass b=pass", 1},
		"unknown id":             {withB(a + `,{"id":"c","criteria":[{"n":1,"met":false}]}`), "", "a=pass b=pass", 1},
		"only unknown ids":       {`{"results":[{"id":"c","criteria":[{"n":1,"met":true}]}]}`, "", "a=error b=error", 2},
		"id in other case":       {`{"results":[{"id":" a ","criteria":[{"n":1,"met":true},{"n":2,"met":true}]},{"id":"B","criteria":[{"n":1,"met":true}]}]}`, "", "a=pass b=pass", 1},
		"empty":                  {`{"results":[]}`, good, "a=pass b=pass", 2},
		"no JSON, then good":     {"I cannot say.", good, "a=pass b=pass", 2},
		"no JSON for ever":       {"I cannot say.", "", "a=error b=error", 2},
		"nothing":                {"", "", "a=error b=error", 2},
		"another object":         {`{"verdict":"pass"}`, "", "a=error b=error", 2},
		"a number":               {`42`, "", "a=error b=error", 2},
		"null":                   {`null`, "", "a=error b=error", 2},
		"results no list":        {`{"results":{"a":true,"b":true}}`, "", "a=error b=error", 2},
		"met as text":            {withB(`{"id":"a","criteria":[{"n":1,"met":"true"},{"n":2,"met":"False"}]}`), "", "a=fail b=pass", 1},
		"met as yes":             {withB(`{"id":"a","criteria":[{"n":1,"met":"yes"},{"n":2,"met":true}]}`), "", "a=pass b=pass", 1},
		"met as 1":               {withB(`{"id":"a","criteria":[{"n":1,"met":1},{"n":2,"met":true}]}`), "", "a=pass b=pass", 1},
		"met is null":            {withB(`{"id":"a","criteria":[{"n":1,"met":null},{"n":2,"met":true}]}`), good, "a=pass b=pass", 2},
		"met is missing":         {withB(`{"id":"a","criteria":[{"n":1,"reasoning":"met"},{"n":2,"met":true}]}`), "", "a=error b=pass", 2},
		"pass for met":           {withB(`{"id":"a","criteria":[{"n":1,"pass":true},{"n":2,"pass":false}]}`), "", "a=fail b=pass", 1},
		"met and pass agree":     {withB(`{"id":"a","criteria":[{"n":1,"met":true,"pass":true},{"n":2,"met":true}]}`), "", "a=pass b=pass", 1},
		"met and pass at odds":   {withB(`{"id":"a","criteria":[{"n":1,"met":true,"pass":false},{"n":2,"met":true}]}`), good, "a=pass b=pass", 2},
		"by order":               {withB(`{"id":"a","criteria":[{"met":true},{"met":false}]}`), "", "a=fail b=pass", 1},
		"order, wrong count":     {withB(`{"id":"a","criteria":[{"met":true},{"met":true},{"met":true}]}`), "", "a=error b=pass", 2},
		"some without number":    {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"met":true}]}`), "", "a=error b=pass", 2},
		"numbers in other order": {withB(`{"id":"a","criteria":[{"n":2,"met":false},{"n":1,"met":true}]}`), "", "a=fail b=pass", 1},
		"number as text":         {withB(`{"id":"a","criteria":[{"n":"1","met":true},{"n":"2","met":true}]}`), "", "a=pass b=pass", 1},
		"unknown numbers":        {withB(`{"id":"a","criteria":[{"n":0,"met":true},{"n":3,"met":true},{"n":1.5,"met":true}]}`), "", "a=error b=pass", 2},
		"number twice":           {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"n":1,"met":true},{"n":2,"met":true}]}`), "", "a=error b=pass", 2},
		"number twice, at odds":  {withB(`{"id":"a","criteria":[{"n":1,"met":true},{"n":1,"met":false},{"n":2,"met":true}]}`), "", "a=error b=pass", 2},
		"pass of an assertion":   {withB(strings.Replace(a, `{"id"`, `{"pass":true,"id"`, 1)), "", "a=pass b=pass", 1},
		"pass contradicts":       {withB(strings.Replace(notA, `{"id"`, `{"pass":true,"id"`, 1)), "", "a=error b=pass", 2},
		"fail contradicts":       {withB(strings.Replace(a, `{"id"`, `{"pass":false,"id"`, 1)), "", "a=error b=pass", 2},
		"pass alone":             {withB(`{"id":"a","pass":true}`), "", "a=error b=pass", 2},
		"criteria no list":       {withB(`{"id":"a","criteria":{"1":true,"2":true}}`), "", "a=error b=pass", 2},
		"criteria no objects":    {withB(`{"id":"a","criteria":[true,true]}`), "", "a=error b=pass", 2},
		"half, then the rest":    {withB(`{"id":"a","criteria":[{"n":1,"met":true}]}`), `{"results":[{"id":"a","criteria":[{"n":2,"met":true}]}]}`, "a=error b=pass", 2},
		"half, then all":         {withB(`{"id":"a","criteria":[{"n":1,"met":true}]}`), `{"results":[` + a + `]}`, "a=pass b=pass", 2},
		"one verdict is kept":    {withB(`{"id":"a","criteria":[{"n":1,"met":false},{"n":2,"met":null}]}`), `{"results":[` + a + `]}`, "a=fail b=pass", 2},
		"half, then prose":       {withB(`{"id":"a","criteria":[{"n":1,"met":true}]}`), `Criterion 2 is met.`, "a=error b=pass", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			f.Reply = func(s seen) string {
				if f.Count() > 1 && c.again != "" {
					return c.again
				}
				return c.first
			}
			r := evaluate(t, one(t, f), wants("a", "1", "2"), wants("b", "3"))
			if got := statuses(r); got != c.want || f.Count() != c.calls {
				t.Errorf("got %s after %d calls %+v, want %s after %d", got, f.Count(), r.Errors, c.want, c.calls)
			}
		})
	}
}

// TestRepair: the model is shown its reply and the mistake in it.
func TestRepair(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.Reply = func(c seen) string {
		if c.Turns > 2 {
			return fakejudge.Honest(c)
		}
		return "Everything is fine."
	}
	if got := statuses(evaluate(t, one(t, f), wants("a", "1"))); got != "a=pass" {
		t.Fatal(got)
	}
	again := f.Calls()[1].Ask
	if !strings.Contains(again.Prompt, `{"role":"assistant","content":"Everything is fine."}`) || !strings.Contains(again.Prompt, "cannot be read") {
		t.Errorf("the second call is %s", again.Prompt)
	}
	if again.Sample != (proviso.Sample{Repair: 1}) || f.Calls()[0].Ask.Sample != (proviso.Sample{}) {
		t.Errorf("samples %+v, %+v", f.Calls()[0].Ask.Sample, again.Sample)
	}
	if f.Calls()[0].Fence != f.Calls()[1].Fence {
		t.Error("the repair has another question")
	}
}

// TestMissingAlone: only assertions with a missing verdict are asked about again, once.
func TestMissingAlone(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.Reply = func(c seen) string {
		if len(c.Assertions) > 1 {
			return dropped(fakejudge.Honest(c), 2)
		}
		return fakejudge.Honest(c)
	}
	if got := statuses(evaluate(t, one(t, f), wants("a", "1", "2", "3"), wants("b", "4"))); got != "a=pass b=pass" {
		t.Fatal(got)
	}
	last := f.Calls()[1]
	if diff := cmp.Diff([]asserted{{ID: "a", Instruction: "Do a.", N: []int{1, 2, 3}, Text: []string{"1", "2", "3"}}}, last.Assertions); diff != "" || f.Count() != 2 {
		t.Error(diff)
	}
	if last.Ask.Sample != (proviso.Sample{Repair: 2}) {
		t.Errorf("sample %+v", last.Ask.Sample)
	}
}

// TestUnavailable: the error explains why there is no verdict.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fake{
		"no connection": {Fail: func(seen) error { return proviso.Errorf(proviso.Unavailable, "no connection") }},
		"plain error":   {Fail: func(seen) error { return errors.New("plain error") }},
		"out of quota":  {Edit: func(_ seen, o *proviso.Output) { o.Value, o.Error = value.Undefined{}, "out of quota" }},
		"refused":       {Edit: func(_ seen, o *proviso.Output) { o.Value, o.Refused = "I'd rather not.", true }},
		"is empty":      {Edit: func(_ seen, o *proviso.Output) { o.Value, o.FinishReason = "  ", "odd" }},
		"was cut":       {Edit: func(_ seen, o *proviso.Output) { o.Value, o.FinishReason = "  ", "length" }},
		"longer than":   {Edit: func(_ seen, o *proviso.Output) { o.Value = strings.Repeat(" {", 1<<20) }},
	} {
		r := evaluate(t, one(t, f), wants("a", "1"), wants("b", "2"))
		calls := 1
		if strings.Contains("refused is empty was cut", name) {
			calls = 2 // an answer without content is requested again
		}
		if got := statuses(r); got != "a=error b=error" || f.Count() != calls {
			t.Errorf("%s: %s after %d calls", name, got, f.Count())
			continue
		}
		if !strings.Contains(r.Results[0].Reasoning, name) || !strings.Contains(r.Results[0].Reasoning, "the judge fake") {
			t.Errorf("%s: the reason is %q", name, r.Results[0].Reasoning)
		}
	}
}

// TestStructuredValue reads a reply that the provider has already parsed.
func TestStructuredValue(t *testing.T) {
	t.Parallel()
	f := &fake{Edit: func(_ seen, o *proviso.Output) { o.Value, _ = value.ParseJSON(o.Value.(string)) }}
	if got := statuses(evaluate(t, one(t, f), wants("a", "1"))); got != "a=pass" {
		t.Error(got)
	}
}

// TestReasonsAndEvidence: one sentence is kept of a reason, and only quotes that occur.
func TestReasonsAndEvidence(t *testing.T) {
	t.Parallel()
	f := &fake{Reply: func(seen) string {
		return `{"results":[{"id":"a","criteria":[{"n":1,"met":true,"evidence":["Nothing is \"new\"  here. Really","made up", "", "Really."],
			"reasoning":"  It says so,\n e.g. here. And I like it.\u0007 Ignore this."}]}]}`
	}}
	r := evaluate(t, one(t, f), wants("a", "1"))
	got := r.Results[0]
	if got.Reasoning != "It says so, e.g. here." {
		t.Errorf("the reason is %q", got.Reasoning)
	}
	if diff := cmp.Diff([]string{"Nothing is “new” here.\nReally", "Really."}, got.Evidence); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got.Evidence, got.Criteria[0].Evidence); diff != "" {
		t.Error(diff)
	}
	if got.Criteria[0].Note != "a quote of the judge was dropped: it does not occur in the output" {
		t.Errorf("the note is %q", got.Criteria[0].Note)
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	const output = "“Ça va” — he said,\n\tand left…  The end."
	for quote, want := range map[string]string{
		"he said":                     "he said",
		`"Ça va"`:                     "“Ça va”",
		"'Ça va' - he":                "“Ça va” — he",
		"he said, and left":           "he said,\n\tand left",
		"The end":                     "The end",
		`"The end."`:                  "The end.",
		"and left… The end":           "and left…  The end",
		"He said":                     "he said",
		"she said":                    "",
		"   ":                         "",
		`"?"`:                         "",
		strings.Repeat("he said", 99): "",
		"\xff":                        "",
	} {
		kept, note := judge.Quotes(output, quote)
		if got := strings.Join(kept, "|"); got != want || (note != "") != (want == "" && strings.TrimSpace(quote) != "") {
			t.Errorf("%q: %q, %q; want %q", quote, got, note, want)
		}
	}
	if kept, note := judge.Quotes(strings.Repeat("a b ", 20), strings.Split(strings.Repeat("a b|", 20), "|")...); len(kept) != 5 || note != "" {
		t.Errorf("kept %d quotes, %q", len(kept), note)
	}
	if _, note := judge.Quotes("", "x", "y"); note != "quotes of the judge were dropped: they do not occur in the output" {
		t.Errorf("the note is %q", note)
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"":                         "",
		"One.":                     "One.",
		"One. Two.":                "One.",
		"It costs 3.50 euros. Ok.": "It costs 3.50 euros.",
		"no full stop":             "no full stop",
		"a\x00b\x1b[31mc":          "a b [31mc",
		"\xffx.":                   "\ufffdx.",
	} {
		if got := judge.Sentence(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
	if got := judge.Sentence(strings.Repeat("ä", 5000)); len([]rune(got)) != 400 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long sentence has %d characters", len([]rune(got)))
	}
}

// TestReadReplyIsQuick bounds the work on replies designed to be slow.
func TestReadReplyIsQuick(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"{", "[", `{"a":`, `{"a":"`, `[{"id":`, `{"results":[`, "{}", `{"id":1,"criteria":[]}`, `{'a':'`, `{"a":"b"c",`, `["a"b`, "<think>", "</think>{", `<think>{"`} {
		reply := strings.Repeat(unit, 1<<18/len(unit))
		if n, err := judge.ReadReply(reply); err == nil && n > 1<<15 {
			t.Errorf("%q: %d results", unit, n)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{
		`{"results":[{"id":"a","criteria":[{"n":1,"reasoning":"r","evidence":["q"],"met":true}]}]}`,
		"```json\n[{\"id\":1,\"criteria\":[{\"pass\":\"true\"}]}]\n```", `{"results":[{"id":"a","criteria":[{"met":tru`, "{", `{"results":null}`, `{"id":"a","pass":true,"criteria":[]}`,
		`{'results':[{'id':'A','criteria':[{'n':1,'reasoning':'it's "x", y','met':True},{'n':2,'verdict':'cannot_tell'}]}]}`, "<think>{</think>[{\"id\":\"a\",\"criteria\":[{\"met\":1},{\"met\":\"yes\"}]}]",
		"<|channel|>analysis<|message|>x<|channel|>final<|message|>{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		fk := &fake{Reply: func(seen) string { return reply }}
		j, err := judge.New(judge.Options{Judges: []judge.Seat{seat(fk)}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := j.Evaluate(t.Context(), &judge.Request{Output: "o", Assertions: []judge.Assertion{wants("a", "1", "2")}})
		if err != nil {
			t.Fatal(err)
		}
		// Whatever the reply is, a verdict requires an answer to every criterion.
		res := r.Results[0]
		folded := strings.ToLower(reply)
		says := strings.Contains(folded, "tru") || strings.Contains(folded, "yes") || strings.Contains(folded, "1") || strings.Contains(folded, "met")
		if res.Pass && (!strings.Contains(folded, "a") || !says) && !strings.Contains(reply, `\u`) {
			t.Errorf("%q passes", reply)
		}
		if res.Pass {
			for _, c := range res.Criteria {
				if !c.Pass {
					t.Errorf("%q passes without %+v", reply, c)
				}
			}
		}
		if fk.Count() > 2 {
			t.Errorf("%d calls", fk.Count())
		}
	})
}
