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

// OfRun yields the outputs of a kept run ([runfile.Reader]). The id of each is its case id,
// followed by its column number (@2) and its repeat number (.2) if these are not 1. It skips
// rows without an output. The verdicts of the run are in [Trial.Said], never in the label.
func OfRun(run record.Run) iter.Seq2[Trial, error] {
	return func(yield func(Trial, error) bool) {
		seen := map[string]int{}
		for row, err := range record.Rows(run) {
			if err != nil {
				yield(Trial{}, err)
				return
			}
			if !row.Answered() || row.Failed() {
				continue
			}
			t := ofRow(row)
			if seen[t.ID]++; seen[t.ID] > 1 {
				t.ID += fmt.Sprintf("~%d", seen[t.ID])
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// ofRow makes a trial from a row and does not retain the row.
func ofRow(row record.Row) Trial {
	t := Trial{ID: strings.Clone(row.Case), Index: row.Index, Output: row.Value(), Vars: row.Vars(), Said: saidOf(row)}
	if t.Vars == nil {
		t.Vars = value.NewObject(0)
	}
	t.CaseID, t.PromptLabel = t.ID, strings.Clone(row.PromptLabel())
	column, again := row.Column()
	if column > 0 {
		t.ID += fmt.Sprintf("@%d", column+1)
	}
	if again > 0 {
		t.ID += fmt.Sprintf(".%d", again+1)
	}
	t.Prompt, t.HasPrompt = row.Sent()
	return t
}

// saidOf describes a run's decision on a row: the verdict, and the assertions that did not
// pass.
func saidOf(row record.Row) string {
	verdict := row.Verdict().String()
	var against []string
	for _, v := range row.Verdicts() {
		if len(against) < 3 && (v.Status == proviso.Fail || v.Status == proviso.Errored) {
			against = append(against, report.Line(v.Name, 40)+": "+report.Line(v.Reason(), 120))
		}
	}
	if len(against) == 0 {
		return verdict
	}
	return verdict + " (" + strings.Join(against, "; ") + ")"
}
