package server_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// realJudge uses a model that returns the answers of a test, without retries.
func realJudge(t *testing.T, reply func(fakemodel.Request) fakemodel.Reply) *judge.Judge {
	t.Helper()
	model := fakemodel.New(fakemodel.Options{Reply: reply})
	t.Cleanup(model.Close)
	o := provider.Options{
		Env:        proviso.EnvMap{"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": model.URL + "/v1"},
		MaxRetries: -1, Client: transport.New(transport.Options{Wrap: server.Waiting}).Client(),
	}
	p, err := provider.Open(proviso.ProviderSpec{ID: "openai:chat:gpt-5-mini"}, o)
	if err != nil {
		t.Fatal(err)
	}
	j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: server.Metered(p), Identity: "fake"}}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

const mixed = `{"agent_input": "Hi", "agent_output": "Hello", "assertions": [{"id": "greets", "criteria": ["It greets"]},
	{"id": "words", "check": {"type": "word-count", "value": 1}}]}`

// TestFailingJudge: if the judge fails, its assertions are undecided and the
// response explains why; deterministic assertions stay decided.
func TestFailingJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply fakemodel.Reply
		want  string
	}{
		"down":         {fakemodel.Reply{}.Failing(500, "server_error", "it broke"), "it broke"},
		"rate limited": {fakemodel.Reply{}.Failing(429, "rate_limit_exceeded", "slow down"), "slow down"},
		"out of quota": {fakemodel.Reply{}.Failing(429, "insufficient_quota", "you exceeded your quota"), "you exceeded your quota"},
		"wrong key":    {fakemodel.Reply{}.Failing(401, "invalid_api_key", "wrong key sk-secret"), "401"},
		"nonsense":     {fakemodel.Reply{Text: "It is fine, I guess."}, ""},
		"a refusal":    {fakemodel.Reply{Refusal: "I cannot help with that."}, ""},
		"slow":         {fakemodel.Reply{Hang: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, server.Options{Open: true, EvaluateLimit: 300 * time.Millisecond, Judge: realJudge(t, func(fakemodel.Request) fakemodel.Reply { return tt.reply })})
			got := f.ask("POST", "/v1/evaluate", mixed)
			var reason string
			o := got.object(t)
			if list, _ := o.At("errors").([]any); len(list) == 1 {
				reason, _ = at(list[0], "message").(string)
			}
			if got.status != 200 || o.At("score") != nil || o.At("status") != "error" || o.At("passed") != 1.0 || o.At("total") != 2.0 ||
				reason == "" || !strings.Contains(reason, tt.want) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if strings.Contains(got.body+f.log.String(), "sk-secret") {
				t.Errorf("the key is told: %s", got.body)
			}
		})
	}
}

// TestCertainFailure: a failed deterministic assertion fails the whole
// evaluation, even if the judge is unavailable.
func TestCertainFailure(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Judge: realJudge(t, func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{}.Failing(500, "server_error", "it broke")
	})})
	got := f.ask("POST", "/v1/evaluate", strings.Replace(mixed, `"value": 1`, `"value": 2`, 1))
	o := got.object(t)
	if errs, _ := o.At("errors").([]any); got.status != 200 || o.At("status") != "fail" || o.At("score") != nil || o.At("passed_threshold") != false || len(errs) != 1 {
		t.Errorf("%d %s", got.status, got.body)
	}
	list := f.ask("GET", "/v1/evaluations?status=fail", "").object(t)
	if items, _ := list.At("items").([]any); len(items) != 1 || at(items[0], "errors") != 1.0 || at(items[0], "failed") != 1.0 {
		t.Errorf("kept as %s", value.Stringify(list))
	}
}

// TestWaiting: the latency of a judge does not count as CPU time.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const latency = 20 * time.Millisecond
	f := start(t, server.Options{Open: true, Judge: realJudge(t, func(fakemodel.Request) fakemodel.Reply {
		time.Sleep(latency) // the model is slow
		return fakemodel.Reply{Text: `{"results":[{"id":"greets","criteria":[{"n":1,"reasoning":"Hello.","evidence":[],"met":true}]}]}`}
	})})
	if got := f.ask("POST", "/v1/evaluate", mixed); got.status != 200 || at(got.object(t), "score") != 1.0 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	m := regexp.MustCompile(`proviso_http_wait_seconds_sum\{project="default",route="/v1/evaluate"\} (\S+)`).FindStringSubmatch(f.ask("GET", "/metrics", "").body)
	if m == nil {
		t.Fatal("the waiting is not counted")
	}
	if waited := must2(strconv.ParseFloat(m[1], 64))(t); waited < latency.Seconds() {
		t.Errorf("waited %v s, want at least %v", waited, latency)
	}
}

// TestForbiddenJudge: a key that may not use the judge gets no verdict from it.
func TestForbiddenJudge(t *testing.T) {
	t.Parallel()
	asked := false
	f := start(t, server.Options{Judge: realJudge(t, func(fakemodel.Request) fakemodel.Reply {
		asked = true
		return fakemodel.Reply{}
	})})
	secret, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Providers: []string{"anthropic:*"}})
	got := f.ask("POST", "/v1/evaluate", mixed, bearer(secret))
	if got.status != 200 || !strings.Contains(got.body, "the key may not ask openai:chat:gpt-5-mini") || asked {
		t.Errorf("asked: %v; %d %s", asked, got.status, got.body)
	}
}

// TestSpending: the cost of an evaluation is charged to its key; a judge
// without a price costs nothing.
func TestSpending(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Judge: realJudge(t, func(fakemodel.Request) fakemodel.Reply {
		return fakemodel.Reply{Text: `{"results":[{"id":"greets","criteria":[{"n":1,"reasoning":"Hello.","evidence":[],"met":true}]}]}`,
			Usage: proviso.Usage{Prompt: 1_000_000, Total: 1_000_000}}
	})})
	budget := 0.6
	secret, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Budget: &budget})
	var statuses []int
	for range 4 {
		statuses = append(statuses, f.ask("POST", "/v1/evaluate", mixed, bearer(secret)).status)
	}
	now := must2(f.store.Key(t.Context(), key.ID))(t)
	if now.Spent <= 0 || now.Spent > budget || statuses[0] != 200 || statuses[3] != 402 {
		t.Errorf("spent %v of %v: %v", now.Spent, budget, statuses)
	}
}
