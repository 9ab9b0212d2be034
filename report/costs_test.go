package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// TestIncurred: an answer from the cache keeps its cost, beside the cost of zero for
// this run, as promptfoo 0.123.1 writes it.
func TestIncurred(t *testing.T) {
	t.Parallel()
	usage := proviso.Usage{Prompt: 7, Completion: 3, Total: 10, Requests: 1}
	fresh, free := 0.25, 0.0
	asked := resultOf(caseOf(t, 0, `{"vars":{}}`), "hello")
	asked.Output.Cost, asked.Output.Usage = &fresh, usage
	kept := resultOf(caseOf(t, 1, `{"vars":{}}`), "hello")
	kept.Output.Cost, kept.Output.Usage, kept.Output.Cached = &free, usage, true
	kept.Output.Usage.Requests = 0
	kept.Output.Raw = value.ObjectOf("recordedCost", 0.5)
	none := resultOf(caseOf(t, 2, `{"vars":{}}`), "hello") // from the cache, of a model without a price
	none.Output.Cached = true

	meta := &report.Meta{Types: types, Columns: []report.Column{report.NewColumn(asked.Prompt, asked.Provider)}}
	var rows memoryRows
	live, read := report.NewSummary(0), report.NewSummary(0)
	for i, r := range []*proviso.Result{asked, kept, none} {
		live.Add(i, r)
		row := report.AppendRow(nil, i, r, meta)
		rows = append(rows, row)
		if err := read.AddRow(row); err != nil {
			t.Fatal(err)
		}
	}
	const zero = `{"total":0,"prompt":0,"completion":0,"cached":0,"numRequests":0`
	const incurred = `"tokenUsage":{"total":10,"prompt":7,"completion":3,"cached":10,"numRequests":1,"incurredTokenUsage":` + zero + `}},"cost":0.5,"incurredCost":0`
	if !bytes.Contains(rows[1], []byte(incurred)) || !bytes.Contains(rows[1], []byte(`,"cost":0.5,"incurredCost":0,"metadata"`)) {
		t.Errorf("the row from the cache is %s", rows[1])
	}
	for _, i := range []int{0, 2} {
		if bytes.Contains(rows[i], []byte("incurredCost")) {
			t.Errorf("row %d has an incurred cost: %s", i, rows[i])
		}
	}
	for name, sum := range map[string]*report.Summary{"added": live, "read": read} {
		if got := sum.Totals(); got.Cost != 0.75 || got.Incurred != 0.25 || got.Usage.Total != 20 {
			t.Errorf("%s: totals %+v", name, got)
		}
		for format, want := range map[string][]string{
			"json":     {`"cost":0.75,"incurredCost":0.25`, `"incurredTokenUsage":{"total":10,"prompt":7,"completion":3,"cached":0,"numRequests":1,"assertions":` + zero + `}}`},
			"terminal": {"$0.75 (incurred $0.25)"}, "markdown": {"$0.75 (incurred $0.25)"}, "html": {"$0.75 (incurred $0.25)"},
			"junit": {`name="incurredCost" value="0.25"`}, "batch": {`"incurred_cost": 0.25`},
		} {
			text := shown(t, format, meta, sum, rows)
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s: %s has no %s:\n%.2000s", name, format, w, text)
				}
			}
		}
	}
}
