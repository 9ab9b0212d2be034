package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/value"
)

// judgedRun keeps a run of cases that a judge decided; every tenth fails, starting with the given
// one. It returns the file.
func judgedRun(t *testing.T, dir, judge string, cases, first int, closed bool) string {
	t.Helper()
	w, err := runfile.Create(dir, runfile.Header{Suite: "orders", Started: time.Unix(1e9, 0),
		Meta: value.ObjectOf("columns", []any{}, "rows", float64(cases), "folder", dir)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		status := "pass"
		if i%10 < first {
			status = "fail"
		}
		row := fmt.Sprintf(`{"index":%d,"caseId":"c%d","testIdx":%d,"promptIdx":0,"vars":{"n":%d},"testCase":{"id":"c%d"},"response":{"output":"answer %d"},"verdict":%q,"gradingResult":{"componentResults":[`+
			`{"status":%q,"score":1,"reason":"because","assertion":{"type":"judge","id":"tone","criteria":["it is polite"]},"judge":%q}]}}`, i, i, i, i, i, i, status, status, judge)
		if err := w.Append(i, []byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	if closed {
		err = w.Close([]byte(`{"passed":1}`))
	} else {
		err = w.Close(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// TestCompareCorrects: a judged assertion is corrected for the errors that align
// measured, as long as the judge is the same on both sides.
func TestCompareCorrects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base, head := judgedRun(t, dir, "model#1", 200, 1, true), judgedRun(t, dir, "model#1", 200, 3, true)
	other := judgedRun(t, dir, "model#2", 200, 1, true)
	compare := func(args ...string) string {
		t.Helper()
		code, out := printed(t, append([]string{"compare"}, args...)...)
		if code != exitOK {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		return out
	}
	if out := compare(base, head); !strings.Contains(out, "judge not measured") || strings.Contains(out, "corrected") {
		t.Error(out)
	}
	labels := "case,assertion,human\n"
	for i := range 200 { // people fail every fifth output that the judge passes
		human := "pass"
		if i%10 < 1 || i%10 == 5 {
			human = "fail"
		}
		labels += fmt.Sprintf("c%d,tone,%s\n", i, human)
	}
	file := filepath.Join(dir, "labels.csv")
	if err := os.WriteFile(file, []byte(labels), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out := printed(t, "align", file, "--run", base, "--run-dir", dir, "--save="+filepath.Join(dir, ".proviso", "alignment.json")); code != exitOK {
		t.Fatal(out)
	}
	if out := strings.Join(strings.Fields(compare(base, head)), " "); !strings.Contains(out, "corrected for the judge's errors: ") || strings.Contains(out, "judge not measured") {
		t.Error(out)
	}
	var got struct {
		Assertions []struct {
			Difference struct{ Value float64 }
			Corrected  *struct {
				Difference struct{ Value, Low, High float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(compare(base, head, "--format", "json")), &got); err != nil {
		t.Fatal(err)
	}
	// The judge fails half of the bad outputs and none of the good ones, so that the true
	// difference is twice as large.
	a := got.Assertions[0]
	if a.Corrected == nil || a.Difference.Value > -0.199 || a.Corrected.Difference.Value > -0.399 || a.Corrected.Difference.Low > -0.4 || a.Corrected.Difference.High < -0.4 {
		t.Errorf("%+v, corrected %+v", a.Difference, a.Corrected)
	}
	same := func(where string, get func(path string, into any), base, head string) {
		t.Helper()
		shown := got
		shown.Assertions = nil
		if get("/v1/compare?base="+base+"&head="+head, &shown); len(shown.Assertions) == 0 || shown.Assertions[0].Corrected == nil || *shown.Assertions[0].Corrected != *a.Corrected {
			t.Errorf("%s: %+v", where, shown)
		}
	}
	v := startView(t, dir, "--run-dir", dir)
	if status, body, err := v.get(v.link); status != http.StatusOK {
		t.Fatalf("%d %s %v", status, body, err)
	}
	same("view", func(path string, into any) { v.json(t, path, into) }, filepath.Base(filepath.Dir(base)), filepath.Base(filepath.Dir(head)))
	p := startServe(t, t.TempDir(), "", "--alignment", filepath.Join(dir, ".proviso", "alignment.json"))
	var ids [2]string
	for i, run := range []string{base, head} {
		code, out := printed(t, "push", run, p.url)
		if code != exitOK {
			t.Fatal(out)
		}
		ids[i] = path.Base(strings.TrimSpace(out))
	}
	same("serve", func(path string, into any) {
		if _, body := p.ask(http.MethodGet, path, ""); json.Unmarshal([]byte(body), into) != nil {
			t.Error(body)
		}
	}, ids[0], ids[1])
	if out := compare(other, head); !strings.Contains(out, "judge not measured") || !strings.Contains(out, `! The judges differ: "model#2" and "model#1".`) {
		t.Error(out)
	}
}

// TestCompareUnfinished: an interrupted run is compared, with a warning.
func TestCompareUnfinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base, head := judgedRun(t, dir, "model#1", 20, 0, true), judgedRun(t, dir, "model#1", 20, 0, false)
	data, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	cut := strings.Join(lines[:8], "") + "not a row\n" + lines[9][:30]
	if err := os.WriteFile(head, []byte(cut), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := printed(t, "compare", base, head)
	for _, want := range []string{"is not finished: it has 7 of 20 rows. Finish it with", "is damaged: 1 line is not a row, and left out.", "7 pairs", "= no case changed"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
