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
	"github.com/proviso-eval/proviso/value"
)

// listener is a grader that records its questions.
type listener struct {
	mu    sync.Mutex
	asked map[string]bool
}

func (l *listener) Grade(_ context.Context, q proviso.Question) (proviso.Grade, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[value.ToString(q.Value)] = true
	return proviso.Grade{Pass: true, Score: 1}, nil
}

// TestBracesElsewhere puts texts with braces where templates are rendered outside prompts: the
// body, headers and query of a provider, assertion values and rubrics, metric names, webhooks,
// transforms and stored outputs. They arrive unchanged; none is rendered as a template itself.
func TestBracesElsewhere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/hook" { // the webhook passes text with the variable twice
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
		tests = append(tests, value.ObjectOf("vars", value.ObjectOf("t", text)))
	}
	assert := `[
		{"type": "equals", "value": "x {{ t }}"},
		{"type": "contains-any", "value": ["nothing of it", "{{ t }}"]},
		{"type": "javascript", "value": "output === 'x ' + context.vars.t"},
		{"type": "equals", "transform": "output.slice(2)", "value": "{{ t }}", "metric": "m {{ t }}"},
		{"type": "webhook", "value": "` + server.URL + `/hook"},
		{"type": "llm-rubric", "value": "says {{ t }}"}]`
	list, err := value.ParseJSON(assert)
	if err != nil {
		t.Fatal(err)
	}
	config := value.ObjectOf("method", "POST", "headers", value.ObjectOf("Content-Type", "application/json"),
		"body", value.ObjectOf("text", "x {{ t }}", "list", []any{value.ObjectOf("p", "{{ prompt }}")}), "transformResponse", "json.text")
	suite := value.ObjectOf("prompts", []any{`{"p": "{{ t }}"}`}, "providers", []any{value.ObjectOf("id", server.URL, "config", config)},
		"defaultTest", value.ObjectOf("assert", list, "options", value.ObjectOf("storeOutputAs", "stored")), "tests", tests)
	grader := &listener{asked: map[string]bool{}}
	out := outcome(t, t.Context(), string(value.AppendJSON(nil, suite)), nil, run.Options{Engines: run.Engines{Grader: grader, Client: server.Client()}})
	all := rows(t, out)
	if len(all) != len(texts) || len(texts) < 150 {
		t.Fatalf("%d rows of %d texts", len(all), len(texts))
	}
	for i, r := range all {
		if r.At("verdict") != "pass" {
			t.Errorf("%q: %v %s", texts[i], r.At("error"), value.Stringify(at(r, "gradingResult", "reason")))
			continue
		}
		text := at(r, "vars", "t")
		if resolved := at(r, "resolvedVars", "t"); resolved != nil {
			text = resolved
		}
		if !grader.asked["says "+value.ToString(text)] {
			t.Errorf("%q: the rubric does not have %q", texts[i], text)
		}
		if scores, _ := r.At("namedScores").(*value.Object); !scores.Has("m " + value.ToString(text)) {
			t.Errorf("%q: the metric is %s", texts[i], value.Stringify(scores))
		}
	}
}
