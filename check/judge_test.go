package check_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/internal/assertion"
	"github.com/proviso-eval/proviso/internal/template"
	"github.com/proviso-eval/proviso/value"
)

// setGrader passes criteria that do not begin with "no:", and records which questions
// were asked together. A criterion "broken" has no answer.
type setGrader struct {
	sets [][]proviso.Question
}

func (g *setGrader) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	g.sets = append(g.sets, []proviso.Question{q})
	r := answer(q)
	return r.Grade, r.Err
}

func (g *setGrader) GradeSet(_ context.Context, qs []proviso.Question) []proviso.Graded {
	g.sets = append(g.sets, qs)
	var all []proviso.Graded
	for _, q := range qs {
		all = append(all, answer(q))
	}
	return all
}

func answer(q proviso.Question) proviso.Graded {
	g := proviso.Grade{Pass: true, Reason: "Said so.", Cost: 1, Judge: "j", Usage: proviso.Usage{Total: 10}}
	for _, c := range q.Criteria {
		status := proviso.Pass
		switch {
		case c.Text == "broken":
			return proviso.Graded{Grade: proviso.Grade{Cost: 1, Judge: "j"}, Err: errors.New("no answer")}
		case strings.HasPrefix(c.Text, "no:"):
			status, g.Pass, g.Reason = proviso.Fail, false, "Not so."
		}
		g.Criteria = append(g.Criteria, proviso.CriterionVerdict{Criterion: c, Status: status, Reasoning: c.Text})
	}
	return proviso.Graded{Grade: g}
}

// asked returns the questions, one line for each call.
func (g *setGrader) asked() []string {
	var lines []string
	for _, set := range g.sets {
		var parts []string
		for _, q := range set {
			var texts []string
			for _, c := range q.Criteria {
				texts = append(texts, c.Text)
			}
			parts = append(parts, fmt.Sprintf("%s<%s|%s>%s", q.Assertion.ID, q.Input, q.Output, strings.Join(texts, ",")))
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

// judgedSet compiles the assertions of a JSON list.
func judgedSet(t testing.TB, g proviso.Grader, list string) (*check.Set, []*proviso.Error) {
	t.Helper()
	v, err := value.ParseJSON(list)
	if err != nil {
		t.Fatal(err)
	}
	var all []*proviso.Assertion
	for i, e := range v.([]any) {
		a := assertion.Of(e.(*value.Object), fmt.Sprintf("/assert/%d", i))
		if a.Type == "" {
			a.Type = "judge"
		}
		all = append(all, a)
	}
	c := check.New(check.Options{
		Grader: g, Templates: template.New(template.Options{}),
		Expand: func(c proviso.Criterion, pointer string) ([]check.Part, []*proviso.Error) {
			switch c.Template {
			case "":
				return []check.Part{{Text: c.Text}}, nil
			case "short":
				return []check.Part{
					{Text: "is short"},
					{Check: assertion.Of(value.ObjectOf("type", "word-count", "value", value.ObjectOf("max", 3.0)), pointer)},
				}, nil
			}
			e := proviso.Errorf(proviso.Invalid, "unknown template %q", c.Template)
			e.Pointer = pointer
			return nil, []*proviso.Error{e}
		},
	})
	return c.Compile(all)
}

func judgedRow(output any) *check.Row {
	return &check.Row{
		Output: &proviso.Output{Value: output}, Prompt: "in", HasPrompt: true, Vars: value.ObjectOf("name", "Ada", "kind", "a"),
		Case: &proviso.Case{Repeat: 2, Options: proviso.CaseOptions{Grader: "case-grader"}},
	}
}

func verdicts(list []proviso.Verdict) string {
	var parts []string
	for _, v := range list {
		text := fmt.Sprintf("%s=%s/%s", v.Assertion.ID, v.Status, value.FormatNumber(v.Score))
		if len(v.Components) > 0 {
			text += "(" + verdicts(v.Components) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// TestJudged decides lists in which some assertions are decided by a judge.
func TestJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list, output string
		want         string
		asked        []string
	}{
		"together": {
			`[{"id":"a","criteria":["x"]},{"id":"b","type":"contains","value":"out"},{"id":"c","criteria":["no: y","z"]}]`, "output",
			"a=pass/1 b=pass/1 c=fail/0.5", []string{"a<in|output>x c<in|output>no: y,z"},
		},
		"inside a set": {
			`[{"id":"s","type":"assert-set","assert":[{"id":"a","type":"judge","criteria":["x"]},{"id":"b","type":"judge","criteria":["no: x"]}]},{"id":"c","criteria":["y"]}]`, "o",
			"s=fail/0.5(a=pass/1 b=fail/0) c=pass/1", []string{"a<in|o>x b<in|o>no: x c<in|o>y"},
		},
		"set without": {`[{"id":"s","type":"assert-set","assert":[{"id":"a","type":"contains","value":"o"}]}]`, "o", "s=pass/1(a=pass/1)", nil},
		"skip":        {`[{"id":"a","criteria":["x"],"when":"vars.kind == 'b'"},{"id":"b","criteria":["x"],"when":"vars.kind == 'a'"}]`, "o", "a=skip/0 b=pass/1", []string{"b<in|o>x"}},
		"negation":    {`[{"id":"a","type":"not-judge","criteria":["no: x","y"]},{"id":"b","type":"not-judge","criteria":["x"]}]`, "o", "a=pass/1 b=fail/0", []string{"a<in|o>no: x,y b<in|o>x"}},
		"no answer":   {`[{"id":"a","type":"not-judge","criteria":["broken"]},{"id":"b","criteria":["broken"]}]`, "o", "a=error/0 b=error/0", []string{"a<in|o>broken b<in|o>broken"}},
		"section":     {`[{"id":"a","criteria":["x"],"scope":{"section":{"from":"# B"}}},{"id":"b","criteria":["x"]}]`, "# A\none\n# B\ntwo", "a=pass/1 b=pass/1", []string{"a<in|two>x", "b<in|# A\none\n# B\ntwo>x"}},
		"lines":       {`[{"id":"a","criteria":["no: x"],"scope":{"each":"line","match":"none"}}]`, "1\n2", "a=pass/1", []string{"a<in|1>no: x", "a<in|2>no: x"}},
		"templates":   {`[{"id":"a","instruction":"Greet {{name}}.","criteria":["greets {{ name }}","{% if kind == 'a' %}is kind{% endif %}"]}]`, "o", "a=pass/1", []string{"a<in|o>greets {{name}},is kind"}},
		"shipped":     {`[{"id":"a","criteria":[{"template":"short"},"x"]},{"id":"b","criteria":[{"template":"short"}]}]`, "1 2 3 4", "a=fail/0 b=fail/0", nil},
		"shipped too": {`[{"id":"a","criteria":[{"template":"short"},"x"]}]`, "1", "a=pass/1", []string{"a<in|1>is short,x"}},
		"counted":     {`[{"id":"a","check":{"type":"word-count","value":2}},{"id":"b","check":{"type":"levenshtein","value":"ox","threshold":0}}]`, "o p", "a=pass/1 b=fail/0", nil},
		"of a scope":  {`[{"id":"a","check":{"type":"equals","value":"two"},"criteria":["x"],"scope":{"section":{"from":"# B"}}}]`, "# A\none\n# B\ntwo", "a=pass/1", []string{"a<in|two>x"}},
		"not counted": {`[{"id":"a","check":{"type":"assert-set","assert":[{"type":"contains","value":"z","when":"false"}]}},{"id":"b","type":"not-judge","check":{"type":"assert-set","assert":[{"type":"contains","value":"z","when":"false"}]}}]`, "o", "a=error/0 b=error/0", nil},
		"weight 0":    {`[{"id":"a","criteria":["no: x"],"weight":0}]`, "o", "a=pass/0", []string{"a<in|o>no: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &setGrader{}
			set, wrong := judgedSet(t, g, c.list)
			for _, e := range wrong {
				t.Fatal(e)
			}
			got := set.Eval(t.Context(), judgedRow(c.output))
			if text := verdicts(got); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
			if diff := cmp.Diff(c.asked, g.asked()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestJudgedVerdict: the verdict holds the judge's answer, and the usage, even
// without a verdict.
func TestJudgedVerdict(t *testing.T) {
	t.Parallel()
	g := &setGrader{}
	set, _ := judgedSet(t, g, `[{"id":"a","check":{"type":"contains","value":"o"},"criteria":["x","no: y"]},{"id":"b","criteria":["broken"]}]`)
	got := set.Eval(t.Context(), judgedRow("o"))
	v := got[0]
	if v.Reason != "Not so." || v.Cost != 1 || v.Judge != "j" || v.Usage.Total != 10 {
		t.Errorf("got %+v", v)
	}
	var criteria []string
	for _, c := range v.Criteria {
		criteria = append(criteria, c.Criterion.Text+"="+c.Status.String())
	}
	if diff := cmp.Diff([]string{"check: contains=pass", "x=pass", "no: y=fail"}, criteria); diff != "" {
		t.Error(diff)
	}
	if v := got[1]; v.Status != proviso.Errored || v.Reason != "no answer" || v.Cost != 1 || v.Judge != "j" {
		t.Errorf("got %+v", v)
	}
	q := g.sets[0][0]
	if q.Type != "judge" || q.Grader != "case-grader" || q.Sample.Repeat != 2 {
		t.Errorf("asked %+v", q)
	}
}

// TestJudgedStructure covers outputs that are not text, which a check sees unchanged.
func TestJudgedStructure(t *testing.T) {
	t.Parallel()
	for _, output := range []any{[]any{"a"}, value.ObjectOf("a", 1.0), nil, 3.0} {
		g := &setGrader{}
		set, _ := judgedSet(t, g, `[{"id":"a","check":{"type":"is-json"},"criteria":["x"]}]`)
		if got := verdicts(set.Eval(t.Context(), judgedRow(output))); got != "a=pass/1" || g.sets[0][0].Output != value.Stringify(output) {
			t.Errorf("%v: %s, asked %v", output, got, g.asked())
		}
	}
}

// oneByOne is a grader that cannot answer several questions together.
type oneByOne struct{ g *setGrader }

func (o oneByOne) Grade(ctx context.Context, q proviso.Question) (proviso.Grade, error) {
	return o.g.Grade(ctx, q)
}

func TestJudgedOneByOne(t *testing.T) {
	t.Parallel()
	g := &setGrader{}
	set, _ := judgedSet(t, oneByOne{g}, `[{"id":"a","criteria":["x"]},{"id":"b","criteria":["no: x"]}]`)
	if got := verdicts(set.Eval(t.Context(), judgedRow("o"))); got != "a=pass/1 b=fail/0" || len(g.sets) != 2 {
		t.Errorf("%s after %d calls", got, len(g.sets))
	}
}

// short answers fewer questions than it is asked.
type short struct{ setGrader }

func (s *short) GradeSet(ctx context.Context, qs []proviso.Question) []proviso.Graded {
	return s.setGrader.GradeSet(ctx, qs[:1])
}

func TestJudgedShort(t *testing.T) {
	t.Parallel()
	set, _ := judgedSet(t, &short{}, `[{"id":"a","criteria":["x"]},{"id":"b","criteria":["x"]}]`)
	if got := verdicts(set.Eval(t.Context(), judgedRow("o"))); got != "a=pass/1 b=error/0" {
		t.Error(got)
	}
}

// TestJudgedParts bounds the parts of an output that a judge is asked about.
func TestJudgedParts(t *testing.T) {
	t.Parallel()
	g := &setGrader{}
	set, _ := judgedSet(t, g, `[{"id":"a","criteria":["x"],"scope":{"each":"line"}}]`)
	got := set.Eval(t.Context(), judgedRow(strings.Repeat("x\n", 101)))
	if got[0].Status != proviso.Errored || len(g.sets) != 0 {
		t.Errorf("%s after %d calls", verdicts(got), len(g.sets))
	}
}

// TestJudgedMistakes: all mistakes of an assertion are reported together.
func TestJudgedMistakes(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		`[{"type":"judge"}]`:    "/assert/0/criteria",
		`[{"instruction":"x"}]`: "/assert/0/criteria",
		`[{"criteria":["x"],"value":"y","threshold":0.5,"rubricPrompt":"z"}]`: "/assert/0/value /assert/0/threshold /assert/0/rubricPrompt",
		`[{"criteria":[" ","x"]}]`:                                                                     "/assert/0/criteria/0",
		`[{"criteria":[{"template":"long"},{"template":"longer"}]}]`:                                   "/assert/0/criteria/0 /assert/0/criteria/1",
		`[{"criteria":["{{ x"]}]`:                                                                      "/assert/0/criteria/0",
		`[{"instruction":"{% if %}","criteria":["x"]}]`:                                                "/assert/0/instruction",
		`[{"check":{"type":"nonsense"},"criteria":[{"template":"long"}]}]`:                             "/assert/0/check/type /assert/0/criteria/0",
		`[{"check":{"type":"judge","criteria":["x"]}}]`:                                                "/assert/0/check/type",
		`[{"check":{"type":"is-json","weight":0}}]`:                                                    "/assert/0/check/weight",
		`[{"check":{"type":"is-json","when":"false","severity":"info","metric":"m"}}]`:                 "/assert/0/check/when /assert/0/check/severity /assert/0/check/metric",
		`[{"check":{"type":"max-score"}}]`:                                                             "/assert/0/check/type",
		`[{"check":{"type":"assert-set","assert":[{"type":"judge","criteria":["x"]}]}}]`:               "/assert/0/check/type",
		`[{"type":"contains","value":"x","check":{"type":"is-json"}}]`:                                 "/assert/0/check",
		`[{"type":"contains","value":"x","criteria":["y"]}]`:                                           "/assert/0/criteria",
		`[{"criteria":["x"],"ignoreCase":true}]`:                                                       "/assert/0/ignoreCase",
		`[{"check":{"type":"assert-set","assert":[{"type":"contains","value":"x"},{"type":"nope"}]}}]`: "/assert/0/check/assert/1/type",
	} {
		set, wrong := judgedSet(t, &setGrader{}, list)
		var pointers []string
		for _, e := range wrong {
			pointers = append(pointers, e.Pointer)
		}
		if got := strings.Join(pointers, " "); got != want {
			t.Errorf("%s: %s %v, want %s", list, got, wrong, want)
		}
		for _, v := range set.Eval(t.Context(), judgedRow("o")) {
			if v.Status != proviso.Errored {
				t.Errorf("%s: what could not be compiled is %s", list, v.Status)
			}
		}
	}
}

// TestJudgedWithoutJudge is an error, unless every part is deterministic.
func TestJudgedWithoutJudge(t *testing.T) {
	t.Parallel()
	set, wrong := judgedSet(t, nil, `[{"id":"a","criteria":["x"]},{"id":"b","check":{"type":"contains","value":"o"}}]`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	if got := verdicts(set.Eval(t.Context(), judgedRow("o"))); got != "a=error/0 b=pass/1" {
		t.Error(got)
	}
	foreseen := set.Prepare(nil, true)
	if len(foreseen) != 1 || foreseen[0].Code != proviso.Unavailable || !strings.HasPrefix(foreseen[0].Pointer, "/assert/0") {
		t.Errorf("foreseen %v", foreseen)
	}
}

// TestEvaluate covers sums that plain floating point gets wrong.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	make := func(statuses string, weights ...float64) []proviso.Verdict {
		var all []proviso.Verdict
		for i, s := range statuses {
			a := &proviso.Assertion{}
			if i < len(weights) {
				a.Weight = &weights[i]
			}
			all = append(all, proviso.Verdict{Assertion: a, Status: map[rune]proviso.Status{'+': proviso.Pass, '-': proviso.Fail, '!': proviso.Errored, '.': proviso.Skip}[s]})
		}
		return all
	}
	for name, c := range map[string]struct {
		list      []proviso.Verdict
		threshold float64
		allow     bool
		want      bool
		weighted  float64
	}{
		"3 of 4":       {make("+++-"), 0.75, false, true, 0},
		"7 of 10":      {make("+++++++---"), 0.7, false, true, 0},
		"1 of 3":       {make("+--"), 0.3333, false, true, 0},
		"2 of 3":       {make("++-"), 0.67, false, false, 0},
		"29 of 100":    {make(strings.Repeat("+", 29) + strings.Repeat("-", 71)), 0.29, false, true, 0},
		"0.7 and 0.1":  {make("++-", 0.7, 0.1, 0.2), 0.8, false, true, 0.8},
		"three tenths": {make("+++-", 0.1, 0.1, 0.1, 0.7), 0.3, false, true, 0.3},
		"1e308":        {make("+-", 1e308, 1e308), 0.5, false, true, 0.5},
		"empty":        {nil, 1, false, true, 0},
		"skipped":      {make("..+"), 1, false, true, 0},
		"undecided":    {make("+!"), 0, false, false, 0},
		"allowed":      {make("+!"), 1, true, true, 0},
		"none decided": {make("!!"), 0, true, false, 0},
	} {
		e := check.Evaluate(c.list, c.threshold, c.allow)
		if e.PassedThreshold != c.want || c.weighted != 0 && (e.WeightedScore == nil || *e.WeightedScore != c.weighted) || c.weighted == 0 && e.WeightedScore != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := check.Evaluate(make("+++-", 2), 1, false); *e.Score != 0.75 || *e.WeightedScore != 0.8 {
		t.Errorf("score %v, weighted %v", *e.Score, *e.WeightedScore)
	}
}
