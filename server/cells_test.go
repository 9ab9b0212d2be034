package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/gate"
	"github.com/proviso-eval/proviso/gate/runs"
	"github.com/proviso-eval/proviso/gate/show"
	"github.com/proviso-eval/proviso/internal/matrix"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// mixedSuite is a suite with rows of each status: two prompts, four cases, two of them twice.
const mixedSuite = `{"name": "mixed", "suite": {"description": "Mixed", "prompts": [{"label": "short", "raw": "Hi {{name}}"}, {"label": "long", "raw": "Good day, {{name}}. How are you?"}],
	"providers": ["echo"], "defaultTest": {"assert": [{"type": "icontains", "value": "hi", "metric": "greets"}]}, "tests": [
	{"description": "Ann's case", "vars": {"name": "Ann"}, "assert": [{"type": "contains", "value": "Ann", "id": "named"}]},
	{"vars": {"name": "Bob"}, "options": {"repeat": 2}, "assert": [{"type": "contains", "value": "Ann", "id": "named"}, {"type": "contains", "value": "x", "id": "never", "when": "false"}]},
	{"vars": {"name": "Cy\u00c9"}, "assert": [{"type": "perplexity", "threshold": 5, "id": "sure"}]}]}}`

func matrixOf(t *testing.T, got answer) *matrix.Matrix {
	t.Helper()
	var m matrix.Matrix
	if err := json.Unmarshal([]byte(got.body), &m); got.status != 200 || err != nil {
		t.Fatalf("%v: %d %.300s", err, got.status, got.body)
	}
	return &m
}

// rowsOf returns all rows of a run.
func (f *fixture) rowsOf(id string) (rows []*report.Row) {
	f.t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(f.ask("GET", "/v1/runs/"+id+"/results?limit=1000", "").body), &list); err != nil {
		f.t.Fatal(err)
	}
	for _, item := range list.Items {
		row, err := report.ReadRow(item)
		if err != nil {
			f.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

var codes = map[string]byte{"pass": matrix.Pass, "fail": matrix.Fail, "error": matrix.Error, "skip": matrix.Skip}

// TestMatrix: the matrix matches the rows and the counts of the run.
func TestMatrix(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	id := f.run(mixedSuite)
	f.follow(id)
	m := matrixOf(t, f.ask("GET", "/v1/runs/"+id+"/matrix", ""))
	rows := f.rowsOf(id)
	if len(rows) != 8 || m.Finished != 8 || m.Rows != 8 || m.Status != "done" || m.Repeats != 2 || len(m.Cases) != 3 {
		t.Fatalf("%d rows: %+v", len(rows), m)
	}
	if want := []matrix.Column{{Prompt: "short", Provider: "echo"}, {Prompt: "long", Provider: "echo"}}; !reflect.DeepEqual(m.Columns, want) {
		t.Errorf("columns %v", m.Columns)
	}
	if m.Titles[0] != "Ann's case" || m.Titles[1] != "" {
		t.Errorf("titles %q", m.Titles)
	}
	for _, row := range rows {
		k, _ := row.Record.Object("repeat").At("index").(float64)
		column := int(row.Record.At("promptIdx").(float64))
		at := (slices.Index(m.Cases, row.CaseID)*2+column)*2 + int(k)
		if got := binary.LittleEndian.Uint32(m.Index[4*at:]); int(got) != row.Index || m.Cells[at] != codes[row.Status.String()] {
			t.Errorf("row %d: index %d, status %d, want %s", row.Index, got, m.Cells[at], row.Status)
		}
		for _, a := range row.Assertions {
			name := a.ID + a.Metric
			if m.Verdicts[name][at] != codes[a.Status.String()] {
				t.Errorf("row %d: %s is %d, want %s", row.Index, name, m.Verdicts[name][at], a.Status)
			}
		}
	}
	progress := f.ask("GET", "/v1/runs/"+id, "").object(t)
	for code, key := range map[byte]string{matrix.Pass: "passed", matrix.Fail: "failed", matrix.Error: "errors", matrix.Skip: "skipped"} {
		if got := bytes.Count(m.Cells, []byte{code}); code != matrix.Skip && got == 0 {
			t.Errorf("no row is %s", key)
		} else if float64(got) != at(progress, "progress."+key) {
			t.Errorf("%d %s, want %v", got, key, at(progress, "progress."+key))
		}
	}
}

// TestMatrixState: an unchanged matrix is not sent again, and only clients that accept gzip get
// it.
func TestMatrixState(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil), LogContents: true})
	id := f.run(mixedSuite)
	f.follow(id)
	path := "/v1/runs/" + id + "/matrix"
	first := f.ask("GET", path, "")
	tag := first.header.Get("ETag")
	for header, want := range map[string]int{tag: 304, `"x", ` + tag: 304, "*": 304, `W/"1-7-8-running"`: 200, "": 200} {
		if got := f.ask("GET", path, "", "If-None-Match: "+header); got.status != want || (want == 304) != (got.body == "") {
			t.Errorf("%s: %d %.100s", header, got.status, got.body)
		}
	}
	for encoding, want := range map[string]string{"gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "identity": "", "br": ""} {
		for _, path := range []string{path, "/v1/runs/" + id + "/results"} {
			got := f.ask("GET", path, "", "Accept-Encoding: "+encoding)
			if got.header.Get("Content-Encoding") != want || got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s for %s: %v", path, encoding, got.header)
			}
			if want == "gzip" {
				z := must2(gzip.NewReader(strings.NewReader(got.body)))(t)
				got.body = string(must2(io.ReadAll(z))(t))
			}
			if plain := f.ask("GET", path, "").body; got.body != plain {
				t.Errorf("%s for %s differs", path, encoding)
			}
		}
	}
	if strings.Contains(f.log.String(), "\\u001f\\ufffd") || !strings.Contains(f.log.String(), "Good day, Ann") {
		t.Error("the log has what was compressed")
	}
}

// TestLiveMatrix: the matrix of a running run has the finished rows.
func TestLiveMatrix(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil))})
	id := f.run(slowSuite(4, 1))
	var tags []string
	for finished := range 4 {
		<-p.asked // so the rows before are finished
		for range 2 {
			got := f.ask("GET", "/v1/runs/"+id+"/matrix", "")
			m := matrixOf(t, got)
			if m.Finished != finished || m.Rows != 4 || m.Status != "running" || bytes.Count(m.Cells, []byte{matrix.Pass}) != finished || len(m.Cells) != finished {
				t.Errorf("%d rows are finished: %+v", finished, m)
			}
			tags = append(tags, got.header.Get("ETag"))
		}
		p.let <- struct{}{}
	}
	f.follow(id)
	if m := matrixOf(t, f.ask("GET", "/v1/runs/"+id+"/matrix", "")); m.Finished != 4 || m.Status != "done" {
		t.Errorf("at the end %+v", m)
	}
	if slices.Sort(tags); len(slices.Compact(tags)) != 4 {
		t.Errorf("tags %q", tags)
	}
}

// TestLongLiveMatrix: many rows are read at once, and later rows one by one, including those
// that finished in between.
func TestLongLiveMatrix(t *testing.T) {
	t.Parallel()
	const cases = 360
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil))})
	id := f.run(slowSuite(cases, 2))
	for finished := range cases - 1 { // one more is in progress
		<-p.asked
		if finished == 0 {
			<-p.asked
		}
		if finished > 340 || finished == 5 {
			if m := matrixOf(t, f.ask("GET", "/v1/runs/"+id+"/matrix", "")); m.Finished < finished-1 || m.Finished > finished || bytes.Count(m.Cells, []byte{matrix.Pass}) != m.Finished {
				t.Fatalf("%d rows of %d", m.Finished, finished)
			}
		}
		p.let <- struct{}{}
	}
	p.let <- struct{}{}
	f.follow(id)
	if m := matrixOf(t, f.ask("GET", "/v1/runs/"+id+"/matrix", "")); m.Finished != cases || bytes.Count(m.Cells, []byte{matrix.Pass}) != cases {
		t.Errorf("at the end %d", m.Finished)
	}
}

func TestPreviews(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	id := f.run(mixedSuite)
	f.follow(id)
	got := f.ask("GET", "/v1/runs/"+id+"/previews?index=2,0,999", "")
	var list []report.Preview
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list) != 2 || list[0].Index != 2 || list[1].Index != 0 {
		t.Fatalf("%v: %s", err, got.body)
	}
	if p := list[0]; p.Output != "Hi Bob" || p.Assertion != "named" || !strings.Contains(p.Why, "Ann") || !strings.Contains(p.Input, "Bob") {
		t.Errorf("%+v", p)
	}
	if p := list[1]; p.Output != "Hi Ann" || p.Assertion != "" {
		t.Errorf("%+v", p)
	}
	for query, want := range map[string]int{"": 422, "?index=x": 422, "?index=-1": 422, "?index=1,,2": 422, "?index=99999999999": 422, "?x=1": 422,
		"?index=0" + strings.Repeat(",0", 399): 200, "?index=0" + strings.Repeat(",0", 400): 422} {
		if got := f.ask("GET", "/v1/runs/"+id+"/previews"+query, ""); got.status != want {
			t.Errorf("%.30s: %d %.200s, want %d", query, got.status, got.body, want)
		}
	}
}

func TestDetailOfRow(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	id := f.run(mixedSuite)
	f.follow(id)
	var d report.Detail
	got := f.ask("GET", "/v1/runs/"+id+"/results/2/detail", "")
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || d.Index != 2 || *d.Output != "Hi Bob" || d.Status != "fail" || d.Forgiven || len(d.Assertions) != 3 {
		t.Errorf("%v: %d %s", err, got.status, got.body)
	}
	for _, index := range []string{"8", "-1", "x", "4294967296"} {
		if got := f.ask("GET", "/v1/runs/"+id+"/results/"+index+"/detail", ""); got.status != 404 {
			t.Errorf("row %s: %d %s", index, got.status, got.body)
		}
	}
}

// TestForgiven: a failed row is forgiven if its case passed often enough.
func TestForgiven(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	lines := strings.SplitAfter(runText(6), "\n")
	for i := range 6 { // three repeats of two cases: one failed once, the other twice
		verdict := []string{"fail", "fail", "pass", "fail", "pass", "pass"}[i]
		lines[i+1] = strings.Replace(lines[i+1], `"promptIdx":0`, fmt.Sprintf(`"caseId":"c%d","testIdx":%d,"repeat":{"index":%d,"of":3,"pass":2},"promptIdx":0`, i%2, i, i/2), 1)
		lines[i+1] = strings.NewReplacer(`"verdict":"pass"`, `"verdict":"`+verdict+`"`, `"verdict":"fail"`, `"verdict":"`+verdict+`"`).Replace(lines[i+1])
	}
	id := f.push(strings.Join(lines, "")).object(t).Text("id")
	for index, want := range []bool{true, false, false, false, false, false} {
		if got := f.ask("GET", fmt.Sprintf("/v1/runs/%s/results/%d/detail", id, index), "").object(t).At("forgiven") == true; got != want {
			t.Errorf("row %d: forgiven %v, want %v", index, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	id := f.run(mixedSuite)
	f.follow(id)
	rows := f.rowsOf(id)
	for q, want := range map[string]int{"ANN": 6, "ann's case": 2, "bob": 4, "cyé": 2, "CYÉ": 2, "good day": 4, "name": 0, "assertion passed": 5, "\\": 0, "xyz": 0, rows[0].CaseID: 2} {
		var found server.Found
		got := f.ask("GET", "/v1/runs/"+id+"/search?q="+strings.ReplaceAll(strings.ReplaceAll(q, "\\", "%5C"), " ", "+"), "")
		if err := json.Unmarshal([]byte(got.body), &found); err != nil || len(found.Rows) != 4*want || found.Searched != 8 || found.More {
			t.Errorf("%s: %d %s, want %d rows", q, got.status, got.body, want)
		}
	}
	for query, want := range map[string]int{"": 422, "?q=": 422, "?q=" + strings.Repeat("x", 201): 422, "?q=" + strings.Repeat("x", 200): 200} {
		if got := f.ask("GET", "/v1/runs/"+id+"/search"+query, ""); got.status != want {
			t.Errorf("%.10s: %d %s", query, got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/runs/"+id+"/search?q=zzz", "").body; got != `{"rows":"","searched":8,"more":false}`+"\n" {
		t.Errorf("nothing found: %s", got)
	}
}

// compareText is the file of a run of 60 cases, of which the first broken ones fail.
func compareText(id, suite, gateRules string, broken int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"proviso":"run","format":1,"id":%q,"version":"test","suite":%q,"hash":"h","started":"2026-01-05T09:15:00Z",`+
		`"meta":{"columns":[{"promptId":"p","promptLabel":"P","promptRaw":"P","providerId":"echo","providerLabel":""}],"rows":60,"config":{%s}}}`+"\n", id, suite, gateRules)
	for i := range 60 {
		verdict := "pass"
		if i < broken {
			verdict = "fail"
		}
		fmt.Fprintf(&b, `{"index":%d,"caseId":"c%d","testIdx":%d,"promptIdx":0,"prompt":{"raw":"P","label":"P"},"provider":{"id":"echo"},"vars":{"n":%d},"testCase":{"id":"c%d"},"response":{"output":"o"},"verdict":%q,"score":1,`+
			`"gradingResult":{"componentResults":[{"status":%q,"score":1,"reason":"r","assertion":{"type":"contains","value":"x","metric":"has"}}]}}`+"\n", i, i, i, i, i, verdict, verdict)
	}
	b.WriteString(`{"trailer":{"passed":1,"failed":1,"errors":0,"skipped":0,"cost":1,"elapsedMs":5}}` + "\n")
	return b.String()
}

// TestCompareRuns: the response matches the command's output, including the decision.
func TestCompareRuns(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	texts := []string{compareText("20260105-091500-aaaa", "s", ``, 0), compareText("20260105-091500-bbbb", "s", `"gate":{"mustPass":["has"]}`, 20),
		compareText("20260105-091500-cccc", "other", `"gate":{"mustPass":["nobody"]}`, 1)}
	var ids []string
	var read []*gate.Run
	for i, text := range texts {
		ids = append(ids, f.push(text).object(t).Text("id"))
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := must2(runfile.Open(path))(t)
		defer r.Close()
		read = append(read, must2(runs.Read(r, ids[i]))(t))
	}
	for range 2 { // the second response is cached
		got := f.ask("GET", "/v1/compare?base="+ids[0]+"&head="+ids[1], "")
		var out bytes.Buffer
		if err := show.JSON(&out, must2(gate.Compare(read[0], read[1], gate.Options{}))(t), nil); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(out.String(), "\n}\n"); got.status != 200 || !strings.HasPrefix(got.body, want+",\n  \"decision\": {") {
			t.Fatalf("%d %s\nwant\n%s", got.status, got.body, want)
		}
		decision := got.object(t).Object("decision")
		first := decision.At("reasons").([]any)[0]
		if decision.Text("decision") != "fail" || at(first, "rule") != "must-pass" || at(first, "met") != false || !strings.Contains(at(first, "text").(string), "must pass") {
			t.Errorf("%s", got.body)
		}
	}
	wrong := f.ask("GET", "/v1/compare?base="+ids[1]+"&head="+ids[2], "").object(t)
	if wrong.Has("decision") || !strings.Contains(fmt.Sprint(wrong.At("warnings")), "nobody") || !strings.Contains(fmt.Sprint(wrong.At("warnings")), "different suites") {
		t.Errorf("warnings %v", wrong.At("warnings"))
	}
	if same := f.ask("GET", "/v1/compare?base="+ids[2]+"&head="+ids[0], "").object(t); at(same, "decision.decision") == nil {
		t.Errorf("no decision by the default rules: %v", same.Keys())
	}
}

// TestCompareRefuses: runs that cannot be compared get a problem that says why.
func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	p := newSlow()
	f := start(t, server.Options{Open: true, Runner: p.with(suites(t, nil))})
	done := f.push(compareText("20260105-091500-aaaa", "s", ``, 0)).object(t).Text("id")
	other := f.push(runText(2)).object(t).Text("id")
	running := f.run(slowSuite(2, 1))
	<-p.asked
	for query, want := range map[string]string{
		"?base=" + done:                        "422 head is missing",
		"?head=" + done:                        "422 base is missing",
		"?base=" + done + "&head=run_x":        `404 head: there is no run "run_x"`,
		"?base=run_x&head=" + done:             `404 base: there is no run "run_x"`,
		"?base=" + done + "&head=" + done:      "422 base and head are the same run",
		"?base=" + running + "&head=" + done:   "409 base: the run " + running + " is not finished, it is running",
		"?base=" + done + "&head=" + other:     "422 the runs cannot be compared: ",
		"?base=" + done + "&head=x&by=prompts": `422 unknown parameter "by"`,
	} {
		got := f.ask("GET", "/v1/compare"+query, "").problem(t)
		if text := fmt.Sprint(got.Status, " ", got.Detail); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s, want %s", query, text, want)
		}
	}
	p.let <- struct{}{} // or the server waits for the rows in progress before it stops
	p.let <- struct{}{}
}

// TestCompareBudget: a comparison ends when its CPU budget is used up.
func TestCompareBudget(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, CPUBudget: 1})
	base := f.push(compareText("20260105-091500-aaaa", "s", ``, 0)).object(t).Text("id")
	head := f.push(compareText("20260105-091500-bbbb", "s", ``, 1)).object(t).Text("id")
	if got := f.ask("GET", "/v1/compare?base="+base+"&head="+head, ""); got.status != 422 || !strings.Contains(got.body, "--cpu-budget") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestCellsOfOthers: a key with only evaluate sees the cells of its own runs.
func TestCellsOfOthers(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Runner: suites(t, nil)})
	alice, bob := must1(f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}})), must1(f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}}))
	id := f.run(mixedSuite, bearer(alice))
	f.follow(id, bearer(alice))
	again := at(f.ask("POST", "/v1/suites/mixed/runs", "", bearer(alice)).object(t), "id").(string)
	f.follow(again, bearer(alice))
	for _, path := range []string{"/v1/runs/" + id + "/matrix", "/v1/runs/" + id + "/previews?index=0", "/v1/runs/" + id + "/search?q=a", "/v1/runs/" + id + "/results/0/detail", "/v1/compare?base=" + id + "&head=" + again} {
		for secret, want := range map[string]int{alice: 200, bob: 404} {
			if got := f.ask("GET", path, "", bearer(secret)); got.status != want {
				t.Errorf("%s: %d %.200s, want %d", path, got.status, got.body, want)
			}
		}
	}
}
