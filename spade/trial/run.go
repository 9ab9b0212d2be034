package trial

import (
	"fmt"
	"iter"
	"strings"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/value"
)

// OfRun yields the outputs of a kept run ([runfile.Reader]). The id of each is that
// of its case, followed by the number of its column (@2) if it is not the first, and
// the number of its repetition (.2) if it is not the first. Rows without an output are
// skipped. The verdicts of the run are in [Trial.Said], and never in the label.
func OfRun(run record.Run) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		seen := map[string]int{}
		for index, encoded := range run.Rows() {
			v, err := value.ParseJSON(string(encoded))
			o, ok := v.(*value.Object)
			if err != nil || !ok {
				yield(Trial{}, proviso.Errorf(proviso.Invalid, "row %d of the run is damaged", index))
				return
			}
			t, ok := trialOfRow(o)
			if !ok {
				continue
			}
			if seen[t.ID]++; seen[t.ID] > 1 {
				t.ID += fmt.Sprintf("~%d", seen[t.ID])
			}
			t.Index = index
			if !yield(t, nil) {
				return
			}
		}
		if err := run.Err(); err != nil {
			yield(Trial{}, proviso.Errorf(proviso.Unavailable, "%w", err))
		}
	}
}

// trialOfRow makes a trial of a row, if it has an output.
func trialOfRow(o *value.Object) (Trial, bool) {
	number := func(o *value.Object, key string) int {
		f, _ := o.At(key).(float64)
		return int(f)
	}
	response := o.Object("response")
	t := Trial{Output: response.At("output"), Vars: o.Object("resolvedVars")}
	if t.Vars == nil {
		t.Vars = o.Object("vars")
	}
	if failed := response.Text("error"); t.Output == nil || failed != "" {
		return t, false
	}
	if t.Vars == nil {
		t.Vars = value.NewObject(0)
	}
	id := o.Text("caseId")
	t.ID = strings.Clone(id) // the row is not kept
	t.CaseID, t.PromptLabel = t.ID, strings.Clone(o.Object("prompt").Text("label"))
	if column := number(o, "promptIdx"); column > 0 {
		t.ID += fmt.Sprintf("@%d", column+1)
	}
	if again := number(o.Object("repeat"), "index"); again > 0 {
		t.ID += fmt.Sprintf(".%d", again+1)
	}
	t.Prompt, t.HasPrompt = o.Object("prompt").At("raw").(string)
	t.Said = saidOf(o)
	return t, true
}

// saidOf describes what a run decided about a row: the verdict, and the assertions that
// did not pass.
func saidOf(o *value.Object) string {
	verdict := o.Text("verdict")
	if verdict == "" {
		return ""
	}
	var against []string
	result, _ := o.At("gradingResult").(*value.Object)
	list, _ := result.At("componentResults").([]any)
	for _, e := range list {
		c, _ := e.(*value.Object)
		a, _ := c.At("assertion").(*value.Object)
		status := c.Text("status")
		if status != proviso.Fail.String() && status != proviso.Errored.String() || a == nil {
			continue
		}
		name := ""
		for _, key := range []string{"id", "metric", "type"} {
			if text, _ := a.At(key).(string); name == "" {
				name = text
			}
		}
		reason := c.Text("reason")
		against = append(against, report.Line(name, 40)+": "+report.Line(reason, 120))
		if len(against) == 3 {
			break
		}
	}
	if len(against) == 0 {
		return verdict
	}
	return verdict + " (" + strings.Join(against, "; ") + ")"
}
