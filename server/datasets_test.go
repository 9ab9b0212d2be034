package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

const (
	lamps  = `{"id": "lamps", "vars": {"topic": "lamps"}}`
	chairs = `{"id": "chairs", "vars": {"topic": "chairs"}, "assert": [{"type": "contains", "value": "chairs"}], "metadata": {"kind": "b", "at": 1}}`
)

// dataset puts cases as a dataset and returns its hash.
func (f *fixture) dataset(name, cases string, headers ...string) string {
	f.t.Helper()
	got := f.ask("PUT", "/v1/datasets/"+name, `{"cases": [`+cases+`]}`, headers...)
	if got.status != 201 {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	return at(got.object(f.t), "version").(string)
}

// ids returns the ids of the cases of a version of a dataset.
func (f *fixture) ids(path string) string {
	f.t.Helper()
	var list []string
	for _, one := range items(f.t, f.ask("GET", "/v1/datasets/"+path, "")) {
		list = append(list, at(one, "id").(string))
	}
	return strings.Join(list, " ")
}

func startDatasets(t *testing.T) *fixture {
	t.Helper()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil), KeepContents: true, Judge: evaluator(passing)})
	f.t = t
	return f
}

// TestVersionsOfDataset: the content determines the version, which is named by its number or by
// the first digits of its hash.
func TestVersionsOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	first := f.dataset("faq", lamps)
	second := f.dataset("faq", lamps+","+chairs)
	if got := f.ask("PUT", "/v1/datasets/faq", `{"cases": [`+lamps+`]}`); got.status != 200 || at(got.object(t), "number") != 1.0 || at(got.object(t), "current") != true {
		t.Errorf("the same again: %d %s", got.status, got.body)
	}
	f.ask("PUT", "/v1/datasets/faq", `{"cases": [`+lamps+","+chairs+`]}`)
	for version, want := range map[string]string{"": "lamps chairs", "1": "lamps", "2": "lamps chairs", first: "lamps", second[:8]: "lamps chairs"} {
		if got := f.ids("faq?version=" + version); got != want {
			t.Errorf("version %q has %q, want %q", version, got, want)
		}
	}
	got := f.ask("GET", "/v1/datasets/faq", "")
	if got.header.Get("ETag") != `"`+second+`"` {
		t.Errorf("ETag %s, want %s", got.header.Get("ETag"), second)
	}
	list := items(t, f.ask("GET", "/v1/datasets", ""))
	if len(list) != 1 || at(list[0], "name") != "faq" || at(list[0], "cases") != 2.0 || at(list[0], "number") != 2.0 {
		t.Errorf("listed: %v", list)
	}
	if list = items(t, f.ask("GET", "/v1/datasets/faq/versions", "")); len(list) != 2 || at(list[0], "cases") != 2.0 || at(list[1], "cases") != 1.0 {
		t.Errorf("versions: %v", list)
	}
	for path, want := range map[string]string{
		"faq?version=3":        `there is no version 3 of dataset "faq"; its versions are 1 to 2`,
		"faq?version=00000000": `there is no version 00000000 of dataset "faq"; its versions are 1 to 2`,
		"fag":                  `there is no dataset "fag"; did you mean "faq"?`,
		"fag/versions":         `there is no dataset "fag"; did you mean "faq"?`,
		"faq/diff?from=9":      `there is no version 9 of dataset "faq"; its versions are 1 to 2`,
	} {
		if p := f.ask("GET", "/v1/datasets/"+path, "").problem(t); p.Status != 404 || p.Detail != want {
			t.Errorf("%s: %d %s, want %s", path, p.Status, p.Detail, want)
		}
	}
	if p := f.ask("GET", "/v1/datasets/faq?version=3", "").problem(t); len(p.Errors) != 1 || p.Errors[0].Nearest != "2" {
		t.Errorf("the nearest version: %v", p.Errors)
	}
	if got := f.ask("DELETE", "/v1/datasets/faq", ""); got.status != 204 {
		t.Errorf("removed: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/v1/datasets/faq?version="+first, ""); got.status != 404 {
		t.Errorf("a version of what was removed: %d", got.status)
	}
}

// TestPagesOfDataset: later pages show the version of the first page.
func TestPagesOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	var cases []string
	for i := range 25 {
		cases = append(cases, fmt.Sprintf(`{"id": "c%d", "vars": {"n": "%d"}}`, i, i))
	}
	f.dataset("many", strings.Join(cases, ","))
	var got []string
	for after := ""; ; {
		page := f.ask("GET", "/v1/datasets/many?limit=10"+after, "")
		for _, one := range items(t, page) {
			got = append(got, at(one, "id").(string))
		}
		f.dataset("many", fmt.Sprintf(`{"id": "other%d", "vars": {}}`, len(got)))
		next, _ := at(page.object(t), "next").(string)
		if next == "" {
			break
		}
		after = "&after=" + next
	}
	if len(got) != 25 || got[24] != "c24" {
		t.Errorf("the pages have %v", got)
	}
}

// TestMistakesInDataset: each mistake has its position in the body, and nothing is stored.
func TestMistakesInDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	for body, want := range map[string]string{
		`{"cases": [` + lamps + `,{"id": "lamps", "vars": {}}]}`:                         `/cases/1/id 1:63 the id "lamps" is given to more than one case`,
		`{"cases": [{"vars": {}, "asert": []}]}`:                                         `/cases/0/asert 1:34 unknown key "asert" in a case (assert)`,
		`{"cases": [{"vars": {}, "assert": [{"type": "contans", "value": "x"}]}]}`:       `/cases/0/assert/0/type 1:45 unknown assertion type "contans" (contains)`,
		`{"cases": [{"vars": {}, "options": {"transform": "x"}}]}`:                       `/cases/0/options 1:36 a case of a dataset has no options: how it is run is up to the suite`,
		`{"cases": [{"vars": {}, "assert": [{"type": "javascript", "value": "true"}]}]}`: `/cases/0/assert/0/type`,
		`{"cases": [{"id": "a"}]}`:                                                       `/cases/0 1:12 a case needs at least one of`,
		`{"cases": [{"id": " ", "vars": {}}]}`:                                           `/cases/0/id`,
		`{"cases": [{"id": "` + strings.Repeat("x", 201) + `", "vars": {}}]}`:            `/cases/0/id`,
		`{"cases": [{"vars": "file://x.yaml"}]}`:                                         `/cases/0/vars`,
		`{"cases": [{"vars": {}, "assert": [{"type": "equals", "value": "x", "config": {"apiKey": "sk-abcdefghijklmnopqrstuvwx"}}]}]}`: `/cases/0/assert/0/config/apiKey`,
		`{"cases": [7]}`: `/cases/0 1:12 /cases/0 has to be an object, not a number`,
		`{"case": []}`:   `/case 1:10 unknown field "case"; did you mean "cases"? (cases)`,
	} {
		p := f.ask("PUT", "/v1/datasets/d", body).problem(t)
		got := ""
		if len(p.Errors) > 0 {
			m := p.Errors[0]
			got = fmt.Sprintf("%s %d:%d %s", m.Pointer, m.Line, m.Column, m.Message)
			if m.Nearest != "" {
				got += " (" + m.Nearest + ")"
			}
		}
		if p.Status != 422 || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n%d %s, want %s", body, p.Status, got, want)
		}
	}
	for _, name := range []string{".d", "a%20b", "a%22", strings.Repeat("x", 101)} {
		if p := f.ask("PUT", "/v1/datasets/"+name, `{"cases": []}`).problem(t); p.Status != 422 && p.Status != 404 {
			t.Errorf("%s: %d %s", name, p.Status, p.Detail)
		}
	}
	if got := f.ask("GET", "/v1/datasets", ""); got.body != `{"items":[]}`+"\n" {
		t.Errorf("stored: %s", got.body)
	}
}

// TestIDsOfCases: a case without an id gets one that depends only on its content.
func TestIDsOfCases(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("a", `{"vars": {"n": "1"}},{"vars": {"n": "1"}},`+lamps)
	f.dataset("b", lamps+`,{"vars": {"n": "1"}}`)
	a, b := strings.Fields(f.ids("a")), strings.Fields(f.ids("b"))
	if len(a) != 3 || a[0] != b[1] || a[1] != a[0]+"-2" {
		t.Errorf("ids %v and %v", a, b)
	}
}

// TestChangesOfDataset: adding and removing create versions, and a change based on an outdated
// version is refused.
func TestChangesOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	first := f.dataset("faq", lamps)
	got := f.ask("POST", "/v1/datasets/faq/cases", `{"cases": [`+chairs+`]}`, `If-Match: "`+first+`"`)
	if got.status != 201 || at(got.object(t), "number") != 2.0 || fmt.Sprint(at(got.object(t), "added")) != "[chairs]" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for name, change := range map[string][3]string{
		"add":       {"POST", "/v1/datasets/faq/cases", `{"cases": [{"vars": {"n": "1"}}]}`},
		"remove":    {"POST", "/v1/datasets/faq/remove", `{"cases": ["chairs"]}`},
		"put":       {"PUT", "/v1/datasets/faq", `{"cases": []}`},
		"put again": {"PUT", "/v1/datasets/faq", `{"cases": [` + lamps + `]}`},
	} {
		p := f.ask(change[0], change[1], change[2], `If-Match: "`+first+`"`)
		if p.status != 409 || at(p.object(t), "current.number") != 2.0 || at(p.object(t), "code") != proviso.Conflict {
			t.Errorf("%s of an old version: %d %s", name, p.status, p.body)
		}
	}
	if p := f.ask("PUT", "/v1/datasets/faq", `{"cases": []}`, "If-None-Match: *").problem(t); p.Status != 409 {
		t.Errorf("a new one with a name that is taken: %d %s", p.Status, p.Detail)
	}
	for body, want := range map[string]string{
		`{"cases": [` + lamps + `]}`:            `the id "lamps" is given to more than one case`,
		`{}`:                                    "one of cases, run, evaluation, events and filter is expected, not 0 of them",
		`{"cases": [], "run": "run_0"}`:         "one of cases, run, evaluation, events and filter is expected, not 2 of them",
		`{"cases": [], "status": ["fail"]}`:     "status selects rows of a run, and run is missing",
		`{"cases": [], "expect": "x"}`:          "expect is about an evaluation, and evaluation is missing",
		`{"run": "run_0", "status": ["wrong"]}`: `"wrong" is not a status of a row: expected pass, fail, error or skip`,
	} {
		if p := f.ask("POST", "/v1/datasets/faq/cases", body).problem(t); p.Status != 422 || !strings.HasSuffix(p.Detail, want) {
			t.Errorf("%s: %d %s, want %s", body, p.Status, p.Detail, want)
		}
	}
	if p := f.ask("POST", "/v1/datasets/faq/remove", `{"cases": ["lamps", "lmaps"]}`).problem(t); p.Status != 422 || p.Errors[0].Pointer != "/cases/1" {
		t.Errorf("what is not there: %d %v", p.Status, p.Errors)
	}
	if got := f.ask("POST", "/v1/datasets/faq/remove", `{"cases": ["lamps"]}`); got.status != 201 || f.ids("faq") != "chairs" {
		t.Errorf("%d %s, then %s", got.status, got.body, f.ids("faq"))
	}
	if got := f.ask("POST", "/v1/datasets/faq/cases", `{"cases": [{"vars": {"n": "1"}}]}`, "Idempotency-Key: k"); got.status != 201 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/datasets/faq/cases", `{"cases": [{"vars": {"n": "1"}}]}`); got.status != 200 || at(got.object(t), "known") != 1.0 {
		t.Errorf("the same content again: %d %s", got.status, got.body)
	}
}

// TestManyAddAtOnce: no case is lost when many requests add cases at the same time.
func TestManyAddAtOnce(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("faq", "")
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for {
				got := f.ask("POST", "/v1/datasets/faq/cases", fmt.Sprintf(`{"cases": [{"id": "c%d", "vars": {}}]}`, i))
				if got.status == 201 {
					return
				}
				if got.status != http.StatusConflict {
					t.Errorf("%d %s", got.status, got.body)
					return
				}
			}
		})
	}
	wait.Wait()
	if n := len(strings.Fields(f.ids("faq"))); n != 4 {
		t.Errorf("%d cases, want 4", n)
	}
}

// TestDiffOfDataset: cases are paired by id.
func TestDiffOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("faq", lamps+","+chairs+`,{"id": "old", "vars": {"a": "b"}}`)
	f.dataset("faq", `{"id": "new", "vars": {"a": "b"}},{"id": "chairs", "metadata": {"at": 1, "kind": "b"}, "vars": {"topic": "chairs"}, "assert": [{"type": "contains", "value": "chairs"}]},{"id": "lamps", "vars": {"topic": "LAMPS"}}`)
	got := f.ask("GET", "/v1/datasets/faq/diff", "").object(t)
	if c := fmt.Sprint(at(got, "counts.added"), at(got, "counts.removed"), at(got, "counts.changed"), at(got, "counts.same")); c != "1 1 1 1" {
		t.Errorf("counts %s: %v", c, got)
	}
	same(t, "added", at(got, "added"), `[{"id":"new","vars":{"a":"b"}}]`)
	same(t, "removed", at(got, "removed"), `[{"id":"old","vars":{"a":"b"}}]`)
	same(t, "changed", at(got, "changed"), `[{"case":"lamps","before":{"id":"lamps","vars":{"topic":"lamps"}},"after":{"id":"lamps","vars":{"topic":"LAMPS"}}}]`)
	back := f.ask("GET", "/v1/datasets/faq/diff?from=2&to=1", "").object(t)
	same(t, "added on the way back", at(back, "added"), `[{"id":"old","vars":{"a":"b"}}]`)
}

// TestScopesOfDatasets: edit can write, read can read, and a key with only evaluate sees no
// data of others.
func TestScopesOfDatasets(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Runner: suites(t, nil)})
	f.t = t
	key := func(scope store.Scope) string {
		secret, _ := f.key(store.NewKey{Scopes: []store.Scope{scope}})
		return bearer(secret)
	}
	f.dataset("faq", lamps, key(store.Edit))
	for scope, want := range map[store.Scope][2]int{store.Read: {200, 403}, store.Evaluate: {403, 403}, store.Edit: {403, 200}, store.Admin: {200, 200}} {
		who := key(scope)
		if got := f.ask("GET", "/v1/datasets/faq", "", who); got.status != want[0] {
			t.Errorf("%s reads: %d", scope, got.status)
		}
		if got := f.ask("PUT", "/v1/datasets/faq", `{"cases": [`+lamps+`]}`, who); got.status != want[1] {
			t.Errorf("%s writes: %d", scope, got.status)
		}
	}
}

const faqSuite = `{"name": "%s", "suite": "prompts: ['Tell me of {{topic}}']\nproviders: [echo]\ntests: %s\n"}`

// TestSuiteOfDataset: a run uses and reports the version that was current when it was accepted,
// and a suite may name a version.
func TestSuiteOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	first := f.dataset("faq", lamps+","+chairs)
	for name, tests := range map[string]string{"current": "dataset:faq", "number": "dataset:faq@1", "hash": "dataset:faq@" + first[:10], "list": "[dataset:faq@1, {vars: {topic: beds}}]"} {
		run := f.run(fmt.Sprintf(faqSuite, name, tests))
		f.follow(run)
		got := f.ask("GET", "/v1/runs/"+run, "").object(t)
		list, _ := at(got, "datasets").([]any)
		if len(list) != 1 || at(list[0], "version") != first || at(list[0], "number") != 1.0 || at(list[0], "name") != "faq" || at(got, "progress.passed") != map[bool]float64{true: 3, false: 2}[name == "list"] {
			t.Errorf("%s: %v", name, got)
		}
		rows := items(t, f.ask("GET", "/v1/runs/"+run+"/results", ""))
		if at(rows[0], "caseId") != "lamps" || at(rows[0], "response.output") != "Tell me of lamps" {
			t.Errorf("%s: %v", name, rows[0])
		}
	}
	f.dataset("faq", lamps)
	again := at(f.ask("POST", "/v1/suites/current/runs", "").object(t), "id").(string)
	f.follow(again)
	if got := f.ask("GET", "/v1/runs/"+again, "").object(t); at(got, "progress.rows") != 1.0 {
		t.Errorf("the current version is not used: %v", got)
	}
	compared := f.ask("GET", "/v1/prompts?suite=current", "")
	if compared.status != 200 || !strings.Contains(compared.body, "Tell me of") {
		t.Errorf("%d %s", compared.status, compared.body)
	}
}

// TestDatasetIsData: text in a dataset is not rendered as a template, and names no file.
func TestDatasetIsData(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("faq", `{"id": "a", "vars": {"topic": "{{ env.HOME }} {{ 7 * 7 }} file://x"}}`)
	run := f.run(fmt.Sprintf(faqSuite, "data", "dataset:faq"))
	f.follow(run)
	rows := items(t, f.ask("GET", "/v1/runs/"+run+"/results", ""))
	if got := at(rows[0], "response.output"); got != "Tell me of {{ env.HOME }} {{ 7 * 7 }} file://x" {
		t.Errorf("asked %q", got)
	}
}

// TestMistakesInSuiteOfDataset: a mistake in a dataset reference has its position in the suite.
func TestMistakesInSuiteOfDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("faq", lamps)
	f.dataset("empty", "")
	for tests, want := range map[string]string{
		"dataset:fag":                  `proviso.yaml:3:8 there is no dataset "fag"; did you mean "faq"? (faq)`,
		"dataset:faq@2":                `proviso.yaml:3:8 there is no version 2 of dataset "faq"; its only version is 1 (1)`,
		"dataset:faq@abcdef01":         `proviso.yaml:3:8 there is no version abcdef01 of dataset "faq"; its only version is 1`,
		"dataset:faq@latest":           `proviso.yaml:3:8 "latest" is not a version of a dataset: expected its number, or at least 8 digits of its hash`,
		"dataset:faq@abc":              `proviso.yaml:3:8 "abc" is not a version of a dataset`,
		"'dataset:'":                   `proviso.yaml:3:8 the name of the dataset is missing`,
		"dataset:../faq":               `proviso.yaml:3:8 "../faq" is not a valid dataset name`,
		"[dataset:faq, dataset:faq@1]": `dataset:faq@1:1:7 the id "lamps" is given to more than one case`,
		"dataset:empty":                `dataset:empty@1:0:0 the file holds no cases`,
	} {
		p := f.ask("PUT", "/v1/suites/wrong", fmt.Sprintf(faqSuite, "wrong", tests)).problem(t)
		got := ""
		if len(p.Errors) > 0 {
			m := p.Errors[0]
			got = fmt.Sprintf("%s:%d:%d %s", m.File, m.Line, m.Column, m.Message)
			if m.Nearest != "" {
				got += " (" + m.Nearest + ")"
			}
		}
		if p.Status != 422 || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n%d %s, want %s", tests, p.Status, got, want)
		}
	}
}

// TestPinnedDataset: a waiting run keeps the versions that it was accepted with. If one of them
// was removed, the run fails with the position in its suite.
func TestPinnedDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	first := f.dataset("faq", lamps+","+chairs)
	f.follow(f.run(fmt.Sprintf(faqSuite, "s", "dataset:faq")))
	f.dataset("faq", lamps)
	suite := at(f.ask("GET", "/v1/suites/s", "").object(t), "version").(string)
	for version, want := range map[string]string{first: "done 2", strings.Repeat("0", 64): "failed 0"} {
		made, err := f.store.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{Suite: "s", Version: suite, CreatedBy: "local",
			Options: fmt.Appendf(nil, `{"datasets": [{"name": "faq", "version": %q, "number": 1}]}`, version)})
		if err != nil {
			t.Fatal(err)
		}
		f.follow(made.ID)
		got := f.ask("GET", "/v1/runs/"+made.ID, "").object(t)
		if now := fmt.Sprint(at(got, "status"), " ", at(got, "progress.finished")); now != want {
			t.Errorf("%s, want %s: %v", now, want, got)
		}
		if text, _ := at(got, "error").(string); want == "failed 0" && (!strings.Contains(text, "proviso.yaml:3:8") || !strings.Contains(text, `of dataset "faq" was removed`)) {
			t.Errorf("it failed because of %s", text)
		}
	}
}

// TestRemovedDataset: a run of a suite whose dataset was removed is not accepted.
func TestRemovedDataset(t *testing.T) {
	t.Parallel()
	f := startDatasets(t)
	f.dataset("faq", lamps)
	f.follow(f.run(fmt.Sprintf(faqSuite, "s", "dataset:faq")))
	f.ask("DELETE", "/v1/datasets/faq", "")
	p := f.ask("POST", "/v1/suites/s/runs", "").problem(t)
	if p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Line != 3 || p.Errors[0].Message != `there is no dataset "faq"` {
		t.Errorf("%d %v", p.Status, p.Errors)
	}
}
