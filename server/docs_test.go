package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

var update = flag.Bool("update", false, "record the examples of the API")

const exampleSuite = `{"name": "returns", "suite": {"description": "Returns", "id": "support-bot", "prompts": ["You answer questions about returns.\nMention {{topic}}.\nUse at most 3 sentences."],
	"providers": ["echo"], "tests": [{"vars": {"topic": "lamps"}}, {"vars": {"topic": "chairs"}}],
	"defaultTest": {"assert": [{"type": "contains", "value": "{{topic}}", "metric": "on_topic"}, {"type": "contains", "value": "lamps", "metric": "lamps"}]}}}`

const exampleSet = `{"prompt": "You are a support agent.", "assertions": [{"id": "short", "check": {"type": "word-count", "value": {"max": 40}}}]}`

// exampleBodies are the requests other than GET, in order. {run} and similar placeholders stand
// for ids from earlier requests.
var exampleBodies = []struct{ id, path, body string }{
	{"open-session", "/v1/session", `{"key": "{key}"}`},
	{"add-suite", "/v1/suites", exampleSuite},
	{"put-suite", "/v1/suites/returns", strings.Replace(exampleSuite, "3 sentences", "2 sentences", 1)},
	{"start-run", "/v1/suites/returns/runs", `{"concurrency": 4}`},
	{"add-assertion-set", "/v1/assertion-sets", strings.Replace(exampleSet, `{"prompt`, `{"name": "replies", "prompt`, 1)},
	{"put-assertion-set", "/v1/assertion-sets/replies", strings.Replace(exampleSet, "40", "60", 1)},
	{"evaluate-assertion-set", "/v1/assertion-sets/replies/evaluate", `{"agent_input": "How long can I return the lamp?", "agent_output": "Within 30 days of delivery."}`},
	{"evaluate", "/v1/evaluate", `{"agent_input": "How long can I return the lamp?", "agent_output": "Within 30 days of delivery.", "assertions": [{"id": "answers", "criteria": ["The output says how long a return is possible"]}]}`},
	{"start-evaluation", "/v1/evaluations", `{"agent_input": "How long can I return the lamp?", "agent_output": "Within 30 days of delivery.", "set": "replies@2", "keep_s": 600}`},
	{"ask", "/v1/answers", `{"provider": "echo", "prompt": "You answer questions about {{topic}}.", "vars": {"topic": "lamps"}}`},
	{"lint", "/v1/lint", `{"assertions": [{"id": "brief", "criteria": ["The answer is appropriate", "The answer has at most 3 sentences"]}]}`},
	{"add-panel-token", "/v1/panel-tokens", `{"evaluation": "{evaluation}", "origin": "https://app.example", "ttl_s": 600, "allow": ["read", "label"], "by": "Robin"}`},
	{"cancel-evaluation", "/v1/evaluations/{evaluation}", ""},
	{"send-events", "/v1/events", `{"events": [{"id": "event-1", "agent": "support", "time": "2026-01-31T09:00:00Z", "conversation": "c-17", "input": "How long can I return the lamp?", "output": "Within 30 days of delivery.",
		"version": "2026-01-30", "model": "m-large", "prompt": "You answer questions about returns.", "segment": {"lang": "en"}, "user": "u-4711", "usage": {"prompt_tokens": 412, "completion_tokens": 9}, "cost": 0.0021, "latency_ms": 840},
		{"id": "event-2", "agent": "support"}]}`},
	{"send-feedback", "/v1/feedback", `{"event": "event-1", "user": "u-4711", "value": -1, "comment": "It is 14 days."}`},
	{"send-spans", "/v1/traces", spansOf(traceNamed(1), "", "mail")},
	{"push-run", "/v1/runs", runText(1)},
	{"spade", "/v1/spade", `{"versions": [{"text": "You answer questions about returns."}, {"text": "You answer questions about returns.\nUse at most 2 sentences.\nNever say \"sorry\"."}],
		"examples": [{"id": "a", "output": "Within 30 days of delivery.", "label": "pass"}, {"id": "b", "output": "Sorry, no.", "label": "fail"}]}`},
	{"add-label", "/v1/labels", `{"run": "{run}", "index": 0, "assertion": "on_topic", "label": "fail", "note": "The topic is named, and nothing said of it.", "evidence": [{"start": 0, "end": 9}]}`},
	{"put-label-queue", "/v1/label-queues/returns", `{"run": "{run}", "assertions": ["on_topic", "lamps"], "random": 2}`},
	{"lease-label", "/v1/label-queues/returns/lease", `{"seconds": 120}`},
	{"return-label", "/v1/label-queues/returns/lease/{lease}", ""},
	{"put-label-queue", "/v1/label-queues/whole", `{"run": "{run}", "assertions": [""], "size": 100}`},
	{"import-labels", "/v1/labels/file", `{"label_id":"label_06h0gq5kyz6z20kchtpktce7r0","run":"{run}","row":1,"assertion":"on_topic","human":"pass","by":"Cleo","created":"2026-01-05T09:15:00Z"}` + "\n"},
	{"delete-label-queue", "/v1/label-queues/whole", ""},
	{"start-trial", "/v1/judge-trials", `{"run": "{judged}", "assertion": "cites", "change": {"criteria": ["It says strictly what the customer can do"]}}`},
	{"cancel-trial", "/v1/judge-trials/{trial}", ""},
	{"delete-label", "/v1/labels/{label}", ""},
	{"put-dataset", "/v1/datasets/questions", `{"cases": [{"id": "lamps", "description": "asks about lamps", "vars": {"topic": "lamps"}, "assert": [{"type": "contains", "value": "lamps"}]}]}`},
	{"add-cases", "/v1/datasets/questions/cases", `{"cases": [{"id": "chairs", "vars": {"topic": "chairs"}}, {"id": "beds", "vars": {"topic": "beds"}}]}`},
	{"remove-cases", "/v1/datasets/questions/remove", `{"cases": ["beds"]}`},
	{"put-dataset-file", "/v1/datasets/earlier-questions/file", `{"id": "lamps", "vars": {"topic": "lamps"}}` + "\n"},
	{"delete-dataset", "/v1/datasets/earlier-questions", ""},
	{"check-watch", "/v1/watches/tone/check", `{"watch": {"match": {"agent": "support"}, "assertions": "set:watch-tone"}, "set": {"assertions": [{"id": "short", "check": {"type": "word-count", "value": {"max": 40}}}]}}`},
	{"put-watch", "/v1/watches/tone", `{"match": {"agent": "support", "where": "segment.lang == 'en'"}, "assertions": "set:replies", "sample": {"rate": 0.5, "floor": 60, "segment": "lang", "budget_usd_per_day": 5},
		"objectives": {"short": {"max_fail": 0.05}}, "false_alarms": {"per_days": 30}, "silence": {"traffic": "6h", "verdicts": "2h"}}`},
	{"put-watch", "/v1/watches/earlier", `{"match": {"agent": "support"}, "assertions": "set:replies@1"}`},
	{"delete-watch", "/v1/watches/earlier", ""},
	{"ack-alarm", "/v1/alarms/{alarm}/ack", `{"note": "the vendor replaced the model; ticket 4711"}`},
	{"cancel-run", "/v1/runs/{waiting}/cancel", ""},
	{"forget-user", "/v1/forget", `{"user": "u-4712"}`},
	{"end-session", "/v1/session", ""},
}

// exampleQueries are the queries of routes that need one.
var exampleQueries = map[string]string{
	"/v1/compare": "?base={earlier}&head={run}", "/v1/runs/{run}/previews": "?index=0,1", "/v1/runs/{run}/search": "?q=lamps", "/v1/runs": "?suite=returns&limit=1",
	"/v1/runs/{run}/results": "?status=fail&limit=1", "/v1/assertions": "?suite=returns&runs=20", "/v1/prompts": "?suite=returns",
	"/v1/judge-trials":           "?run={judged}&assertion=cites",
	"/v1/watches/{watch}/series": "?assertion=short&by=version&step=168h", "/v1/alarms": "?state=acked&watch=tone",
	"/v1/events": "?agent=support&segment=lang:en&q=lamp&limit=10",
}

// panelSecret matches the secret of a panel token, which examples hide.
var panelSecret = regexp.MustCompile(`pvt_\w+`)

// exchanges sends a request to every route of the OpenAPI document.
func exchanges(t *testing.T) map[string]server.Example {
	t.Helper()
	f := start(t, server.Options{TrafficShare: 1, Runner: suites(t, nil), Asker: &server.Asking{}, Judges: judgedBy(strict("usual")).Judges, PanelOrigins: []string{"https://app.example"}, Judge: evaluator(func(_ context.Context, r *judge.Request) (*judge.Response, error) {
		one := 1.0
		return &judge.Response{Score: &one, Passed: 1, Total: 1, Status: "pass", Threshold: 1, PassedThreshold: true,
			Results: []judge.Result{{ID: r.Assertions[0].ID, Pass: true, Reasoning: "The reply says so in its first sentence.", Status: "pass"}}}, nil
	})})
	secret, _ := f.key(store.NewKey{Name: "docs", Scopes: []store.Scope{store.Admin}})
	names := map[string]string{"suite": "returns", "set": "replies", "dataset": "questions", "index": "0", "key": secret, "queue": "returns", "event": "event-1", "conversation": "c-17", "agent": "support"}
	list := map[string]server.Example{}
	send := func(id, method, path, body string, headers ...string) answer {
		shown := path
		for name, v := range names {
			if name != "key" {
				body = strings.ReplaceAll(body, "{"+name+"}", v)
			}
			path = strings.ReplaceAll(path, "{"+name+"}", v)
			if name != "key" {
				shown = strings.ReplaceAll(shown, "{"+name+"}", v)
			}
		}
		e := server.Example{Path: shown, Headers: headers, Body: asJSON(strings.ReplaceAll(body, "{key}", store.SecretPrefix+"…"))}
		if body != "" && len(headers) == 0 {
			e.Headers = []string{"Content-Type: application/json"}
		}
		if id == "push-run" || id == "put-dataset-file" || id == "import-labels" {
			e.Headers, headers = []string{ndjson}, append(headers, ndjson)
		}
		if strings.HasSuffix(id, "-session") && method != "GET" {
			e.Headers = []string{"Origin: http://localhost:8080", ownPage}
			headers = append(headers, f.origin(), ownPage)
		}
		got := f.ask(method, path, strings.ReplaceAll(body, "{key}", secret), append(headers, bearer(secret))...)
		if got.status >= 300 {
			t.Fatalf("%s: %d %s", id, got.status, got.body)
		}
		e.Status, e.Response = got.status, asJSON(panelSecret.ReplaceAllString(strings.ReplaceAll(got.body, f.url, "http://localhost:8080"), "pvt_…"))
		list[id] = e
		return got
	}
	methods := map[string]string{}
	for _, e := range server.Endpoints() {
		methods[e.ID] = e.Method
	}
	for _, x := range exampleBodies {
		if x.id == "cancel-run" { // the run must not have ended: nothing executes it
			made, err := f.store.In(store.DefaultProject).CreateRun(t.Context(), store.NewRun{Suite: "gone", Version: "0", Options: []byte("{}")})
			if err != nil {
				t.Fatal(err)
			}
			if now, err := f.store.In(store.DefaultProject).CancelRun(t.Context(), made.ID); err != nil {
				t.Fatalf("%v %v", now, err)
			}
			names["waiting"] = made.ID
		}
		if x.id == "ack-alarm" {
			names["watch"], names["alarm"] = "tone", exampleAlarm(t, f)
		}
		if x.id == "start-trial" {
			names["judged"], _ = f.trialOf(store.DefaultProject, bearer(secret))
		}
		got := send(x.id, methods[x.id], x.path, x.body)
		switch x.id {
		case "start-run":
			names["earlier"] = got.object(t).Text("id")
			f.follow(names["earlier"], bearer(secret))
			names["run"] = f.ask("POST", x.path, "", bearer(secret)).object(t).Text("id")
			f.follow(names["run"], bearer(secret))
		case "start-trial":
			names["trial"] = got.object(t).Text("id")
			f.ask("GET", x.path+"/"+names["trial"]+"/events", "", bearer(secret))
		case "lease-label":
			names["lease"] = got.object(t).Text("lease")
		case "add-label":
			names["label"] = got.object(t).Text("id")
			f.ask("POST", x.path, strings.NewReplacer("{run}", names["run"], "on_topic", "lamps").Replace(x.body), bearer(secret)) // a label that no later example deletes
		case "evaluate", "start-evaluation":
			_, names["evaluation"], _ = strings.Cut(got.header.Get("Location"), "/v1/evaluations/")
		}
	}
	for _, e := range server.Endpoints() {
		if _, done := list[e.ID]; !done && !e.Hidden {
			if e.Method != "GET" {
				t.Fatalf("%s %s: add a request to exampleBodies", e.Method, e.Path)
			}
			send(e.ID, e.Method, e.Path+exampleQueries[e.Path], "")
		}
	}
	return list
}

// exampleAlarm opens an alarm of the watch tone, with a related verdict.
func exampleAlarm(t *testing.T, f *fixture) string {
	t.Helper()
	in, at := f.store.In(store.DefaultProject), time.Now().UTC().Truncate(time.Second)
	_, err := in.EnqueueEvents(t.Context(), "tone", []store.Backfill{{Event: "event-1", Probability: 0.5}})
	leases, failed := in.LeaseEvents(t.Context(), store.LeaseEvents{Watch: "tone", Limit: 1, Lease: time.Minute})
	if err = errors.Join(err, failed); err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	v := store.WatchVerdict{Event: "event-1", Conversation: "c-17", Agent: "support", Assertion: "short", Set: "3f0c…", Version: "v42", Segment: "en", Time: at.Add(-time.Hour), Probability: 0.5,
		Status: proviso.Fail, Reason: "The output has 73 words, more than 60."}
	_, err = in.SettleEvents(t.Context(), "tone", []store.EventResult{{EventLease: leases[0], Verdicts: []store.WatchVerdict{v}}})
	a := monitor.Alarm{ID: "alarm_06h0gq5kyz6z20kchtpktce7r0", Watch: "tone", Kind: monitor.KindAgent, Assertion: "short", State: monitor.StateOpen, Opened: at, Reason: "it fails more often",
		Since: &monitor.Span{Low: at.Add(-3 * time.Hour), High: at.Add(-time.Hour)}, Baseline: &monitor.Baseline{Rate: 0.021, Upper: 0.03, N: 800}, Now: &monitor.Now{Rate: 0.12, Low: 0.08, High: 0.17, N: 240},
		Statistic: &monitor.Statistic{Value: 21000, Threshold: 15000, ARL0Days: 30}, Version: "v42", Changed: []monitor.Change{{What: "version", From: "v41", To: "v42", At: at.Add(-2 * time.Hour)}}, Examples: []string{"event-1"}}
	body, wrong := json.Marshal(a)
	failed = in.SaveCharts(t.Context(), "tone", store.ChartSave{State: []byte("{}"), Alarms: []store.Alarm{{ID: a.ID, Kind: "agent", Assertion: "short", State: store.AlarmOpen, Opened: at, Body: body}},
		Notices: []store.NewNotice{{Alarm: a.ID, Target: "slack:oncall", Event: "opened", Body: body}}})
	state := must2(in.Charts(t.Context(), "tone"))(t)
	saved := monitor.NewCharts(&monitor.Watch{Name: "tone", FalseAlarms: monitor.FalseAlarms{PerDays: 30}}, monitor.Options{})
	saved.Observe([]monitor.Observation{{Sequence: 1, Event: "event-1", Assertion: "short", Version: "v42", Time: v.Time, At: at, Probability: 0.5, Status: proviso.Fail}}, at)
	if err = errors.Join(err, wrong, failed, in.SaveCharts(t.Context(), "tone", store.ChartSave{From: state.Cursor, Cursor: 1, State: saved.Save()})); err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// asJSON returns a text that is JSON unchanged, and any other text as a JSON string, shortened
// if it is long.
func asJSON(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	if lines := strings.SplitAfter(text, "\n"); len(lines) > 12 {
		text = strings.Join(lines[:12], "") + "…\n"
	}
	data, _ := json.Marshal(text) // strings always marshal
	return data
}

// TestExamples: every route has an example, and a real server's response has the same form.
// Both responses match the schemas.
func TestExamples(t *testing.T) {
	t.Parallel()
	now := exchanges(t)
	if *update {
		data, err := json.MarshalIndent(now, "", " ")
		if err == nil {
			err = os.WriteFile("examples.json", append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return // the next build embeds them
	}
	kept := must(t, func() map[string]server.Example { l, _ := server.Examples(); return l }(), nil)
	if !slices.Equal(slices.Sorted(maps.Keys(kept)), slices.Sorted(maps.Keys(now))) {
		t.Errorf("examples are kept of %v, and needed of %v: go test ./server -run TestExamples -update", slices.Sorted(maps.Keys(kept)), slices.Sorted(maps.Keys(now)))
	}
	f := start(t, server.Options{Open: true})
	var doc map[string]any
	if err := json.Unmarshal([]byte(f.ask("GET", "/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range server.Endpoints() {
		if e.Hidden {
			continue
		}
		op := doc["paths"].(map[string]any)[e.Path].(map[string]any)[strings.ToLower(e.Method)].(map[string]any)
		for _, x := range []server.Example{kept[e.ID], now[e.ID]} {
			if x.Status != kept[e.ID].Status {
				t.Errorf("%s: status %d, and %d is kept", e.ID, x.Status, kept[e.ID].Status)
			}
			if sent, ok := op["requestBody"].(map[string]any); ok && len(x.Body) > 0 {
				fits(t, doc, e.ID+" request", contentSchema(sent), x.Body)
			}
			if got, ok := op["responses"].(map[string]any)[fmt.Sprint(x.Status)].(map[string]any); ok && got["content"] != nil {
				fits(t, doc, e.ID+" answer", contentSchema(got), x.Response)
			}
		}
	}
}

func contentSchema(body map[string]any) map[string]any {
	for kind, content := range body["content"].(map[string]any) {
		if kind == "application/json" {
			return content.(map[string]any)["schema"].(map[string]any)
		}
	}
	return nil
}

// fits checks a value against a schema: its kind, its members, and those that are required.
func fits(t *testing.T, doc map[string]any, at string, schema map[string]any, data json.RawMessage) {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Errorf("%s: %v: %s", at, err, data)
		return
	}
	if why := misfit(doc, schema, v, "", strings.HasSuffix(at, "request")); why != "" {
		t.Errorf("%s: %s\n%s", at, why, data)
	}
}

func misfit(doc, schema map[string]any, v any, at string, strict bool) string {
	if ref, ok := schema["$ref"].(string); ok {
		schema = doc["components"].(map[string]any)["schemas"].(map[string]any)[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	if one, ok := schema["oneOf"].([]any); ok {
		for _, s := range one {
			if misfit(doc, s.(map[string]any), v, at, strict) == "" {
				return ""
			}
		}
		return at + ": none of the forms"
	}
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	kind := map[string]string{"string": "string", "float64": "number", "bool": "boolean", "<nil>": "null", "map[string]interface {}": "object", "[]interface {}": "array"}[fmt.Sprintf("%T", v)]
	if len(kinds) > 0 && !slices.Contains(kinds, any(kind)) && !(kind == "number" && slices.Contains(kinds, any("integer"))) {
		return fmt.Sprintf("%s: %s, want %v", at, kind, kinds)
	}
	switch v := v.(type) {
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for i, x := range v {
				if why := misfit(doc, items, x, fmt.Sprintf("%s/%d", at, i), strict); why != "" {
					return why
				}
			}
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Sprintf("%s: no %s", at, name)
			}
		}
		for name, x := range v {
			p, ok := properties[name].(map[string]any)
			if !ok {
				if strict && schema["additionalProperties"] == false {
					return at + ": unknown " + name
				}
				continue
			}
			if why := misfit(doc, p, x, at+"/"+name, strict); why != "" {
				return why
			}
		}
	}
	return ""
}

// TestDocsPage: the page shows every route, type and problem, is well formed, and runs no
// script.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	got := f.ask("GET", "/docs", "")
	if got.status != 200 || got.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(got.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self';") ||
		strings.Contains(got.header.Get("Content-Security-Policy"), "script-src") {
		t.Fatalf("%d %v", got.status, got.header)
	}
	ids, links := map[string]int{}, []string{}
	var open []string
	z := html.NewTokenizer(strings.NewReader(got.body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		for _, a := range token.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links = append(links, a.Val[1:])
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s %s=%q>", token.Data, a.Key, a.Val)
			}
		}
		switch {
		case token.Data == "script" || token.Data == "style" || token.Data == "img" || token.Data == "iframe":
			if kind != html.TextToken {
				t.Errorf("<%s> in the page", token.Data)
			}
		case kind == html.StartTagToken && !slices.Contains([]string{"meta", "link", "br"}, token.Data):
			open = append(open, token.Data)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("the id %s stands there %d times", id, n)
		}
	}
	for _, link := range links {
		if ids[link] == 0 {
			t.Errorf("a link to #%s, which is not there", link)
		}
	}
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(got.body, "")
	for _, e := range server.Endpoints() {
		if !e.Hidden && (ids[e.ID] != 1 || !strings.Contains(text, e.Method+" "+e.Path) || !strings.Contains(got.body, `aria-label="Request of `+e.ID)) {
			t.Errorf("%s %s is missing, or has no example", e.Method, e.Path)
		}
	}
	for _, p := range server.Problems() {
		if !strings.Contains(text, p.Title) {
			t.Errorf("the problem %s is missing", p.Code)
		}
	}
	if strings.Count(got.body, "<h1>") != 1 || len(open) != 0 {
		t.Errorf("headings or open elements: %v", open)
	}
}
