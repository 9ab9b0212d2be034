package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// TestReadRow reads rows back: the members of a set belong to its verdict, and undecided
// rows and assertions have no score.
func TestReadRow(t *testing.T) {
	t.Parallel()
	one := func(typ string, s proviso.Status, score float64) proviso.Verdict {
		return proviso.Verdict{Assertion: &proviso.Assertion{Type: typ, Raw: value.ObjectOf("type", typ)}, Status: s, Score: score, Reason: "because"}
	}
	set := one("assert-set", proviso.Fail, 0.5)
	inner := one("assert-set", proviso.Pass, 1)
	inner.Components = []proviso.Verdict{one("contains", proviso.Pass, 1)}
	set.Components = []proviso.Verdict{inner, one("regex", proviso.Fail, 0)}
	r := &proviso.Result{
		Case:     &proviso.Case{ID: "c", Raw: value.ObjectOf("description", "a case")},
		Provider: &proviso.ProviderSpec{ID: "echo", Label: "an echo"}, Prompt: &proviso.Prompt{ID: "p"}, Rendered: "p",
		Vars: value.ObjectOf("a", "b"), Output: proviso.Output{Value: "text"},
		Verdicts:   []proviso.Verdict{set, one("llm-rubric", proviso.Errored, 0), one("equals", proviso.Skip, 0)},
		SetVerdict: []proviso.Verdict{one("judge", proviso.Pass, 1)},
		Aggregate:  proviso.Aggregate{Status: proviso.Fail, Unscored: true, Reason: "it failed"},
	}
	row, err := report.ReadRow(report.AppendRow(nil, 7, r, &report.Meta{}))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	score := func(f *float64) any {
		if f == nil {
			return "none"
		}
		return *f
	}
	fmt.Fprintln(&got, row.Index, row.CaseID, row.Description, row.Provider, row.Prompt, row.Vars.At("a"), row.Output, row.Status, score(row.Score), row.Reason)
	for _, a := range row.Assertions {
		fmt.Fprintln(&got, a.Type, a.Status, score(a.Score), a.Reason)
	}
	const want = `7 c a case an echo p b text fail none it failed
assert-set fail 0.5 because
llm-rubric error none because
equals skip 0 because
judge pass 1 because
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if _, err := report.ReadRow([]byte("{")); err == nil {
		t.Error("half a row was read")
	}
	if row, err := report.ReadRow([]byte(`{"gradingResult":{"componentResults":[1,{"members":1e300}]}}`)); err != nil || row.Status != proviso.Errored || row.Score != nil {
		t.Errorf("a row of something else: %+v, %v", row, err)
	}
}
