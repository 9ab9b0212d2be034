package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/runfile"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// labelRow returns a row with an output of 14 UTF-16 units, two judged assertions and a
// deterministic one.
func labelRow(index int, first, second string) []byte {
	verdict := func(id, status, judge string) string {
		return fmt.Sprintf(`{"status":%q,"score":1,"judge":%q,"reason":"why","assertion":{"id":%q,"type":"judge","instruction":"asks","criteria":["x"]}}`, status, judge, id)
	}
	return fmt.Appendf(nil, `{"index":%d,"caseId":"case %d","promptIdx":0,"vars":{"topic":"lamps"},"response":{"output":"30 days \ud83d\udca1 free"},"verdict":%q,"gradingResult":{"componentResults":[%s,%s,{"status":"pass","assertion":{"type":"contains","value":"days"}}]}}`,
		index, index, first, verdict("cites", first, "judge-1"), verdict("polite", second, "judge-1"))
}

// labelRun stores a finished run of n rows. Every third row fails both assertions.
func (f *fixture) labelRun(n int, by string) string {
	f.t.Helper()
	h := runfile.Header{Suite: "gone", Started: time.Now(), Meta: value.NewObject(0)}
	line := h.Line()
	run := store.ImportedRun{ID: store.NewID(store.RunID, time.Now()), Suite: "gone", CreatedBy: by, Rows: n, Options: []byte("{}"), Started: h.Started,
		RunFile: store.RunFile{Header: line[:len(line)-1], Trailer: []byte(`{"trailer":{}}`)}}
	r, _, err := f.store.In(store.DefaultProject).ImportRun(f.t.Context(), run, func(yield func(store.Result, error) bool) {
		for i := range n {
			status := "pass"
			if i%3 == 2 {
				status = "fail"
			}
			data := labelRow(i, status, status)
			row, _, _ := store.ReadRow(i, data)
			row.JSON = data
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return r.ID
}

func TestLabels(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	ana, anaKey := f.key(store.NewKey{Name: "Ana", Scopes: []store.Scope{store.Labelling}})
	ben, _ := f.key(store.NewKey{Name: "Ben", Scopes: []store.Scope{store.Labelling, store.Read}})
	admin, _ := f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	run := f.labelRun(3, "key_other")
	body := fmt.Sprintf(`{"run": %q, "index": 2, "assertion": "cites", "label": "fail", "note": "no source", "evidence": [{"start": 8, "end": 10}]}`, run)
	first := f.ask("POST", "/v1/labels", body, bearer(ana))
	o := first.object(t)
	if first.status != 201 || !strings.HasPrefix(o.Text("id"), store.LabelID) || o.Text("by") != anaKey.ID || o.Text("name") != "Ana" || o.Has("judged") {
		t.Fatalf("%d %s", first.status, first.body)
	}
	second := f.ask("POST", "/v1/labels", strings.Replace(body, `"fail"`, `"pass"`, 1), bearer(ben)).object(t)
	if second.Text("judged") != "fail" || second.Text("judge") != "judge-1" || second.Text("case") != "case 2" || second.Text("output_id") == "" {
		t.Errorf("with the scope read: %v", second)
	}
	again := f.ask("POST", "/v1/labels", strings.Replace(body, `"fail"`, `"unsure"`, 1), bearer(ana)).object(t)
	list := func(secret, query string) string {
		t.Helper()
		a := f.ask("GET", "/v1/labels"+query, "", bearer(secret))
		if a.status != 200 {
			return fmt.Sprint(a.status, " ", a.problem(t).Detail)
		}
		items, _ := a.object(t).At("items").([]any)
		var texts []string
		for _, item := range items {
			x := item.(*value.Object)
			texts = append(texts, x.Text("name")+" "+x.Text("label"))
		}
		return strings.Join(texts, ", ")
	}
	for _, tt := range [][3]string{
		{ana, "", "Ana unsure"}, {ana, "?history=yes", "Ana unsure, Ana fail"}, {ana, "?by=me&run=" + run, "Ana unsure"}, {ben, "", "Ana unsure, Ben pass"},
		{ben, "?by=me", "Ben pass"}, {ben, "?by=" + anaKey.ID + "&assertion=cites&index=2", "Ana unsure"}, {ben, "?assertion=", ""}, {ben, "?index=1", ""}, {ben, "?since=2100-01-01T00:00:00Z", ""},
		{ana, "?by=key_else", "403 labels of others need a key with the scope read"}, {ben, "?queue=q", ""}, {ben, "?evaluation=eval_1", ""}, {ci, "", ""},
	} {
		if got := list(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s: %s, want %s", tt[1], got, tt[2])
		}
	}
	for _, tt := range []struct {
		secret, id string
		status     int
	}{{ana, second.Text("id"), 403}, {ci, second.Text("id"), 403}, {ana, "label_none", 404}, {ana, again.Text("id"), 204}, {admin, second.Text("id"), 204}} {
		if got := f.ask("DELETE", "/v1/labels/"+tt.id, "", bearer(tt.secret)); got.status != tt.status {
			t.Errorf("remove %s: %d %s", tt.id, got.status, got.body)
		}
	}
	if got := list(ben, ""); got != "Ana fail" {
		t.Errorf("in force again: %s", got)
	}
	if got := f.ask("POST", "/v1/labels", strings.Replace(body, `"note"`, `"by": "Cleo", "note"`, 1), bearer(admin)).object(t); got.Text("by") != "Cleo" {
		t.Errorf("%v", got)
	}
}

// TestWrongLabels: an invalid label gets one clear response.
func TestWrongLabels(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	ana, _ := f.key(store.NewKey{Name: "Ana", Scopes: []store.Scope{store.Labelling}})
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate, store.Read, store.Edit, store.Ingest}})
	run := f.labelRun(3, "key_other")
	for _, tt := range []struct {
		body          string
		status        int
		pointer, want string
	}{
		{`{"run": "RUN", "index": 2, "assertion": "cits", "label": "fail"}`, 422, "/assertion", `row 2 of the run has no assertion "cits"; did you mean "cites"?`},
		{`{"run": "RUN", "index": 2, "assertion": "cites", "label": "good"}`, 422, "/label", `there is no label "good"`},
		{`{"run": "RUN", "index": 3, "assertion": "cites", "label": "fail"}`, 404, "", "row 3"},
		{`{"run": "run_none", "index": 0, "assertion": "cites", "label": "fail"}`, 404, "", "run_none"},
		{`{"run": "RUN", "assertion": "cites", "label": "fail"}`, 422, "/run", "index is missing"},
		{`{"index": 0, "assertion": "cites", "label": "fail"}`, 422, "/index", "run is missing"},
		{`{"assertion": "cites", "label": "fail"}`, 422, "", "exactly one of"},
		{`{"run": "RUN", "index": 0, "evaluation": "eval_1", "assertion": "cites", "label": "fail"}`, 422, "", "exactly one of"},
		{`{"event": "e", "assertion": "cites", "label": "fail"}`, 404, "", "there is no event"},
		{`{"evaluation": "eval_none", "assertion": "cites", "label": "fail"}`, 404, "", "eval_none"},
		{`{"run": "RUN", "index": 0, "label": "fail"}`, 422, "", `"assertion" is missing`},
		{`{"run": "RUN", "index": 0, "assertion": "cites", "label": "fail", "evidence": [{"start": 0, "end": 16}]}`, 422, "/evidence/0/end", "the output has 15 UTF-16 units"},
		{`{"run": "RUN", "index": 0, "assertion": "cites", "label": "fail", "evidence": [{"start": 3, "end": 3}]}`, 422, "", "is not a part of an output"},
		{`{"run": "RUN", "index": 0, "assertion": "cites", "label": "fail", "note": "` + strings.Repeat("x", 4001) + `"}`, 422, "", "more than 4000"},
		{`{"run": "RUN", "index": 0, "assertion": "cites", "label": "fail", "by": "Ben"}`, 403, "", "admin"},
	} {
		got := f.ask("POST", "/v1/labels", strings.ReplaceAll(tt.body, "RUN", run), bearer(ana))
		p := got.problem(t)
		pointer := ""
		if len(p.Errors) > 0 {
			pointer = p.Errors[0].Pointer
		}
		if got.status != tt.status || pointer != tt.pointer || !strings.Contains(p.Detail, tt.want) {
			t.Errorf("%s: %d %s %q", tt.body, got.status, pointer, p.Detail)
		}
	}
	if got := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": 0, "assertion": "cites", "label": "fail"}`, run), bearer(ci)); got.status != 403 || !strings.Contains(got.body, "the scope label") {
		t.Errorf("without the scope: %d %s", got.status, got.body)
	}
	for i, body := range []string{
		`{"run": %q, "index": 0, "assertion": "", "label": "fail", "evidence": [{"start": 0, "end": 15}]}`, `{"run": %q, "index": 0, "assertion": "contains days", "label": "unsure"}`,
	} {
		if got := f.ask("POST", "/v1/labels", fmt.Sprintf(body, run), bearer(ana)); got.status != 201 {
			t.Errorf("%d: %d %s", i, got.status, got.body)
		}
	}
}

// TestLabelOfEvaluation: an evaluation's assertions can be labelled, and a repeated request is
// executed once.
func TestLabelOfEvaluation(t *testing.T) {
	t.Parallel()
	for _, contents := range []bool{true, false} {
		f := start(t, server.Options{KeepContents: contents})
		admin, _ := f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
		_, id, _ := strings.Cut(f.ask("POST", "/v1/evaluate", evaluation, bearer(admin)).header.Get("Location"), "/v1/evaluations/")
		e, err := f.store.In(store.DefaultProject).Evaluation(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		name := must(t, e, err).Status // the whole output
		body := fmt.Sprintf(`{"evaluation": %q, "assertion": "", "label": "fail"}`, id)
		one := f.ask("POST", "/v1/labels", body, bearer(admin), "Idempotency-Key: one")
		two := f.ask("POST", "/v1/labels", body, bearer(admin), "Idempotency-Key: one")
		if one.status != 201 || one.body != two.body || two.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %s\n%d %s", one.status, one.body, two.status, two.body)
		}
		if got := one.object(t).Text("judged"); contents && got != name.String() || !contents && got != "" {
			t.Errorf("judged %q", got)
		}
		if n, err := f.store.In(store.DefaultProject).ListLabels(t.Context(), store.LabelFilter{History: true}, store.Page{}); err != nil || len(n.Items) != 1 {
			t.Errorf("%v %v", n.Items, err)
		}
		none := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"evaluation": %q, "assertion": "no such", "label": "fail", "evidence": [{"start": 0, "end": 1}]}`, id), bearer(admin))
		if p := none.problem(t); p.Code != proviso.Invalid || contents && !strings.Contains(p.Detail, "no such") || !contents && !strings.Contains(p.Detail, "does not keep the output") {
			t.Errorf("%+v", p)
		}
	}
}

// TestLabelFile: exported labels can be imported elsewhere, once, and do not replace later
// labels of the same person.
func TestLabelFile(t *testing.T) {
	t.Parallel()
	f, other := start(t, server.Options{}), start(t, server.Options{})
	admin, _ := f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	there, _ := other.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	reader, _ := f.key(store.NewKey{Name: "reader", Scopes: []store.Scope{store.Read, store.Labelling}})
	run := f.labelRun(3, "key_other")
	say := func(f *fixture, secret, by, verdict string) string {
		t.Helper()
		got := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": 0, "assertion": "cites", "label": %q, "by": %q}`, run, verdict, by), bearer(secret))
		if got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return got.object(t).Text("id")
	}
	say(f, admin, "Ana", "pass")
	say(f, admin, "Ana", "fail")
	say(f, admin, "Ben", "fail")
	file := f.ask("GET", "/v1/labels/file?history=yes", "", bearer(reader))
	if file.status != 200 || strings.Count(file.body, "\n") != 3 || !strings.Contains(file.body, `"judge":"pass"`) || file.header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%d %s", file.status, file.body)
	}
	for _, want := range []string{`{"added":3,"known":0,"older":0,"stale":0,"removed":0}`, `{"added":0,"known":3,"older":0,"stale":0,"removed":0}`} {
		if got := other.ask("POST", "/v1/labels/file", file.body, bearer(there), ndjson); strings.TrimSpace(got.body) != want {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
	if again := other.ask("GET", "/v1/labels/file?history=yes", "", bearer(there)).body; again != file.body {
		t.Errorf("%s\nwant %s", again, file.body)
	}
	id := at(f.ask("GET", "/v1/labels?by=Ben", "", bearer(reader)).object(t).At("items").([]any)[0], "id").(string)
	old := fmt.Sprintf(`{"label_id":"label_old","run":%q,"row":0,"assertion":"cites","human":"unsure","by":"Ben","created":"2020-01-05T09:15:00Z"}`+"\n"+
		`{"label_id":"label_stale","run":%q,"row":1,"assertion":"cites","human":"pass","by":"Ben","created":"2020-01-05T09:15:00Z","output_id":"out-other"}`+"\n"+`{"label_id":%q,"removed":true}`, run, run, id)
	if got := f.ask("POST", "/v1/labels/file", old, bearer(admin), ndjson); strings.TrimSpace(got.body) != `{"added":0,"known":0,"older":1,"stale":1,"removed":1}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, tt := range []struct {
		secret, body, kind string
		status             int
		want               string
	}{
		{admin, `{"label_id":"x","run":"r","by":"a","human":"pass"}` + "\n" + `{"label":1}`, ndjson, 422, `"line":2`}, {admin, `{"label_id":`, ndjson, 422, `"line":1`},
		{admin, strings.Repeat("{}\n", 150), ndjson, 422, "150 mistakes, of which 100 are listed"},
		{admin, "{}", "Content-Type: application/json", 415, "ndjson"}, {reader, "{}", ndjson, 403, "admin"},
	} {
		if got := f.ask("POST", "/v1/labels/file", tt.body, bearer(tt.secret), tt.kind); got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s", tt.body, got.status, got.body)
		}
	}
}

// TestJudgesOfLabels: labels on this server measure a judge, once there are enough on good and
// on bad outputs. For a key that sees only its own runs, only the labels on those count.
func TestJudgesOfLabels(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{})
	admin, own := f.key(store.NewKey{Name: "root", Scopes: []store.Scope{store.Admin}})
	ci, _ := f.key(store.NewKey{Name: "ci", Scopes: []store.Scope{store.Evaluate}})
	run := f.labelRun(33, own.ID)
	judge := func(secret string) (alignment []any, few string) {
		list := items(t, f.ask("GET", "/v1/judges", "", bearer(secret)))
		for _, j := range list {
			few, _ = at(j, "too_few").(string)
			return at(j, "alignment").([]any), few
		}
		return nil, ""
	}
	put := func(from, to int) {
		for i := from; i < to; i++ {
			verdict := "pass"
			if i%3 == 2 && i > 2 { // people pass row 2
				verdict = "fail"
			}
			if got := f.ask("POST", "/v1/labels", fmt.Sprintf(`{"run": %q, "index": %d, "assertion": "cites", "label": %q}`, run, i, verdict), bearer(admin)); got.status != 201 {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
	}
	put(0, 12)
	if list, few := judge(admin); len(list) != 0 || few != "12 labels, 3 of bad outputs: not measured yet, it takes 7 more of bad and 1 more of good outputs" {
		t.Errorf("%v %q", list, few)
	}
	put(12, 33)
	list, few := judge(admin)
	if len(list) != 1 || few != "" || at(list[0], "from") != "labels" || at(list[0], "criterion") != "cites" || at(list[0], "true_fail") != 10.0 || at(list[0], "false_fail") != 1.0 || at(list[0], "true_pass") != 22.0 {
		t.Errorf("%s, %q", value.Stringify(list), few)
	}
	if kappa := at(list[0], "kappa"); at(kappa, "value") == nil || at(kappa, "low") == nil {
		t.Errorf("kappa: %s", value.Stringify(kappa))
	}
	if list, few := judge(ci); list != nil || few != "" {
		t.Errorf("another key: %v %q", list, few)
	}
}
