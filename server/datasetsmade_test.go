package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

const failingSuite = `{"name": "talk", "suite": {"prompts": ["Tell me of {{topic}}", "Now {{topic}}"], "providers": ["echo"],
	"defaultTest": {"assert": [{"type": "contains", "value": "Tell"}], "metadata": {"team": "a"}},
	"tests": [{"id": "good", "vars": {"topic": "lamps"}},
		{"id": "bad", "description": "is odd", "vars": {"topic": "beds {{ x }}", "x": "1"}, "assert": [{"type": "contains", "value": "sofas"}], "metadata": {"team": "a", "kind": "b"}, "threshold": 1},
		{"vars": {"topic": ["a", "b"]}, "assert": [{"type": "contains", "value": "sofas"}]}]}}`

// TestCasesOfRun: the failures of a run become cases, one per case, without what the suite adds
// to every case.
func TestCasesOfRun(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	run := f.run(failingSuite)
	f.follow(run)
	f.dataset("seen", "")
	body := fmt.Sprintf(`{"run": %q, "status": ["fail"]}`, run)
	got := f.ask("POST", "/v1/datasets/seen/cases", body)
	if added, _ := at(got.object(t), "added").([]any); got.status != 201 || len(added) != 4 { // the second prompt fails in every case
		t.Fatalf("%d %s", got.status, got.body)
	}
	list := items(t, f.ask("GET", "/v1/datasets/seen", ""))
	same(t, "a case", list[1], `{"id":"bad","description":"is odd","vars":{"topic":"beds 1","x":"1"},"assert":[{"type":"contains","value":"sofas"}],"threshold":1,"metadata":{"kind":"b"}}`)
	same(t, "one without own assertions", list[0], `{"id":"good","vars":{"topic":"lamps"}}`)
	if again := f.ask("POST", "/v1/datasets/seen/cases", body); again.status != 200 || at(again.object(t), "known") != 4.0 || at(again.object(t), "number") != 2.0 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	f.dataset("one", "")
	if got := f.ask("POST", "/v1/datasets/one/cases", fmt.Sprintf(`{"run": %q, "indexes": [0, 1, 2]}`, run)); got.status != 201 || f.ids("one") != "good bad" {
		t.Errorf("%d %s: %s", got.status, got.body, f.ids("one"))
	}
	for body, want := range map[string]string{
		fmt.Sprintf(`{"run": %q, "indexes": [99]}`, run): "422 the run has no finished row 99",
		`{"run": "run_0"}`:         `404 there is no run "run_0"`,
		`{"evaluation": "eval_0"}`: `404 there is no evaluation "eval_0"`,
	} {
		if p := f.ask("POST", "/v1/datasets/one/cases", body).problem(t); fmt.Sprint(p.Status, " ", p.Detail) != want {
			t.Errorf("%s: %d %s, want %s", body, p.Status, p.Detail, want)
		}
	}
	again := f.run(strings.Replace(fmt.Sprintf(faqSuite, "again", "dataset:seen"), "['Tell me of {{topic}}']", "['Tell me of {{topic}}', 'Now {{topic}}']", 1))
	f.follow(again)
	compared := f.ask("GET", "/v1/compare?base="+run+"&head="+again, "")
	if compared.status != 200 || !strings.Contains(compared.body, `"bad"`) {
		t.Errorf("a run of the dataset is compared with the first: %d %s", compared.status, compared.body)
	}
}

// TestCodeOfRun: assertions that a dataset cannot hold are left out, and the response lists
// them.
func TestCodeOfRun(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	row := strings.Replace(runText(1), `"vars":{},`, `"caseId":"a","vars":{"q":"1"},"testCase":{"assert":[{"type":"javascript","value":"true"},{"type":"contains","value":"x"}]},`, 1)
	run := f.pushed(row, "")
	f.dataset("seen", "")
	got := f.ask("POST", "/v1/datasets/seen/cases", fmt.Sprintf(`{"run": %q, "status": ["pass", "fail", "error"]}`, run))
	left, _ := at(got.object(t), "left_out").([]any)
	same(t, "the case", items(t, f.ask("GET", "/v1/datasets/seen", ""))[0], `{"id":"a","vars":{"q":"1"},"assert":[{"type":"contains","value":"x"}]}`)
	if got.status != 201 || len(left) != 1 || !strings.Contains(fmt.Sprint(left), "javascript") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestCaseOfEvaluation: the input and the assertions of an evaluation become a case.
func TestCaseOfEvaluation(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	evaluated := f.ask("POST", "/v1/evaluate", `{"agent_input": "How long?", "agent_output": "30 days", "assertions": [{"id": "short", "instruction": "Be short.", "criteria": ["is short"]}], "vars": {"lang": "en"}}`)
	_, id, _ := strings.Cut(evaluated.header.Get("Location"), "/v1/evaluations/")
	f.dataset("seen", "")
	got := f.ask("POST", "/v1/datasets/seen/cases", fmt.Sprintf(`{"evaluation": %q, "expect": "icontains: 30"}`, id))
	if got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	one := items(t, f.ask("GET", "/v1/datasets/seen", ""))[0]
	same(t, "vars", at(one, "vars"), `{"input":"How long?","lang":"en"}`)
	same(t, "assert", at(one, "assert"), `[{"id":"short","instruction":"Be short.","criteria":["is short"],"type":"judge"},{"type":"icontains","value":"30"}]`)
	private := start(t, server.Options{Open: true, Judge: evaluator(passing)})
	evaluated = private.ask("POST", "/v1/evaluate", `{"agent_input": "How long?", "agent_output": "30 days", "assertions": [{"id": "short", "criteria": ["is short"]}]}`)
	_, id, _ = strings.Cut(evaluated.header.Get("Location"), "/v1/evaluations/")
	private.t = t
	private.dataset("seen", "")
	if p := private.ask("POST", "/v1/datasets/seen/cases", fmt.Sprintf(`{"evaluation": %q}`, id)).problem(t); !strings.Contains(p.Detail, "--keep-contents") {
		t.Errorf("%d %s", p.Status, p.Detail)
	}
}

// TestFilesOfDataset: a downloaded file equals the uploaded one, and the other formats parse to
// the same cases.
func TestFilesOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	const text = `{"id":"a","vars":{"topic":"lamps"},"assert":[{"type":"contains","value":"x, y"}]}` + "\n" + `{"id":"b","description":"=1+1","vars":{"topic":"two\nlines","other":"- x"}}` + "\n"
	got := f.ask("PUT", "/v1/datasets/faq/file", text, ndjson)
	if got.status != 201 || at(got.object(t), "cases") != 2.0 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/v1/datasets/faq/file", ""); got.body != text || got.header.Get("Content-Disposition") != `attachment; filename="faq-1.jsonl"` {
		t.Errorf("%s %s", got.header, got.body)
	}
	if got := f.ask("GET", "/v1/datasets/faq/file?format=yaml", ""); got.body != "- id: a\n  vars:\n    topic: lamps\n  assert:\n  - type: contains\n    value: x, y\n- id: b\n  description: =1+1\n  vars:\n    topic: |-\n      two\n      lines\n    other: '- x'\n" {
		t.Errorf("%s", got.body)
	}
	if got := f.ask("GET", "/v1/datasets/faq/file?format=csv", ""); got.body != "topic,other,__expected,__description\nlamps,,\"contains: x, y\",\n\"two\nlines\",'- x,,'=1+1\n" {
		t.Errorf("%s", got.body)
	}
	long := strings.Repeat("x", 70_000) // the columns are read in parts
	f.dataset("long", `{"id":"a","vars":{"b":"`+long+`"}},{"id":"b","description":"d","vars":{"a":"`+long+`"}},{"id":"c","vars":{"c":"1","b":"2"}}`)
	if got := f.ask("GET", "/v1/datasets/long/file?format=csv", ""); got.body != "b,a,c,__description\n"+long+",,,\n,"+long+",,d\n2,,1,\n" {
		t.Errorf("%.100s", got.body)
	}
	f.dataset("rich", `{"id":"a","vars":{"n":1}},`+chairs)
	if p := f.ask("GET", "/v1/datasets/rich/file?format=csv", "").problem(t); !strings.HasPrefix(p.Detail, `CSV cannot hold the case "a": the variable "n" is not a text`) {
		t.Errorf("%d %s", p.Status, p.Detail)
	}
	for body, want := range map[string]string{
		text + `{"id":"a","vars":{}}` + "\n": `422 3:7 the id "a" is given to more than one case`,
		text + "{\"vars\"\n":                 `422 3:8 `,
		text + "[]\n":                        `422 3:1 a case is an object, not a list`,
		text + `{"vars":{}, "asert": []}`:    `422 3:13 unknown key "asert" in a case`,
		"\xff\n":                             `422 1:1 `,
	} {
		p := f.ask("PUT", "/v1/datasets/faq/file", body, ndjson).problem(t)
		got := fmt.Sprint(p.Status, " ")
		if len(p.Errors) > 0 {
			got += fmt.Sprintf("%d:%d %s", p.Errors[0].Line, p.Errors[0].Column, p.Errors[0].Message)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", body[len(body)-10:], got, want)
		}
	}
	if got := f.ask("PUT", "/v1/datasets/faq/file", strings.Repeat(" ", store.MaxContent+1), ndjson); got.status != 413 {
		t.Errorf("a file of 64 MiB and more: %d %s", got.status, got.body)
	}
	if n := f.ids("faq"); n != "a b" {
		t.Errorf("stored: %s", n)
	}
}
