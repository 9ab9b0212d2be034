package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/report"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/store/files"
	"github.com/proviso-eval/proviso/store/sqlite"
	"github.com/proviso-eval/proviso/value"
)

// ndjson is the media type of a run file.
const ndjson = "Content-Type: application/x-ndjson"

// runText is the file of a run with this many rows, the first of which failed.
func runText(rows int) string {
	var b strings.Builder
	b.WriteString(`{"proviso":"run","format":1,"id":"20260105-091500-k3x9","version":"test","suite":"pushed suite","hash":"h","started":"2026-01-05T09:15:00Z",` +
		`"meta":{"columns":[{"promptId":"p","promptLabel":"P","promptRaw":"P","providerId":"echo","providerLabel":""}],"rows":2,"config":{"id":"my-agent"},` +
		`"revision":{"commit":"0123456789012345678901234567890123456789","branch":"main","dirty":false,"pullRequest":"7"},"hashes":{"suite":"s","prompts":"p"}}}` + "\n")
	for i := range rows {
		verdict, ok := "pass", true
		if i == 0 {
			verdict, ok = "fail", false
		}
		fmt.Fprintf(&b, `{"index":%d,"id":"20260105-091500-k3x9/%d","promptIdx":0,"promptId":"p","provider":{"id":"echo","label":""},"prompt":{"raw":"P","label":"P"},"vars":{},`+
			`"response":{"output":"out %d","tokenUsage":{"total":3}},"verdict":%q,"success":%t,"score":1,"cost":0.5,"gradingResult":{"pass":%t,"score":1,"componentResults":[`+
			`{"pass":%t,"score":1,"status":%q,"reason":"because","assertion":{"type":"contains","value":"x","metric":"has"}}]}}`+"\n", i, i, i, verdict, ok, ok, ok, verdict)
	}
	b.WriteString(`{"trailer":{"passed":1,"failed":1,"errors":0,"skipped":0,"cost":1,"elapsedMs":5}}` + "\n")
	return b.String()
}

func (f *fixture) push(text string, headers ...string) answer {
	f.t.Helper()
	return f.ask("POST", "/v1/runs", text, append([]string{ndjson}, headers...)...)
}

func TestPush(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	budget := 0.25
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Edit}, Budget: &budget})
	edit := bearer(secret)
	text := runText(3)
	got := f.push(text, edit)
	if got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	id := got.object(t).Text("id")
	if got.header.Get("Location") != "/v1/runs/"+id || !strings.HasPrefix(id, store.RunID) || got.object(t).At("rows") != 3.0 {
		t.Errorf("Location %q, %s", got.header.Get("Location"), got.body)
	}
	if again := f.push(text, edit); again.status != 200 || again.object(t).Text("id") != id {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	run := f.ask("GET", "/v1/runs/"+id, "", edit).object(t)
	for path, want := range map[string]any{"status": "done", "suite": "pushed suite", "test_suite": "pushed suite", "agent_id": "my-agent", "hash": "h", "version": "s", "pushed": true,
		"progress.passed": 2.0, "progress.failed": 1.0, "cost": 1.5, "started_at": "2026-01-05T09:15:00Z",
		"revision.commit": "0123456789012345678901234567890123456789", "revision.dirty": false, "revision.pull_request": "7"} {
		if at(run, path) != want {
			t.Errorf("%s is %v, want %v: %s", path, at(run, path), want, value.Stringify(run))
		}
	}
	if rows := f.ask("GET", "/v1/runs/"+id+"/results?assertion=has&status=fail", "", edit).object(t); len(rows.At("items").([]any)) != 1 {
		t.Errorf("failed rows: %s", value.Stringify(rows))
	}
	if list := f.ask("GET", "/v1/runs?suite=pushed+suite", "", edit).object(t); len(list.At("items").([]any)) != 1 {
		t.Errorf("list: %s", value.Stringify(list))
	}
	file := f.ask("GET", "/v1/runs/"+id+"/file", "", edit)
	if file.status != 200 || file.body != text || file.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("the file came back as %d %s", file.status, file.body)
	}
	if _, last, _ := f.follow(id, edit); at(last, "status") != "done" {
		t.Errorf("events end with %v", last)
	}
	if spent, err := f.store.Key(t.Context(), key.ID); err != nil || spent.Spent != 0 {
		t.Errorf("the key was charged %v, %v", spent.Spent, err)
	}
	if p := f.ask("POST", "/v1/runs/"+id+"/cancel", "", bearer(must1(f.key(store.NewKey{Scopes: []store.Scope{store.Admin}})))).problem(t); p.Code != "conflict" {
		t.Errorf("cancelled: %+v", p)
	}
}

func must1(secret string, _ store.Key) string { return secret }

// TestPushScopes: which keys may push, and which see pushed runs.
func TestPushScopes(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	key := func(p store.Project, s store.Scope) string {
		return bearer(must1(f.key(store.NewKey{Project: p, Scopes: []store.Scope{s}})))
	}
	for _, scope := range []store.Scope{store.Read, store.Evaluate} {
		if p := f.push(runText(1), key("a", scope)).problem(t); p.Code != "forbidden" || !strings.Contains(p.Detail, "edit") {
			t.Errorf("with %s: %+v", scope, p)
		}
	}
	got := f.push(runText(1), key("a", store.Edit))
	path := "/v1/runs/" + got.object(t).Text("id")
	for who, want := range map[string]int{key("a", store.Read): 200, key("a", store.Edit): 404, key("b", store.Read): 404, key("b", store.Admin): 404} {
		for _, at := range []string{path, path + "/file", path + "/results"} {
			if got := f.ask("GET", at, "", who); got.status != want {
				t.Errorf("%s: %d, want %d", at, got.status, want)
			}
		}
	}
	other := f.push(runText(1), key("b", store.Edit))
	if other.status != 201 || strings.HasSuffix(path, other.object(t).Text("id")) {
		t.Errorf("the same run in another project: %d %s", other.status, other.body)
	}
	admin := f.ask("POST", "/v1/runs?project=a", runText(1), ndjson, key("ops", store.Admin))
	if admin.status != 200 || "/v1/runs/"+admin.object(t).Text("id") != path {
		t.Errorf("pushed into another project: %d %s", admin.status, admin.body)
	}
	if p := f.ask("POST", "/v1/evaluate", evaluation, key("a", store.Edit)).problem(t); p.Code != "forbidden" {
		t.Errorf("edit evaluates: %+v", p)
	}
}

// TestPushHostile sends bodies that are not runs: each is refused with a position, and nothing
// is stored.
func TestPushHostile(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, BodyLimit: 4 << 10, RunLimit: 64 << 10})
	lines := strings.SplitAfter(runText(3), "\n")
	header, first, second, trailer := lines[0], lines[1], lines[2], lines[4]
	for name, c := range map[string]struct {
		body   string
		status int
		detail string
	}{
		"empty":              {"\n", 422, "line 1"},
		"no header":          {first + trailer, 422, "line 1"},
		"header alone":       {header, 422, "its last line (1) is not its totals"},
		"no trailer":         {header + first + second, 422, "(3) is not its totals"},
		"cut off":            {header + first + second[:40], 422, "line 3 is cut off"},
		"cut trailer":        {strings.TrimSuffix(runText(2), "\n"), 422, "line 4 is cut off"},
		"later format":       {strings.Replace(runText(1), `"format":1`, `"format":99`, 1), 422, "format 99"},
		"two headers":        {header + header + first + trailer, 422, "line 2 is not a row"},
		"corrupt row":        {header + first + strings.Replace(second, `"verdict":`, `"verdict:`, 1) + trailer, 422, "row 1: "},
		"no verdict":         {header + first + strings.Replace(second, `"verdict":"pass"`, `"verdict":"great"`, 1) + trailer, 422, `row 1: "great" is not a verdict`},
		"no index":           {header + first + "{\"row\":1}\n" + trailer, 422, "line 3 is not a row"},
		"negative index":     {header + strings.Replace(first, `"index":0`, `"index":-1`, 1) + trailer, 422, "line 2 is not a row"},
		"index out of range": {header + strings.Replace(first, `"index":0`, `"index":99999999999`, 1) + trailer, 422, "line 2 is not a row"},
		"two indices":        {header + strings.Replace(first, `"index":0,`, `"index":0,"index":5,`, 1) + trailer, 422, "row 0"},
		"after the trailer":  {runText(1) + first, 422, "nothing may follow"},
		"not UTF-8":          {header + strings.Replace(first, "out 0", "out \xff", 1) + trailer, 422, "line 2 is not UTF-8"},
		"large row":          {header + strings.Replace(first, "out 0", strings.Repeat("x", 5000), 1) + trailer, 422, "line 2: the row has more than 4096 bytes; --body-limit"},
		"large":              {header + strings.Repeat(first, 200) + trailer, 413, "--run-limit"},
		"html":               {"<html>\n", 422, "line 1"},
		"deep":               {header + `{"index":0,"a":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + "}\n" + trailer, 422, "row 0"},
	} {
		got := f.push(c.body)
		if p := got.problem(t); got.status != c.status || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%s: %d %s, want %d and %s", name, got.status, got.body, c.status, c.detail)
		}
	}
	for header, status := range map[string]int{"Content-Type: application/json": 415, "Content-Type: ": 415, "Content-Encoding: gzip": 415} {
		if got := f.ask("POST", "/v1/runs", runText(1), ndjson, header); got.status != status {
			t.Errorf("%s: %d", header, got.status)
		}
	}
	if got := f.push(""); got.status != 400 {
		t.Errorf("no body: %d %s", got.status, got.body)
	}
	if list := f.ask("GET", "/v1/runs", "").object(t); len(list.At("items").([]any)) != 0 {
		t.Errorf("something stayed: %s", value.Stringify(list))
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "proviso-pushed-*")); len(left) > 0 {
		t.Logf("temporary folders of pushes in progress: %v", left) // other tests may be pushing
	}
}

// TestPushSlow: pushes beyond the limit are told to wait, and a client that disconnects halfway
// leaves nothing behind.
func TestPushSlow(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	var open []*io.PipeWriter
	refused := make(chan struct{}, 100)
	hold := func() {
		body, in := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), "POST", f.url+"/v1/runs", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-ndjson")
		go func() {
			// A refusal is a response or, if the server closes first, a broken connection.
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
			refused <- struct{}{}
		}()
		_, _ = in.Write([]byte(runText(100)[:20_000])) // fails if the push is refused
		open = append(open, in)
	}
	for range 4 {
		hold()
	}
	deadline := time.Now().Add(20 * time.Second)
	busy := f.push(runText(1))
	for ; busy.status != 503; busy = f.push(runText(1)) {
		if time.Now().After(deadline) {
			t.Fatal("a fifth push is taken")
		}
		select {
		case <-refused: // the push of this loop took the last slot
			hold()
		default:
		}
	}
	if got := f.ask("GET", "/v1/labels/file", ""); got.status != 503 {
		t.Errorf("an export of labels, which are in memory, beside four pushes: %d %s", got.status, got.body)
	}
	if after := busy.header.Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After %q", after)
	}
	for _, in := range open {
		in.CloseWithError(io.ErrUnexpectedEOF)
	}
	for {
		if got := f.push(runText(2)); got.status == 201 || got.status == 200 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("no push is taken any more: %d %s", got.status, got.body)
		}
	}
}

// TestRunFileOfServer: the commands can read the file of a run that the server executed.
func TestRunFileOfServer(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, http.DefaultClient), Version: "test"})
	id := f.run(plainSuite)
	f.follow(id)
	got := f.ask("GET", "/v1/runs/"+id+"/file", "")
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, []byte(got.body), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := runfile.Open(path)
	if err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	defer r.Close()
	meta, sum, err := report.FromRun(r)
	if err != nil || sum.Totals().Passed != 1 || len(meta.Columns) != 1 || meta.RunID != id || meta.Columns[0].ProviderID != "echo" || r.Trailer() == nil {
		t.Errorf("%v: %+v, %+v\n%s", err, meta, sum, got.body)
	}
	again := f.push(got.body)
	if again.status != 201 {
		t.Errorf("the file cannot be pushed: %d %s", again.status, again.body)
	}
}

// FuzzPush: for any pushed body, the server returns an id or a problem, and an accepted run is
// returned unchanged.
func FuzzPush(f *testing.F) {
	f.Add(runText(2))
	f.Add(runText(0))
	f.Add(strings.Replace(runText(2), "{", "[", 9))
	f.Add("{\"proviso\":\"run\"\n\n\n{\"trailer\":}\n")
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "proviso.db"), sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	s, err := server.New(server.Options{Store: db, Jobs: db, Judge: evaluator(passing), Open: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ask := func(method, path, body string) answer {
			req := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/x-ndjson")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			return answer{status: w.Code, header: w.Header(), body: w.Body.String()}
		}
		switch got := ask("POST", "/v1/runs", text); got.status {
		case 200, 201:
			id := got.object(t).Text("id")
			again := ask("POST", "/v1/runs", ask("GET", "/v1/runs/"+id+"/file", "").body)
			if again.status != 200 || again.object(t).Text("id") != id {
				t.Errorf("what came back is not what was pushed: %d %s", again.status, again.body)
			}
		case 400, 413, 415, 422:
			got.problem(t)
		default:
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestPushInterrupted: an interrupted run is cancelled in the file and on the server, with its
// planned number of rows.
func TestPushInterrupted(t *testing.T) {
	t.Parallel()
	text := strings.Replace(compareText("20260105-091500-aaaa", "s", ``, 0), `"rows":60`, `"rows":70`, 1)
	text = strings.Replace(text, `"passed":1,"failed":1`, `"passed":60,"failed":0`, 1)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := files.Open("", files.Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	local, err := folder.In(store.DefaultProject).Run(t.Context(), "20260105-091500-aaaa")
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, server.Options{Open: true})
	pushed := f.ask("GET", "/v1/runs/"+f.push(text).object(t).Text("id"), "").object(t)
	for where, got := range map[string]string{
		"in the file":   fmt.Sprint(local.Status, " ", local.Totals.Rows(), " of ", local.Rows, " ", local.Error),
		"on the server": fmt.Sprint(pushed.Text("status"), " ", at(pushed, "progress.finished"), " of ", at(pushed, "progress.rows"), " ", pushed.Text("error")),
	} {
		if want := "cancelled 60 of 70 interrupted: 10 of 70 rows are not finished"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
}
