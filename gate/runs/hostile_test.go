package runs_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/gate/runs"
)

func TestDamagedRows(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		`"verdict":"pass"`, // no column
		`"promptIdx":1e9,"verdict":"pass"`,
		`"promptIdx":0,"verdict":"pass"]`,
		`"promptIdx":0,"vars":{"a":1`,
		`"promptIdx":0 "vars":1`,
	} {
		_, err := runs.Read(kept(t, nil, row), "last")
		if err == nil || !strings.Contains(err.Error(), "row 0 is damaged") || !strings.Contains(err.Error(), "run.jsonl") {
			t.Errorf("%s: %v", row, err)
		}
	}
	// Values of the wrong kind are not mistakes: they are unknown.
	run := read(t, nil, `"caseId":7,"promptIdx":0,"vars":[1],"testCase":"x","response":null,"verdict":1,"score":"9","gradingResult":[{}],"latencyMs":{},"cost":"1","repeat":3`)
	if r := run.Rows[0]; r.Status != proviso.Errored || r.Cost != 0 || r.Tokens != 0 || r.Verdicts != nil || r.Case.ID != "" {
		t.Errorf("%+v", r)
	}
}

// TestNames: long values remain distinct, short ones readable.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 30)
	row := func(assertions ...string) string {
		var list []string
		for _, a := range assertions {
			list = append(list, `{"status":"pass","score":1,"assertion":`+a+`}`)
		}
		return `"promptIdx":0,"verdict":"pass","gradingResult":{"componentResults":[` + strings.Join(list, ",") + `]}`
	}
	run := read(t, nil, row(`{"type":"is-json"}`, `{"type":"contains","value":"a"}`, `{"type":"contains-any","value":["a",1]}`,
		fmt.Sprintf(`{"type":"contains","value":%q}`, long+"1"), fmt.Sprintf(`{"type":"contains","value":%q}`, long+"2"),
		`{"instruction":"be kind","type":"judge"}`, `{"criteria":["polite"]}`, `{"type":"judge","check":{"type":"is-json"}}`))
	var names []string
	for _, v := range run.Rows[0].Verdicts {
		names = append(names, v.Assertion)
	}
	want := []string{"is-json", "contains a", `contains-any ["a",1]`, "judge be kind", `judge ["polite"]`, `judge {"type":"is-json"}`}
	if short := slices.Concat(names[:3], names[5:]); !slices.Equal(short, want) {
		t.Errorf("%q", short)
	}
	if names[3] == names[4] || len(names[3]) > 100 || !strings.HasPrefix(names[3], "contains long long") {
		t.Errorf("%q, %q", names[3], names[4])
	}
}

// TestNegative: a row cannot lower the cost or the latency of the others.
func TestNegative(t *testing.T) {
	t.Parallel()
	run := read(t, nil, `"promptIdx":0,"verdict":"pass","score":1,"cost":-5,"response":{"latencyMs":-3}`)
	if r := run.Rows[0]; r.Cost != 0 || !math.IsNaN(r.LatencyMS) {
		t.Errorf("cost %v, latency %v", r.Cost, r.LatencyMS)
	}
}
