package server_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/monitor"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
)

// tenants are two projects of one server. The first has an object of each kind.
type tenants struct {
	*fixture
	mine, theirs, admin string // bearers: of the project with contents, of another project, of an operator in a third
	names               map[string]string
}

const plainSuite = `{"name": "private", "suite": {"prompts": ["Hello {{name}}"], "providers": ["echo"], "tests": [{"vars": {"name": "Ann"},
	"assert": [{"type": "contains", "value": "Ann", "metric": "greets"}]}]}}`

func newTenants(t *testing.T) *tenants {
	t.Helper()
	f := start(t, server.Options{Runner: suites(t, http.DefaultClient), Judge: traceJudge(t), Asker: &server.Asking{}, Judges: judgedBy(strict("usual")).Judges, KeepContents: true})
	f.t = t
	key := func(p store.Project, scopes ...store.Scope) string {
		s, _ := f.key(store.NewKey{Project: p, Scopes: scopes})
		return bearer(s)
	}
	x := &tenants{fixture: f, mine: key("a", store.Read, store.Labelling, store.Evaluate), theirs: key("b", store.Read, store.Labelling, store.Evaluate, store.Edit), admin: key("ops", store.Admin)}
	run := f.run(plainSuite, x.mine)
	f.follow(run, x.mine)
	f.ask("PUT", "/v1/assertion-sets/private", `{"assertions": [{"id": "a", "check": {"type": "contains", "value": "secret of a"}}]}`, x.mine)
	edit := key("a", store.Edit)
	for _, text := range []string{"Ann", "secret of a"} {
		if got := f.ask("PUT", "/v1/datasets/private", `{"cases": [{"id": "one", "vars": {"name": "`+text+`"}}]}`, edit); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	f.ask("POST", "/v1/traces", spansOf(traceNamed(1), "", "mail"), x.mine)
	evaluation := f.begin(about(traceNamed(1)), x.mine)
	if events := f.open(evaluation, x.mine).rest(); len(events) == 0 || events[len(events)-1].data.At("status") != "pass" {
		t.Fatalf("%d events", len(events))
	}
	again := at(f.ask("POST", "/v1/suites/private/runs", "", x.mine).object(t), "id").(string)
	f.follow(again, x.mine)
	said := f.ask("POST", "/v1/labels", `{"run": "`+run+`", "index": 0, "assertion": "greets", "label": "fail", "note": "secret of a"}`, x.mine).object(t).Text("id")
	f.ask("PUT", "/v1/label-queues/private", `{"run": "`+run+`", "assertions": [""]}`, x.mine)
	lease := f.ask("POST", "/v1/label-queues/private/lease", "", x.mine).object(t).Text("lease")
	_, trial := f.trialOf("a", x.mine)
	alarm := f.traffic("a", x.mine, key("a", store.Ingest))
	x.names = map[string]string{"trial": trial, "label": said, "queue": "private", "lease": lease, "suite": "private", "set": "private", "dataset": "private", "run": run, "run2": again, "evaluation": evaluation, "index": "0",
		"event": "event_of_a", "conversation": "c_of_a", "agent": "agent_of_a", "watch": "private", "alarm": alarm}
	return x
}

// traffic sends an event, and stores a watch with an alarm.
func (f *fixture) traffic(p store.Project, who, sender string) (alarm string) {
	f.t.Helper()
	for path, body := range map[string]string{
		"PUT /v1/watches/private": `{"match": {"agent": "agent_of_a"}, "assertions": "set:private"}`,
		"POST /v1/events":         `{"events": [{"id": "event_of_a", "agent": "agent_of_a", "conversation": "c_of_a", "output": "secret of a", "prompt": "secret of a"}]}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := f.ask(method, path, body, map[string]string{"PUT": who, "POST": sender}[method]); got.status >= 300 {
			f.t.Fatalf("%d %s", got.status, got.body)
		}
	}
	alarm = "alarm_of_a"
	body := []byte(`{"id": "alarm_of_a", "watch": "private", "kind": "agent", "state": "open", "opened": "2026-01-31T09:00:00Z", "changed": [], "examples": []}`)
	if err := f.store.In(p).SaveCharts(f.t.Context(), "private", store.ChartSave{State: monitor.NewCharts(&monitor.Watch{Name: "private"}, monitor.Options{}).Save(),
		Alarms: []store.Alarm{{ID: alarm, Kind: "agent", State: store.AlarmOpen, Opened: time.Now(), Body: body}}}); err != nil {
		f.t.Fatal(err)
	}
	return alarm
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// path inserts the names from the first project.
func (x *tenants) path(t *testing.T, e server.Endpoint) string {
	t.Helper()
	query := map[string]string{
		"/v1/compare": "?base=" + x.names["run"] + "&head=" + x.names["run2"], "/v1/runs/{run}/previews": "?index=0", "/v1/runs/{run}/search": "?q=ann",
	}[e.Path]
	for _, part := range []string{"/series", "/differences", "/thumbs"} {
		if strings.HasSuffix(e.Path, "{watch}"+part) {
			query = "?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z"
		}
	}
	if e.ID == "get-trial-base" {
		query = "?run=" + x.names["run"]
	}
	return inPath.ReplaceAllStringFunc(e.Path, func(p string) string {
		name, ok := x.names[p[1:len(p)-1]]
		if !ok {
			t.Fatalf("%s %s: say in newTenants what %s is, so that this route can be tried from another project", e.Method, e.Path, p)
		}
		return name
	}) + query
}

// seen returns everything that a key can read, except metrics.
func (x *tenants) seen(t *testing.T, who string) string {
	t.Helper()
	var all strings.Builder
	for _, e := range server.Endpoints() {
		if e.Method == "GET" && strings.HasPrefix(e.Path, "/v1/") && e.Path != "/v1/adoption" && e.Scope != store.Admin { // adoption has the current time in it
			got := x.ask("GET", x.path(t, e), "", who)
			if got.status != 200 {
				t.Errorf("GET %s of what is there: %d %s", e.Path, got.status, got.body)
			}
			fmt.Fprintf(&all, "%s %s %d %s\n", e.Method, e.Path, got.status, got.body)
		}
	}
	return all.String()
}

// open are the routes that answer a key of another project, each with a body and the expected
// content, which is only from that key's own project.
var open = map[string]struct {
	body   string
	status int
	answer string // a part of the response
}{
	"GET /openapi.json":               {"", 200, `"openapi"`},
	"GET /docs":                       {"", 200, "<h1>"},
	"GET /v1/settings":                {"", 200, `"keys":[]`},
	"GET /v1/session":                 {"", 200, `"project":"b"`},
	"POST /v1/session":                {"{}", 403, "Origin"},
	"DELETE /v1/session":              {"", 403, "Origin"},
	"GET /v1/workers":                 {"", 403, "the scope admin"},
	"GET /metrics":                    {"", 200, `project="b"`},
	"GET /healthz":                    {"", 200, "ok"},
	"GET /readyz":                     {"", 200, "ok"},
	"POST /v1/evaluate":               {about(traceNamed(1)), 200, `"status":"error"`}, // the project has no such trace
	"POST /v1/evaluations":            {about(traceNamed(1)), 202, `"id":"eval_`},
	"POST /v1/answers":                {`{"provider": "echo", "prompt": "Bob"}`, 200, `"output":"Bob"`},
	"GET /v1/providers":               {"", 200, `"id":"echo"`},
	"POST /v1/lint":                   {`{"assertions": [{"id": "b", "criteria": ["The answer is good"]}]}`, 200, `"findings"`},
	"POST /v1/panel-tokens":           {"{}", 422, "missing"},
	"POST /v1/traces":                 {spansOf(traceNamed(1), "", "delete"), 200, "{}"},
	"POST /v1/runs":                   {runText(1), 201, `"id":"run_`},
	"POST /v1/labels":                 {`{"run": "{run}", "index": 0, "assertion": "", "label": "pass"}`, 404, "there is no"},
	"PUT /v1/label-queues/{queue}":    {`{"run": "{run}"}`, 404, "there is no run"},
	"POST /v1/suites":                 {strings.ReplaceAll(plainSuite, "Ann", "Bob"), 201, `"number":1`},
	"PUT /v1/suites/{suite}":          {strings.ReplaceAll(plainSuite, "Ann", "Bea"), 201, `"number":2`},
	"POST /v1/assertion-sets":         {`{"name": "private", "assertions": [{"id": "b", "check": {"type": "contains", "value": "b"}}]}`, 201, `"number":1`},
	"PUT /v1/assertion-sets/{set}":    {`{"assertions": [{"id": "b", "check": {"type": "contains", "value": "c"}}]}`, 201, `"number":2`},
	"PUT /v1/datasets/{dataset}":      {`{"cases": [{"id": "two", "vars": {"name": "Bob"}}]}`, 201, `"number":1`},
	"PUT /v1/datasets/{dataset}/file": {`{"id": "three", "vars": {"name": "Bob"}}` + "\n", 201, `"number":2`},
	"GET /v1/labels/file":             {"", 200, ""},
	"POST /v1/labels/file":            {"", 403, "the scope admin"},
	"POST /v1/judge-trials":           {`{"run": "{run}", "assertion": "greets", "change": {}}`, 404, "there is no run"},
	"POST /v1/watches/{watch}/check":  {`{"watch": {"match": {"agent": "b"}, "assertions": "set:private"}, "set": {"assertions": [{"id": "b", "check": {"type": "contains", "value": "b"}}]}}`, 200, `"change":`},
	"PUT /v1/watches/{watch}":         {`{"match": {"agent": "b"}, "assertions": "set:private"}`, 201, `"version":1`},
	"GET /v1/adoption":                {"", 200, `"agents":[]`},
	"POST /v1/events":                 {`{"events": []}`, 403, "the scope ingest"},
	"POST /v1/feedback":               {`{}`, 403, "the scope ingest"},
	"POST /v1/forget":                 {`{}`, 403, "the scope admin"},
	"POST /v1/spade":                  {`{"versions": [{"text": "a"}], "run": "{run}"}`, 422, "no run"},
}

// TestProjects calls every route with a key of another project: the data of the
// first project are not found, not listed and not changed. New routes in the
// table are covered automatically.
func TestProjects(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	before := x.seen(t, x.mine)
	if !strings.Contains(before, "secret of a") || !strings.Contains(before, "Ann") {
		t.Fatalf("the first project does not see all that it has:\n%s", before)
	}
	// First the routes that must find nothing, then those that create objects of the same
	// names.
	routes := server.Endpoints()
	slices.SortStableFunc(routes, func(a, b server.Endpoint) int { return rank(a) - rank(b) })
	for _, e := range routes {
		name, path := e.Method+" "+e.Path, x.path(t, e)
		special, isSpecial := open[name]
		body := strings.ReplaceAll(special.body, "{run}", x.names["run"])
		if e.Method != "GET" && !isSpecial {
			body = "{}"
		}
		headers := []string{x.theirs}
		if name == "POST /v1/runs" || name == "PUT /v1/datasets/{dataset}/file" {
			headers = append(headers, ndjson)
		}
		got := x.ask(e.Method, path, body, headers...)
		switch {
		case isSpecial:
			if got.status != special.status || !strings.Contains(got.body, special.answer) {
				t.Errorf("%s: %d %.300s, want %d and %s", name, got.status, got.body, special.status, special.answer)
			}
		case strings.Contains(path, x.names["run"]) || strings.Contains(e.Path, "{"):
			if p := got.problem(t); got.status != 404 || p.Code != proviso.NotFound {
				t.Errorf("%s: %d %s, want 404", name, got.status, got.body)
			}
		default:
			if got.status != 200 || got.body != `{"items":[]}`+"\n" {
				t.Errorf("%s: %d %s, want an empty list", name, got.status, got.body)
			}
		}
		for _, private := range []string{x.names["run"], x.names["evaluation"], "Ann", "secret of a", `project="a"`, "go_goroutines"} {
			if got.status < 400 && strings.Contains(got.body, private) {
				t.Errorf("%s tells %s", name, private)
			}
		}
	}
	if after := x.seen(t, x.mine); after != before {
		t.Errorf("the first project sees\n%s\nand saw before\n%s", after, before)
	}
}

// rank sorts routes that create something last.
func rank(e server.Endpoint) int {
	if _, makes := open[e.Method+" "+e.Path]; makes && e.Method != "GET" {
		return 1
	}
	return 0
}

// TestOtherAndNone: an object of another project gets the same response as a missing object.
func TestOtherAndNone(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	none := &tenants{fixture: x.fixture, names: map[string]string{"suite": "nobodys", "set": "nobodys", "dataset": "nobodys", "run": "run_0", "run2": "run_1", "evaluation": "eval_0", "index": "0", "label": "label_0", "queue": "nobodys", "lease": "lease_0", "trial": "trial_0",
		"event": "event_0", "conversation": "nobodys", "agent": "nobodys", "watch": "nobodys", "alarm": "alarm_0"}}
	for _, e := range server.Endpoints() {
		if !strings.Contains(e.Path, "{") && e.Path != "/v1/compare" || e.Method == "PUT" {
			continue
		}
		said := func(of *tenants) string {
			p := x.ask(e.Method, of.path(t, e), map[string]string{"POST": "{}"}[e.Method], x.theirs).problem(t)
			for what, name := range of.names {
				if what != "index" {
					p.Detail = strings.ReplaceAll(p.Detail, name, "NAME")
				}
			}
			return fmt.Sprint(p.Status, p.Code, p.Title, p.Detail, p.Errors)
		}
		if other, none := said(x), said(none); other != none {
			t.Errorf("%s %s: %s, and %s for what does not exist", e.Method, e.Path, other, none)
		}
	}
}

// TestIdempotencyOfProjects: the same idempotency key in two projects counts as two keys.
func TestIdempotencyOfProjects(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	const path, key = "/v1/suites", "Idempotency-Key: same"
	for _, who := range []string{x.mine, x.theirs} {
		for try, want := range []string{"", "true"} {
			got := x.ask("POST", path, strings.Replace(plainSuite, "private", "once", 1), who, key)
			if got.status != 201 || got.header.Get("Idempotent-Replayed") != want {
				t.Errorf("try %d: %d %q %s", try, got.status, got.header.Get("Idempotent-Replayed"), got.body)
			}
		}
	}
	if got := x.ask("POST", path, plainSuite, x.theirs, key); got.status != 422 {
		t.Errorf("for another request: %d %s", got.status, got.body)
	}
}

// TestAdmin: a key with the scope admin sees its own project, or another project that it names.
func TestAdmin(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	for path, want := range map[string]int{
		"/v1/suites/private": 404, "/v1/suites/private?project=a": 200, "/v1/suites/private?project=b": 404,
		"/v1/runs/" + x.names["run"]: 404, "/v1/runs/" + x.names["run"] + "/events?project=a": 200,
		"/v1/suites?project=nobody": 404, "/v1/suites?project=": 404, "/v1/suites?project=a&project=b": 422,
	} {
		if got := x.ask("GET", path, "", x.admin); got.status != want {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
	for path, want := range map[string]int{"/v1/runs": 0, "/v1/runs?project=a": 3, "/v1/runs?project=ops": 0} {
		if list := at(x.ask("GET", path, "", x.admin).object(t), "items").([]any); len(list) != want {
			t.Errorf("%s: %d runs, want %d", path, len(list), want)
		}
	}
	unknown := x.ask("GET", "/v1/suites?project=nobody", "", x.admin).problem(t)
	if !strings.Contains(unknown.Detail, `no key belongs to the project "nobody"`) || !slices.Equal(unknown.Errors[0].Valid, []string{"a", "b", "default", "ops"}) {
		t.Errorf("%+v", unknown)
	}
	// Other keys may not name another project, whether it exists or not. They may name their
	// own.
	for _, p := range []string{"a", "nobody"} {
		if got := x.ask("GET", "/v1/suites?project="+p, "", x.theirs); got.status != 403 || !strings.Contains(got.body, "scope admin") {
			t.Errorf("project %s: %d %s", p, got.status, got.body)
		}
	}
	if got := x.ask("GET", "/v1/suites?project=b", "", x.theirs); got.status != 200 {
		t.Errorf("its own: %d %s", got.status, got.body)
	}
}

// TestMetricsOfProjects: a key with read sees the metrics of its project, and an admin sees
// all.
func TestMetricsOfProjects(t *testing.T) {
	t.Parallel()
	x := newTenants(t)
	evaluate, _ := x.key(store.NewKey{Project: "a", Scopes: []store.Scope{store.Evaluate}})
	if got := x.ask("GET", "/metrics", "", bearer(evaluate)); got.status != 403 || !strings.Contains(got.body, "scope read") {
		t.Errorf("with evaluate alone: %d %s", got.status, got.body)
	}
	const ofA = `proviso_evaluations_total{project="a",status="pass"} 1`
	for _, tt := range []struct {
		who, query    string
		sees, seesNot []string
	}{
		{x.mine, "", []string{ofA, `proviso_run_rows_total{project="a"`, `proviso_spans_held{project="a"} 2`}, []string{`project="ops"`, `project=""`, "go_goroutines", "process_"}},
		{x.theirs, "", []string{`proviso_runs_executing{project="b"} 0`}, []string{`project="a"`, `project=""`, "go_goroutines"}},
		{x.admin, "", []string{ofA, `project=""`, `project="ops"`, "go_goroutines"}, nil},
		{x.admin, "?project=a", []string{ofA}, []string{`project=""`, `project="ops"`, "go_goroutines"}},
	} {
		got := x.ask("GET", "/metrics"+tt.query, "", tt.who).body
		for _, want := range tt.sees {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", tt.query, want, got)
			}
		}
		for _, line := range strings.Split(got, "\n") {
			if i := slices.IndexFunc(tt.seesNot, func(s string) bool { return strings.Contains(line, s) }); i >= 0 {
				t.Errorf("%s: it tells %s", tt.query, line)
			}
		}
	}
}
