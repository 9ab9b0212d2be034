package server_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/value"
)

const houseSet = `{"assertions": [{"id": "brand", "criteria": [{"template": "brand", "params": {"name": "Acme"}}]}, {"id": "short", "check": {"type": "word-count", "value": {"max": 3}}}],
	"prompt": "You work for Acme.", "threshold": 0.5, "context": "The handbook says 30 days.",
	"templates": {"brand": {"doc": "our name", "params": {"name": {"type": "text", "doc": "it", "required": true}}, "parts": [{"text": "The output names {{name}}"}, {"check": {"type": "contains", "value": "{{name}}"}}]}}}`

// TestTemplatesOfARequest: assertions in a request can use the templates in that request, for
// verdicts and for the lint, and mistakes have their positions.
func TestTemplatesOfARequest(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	f.ask("PUT", "/v1/assertion-sets/house", houseSet)
	const templates = `"templates": {"brand": {"doc": "our name", "params": {"name": {"type": "text", "doc": "it", "required": true}}, "parts": [{"check": {"type": "contains", "value": "{{name}}"}}]}}`
	const named = `"assertions": [{"id": "b", "criteria": [{"template": "brand", "params": {"name": "Acme"}}]}]`
	const head = `{"agent_input": "", "agent_output": "Acme", `
	events := f.open(f.begin(head + templates + ", " + named + "}")).rest()
	if end := events[len(events)-1].data; end.At("passed") != 1.0 || end.At("total") != 1.0 {
		t.Errorf("streamed: %s", value.Stringify(end))
	}
	if got := f.ask("POST", "/v1/evaluate", head+templates+", "+named+"}"); got.status != 200 || got.object(t).At("passed") != 1.0 {
		t.Errorf("evaluated: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/assertion-sets/house/evaluate", head+templates+"}"); got.status != 422 || !strings.Contains(got.body, "the templates are those of the set") {
		t.Errorf("with a set: %d %s", got.status, got.body)
	}
	for body, want := range map[string]string{
		head + `"templates": 1, ` + named + "}":                                                             `/templates`,
		head + `"set": "house", ` + templates + "}":                                                         `the templates are those of the set`,
		head + strings.Replace(templates, `"doc": "our name"`, `"dok": "our name"`, 1) + ", " + named + "}": `/templates/brand`,
	} {
		if got := f.ask("POST", "/v1/evaluations", body); got.status != 400 && got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := f.ask("POST", "/v1/lint", "{"+templates+", "+named+"}"); got.status != 200 || !strings.Contains(got.body, `"index":0`) {
		t.Errorf("lint: %d %s", got.status, got.body)
	}
}

// TestHouseSet: the threshold, context and templates of a set apply where a request sets none.
func TestHouseSet(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked *judge.Request
	real, allow := gatedJudge(t)
	allow("brand")
	f := start(t, server.Options{Open: true, Judge: evaluator(func(ctx context.Context, r *judge.Request) (*judge.Response, error) {
		mu.Lock()
		asked = r
		mu.Unlock()
		return real.Evaluate(ctx, r)
	})})
	put := f.ask("PUT", "/v1/assertion-sets/house", houseSet)
	if put.status != 201 {
		t.Fatalf("%d %s", put.status, put.body)
	}
	got := f.ask("GET", "/v1/assertion-sets/house", "")
	o := got.object(t)
	if o.At("threshold") != 0.5 || o.At("context") != "The handbook says 30 days." || o.Object("templates").Object("brand").Text("doc") != "our name" || got.header.Get("ETag") != `"`+o.Text("version")+`"` ||
		put.header.Get("ETag") != got.header.Get("ETag") {
		t.Errorf("%v %s", got.header, got.body)
	}
	const output = `{"agent_input": "", "agent_output": "Acme says Hello to everybody"`
	for _, tt := range []struct {
		body, context string
		threshold     float64
	}{{output + "}", "The handbook says 30 days.", 0.5}, {output + `, "threshold": 1, "context": "another"}`, "another", 1}, {output + `, "threshold": null, "context": null}`, "The handbook says 30 days.", 0.5}} {
		got := f.ask("POST", "/v1/assertion-sets/house/evaluate", tt.body)
		if o := got.object(t); got.status != 200 || o.At("threshold") != tt.threshold || o.At("passed") != 1.0 || o.At("failed") != 1.0 {
			t.Errorf("%s: %d %s", tt.body, got.status, got.body)
		}
		if mu.Lock(); asked.Context != tt.context {
			t.Errorf("%s: context %q", tt.body, asked.Context)
		}
		mu.Unlock()
		events := f.open(f.begin(strings.Replace(tt.body, "{", `{"set": "house", `, 1))).rest()
		if end := events[len(events)-1].data; end.At("threshold") != tt.threshold || end.At("passed") != 1.0 {
			t.Errorf("streamed: %s", value.Stringify(end))
		}
	}
	for body, want := range map[string]string{
		strings.Replace(houseSet, `"template": "brand"`, `"template": "brnd"`, 1):                                                                     `/assertions/0/criteria/0/template`,
		strings.Replace(houseSet, `{"name": "Acme"}`, `{}`, 1):                                                                                        `needs the parameter`,
		strings.Replace(houseSet, `0.5`, `1.5`, 1):                                                                                                    `/threshold`,
		strings.Replace(houseSet, `"brand": {"doc"`, `"faithful!": {"doc"`, 1):                                                                        `/templates/faithful!`,
		strings.Replace(houseSet, `"context"`, `"contxt"`, 1):                                                                                         `did you mean \"context\"`,
		strings.Replace(houseSet, `30 days`, strings.Repeat("x", judge.MaxText), 1):                                                                   `/context`,
		strings.Replace(houseSet, `"type": "contains", "value"`, `"type": "webhook", "value": "https://user:secret123456@hooks.example/x", "was"`, 1): `this is a secret`,
	} {
		if got := f.ask("PUT", "/v1/assertion-sets/house", body); got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("want %s: %d %.400s", want, got.status, got.body)
		}
	}
}

// TestIfMatch: a request that replaces an outdated version gets both versions, and of many
// concurrent requests only one succeeds.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	one := f.ask("PUT", "/v1/assertion-sets/s", exampleSet)
	tag := one.header.Get("ETag")
	next := func(n string) string { return strings.Replace(exampleSet, "40", n, 1) }
	two := f.ask("PUT", "/v1/assertion-sets/s", next("50"), "If-Match: "+tag)
	if two.status != 201 || two.header.Get("ETag") == tag {
		t.Fatalf("%d %s", two.status, two.body)
	}
	late := f.ask("PUT", "/v1/assertion-sets/s", next("60"), "If-Match: "+tag)
	o := late.object(t)
	if p := late.problem(t); late.status != 409 || p.Code != "conflict" || o.Object("current").At("version") != two.object(t).At("version") || !strings.Contains(value.Stringify(o.Object("current")), "50") ||
		!strings.Contains(value.Stringify(o.Object("yours")), "60") || o.Object("yours").Text("prompt") != "You are a support agent." {
		t.Errorf("%d %s", late.status, late.body)
	}
	if same := f.ask("PUT", "/v1/assertion-sets/s", next("50"), "If-Match: "+tag); same.status != 200 {
		t.Errorf("what is there already: %d %s", same.status, same.body)
	}
	if gone := f.ask("PUT", "/v1/assertion-sets/new", exampleSet, "If-Match: "+tag); gone.status != 409 || gone.object(t).Has("current") {
		t.Errorf("nothing to replace: %d %s", gone.status, gone.body)
	}
	for _, header := range []string{"*", "abc", `"a", "b"`, `W/"abc"`, `""`} {
		if got := f.ask("PUT", "/v1/assertion-sets/s", exampleSet, "If-Match: "+header); got.status != 422 {
			t.Errorf("%s: %d %s", header, got.status, got.body)
		}
	}
	var all sync.WaitGroup
	var won, lost atomic.Int64
	for i := range 12 {
		all.Go(func() {
			switch f.ask("PUT", "/v1/assertion-sets/s", next(strconv.Itoa(100+i)), "If-Match: "+two.header.Get("ETag")).status {
			case 201:
				won.Add(1)
			case 409:
				lost.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 11 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
}
