package align_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/label"
)

// sayings builds lines of labels.
type sayings struct {
	text strings.Builder
	n    int
}

func (s *sayings) add(by string, row int, output, assertion string, v label.Verdict, judged string, change ...func(*label.Label)) {
	s.n++
	l := label.Label{ID: fmt.Sprint("label_", s.n), By: by, Verdict: v, Case: fmt.Sprint("case ", row), OutputID: record.OutputID(output), Judge: "model#1", Judged: judged,
		Note: "note of " + by, Subject: label.Subject{Run: "run_1", Index: row, Assertion: assertion}}
	for _, f := range change {
		f(&l)
	}
	s.text.Write(label.AppendLine(nil, &l))
}

// TestLabelsOfPeople: the majority of several people counts, and the last label of one
// person.
func TestLabelsOfPeople(t *testing.T) {
	t.Parallel()
	var s sayings
	s.add("ana", 0, "zero", "tone", label.Fail, "pass")
	s.add("ana", 0, "zero", "tone", label.Pass, "pass") // a later label by the same person
	s.add("ben", 0, "zero", "tone", label.Pass, "pass")
	s.add("cleo", 0, "zero", "tone", label.Fail, "pass")
	s.add("ana", 1, "one", "tone", label.Fail, "pass")
	s.add("ben", 1, "one", "tone", label.Pass, "pass") // a tie
	s.add("ana", 2, "two", "tone", label.Unsure, "fail")
	s.add("ana", 3, "three", "", label.Fail, "fail") // on the whole output
	s.add("ana", 4, "four", "tone", label.Fail, "fail")
	s.add("ana", 5, "five", "length", label.Fail, "fail", func(l *label.Label) { l.Judge = "" })
	s.add("ana", 6, "six", "tone", label.Pass, "fail")
	s.text.Write(label.AppendRemoval(nil, "label_11"))
	s.text.WriteString(`{"id":"case 1","label":1}` + "\n")
	labels := read(t, s.text.String())
	if got := fmt.Sprint(len(labels.Rows), labels.Outputs, labels.Counted, labels.Split, labels.Others); got != "3 2 1 1 0" {
		t.Errorf("rows and what is left out: %s", got)
	}
	a := compare(t, s.text.String(), nil)
	if x := a.Assertions[0]; len(a.Assertions) != 1 || x.TP != 1 || x.TN != 1 || x.FP+x.FN != 0 || x.Judge != "model#1" || a.Unlabelled != 1 {
		t.Errorf("without a run: %+v", a)
	}
	var run keptRun
	for i, output := range []string{"zero", "one", "two", "three", "other"} {
		run.kept(fmt.Sprint("case ", i), output, "tone fail") // a later judge fails all
	}
	a = compare(t, s.text.String(), run)
	if x := a.Assertions[0]; x.FN != 1 || x.N != 1 || a.Stale != 1 || a.Unlabelled != 1 || x.Disagreements[0].Note != "note of ana · note of ben · note of cleo" {
		t.Errorf("with a run: %+v", a)
	}
	one, err := align.ReadLabelsOf("labels", strings.NewReader(s.text.String()), "cleo")
	if err != nil || len(one.Rows) != 1 || one.Rows[0].Human != proviso.Fail || one.Others == 0 {
		t.Errorf("of one person: %+v, %v", one, err)
	}
	for text, want := range map[string]string{
		`{"label_id":"x","run":"r","by":"ana","human":"good"}`:                            `labels:1:1: there is no label "good"`,
		`{"label_id":"x","run":"r","by":"ana","human":"pass","assertion":""}`:             "1 of whole outputs",
		`{"label_id":"x","run":"r","row":-1,"by":"ana","human":"pass"}`:                   "row has to be a whole number",
		`{"label_id":"x","run":"r","by":"ana","human":"pass","created":"yesterday"}`:      "created has to be a time",
		`{"label_id":"x","run":"r","by":"a","human":"pass","evidence":[{"start":"one"}]}`: "start has to be a whole number",
	} {
		if _, err := align.ReadLabels("labels", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLabelsByName: an assertion without an id is identified by the name that the app
// shows.
func TestLabelsByName(t *testing.T) {
	t.Parallel()
	var s sayings
	s.add("ana", 0, "zero", "llm-rubric is polite", label.Fail, "pass")
	run := keptRun{`{"index":0,"caseId":"case 0","response":{"output":"zero"},"gradingResult":{"componentResults":[{"status":"pass","judge":"m","assertion":{"type":"llm-rubric","value":"is polite"}}]}}`}
	if x := compare(t, s.text.String(), run).Assertions[0]; x.FP != 1 || x.Assertion != "llm-rubric is polite" {
		t.Errorf("%+v", x)
	}
}
