package align_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/judge/record"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/value"
)

// keptRun is a run in memory.
type keptRun []string

func (r keptRun) Rows() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i, row := range r {
			if !yield(i, []byte(row)) {
				return
			}
		}
	}
}
func (keptRun) Err() error                      { return nil }
func (r keptRun) Row(index int) ([]byte, error) { return []byte(r[index]), nil }

// kept adds a row with verdicts given as "name status"; a name that ends in ! has no
// judge.
func (r *keptRun) kept(caseID, output string, verdicts ...string) {
	var parts []string
	for _, v := range verdicts {
		name, status, _ := strings.Cut(v, " ")
		name, unjudged := strings.CutSuffix(name, "!")
		o := value.ObjectOf("status", status, "reason", "because it is "+status, "assertion", value.ObjectOf("type", "judge", "id", name, "instruction", "be "+name, "criteria", []any{"is " + name}))
		if !unjudged {
			o.Set("judge", "model#1")
			o.Set("evidence", []any{value.ObjectOf("quote", "a part of it", "start", 0.0)})
		}
		parts = append(parts, value.Stringify(o))
	}
	*r = append(*r, fmt.Sprintf(`{"index":%d,"caseId":%q,"vars":{"q":"why?","_x":1},"response":{"output":%s},"gradingResult":{"componentResults":[%s]}}`,
		len(*r), caseID, value.Stringify(output), strings.Join(parts, ",")))
}

func read(t *testing.T, text string) *align.Labels {
	t.Helper()
	l, err := align.ReadLabels("labels", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func compare(t *testing.T, text string, run record.Run) *align.Agreements {
	t.Helper()
	a, err := align.Compare(read(t, text), run)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// labelled returns labels as JSON Lines: the given number in each cell, and errors.
func labelled(tp, fp, tn, fn, errors int) string {
	var b strings.Builder
	n := 0
	add := func(times int, human, verdict string) {
		for range times {
			n++
			fmt.Fprintf(&b, "{\"case\":\"c%d\",\"assertion\":\"tone\",\"human\":%q,\"judge\":%q}\n", n, human, verdict)
		}
	}
	add(tp, "pass", "pass")
	add(fp, "fail", "pass")
	add(tn, "fail", "fail")
	add(fn, "pass", "fail")
	add(errors, "pass", "error")
	return b.String()
}

func TestAlignNumbers(t *testing.T) {
	t.Parallel()
	a := compare(t, labelled(29, 2, 8, 1, 3), nil).Assertions[0]
	if a.N != 40 || a.Errors != 3 || a.Confusion != (stats.Confusion{TP: 29, FP: 2, TN: 8, FN: 1}) {
		t.Errorf("counts: %+v", a)
	}
	if *a.Agreement != 37.0/40 || *a.BaseRate != 30.0/40 || *a.JudgePassRate != 31.0/40 {
		t.Errorf("agreement %v, base rate %v, pass rate %v", *a.Agreement, *a.BaseRate, *a.JudgePassRate)
	}
	wilson := func(pass, n int) stats.Estimate {
		return stats.Estimate{Value: float64(pass) / float64(n), Interval: stats.Wilson(pass, n, 0.95)}
	}
	if *a.TPR != wilson(29, 30) || *a.TNR != wilson(8, 10) {
		t.Errorf("TPR %v, TNR %v", *a.TPR, *a.TNR)
	}
	kappa, _ := stats.Kappa(29, 1, 2, 8, 0.95)
	if *a.Kappa != kappa {
		t.Errorf("kappa %v", *a.Kappa)
	}
	if math.Abs(a.Corrected.Value-0.75) > 1e-12 || a.Method != align.MethodCounted || a.Halve < 80 || len(a.Disagreements) != 3 {
		t.Errorf("corrected %v by %s, %d more, %d disagreements", a.Corrected, a.Method, a.Halve, len(a.Disagreements))
	}
}

// TestAlignJSON: the format is a contract: names, meanings, and null for undefined
// values.
func TestAlignJSON(t *testing.T) {
	t.Parallel()
	text, err := compare(t, labelled(2, 0, 0, 0, 0), nil).JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	low := stats.Wilson(2, 2, 0.95).Low
	null := map[string]any{"value": nil, "low": nil, "high": nil}
	sure := map[string]any{"value": 1.0, "low": low, "high": 1.0}
	want := any(map[string]any{"assertions": []any{map[string]any{"assertion": "tone", "judge": "", "n": 2.0, "errors": 0.0,
		"tp": 2.0, "fp": 0.0, "tn": 0.0, "fn": 0.0, "agreement": 1.0, "kappa": null, "tpr": sure, "tnr": null,
		"base_rate": 1.0, "judge_pass_rate": 1.0, "corrected": sure, "measured": false, "missing": map[string]any{"good": 8.0, "bad": 10.0}}}})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s", text)
	}
	only, err := compare(t, labelled(0, 0, 0, 0, 2), nil).JSON()
	if err != nil || !strings.Contains(string(only), `"n": 0`) || !strings.Contains(string(only), `"agreement": null`) {
		t.Errorf("errors alone: %s, %v", only, err)
	}
}

func TestAlignWithRun(t *testing.T) {
	t.Parallel()
	var run keptRun
	run.kept("a", "out a", "tone pass", "cite pass")
	run.kept("b", "out b", "tone fail", "cite skip")
	run.kept("c", "out c", "tone! error", "cite pass")
	run.kept("d", "out d", "tone! fail", "cite fail") // decided before any model call
	for i := range 20 {
		run.kept(fmt.Sprintf("more%d", i), "x", "tone pass", "cite fail")
	}
	got := compare(t, "case,assertion,human\na,tone,pass\nb,tone,pass\nc,tone,pass\nd,tone,fail\na,cite,pass\nb,cite,fail\nd,cite,\n", run)
	if got.Skipped != 1 || got.Unlabelled != 1 || len(got.Assertions) != 2 {
		t.Fatalf("%+v", got)
	}
	tone, cite := got.Assertions[0], got.Assertions[1]
	if tone.Judge != "model#1" || tone.Confusion != (stats.Confusion{TP: 1, TN: 1, FN: 1}) || tone.Errors != 1 {
		t.Errorf("tone: %+v", tone)
	}
	if tone.Judged != (stats.Count{Pass: 21, N: 23}) || tone.Method != align.MethodPredictionPowered || tone.RoganGladen == nil {
		t.Errorf("tone: judged %v, corrected by %s, Rogan-Gladen %v", tone.Judged, tone.Method, tone.RoganGladen)
	}
	want := align.Disagreement{Case: "b", Row: 1, Human: proviso.Pass, Judge: proviso.Fail, Reason: "because it is fail", Evidence: []string{"a part of it"}}
	if len(tone.Disagreements) != 1 || !reflect.DeepEqual(tone.Disagreements[0], want) {
		t.Errorf("disagreements: %+v", tone.Disagreements)
	}
	if cite.N != 1 || cite.Judged.N != 23 || len(cite.Hashes) != 1 || cite.Hashes[0] == tone.Hashes[0] {
		t.Errorf("cite: %+v", cite)
	}
}

// TestAlignUnlabelledVerdicts: the file's verdicts without a human label count as judged
// outputs.
func TestAlignUnlabelledVerdicts(t *testing.T) {
	t.Parallel()
	text := "case,assertion,human,judge\na,tone,pass,pass\nb,tone,fail,fail\n"
	for i := range 30 {
		text += fmt.Sprintf("m%d,tone,,pass\n", i)
	}
	a := compare(t, text, nil).Assertions[0]
	if a.N != 2 || a.Judged != (stats.Count{Pass: 31, N: 32}) || a.Method != align.MethodPredictionPowered || a.Corrected.Value != 31.0/32 {
		t.Errorf("%+v", a)
	}
}

// TestAlignOtherOutputs: labels of other outputs also measure the judge for this run.
func TestAlignOtherOutputs(t *testing.T) {
	t.Parallel()
	var run keptRun
	for i := range 100 {
		run.kept(fmt.Sprint("new", i), "x", map[bool]string{true: "tone pass", false: "tone fail"}[i < 80])
	}
	text := strings.ReplaceAll(labelled(45, 5, 20, 5, 0), `"judge"`, `"judge_id":"model#1","judge"`)
	a := compare(t, text, run).Assertions[0]
	want, _ := stats.RoganGladen(stats.Count{Pass: 80, N: 100}, stats.Confusion{TP: 45, FP: 5, TN: 20, FN: 5}, 0.95)
	if a.Method != align.MethodRoganGladen || *a.Corrected != want {
		t.Errorf("corrected %+v by %s, want %+v", a.Corrected, a.Method, want)
	}
}

func TestAlignMistakes(t *testing.T) {
	t.Parallel()
	var run keptRun
	run.kept("refund-1", "out a", "tone pass", "length! pass")
	run.kept("refund-2", "out b", "tone pass")
	run.kept("twice", "out c", "tone pass")
	run.kept("twice", "out d", "tone fail")
	run.kept("same", "out e", "tone pass", "tone fail")
	a := record.OutputID("out a")
	for _, c := range []struct{ text, want string }{
		{"refund-3,tone,pass,,", `labels:2:1: the run has no case "refund-3" (did you mean "refund-1"?)`},
		{"refund-1,tune,pass,,", `labels:2:10: the case has no assertion "tune" in the run; it has tone, length (did you mean "tone"?)`},
		{"refund-1,length,pass,,", `labels:2:10: "length" is decided without a judge in this run`},
		{"twice,tone,pass,,", `labels:2:1: case "twice" has several rows in the run, one for each prompt, provider and repeat: 2, 3; say which in a column row`},
		{"twice,tone,pass,7,", `labels:2:17: row 7 of the run is not of case "twice"; its rows are 2, 3`},
		{"same,tone,pass,,", `labels:2:6: the case has several assertions called "tone"; give each an id or a metric of its own`},
		{"refund-1,tone,pass,,out-0123456789ab", `labels:2: all 1 labels are for outputs that this run does not have; align them with the run that was labelled, or label this one`},
		{"refund-1,tone,pass,,\nrefund-1,tone,pass,,out-0", ""},
		{"refund-1,tone,pass,,\nrefund-1,tone,pass,0," + a, `labels:3:1: a second label for row 0 of the run and assertion "tone"; the first is on line 2`},
		{"twice,tone,pass,3,", ""},
		{"twice,tone,pass,0," + record.OutputID("out d"), ""}, // the output matters, not its row in another run
	} {
		_, err := align.Compare(read(t, "case,assertion,human,row,output_id\n"+c.text), run)
		if got := fmt.Sprint(err); got != c.want && !(err == nil && c.want == "") {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	_, err := align.Compare(read(t, "case,assertion,human,judge\nrefund-1,tone,pass,fail"), run)
	if fmt.Sprint(err) != "labels:2:20: the label says that the judge's verdict was fail, the run has pass" {
		t.Error(err)
	}
	_, err = align.Compare(read(t, "case,assertion,human\nrefund-1,tone,pass"), nil)
	if err == nil || !strings.Contains(err.Error(), "no label has a verdict of a judge") {
		t.Error(err)
	}
	_, err = align.Compare(read(t, "case,assertion,human\nrefund-1,tone,pass"), keptRun{"{"})
	if err == nil || !strings.Contains(err.Error(), "row 0 of the run is damaged") {
		t.Error(err)
	}
}

// TestBalancedSheetIsUnbiased: labelling half passes and half fails of a judge must not
// change its measured quality.
func TestBalancedSheetIsUnbiased(t *testing.T) {
	t.Parallel()
	var run keptRun
	good := func(i int) bool { return i%10 != 0 } // 90 % of the outputs
	passed := 0
	for i := range 4000 {
		verdict := good(i)
		if i/10%20 == 3 { // the judge fails 5 % of the good outputs
			verdict = !good(i) && verdict
		}
		if !good(i) && i/10%4 == 1 { // and passes 25 % of the bad ones
			verdict = true
		}
		if verdict {
			passed++
		}
		run.kept(fmt.Sprint("c", i), fmt.Sprint("output ", i), map[bool]string{true: "tone pass", false: "tone fail"}[verdict])
	}
	var b strings.Builder
	sheet, err := align.WriteSheet(&b, run, align.SheetOptions{PerAssertion: 800})
	if err != nil {
		t.Fatal(err)
	}
	part := sheet.Assertions[0]
	if part.Drawn != (stats.Count{Pass: 400, N: 800}) || part.Of != (stats.Count{Pass: passed, N: 4000}) {
		t.Fatalf("%+v", part)
	}
	records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] { // plays the person
		n, _ := strconv.Atoi(r[1])
		r[3] = map[bool]string{true: "good", false: "bad"}[good(n)]
	}
	b.Reset()
	if err := csv.NewWriter(&b).WriteAll(records); err != nil {
		t.Fatal(err)
	}
	a := compare(t, b.String(), run).Assertions[0]
	raw := float64(a.TP) / float64(a.TP+a.FN)
	if math.Abs(a.TPR.Value-0.95) > 0.02 || math.Abs(a.TNR.Value-0.75) > 0.12 || raw > 0.9 || !a.Weighted {
		t.Errorf("TPR %.3f, TNR %.3f; unweighted TPR %.3f", a.TPR.Value, a.TNR.Value, raw)
	}
	if math.Abs(*a.BaseRate-0.9) > 0.02 || math.Abs(a.Corrected.Value-0.9) > 0.02 || a.Corrected.Low > 0.9 || a.Corrected.High < 0.9 {
		t.Errorf("base rate %.3f, corrected %+v", *a.BaseRate, a.Corrected)
	}
}

// TestAlignSetsAndParts: members of an assertion set are assertions of their own; parts
// of a judged assertion are not.
func TestAlignSetsAndParts(t *testing.T) {
	t.Parallel()
	run := keptRun{`{"index":0,"caseId":"a","response":{"output":{"n":1}},"gradingResult":{"componentResults":[
		{"status":"fail","assertion":{"type":"assert-set","metric":"set"},"members":3},
		{"status":"pass","assertion":{"type":"llm-rubric","value":"kind to {{who}}","metric":"rubric"},"judge":"m#1","members":1,"metadata":{"renderedAssertionValue":"kind to Ann"}},
		{"status":"fail","assertion":{"type":"judge","id":"part"},"judge":"m#1"},
		{"status":"fail","assertion":{"type":"judge","id":"tone","criteria":[{"text":"polite"},{"template":"max-length","params":{"tokens":5}}],"check":{"type":"is-json"}},"judge":"m#1"},
		{"status":"pass","assertion":null}]}}`}
	a := compare(t, "case,assertion,human,output_id\na,rubric,pass,"+record.OutputID(`{"n":1}`)+"\na,tone,fail,\n", run)
	if len(a.Assertions) != 2 || a.Assertions[0].TP != 1 || a.Assertions[1].TN != 1 {
		t.Errorf("%+v", a)
	}
	_, err := align.Compare(read(t, "case,assertion,human\na,part,pass\na,set,pass\n"), run)
	if err == nil || strings.Count(err.Error(), "the case has no assertion") != 2 {
		t.Error(err)
	}
	_, records := sheetOf(t, run, align.SheetOptions{})
	if len(records) != 3 || records[1][5] != "kind to Ann" || records[2][5] != "• polite\n• {\"template\":\"max-length\",\"params\":{\"tokens\":5}}\n• counted: {\"type\":\"is-json\"}" {
		t.Errorf("%q", records)
	}
}

// TestAlignEqualOutputs: equal outputs of a repeated case are separate verdicts, wherever
// they occur in a later run.
func TestAlignEqualOutputs(t *testing.T) {
	t.Parallel()
	var drawn, later keptRun
	drawn.kept("a", "same", "tone pass")
	drawn.kept("a", "same", "tone! fail") // decided by a check, before any model call
	later.kept("z", "other", "tone pass")
	later.kept("a", "same", "tone pass")
	later.kept("a", "same", "tone fail")
	sheet, records := sheetOf(t, drawn, align.SheetOptions{})
	if sheet.Rows != 2 {
		t.Fatalf("%+v", sheet)
	}
	text := "case,assertion,human,row,output_id\n"
	for _, r := range records[1:] {
		text += fmt.Sprintf("%s,%s,pass,%s,%s\n", r[0], r[2], r[1], r[8])
	}
	for _, run := range []keptRun{drawn, later} {
		if a := compare(t, text, run).Assertions[0]; a.N != 2 || a.TP != 1 || a.FN != 1 {
			t.Errorf("%+v", a)
		}
	}
}

// TestAlignWeightedWithoutRun: a balanced sheet that shows the verdicts is sufficient
// without the run.
func TestAlignWeightedWithoutRun(t *testing.T) {
	t.Parallel()
	var run keptRun
	for i := range 100 {
		run.kept(fmt.Sprint("c", i), fmt.Sprint("out ", i), map[bool]string{true: "tone pass", false: "tone fail"}[i < 90])
	}
	_, records := sheetOf(t, run, align.SheetOptions{PerAssertion: 20, Verdicts: true})
	text := ""
	for i, r := range records {
		if i > 0 {
			r[3] = r[10] // people agree with the judge
		}
		text += strings.Join([]string{r[0], r[2], r[3], r[8], r[9], r[10]}, ",") + "\n"
	}
	a := compare(t, text, nil).Assertions[0]
	if a.N != 20 || a.TP != 10 || a.Method != align.MethodPredictionPowered || math.Abs(*a.JudgePassRate-0.9) > 1e-9 || math.Abs(a.Corrected.Value-0.9) > 1e-9 || a.Corrected.Low > 0.8 {
		t.Errorf("%+v, pass rate %v, corrected %+v", a, *a.JudgePassRate, a.Corrected)
	}
}
