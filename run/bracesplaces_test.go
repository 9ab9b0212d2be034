package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/run"
)

// listener is a grader that records the questions.
type listener struct {
	mu    sync.Mutex
	asked map[string]bool
}

func (l *listener) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[proviso.ToString(q.Value)] = true
	return proviso.Grade{Pass: true, Score: 1}, nil
}

// TestBracesElsewhere puts texts with braces where templates are rendered
// outside prompts: the body, the headers and the query of a provider, values of
// assertions and rubrics, names of metrics, webhooks, transforms and outputs
// that are stored. They arrive unchanged; none is rendered as a template of its
// own.
func TestBracesElsewhere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/hook" { // the webhook passes what holds the variable twice
			var got struct {
				Output  string
				Context struct{ Vars struct{ T string } }
			}
			_ = json.Unmarshal(data, &got)
			fmt.Fprintf(w, `{"pass": %t}`, got.Output == "x "+got.Context.Vars.T)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	var tests []any
	var texts []string
	for _, b := range readBraces(t) {
		text, ok := b.vars.At("t").(string)
		if b.prompt != "T {{ t }}." || !ok || text == "" {
			continue
		}
		texts = append(texts, text)
		tests = append(tests, proviso.ObjectOf("vars", proviso.ObjectOf("t", text)))
	}
	assert := `[
		{"type": "equals", "value": "x {{ t }}"},
		{"type": "contains-any", "value": ["nothing of it", "{{ t }}"]},
		{"type": "javascript", "value": "output === 'x ' + context.vars.t"},
		{"type": "equals", "transform": "output.slice(2)", "value": "{{ t }}", "metric": "m {{ t }}"},
		{"type": "webhook", "value": "` + server.URL + `/hook"},
		{"type": "llm-rubric", "value": "says {{ t }}"}]`
	list, err := proviso.ParseJSON(assert)
	if err != nil {
		t.Fatal(err)
	}
	config := proviso.ObjectOf("method", "POST", "headers", proviso.ObjectOf("Content-Type", "application/json"),
		"body", proviso.ObjectOf("text", "x {{ t }}", "list", []any{proviso.ObjectOf("p", "{{ prompt }}")}), "transformResponse", "json.text")
	suite := proviso.ObjectOf("prompts", []any{`{"p": "{{ t }}"}`}, "providers", []any{proviso.ObjectOf("id", server.URL, "config", config)},
		"defaultTest", proviso.ObjectOf("assert", list, "options", proviso.ObjectOf("storeOutputAs", "stored")), "tests", tests)
	grader := &listener{asked: map[string]bool{}}
	out := outcome(t, t.Context(), string(proviso.AppendJSON(nil, suite)), nil, run.Options{Engines: run.Engines{Grader: grader, Client: server.Client()}})
	all := rows(t, out)
	if len(all) != len(texts) || len(texts) < 150 {
		t.Fatalf("%d rows of %d texts", len(all), len(texts))
	}
	for i, r := range all {
		if r.At("verdict") != "pass" {
			t.Errorf("%q: %v %s", texts[i], r.At("error"), proviso.Stringify(at(r, "gradingResult", "reason")))
			continue
		}
		text := at(r, "vars", "t")
		if resolved := at(r, "resolvedVars", "t"); resolved != nil {
			text = resolved
		}
		if !grader.asked["says "+proviso.ToString(text)] {
			t.Errorf("%q: the rubric does not have %q", texts[i], text)
		}
		if scores, _ := r.At("namedScores").(*proviso.Object); !scores.Has("m " + proviso.ToString(text)) {
			t.Errorf("%q: the metric is %s", texts[i], proviso.Stringify(scores))
		}
	}
}
