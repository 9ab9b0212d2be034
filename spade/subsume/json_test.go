package subsume_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/spade/subsume"
)

// TestSubsumptionFormulas: a spreadsheet does not treat a judge's text as a formula.
func TestSubsumptionFormulas(t *testing.T) {
	t.Parallel()
	list := candidatesOf(t, "a", `{"type":"judge","criteria":["It is kind."]}`, "b", `{"type":"judge","criteria":["It is warm."]}`)
	judge := &comparer{answer: func(step string, _ map[string]string, _ int, _ string) string {
		if step == "verdicts" {
			return `{"claims":[{"n":1,"counterexample":"","reasoning":"=HYPERLINK(\"http://evil\")","implied":true}]}`
		}
		return `{"pairs":[{"a":"a","b":"b","why":"+1"}]}`
	}}
	s, err := subsume.Find(t.Context(), list, subsume.Options{Judge: judgedBy(judge)})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := s.CSV(&file); err != nil || !strings.Contains(file.String(), "'=HYPERLINK") {
		t.Errorf("%v\n%s", err, file.String())
	}
}
