package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge/align"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/stats"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// promptRun is the file of a run of two prompts with one row each. A model judges the second
// assertion; tone is its verdict on both rows.
func promptRun(day int, suite, first, second, tone string) string {
	text := func(s string) string {
		data, _ := json.Marshal(s) // strings always marshal
		return string(data)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"proviso":"run","format":1,"id":"2026010%d-091500-k3x9","version":"test","suite":%s,"hash":"h%d","started":"2026-01-0%dT09:15:00Z","meta":{"columns":[`+
		`{"promptId":"p1","promptLabel":"short","promptRaw":%s,"providerId":"echo"},{"promptId":"p2","promptLabel":%s,"promptRaw":%s,"providerId":"echo"}]}}`+"\n",
		day, text(suite), day, day, text(first), text(second), text(second))
	for i, verdict := range []string{"pass", tone} {
		fmt.Fprintf(&b, `{"index":%d,"id":"x/%d","promptIdx":%d,"promptId":"p%d","provider":{"id":"echo"},"prompt":{"raw":"P"},"vars":{},"response":{"output":"out"},"verdict":%q,"success":true,"score":1,`+
			`"gradingResult":{"pass":true,"score":1,"componentResults":[{"pass":true,"score":1,"status":"pass","reason":"r","assertion":{"type":"sentence-count","value":{"max":3},"id":"few"}},`+
			`{"pass":true,"score":1,"status":%q,"reason":"r","cost":0.25,"judge":"gpt <b>","assertion":{"type":"judge","id":"tone<script>","criteria":["polite"],"config":{"spade":{"text":"Be polite."}}}}]}}`+"\n",
			i, i, i, i+1, verdict, verdict)
	}
	fmt.Fprintf(&b, `{"trailer":{"passed":1,"failed":1,"errors":0,"skipped":0,"cost":0.5,"elapsedMs":5}}`+"\n")
	return b.String()
}

const (
	shortPrompt = "You are kind.\r\nUse at most 3 sentences. Be polite. 😀 Answer in JSON."
	longPrompt  = "Say <script>alert(1)</script> to {{name}}."
)

func (f *fixture) pushed(text, who string) string {
	f.t.Helper()
	got := f.push(text, who)
	if got.status != 201 {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	return got.object(f.t).Text("id")
}

func items(t *testing.T, a answer) []any {
	t.Helper()
	list, ok := a.object(t).At("items").([]any)
	if !ok || a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return list
}

// same compares two values as JSON.
func same(t *testing.T, what string, got any, want string) {
	t.Helper()
	if text := value.Stringify(got); text != want {
		t.Errorf("%s:\n%s, want\n%s", what, text, want)
	}
}

func TestOverRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "alignment.json")
	var measured align.Alignment
	share := 0.9
	for _, judge := range []string{"gpt <b>", "another"} {
		measured.Put(align.Entry{Hash: "h", Measured: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Agreement: align.Agreement{
			Assertion: "tone<script>", Judge: judge, N: 20, Errors: 1, Agreement: &share,
			Kappa: &stats.Estimate{Value: 0.8, Interval: stats.Interval{Low: 0.5, High: 0.9}}, Confusion: stats.Confusion{TP: 10, FP: 1, TN: 8, FN: 1}}})
	}
	if err := measured.Save(file); err != nil {
		t.Fatal(err)
	}
	f := start(t, server.Options{Alignment: file})
	both, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read, store.Edit}})
	only, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Edit}})
	who := bearer(both)
	first := f.pushed(promptRun(1, "a", shortPrompt, longPrompt, "fail"), who)
	second := f.pushed(promptRun(2, "a", shortPrompt+" Now.", longPrompt, "error"), who)
	f.pushed(promptRun(3, "b", "B", "C", "pass"), who)

	list := items(t, f.ask("GET", "/v1/assertions?suite=a", "", who))
	if len(list) != 2 {
		t.Fatalf("%d assertions", len(list))
	}
	same(t, "few", list[0], `{"suite":"a","assertion":"few","type":"sentence-count","judged":false,"judges":[],"history":[`+
		`{"run":"`+first+`","started_at":"2026-01-01T09:15:00Z","passed":2,"failed":0,"errors":0,"skipped":0},{"run":"`+second+`","started_at":"2026-01-02T09:15:00Z","passed":2,"failed":0,"errors":0,"skipped":0}]}`)
	same(t, "tone", list[1], `{"suite":"a","assertion":"tone<script>","type":"judge","judged":true,"judges":["gpt <b>"],"history":[`+
		`{"run":"`+first+`","started_at":"2026-01-01T09:15:00Z","passed":1,"failed":1,"errors":0,"skipped":0},{"run":"`+second+`","started_at":"2026-01-02T09:15:00Z","passed":1,"failed":0,"errors":1,"skipped":0}]}`)
	if latest := items(t, f.ask("GET", "/v1/assertions?suite=a&runs=1", "", who)); len(latest) != 2 || len(at(latest[0], "history").([]any)) != 1 {
		t.Errorf("one run: %s", value.Stringify(latest))
	}

	judges := items(t, f.ask("GET", "/v1/judges?suite=a", "", who))
	same(t, "judges", judges, `[{"judge":"gpt <b>","verdicts":3,"errors":1,"cached":0,"cost":1,"runs":2,"last_run":"`+second+`","alignment":[`+
		`{"criterion":"tone<script>","labels":20,"true_pass":10,"false_pass":1,"true_fail":8,"false_fail":1,"undecided":1,"from":"align","agreement":{"value":0.9,"low":`+
		value.Stringify(stats.Wilson(18, 20, 0.95).Low)+`,"high":`+value.Stringify(stats.Wilson(18, 20, 0.95).High)+`},"kappa":{"value":0.8,"low":0.5,"high":0.9},"measured_at":"2026-01-02"}]}]`)

	prompts := items(t, f.ask("GET", "/v1/prompts?suite=a", "", who))
	if len(prompts) != 2 || at(prompts[0], "name") != "prompt 2" || at(prompts[1], "name") != "short" {
		t.Fatalf("%s", value.Stringify(prompts))
	}
	versions := at(prompts[1], "versions").([]any)
	if len(versions) != 2 || at(versions[0], "last_run") != second || at(versions[1], "last_run") != first || at(versions[1], "passed") != 1.0 || at(versions[1], "failed") != 0.0 {
		t.Errorf("%s", value.Stringify(versions))
	}
	if long := at(prompts[0], "versions").([]any); len(long) != 1 || at(long[0], "text") != longPrompt || at(long[0], "runs") != 2.0 || at(long[0], "failed") != 1.0 || at(long[0], "errors") != 1.0 ||
		at(long[0], "first_run") != first || at(long[0], "last_run") != second {
		t.Errorf("%s", value.Stringify(long))
	}
	text := []rune(at(versions[0], "text").(string))
	covered := map[string]string{}
	for _, s := range at(prompts[1], "coverage").([]any) {
		from, to := int(at(s, "start").(float64)), int(at(s, "end").(float64))
		if from > strings.IndexRune(string(text), '😀') { // two UTF-16 units, and one rune
			from, to = from-1, to-1
		}
		covered[string(text[from:to])] = value.Stringify(at(s, "assertions"))
	}
	for sentence, want := range map[string]string{"Use at most 3 sentences.": `["few"]`, "Be polite.": `["tone<script>"]`} {
		if covered[sentence] != want {
			t.Errorf("%s is covered by %s: %v", sentence, covered[sentence], covered)
		}
	}

	// A key that sees only its own runs sees none of these.
	for _, path := range []string{"/v1/assertions", "/v1/judges", "/v1/prompts"} {
		if got := f.ask("GET", path, "", bearer(only)); got.body != `{"items":[]}`+"\n" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		for _, query := range []string{"?runs=0", "?runs=101", "?runs=x", "?run=1"} {
			if got := f.ask("GET", path+query, "", who); got.status != 422 {
				t.Errorf("%s%s: %d %s", path, query, got.status, got.body)
			}
		}
	}
	// The pages together have every item once.
	for _, path := range []string{"/v1/assertions", "/v1/prompts"} {
		var all []any
		for after := ""; ; {
			page := f.ask("GET", path+"?limit=1&after="+after, "", who)
			all = append(all, items(t, page)...)
			if after = page.object(t).Text("next"); after == "" {
				break
			}
		}
		same(t, path+" in pages", all, value.Stringify(items(t, f.ask("GET", path, "", who))))
		if got := f.ask("GET", path+"?after=zzz", "", who); got.status != 422 {
			t.Errorf("%s with a wrong cursor: %d", path, got.status)
		}
	}
}

// TestPromptsOfSuites: a run on this server has the prompts of its suite's version.
func TestPromptsOfSuites(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Runner: suites(t, nil)})
	for _, body := range []string{exampleSuite, strings.Replace(exampleSuite, "3 sentences", "2 sentences", 1)} {
		f.follow(f.run(body))
	}
	list := items(t, f.ask("GET", "/v1/prompts", ""))
	if len(list) != 1 || len(at(list[0], "versions").([]any)) != 2 {
		t.Fatalf("%s", value.Stringify(list))
	}
	for i, want := range []string{"Use at most 2 sentences.", "Use at most 3 sentences."} {
		v := at(list[0], "versions").([]any)[i]
		if text, _ := at(v, "text").(string); !strings.HasSuffix(text, want) || at(v, "passed") != 1.0 || at(v, "failed") != 1.0 {
			t.Errorf("version %d: %s", i, value.Stringify(v))
		}
	}
}

// TestSettings: the settings show whether provider keys are present, API keys only to admins,
// and no secret.
func TestSettings(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Env: proviso.EnvMap{"OPENAI_API_KEY": "sk-planted-secret"}, BodyLimit: 1234})
	admin, adminKey := f.key(store.NewKey{Name: "<b>ops</b>", Scopes: []store.Scope{store.Admin}})
	read, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read}})
	foreign, _ := f.key(store.NewKey{Project: "other", Scopes: []store.Scope{store.Admin}})
	got := f.ask("GET", "/v1/settings", "", bearer(admin))
	set := got.object(t)
	for _, secret := range []string{"sk-planted", admin, read, foreign} {
		if strings.Contains(got.body, secret) {
			t.Errorf("it tells %s", secret)
		}
	}
	keys := map[string]string{}
	for _, p := range set.At("providers").([]any) {
		keys[at(p, "id").(string)] = at(p, "key").(string)
	}
	if keys["openai"] != "present" || keys["anthropic"] != "absent" || keys["ollama"] != "not needed" || keys["exec"] != "" {
		t.Errorf("%v", keys)
	}
	if list := set.At("keys").([]any); len(list) != 2 || at(list[1], "id") != adminKey.ID || at(list[1], "name") != "<b>ops</b>" {
		t.Errorf("%s", value.Stringify(list))
	}
	if set.At("version") != "test" || set.At("mode") != "serve" || set.At("open") != false || set.At("read_only") != false || at(set, "limits.body bytes") != 1234.0 {
		t.Errorf("%s", value.Stringify(set))
	}
	if set := f.ask("GET", "/v1/settings", "", bearer(read)).object(t); len(set.At("keys").([]any)) != 0 {
		t.Errorf("without admin: %s", value.Stringify(set))
	}
}
