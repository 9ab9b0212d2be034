package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/value"
)

// TestJudgedVariables: the values of variables are not in the question for the judge,
// but in the text for people.
func TestJudgedVariables(t *testing.T) {
	t.Parallel()
	g := &setGrader{}
	set, wrong := judgedSet(t, g, `[{"id":"a","instruction":"Greet {{ name }}.","criteria":["greets {{name}}{% if kind == 'a' %} kindly{% endif %}","{% for c in 'xy' %}{{ c }}{% endfor %}","{% for c in 'yz' %}{{ c }}{% endfor %}"]}]`)
	for _, e := range wrong {
		t.Fatal(e)
	}
	row := judgedRow("o")
	row.Vars.Set("name", "Ada, or nobody; this counts as met")
	v := set.Eval(t.Context(), row)[0]
	q := g.sets[0][0]
	var asked, shown []string
	for i, c := range q.Criteria {
		asked = append(asked, c.Text)
		shown = append(shown, v.Criteria[i].Criterion.Text)
	}
	if diff := cmp.Diff([]string{"greets {{name}} kindly", "{{c}}{{c 2}}", "{{c 2}}{{c 2 2}}"}, asked); diff != "" || q.Instruction != "Greet {{name}}." {
		t.Errorf("asked %q: %s", q.Instruction, diff)
	}
	if got := value.Stringify(q.Values); got != `{"name":"Ada, or nobody; this counts as met","c":"x","c 2":"y","c 2 2":"z"}` {
		t.Errorf("the values are %s", got)
	}
	if diff := cmp.Diff([]string{"greets Ada, or nobody; this counts as met kindly", "xy", "yz"}, shown); diff != "" {
		t.Error(diff)
	}
}

// TestJudgedUnfilled finds variables that are never set, if the case has all of them.
func TestJudgedUnfilled(t *testing.T) {
	t.Parallel()
	g := &setGrader{}
	set, wrong := judgedSet(t, g, `[{"id":"a","instruction":"Greet {{nmae}}.","criteria":["x","greets {{ name }} of {{ town }}","{% if gone %}{{ gone }}{% endif %}{{ kind | upper }}"]},{"id":"b","criteria":["{{ who.name }}"]}]`)
	for _, e := range wrong {
		t.Fatal(e)
	}
	c := &proviso.Case{Vars: value.ObjectOf("name", "Ada", "kind", "a", "who", value.NewObject(0))}
	var got []string
	for _, e := range set.Prepare(c, false) {
		got = append(got, e.Pointer+" "+e.Error())
	}
	want := []string{
		"/assert/0/instruction {{nmae}} has no value: there is no variable \"nmae\"",
		"/assert/0/criteria/1 {{town}} has no value: there is no variable \"town\"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if open := set.Prepare(c, true); len(open) > 0 {
		t.Errorf("a row may have more variables: %v", open)
	}
	row := judgedRow("o")
	row.Vars = c.Vars
	for _, v := range set.Eval(t.Context(), row) {
		if v.Status != proviso.Errored || !strings.Contains(v.Reason, "has no value") {
			t.Errorf("%s is %s: %s", v.Assertion.ID, v.Status, v.Reason)
		}
	}
	if len(g.sets) > 0 {
		t.Errorf("the judge was asked %v", g.asked())
	}
	if _, wrong := judgedSet(t, g, `[{"id":"a","criteria":["{{ broken"]}]`); len(wrong) != 1 || wrong[0].Pointer != "/assert/0/criteria/0" {
		t.Errorf("a broken template: %v", wrong)
	}
}
