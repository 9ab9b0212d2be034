package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/server"
	"github.com/proviso-eval/proviso/store"
	"github.com/proviso-eval/proviso/value"
)

// asking asks a model that echoes its prompt.
func asking(t *testing.T) *server.Asking {
	t.Helper()
	model := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if strings.Contains(r.Prompt, "fail") {
			return fakemodel.Reply{}.Failing(401, "invalid_api_key", "wrong key "+r.Header.Get("Authorization"))
		}
		return fakemodel.Reply{Text: "You said: " + r.Prompt, Usage: proviso.Usage{Prompt: 1000, Completion: 100, Total: 1100}}
	}})
	t.Cleanup(model.Close)
	return &server.Asking{Engine: engine.Options{Engines: engine.Engines{
		Env:    proviso.EnvMap{"OPENAI_API_KEY": "sk-secret-of-the-server", "OPENAI_BASE_URL": model.URL + "/v1"},
		Client: transport.New(transport.Options{}).Client(),
	}}}
}

const ofModel = `{"provider": "openai:chat:gpt-5-mini", "prompt": "Tell me about {{topic}}.", "vars": {"topic": "lamps {{ nothing }}"}}`

// TestAnswers: the server renders a client's prompt with its variables and sends it, under the
// rules for client suites.
func TestAnswers(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true, Asker: asking(t)})
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"a text", ofModel, 200, `{"output":"You said: Tell me about lamps {{ nothing }}."`},
		{"a chat", `{"provider": "openai:chat:gpt-5-mini", "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "About {{topic}}?"}], "vars": {"topic": "\"chairs\""}}`,
			200, `"output":"You said: About \"chairs\"?"`},
		{"echo", `{"provider": "echo", "prompt": "{% for x in list %}{{ x }},{% endfor %}", "vars": {"list": [1, 2]}}`, 200, `"output":"1,2,"`},
		{"a template without an end", `{"provider": "echo", "prompt": "{% for x in list %}"}`, 422, "/prompt"},
		{"a loop without an end", `{"provider": "echo", "prompt": [{"role": "user", "content": "{% for a in range(100000) %}{% for b in range(100000) %}{% set c = b %}{% endfor %}{% endfor %}"}]}`, 422, "/prompt/0/content"},
		{"the environment", `{"provider": "echo", "prompt": "({{ env.OPENAI_API_KEY }})"}`, 200, `"output":"()"`},
		{"a file", `{"provider": "file://provider.py", "prompt": "x"}`, 403, "does not do for clients"},
		{"a recording", `{"provider": "recorded:answers.json", "prompt": "x"}`, 403, "does not do for clients"},
		{"a command", `{"provider": "exec: cat /etc/passwd", "prompt": "x"}`, 403, "does not do for clients"},
		{"an address", `{"provider": "http://169.254.169.254/latest", "prompt": "x"}`, 403, "does not do for clients"},
		{"a webhook", `{"provider": "webhook:http://127.0.0.1/", "prompt": "x"}`, 403, "does not do for clients"},
		{"nobody", `{"provider": "nobody:x", "prompt": "x"}`, 422, "nobody"},
		{"no provider", `{"provider": "", "prompt": "x"}`, 422, "/provider"},
		{"a vendor without a key", `{"provider": "mistral:mistral-large-latest", "prompt": "x"}`, 503, "no key for mistral"},
		{"a number", `{"provider": "echo", "prompt": 7}`, 422, "/prompt"},
		{"no messages", `{"provider": "echo", "prompt": ["x"]}`, 422, "/prompt/0"},
		{"an error of the vendor", `{"provider": "openai:chat:gpt-5-mini", "prompt": "fail"}`, 503, "wrong key"},
	} {
		got := f.ask("POST", "/v1/answers", tt.body)
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %d %s", tt.name, got.status, got.body)
		}
		if strings.Contains(got.body, "sk-secret") {
			t.Errorf("%s: the key is told: %s", tt.name, got.body)
		}
	}
	got := f.ask("POST", "/v1/answers", ofModel).object(t)
	if got.Object("usage").At("total") == 0.0 || got.At("cost") == nil || got.At("latency_ms") == nil {
		t.Errorf("what it took: %s", value.Stringify(got))
	}
	if got := start(t, server.Options{Open: true}).ask("POST", "/v1/answers", ofModel); got.status != 422 || got.problem(t).Code != "unsupported" {
		t.Errorf("a server that asks nobody: %d %s", got.status, got.body)
	}
}

// TestAnswersOfKeys: a key can only ask what it may, and pays for it.
func TestAnswersOfKeys(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Asker: asking(t)})
	budget := 0.0000001
	poor, key := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Budget: &budget})
	one := f.ask("POST", "/v1/answers", ofModel, bearer(poor))
	if one.status != 200 {
		t.Fatalf("%d %s", one.status, one.body)
	}
	if now, err := f.store.Key(t.Context(), key.ID); err != nil || now.Spent != one.object(t).At("cost") {
		t.Errorf("charged %v of %s: %v", now.Spent, one.body, err)
	}
	if got := f.ask("POST", "/v1/answers", strings.Replace(ofModel, "Tell", "Say", 1), bearer(poor)); got.status != 402 {
		t.Errorf("beyond the budget: %d %s", got.status, got.body)
	}
	narrow, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Evaluate}, Providers: []string{"anthropic:*"}})
	for _, provider := range []string{"openai:chat:gpt-5-mini", "echo"} {
		if got := f.ask("POST", "/v1/answers", `{"provider": "`+provider+`", "prompt": "x"}`, bearer(narrow)); got.status != 403 {
			t.Errorf("%s: %d %s", provider, got.status, got.body)
		}
	}
	reader, _ := f.key(store.NewKey{Scopes: []store.Scope{store.Read, store.Labelling, store.Edit, store.Ingest}})
	if got := f.ask("POST", "/v1/answers", ofModel, bearer(reader)); got.status != 403 {
		t.Errorf("a key that may not evaluate: %d %s", got.status, got.body)
	}
	for who, want := range map[string]map[string]bool{narrow: {"anthropic": true, "openai": false, "echo": false}, poor: {"anthropic": true, "openai": true, "echo": true}} {
		list := f.ask("GET", "/v1/providers", "", bearer(who)).object(t).At("items").([]any)
		for _, e := range list {
			if id, _ := at(e, "id").(string); want[id] != at(e, "allowed").(bool) && (id == "anthropic" || id == "openai" || id == "echo") {
				t.Errorf("%v: %s", want, value.Stringify(e))
			}
		}
	}
}

// TestAnswerOfSlowModel: a call ends at its time limit.
func TestAnswerOfSlowModel(t *testing.T) {
	t.Parallel()
	model := fakemodel.New(fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Hang: true} }})
	t.Cleanup(model.Close)
	f := start(t, server.Options{Open: true, EvaluateLimit: 200 * time.Millisecond, Asker: &server.Asking{Engine: engine.Options{Engines: engine.Engines{
		Env: proviso.EnvMap{"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": model.URL + "/v1"}, Client: transport.New(transport.Options{}).Client(),
	}}}})
	if got := f.ask("POST", "/v1/answers", ofModel); got.status != 504 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestLint: findings about the wording have their pointers into the request.
func TestLint(t *testing.T) {
	t.Parallel()
	f := start(t, server.Options{Open: true})
	got := f.ask("POST", "/v1/lint", `{"assertions": [{"id": "fine", "criteria": ["The output names the price"]}, {"id": "long", "criteria": ["The output names the price", "The output has at most 3 sentences"]}]}`)
	if got.status != 200 || !strings.HasPrefix(got.body, `{"items":[{"index":0,"id":"fine","findings":[]},{"index":1,"id":"long","findings":[{"rule":"count","pointer":"/assertions/1/criteria/1",`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	for body, want := range map[string]string{
		`{"assertions": [{"id": "x", "critera": ["y"]}]}`: "criteria",
		`{"assertions": []}`:                              "no assertions",
		`{}`:                                              "assertions",
		`{"prompt": "x", "assertions": [{"id":"a","criteria":["b"]}]}`: "unknown field",
	} {
		if got := f.ask("POST", "/v1/lint", body); got.status != 422 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}
