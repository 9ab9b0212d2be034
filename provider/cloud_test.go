package provider_test

import (
	"math"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// serveCloud opens a cloud provider in front of a fake server.
func serveCloud(t testing.TB, id, config string, f fakemodel.Options) fixture {
	t.Helper()
	s := fakemodel.New(f)
	t.Cleanup(s.Close)
	v, err := value.ParseJSON(config)
	if err != nil {
		t.Fatal(err)
	}
	cfg := v.(*value.Object)
	cfg.Set("apiBaseUrl", s.URL)
	env := proviso.EnvMap{"AWS_BEARER_TOKEN_BEDROCK": secret, "GOOGLE_CLOUD_PROJECT": "p", "HOME": "/nowhere"}
	if !cfg.Has("apiKey") && strings.HasPrefix(id, "vertex:") {
		cfg.Set("credentials", serviceAccount(t))
	}
	n := &naps{}
	p, err := provider.Open(proviso.ProviderSpec{ID: id, Config: cfg}, provider.Options{Env: env, LoginClient: (&desk{expires: 3600}).client(), Sleep: n.sleep, Now: n.clock(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return fixture{p, s, n}
}

func TestCloudRequests(t *testing.T) {
	t.Parallel()
	const tools = `[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"name":"g","input_schema":{"type":"object"}},{"toolSpec":{"name":"h"}}]`
	for _, tc := range []struct {
		name, id, config, prompt, path, want string
	}{
		{"converse", "bedrock:us.amazon.nova-lite-v1:0", `{}`, "hi", "/model/us.amazon.nova-lite-v1%3A0/converse",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`},
		{"by name", "bedrock:converse:mistral.mistral-large-2402-v1:0", `{}`, "hi", "/model/mistral.mistral-large-2402-v1%3A0/converse",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`},
		{"profile", "bedrock:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-7-v1:0", `{"temperature":0}`, "hi",
			"/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-opus-4-7-v1%3A0/converse",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`},
		{"settings", "bedrock:anthropic.claude-3-haiku-20240307-v1:0",
			`{"max_tokens":9,"temperature":0.5,"topP":0.9,"stop":["x"],"tools":` + tools + `,"tool_choice":"required","guardrailIdentifier":"g1","guardrailVersion":2,"thinking":{"type":"enabled","budget_tokens":2000},"serviceTier":{"type":"flex"}}`, "hi", "",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":9,"temperature":0.5,"topP":0.9,"stopSequences":["x"]},` +
				`"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"g","inputSchema":{"json":{"type":"object"}}}},{"toolSpec":{"name":"h"}}],"toolChoice":{"any":{}}},` +
				`"guardrailConfig":{"guardrailIdentifier":"g1","guardrailVersion":"2"},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}},"serviceTier":{"type":"flex"}}`},
		{"reasoning", "bedrock:amazon.nova-2-lite-v1:0", `{"max_tokens":9,"temperature":0.5,"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}}`, "hi", "",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}}}`},
		{"chat", "bedrock:meta.llama3-3-70b-instruct-v1:0", `{}`,
			`[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`, "",
			`{"messages":[{"role":"user","content":[{"text":"hi"},{"text":"what?"},{"image":{"format":"png","source":{"bytes":"QUJD"}}}]}],"system":[{"text":"be brief"}]}`},
		{"after a tool", "bedrock:cohere.command-r-v1:0", `{}`, toolTurn, "",
			`{"messages":[{"role":"user","content":[{"text":"w?"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{"a":1}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"sunny"}]}}]}]}`},
		{"gemini", "vertex:gemini-2.5-flash", `{"region":"europe-west1","temperature":0}`, "hi", "/v1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"temperature":0}}`},
		{"claude", "vertex:claude-sonnet-4-5@20250929", `{"beta":["b1"]}`, "hi", "/v1/projects/p/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":1024,"temperature":0,"anthropic_version":"vertex-2023-10-16","anthropic_beta":["b1"]}`},
		{"a new claude", "vertex:claude-opus-4-7@default", `{}`, "hi", "",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":1024,"anthropic_version":"vertex-2023-10-16"}`},
		{"messages", "vertex:messages:claude-sonnet-4-6", `{"max_tokens":4096,"temperature":0.2}`, "hi", "/v1/projects/p/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-6:rawPredict",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":4096,"temperature":0.2,"anthropic_version":"vertex-2023-10-16"}`},
		{"messages of a deployment", "vertex:messages:my-model", `{"temperature":0.2}`, "hi", "/v1/projects/p/locations/us-central1/publishers/anthropic/models/my-model:rawPredict", ""},
		{"a key alone", "vertex:chat:gemini-2.5-flash", `{"apiKey":"k","apiVersion":"v1beta1"}`, "hi", "/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := serveCloud(t, tc.id, tc.config, replies(fine))
			if out, err := f.ask(t, tc.prompt); err != nil || out.Value != "fine" {
				t.Fatalf("%v, %v", out.Value, err)
			}
			got := f.server.Last()
			if g := value.Stringify(got.Body); g != tc.want && tc.want != "" {
				t.Errorf("body\n got %s\nwant %s", g, tc.want)
			}
			if tc.path != "" && got.Path != tc.path {
				t.Errorf("path\n got %s\nwant %s", got.Path, tc.path)
			}
		})
	}
	f := serveCloud(t, "bedrock:amazon.nova-lite-v1:0", `{}`, replies(fine))
	_, err := f.ask(t, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}]`)
	coded(t, err, proviso.Invalid)
}

func TestCloudOutputs(t *testing.T) {
	t.Parallel()
	call := fakemodel.Call{ID: "c1", Name: "f", Arguments: `{"a":1}`}
	const calls = `[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
	for _, tc := range []struct {
		name, id, config string
		reply            fakemodel.Reply
		value, finish    string
		calls            string
		refused          bool
	}{
		{"text", "bedrock:amazon.nova-lite-v1:0", `{}`, fakemodel.Reply{Text: "hello"}, "hello", "stop", "", false},
		{"thinking", "bedrock:anthropic.claude-3", `{}`, fakemodel.Reply{Text: "42", Thinking: "hm"}, "<thinking>\nhm\n</thinking>\n\nSignature: sig\n\n42", "stop", "", false},
		{"thinking hidden", "bedrock:anthropic.claude-3", `{"showThinking":false}`, fakemodel.Reply{Text: "42", Thinking: "hm"}, "42", "stop", "", false},
		{"call", "bedrock:anthropic.claude-3", `{}`, fakemodel.Reply{Calls: []fakemodel.Call{call}}, `{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}`, "tool_calls", calls, false},
		{"cut", "bedrock:anthropic.claude-3", `{}`, fakemodel.Reply{Text: "half", FinishReason: "max_tokens"}, "half", "length", "", false},
		{"window", "bedrock:anthropic.claude-3", `{}`, fakemodel.Reply{Text: "half", FinishReason: "model_context_window_exceeded"}, "half", "length", "", false},
		{"guardrail", "bedrock:anthropic.claude-3", `{}`, fakemodel.Reply{Text: "Sorry.", FinishReason: "guardrail_intervened"}, "Sorry.", "content_filter", "", true},
		{"claude on vertex", "vertex:claude-3-5-haiku", `{}`, fakemodel.Reply{Text: "hello"}, "hello", "stop", "", false},
		{"gemini on vertex", "vertex:gemini-2.5-pro", `{}`, fakemodel.Reply{Text: "hello"}, "hello", "stop", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			out, err := serveCloud(t, tc.id, tc.config, replies(tc.reply)).ask(t, "hi")
			if err != nil || out.Value != tc.value || out.FinishReason != tc.finish || out.Refused != tc.refused || listed(out.ToolCalls) != tc.calls {
				t.Errorf("%q, %s, refused %t, calls %s, %v", out.Value, out.FinishReason, out.Refused, listed(out.ToolCalls), err)
			}
		})
	}
	out, err := serveCloud(t, "bedrock:meta.llama4-scout", `{}`, replies(fakemodel.Reply{FinishReason: "malformed_tool_use"})).ask(t, "hi")
	if err != nil || !strings.Contains(out.Error, "malformed_tool_use") {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = serveCloud(t, "bedrock:meta.llama4-scout", `{}`, replies(fakemodel.Reply{Raw: `{"output":{}}`})).ask(t, "hi")
	coded(t, err, proviso.Unavailable)
}

func TestCloudUsageAndCost(t *testing.T) {
	t.Parallel()
	usage := fakemodel.Reply{Text: "x", Usage: proviso.Usage{Prompt: 1000, Completion: 100, Cached: 300}, Written: 500}
	claude := (200*3 + 300*0.3 + 500*3.75 + 100*15) / 1e6
	for id, want := range map[string]float64{
		"bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0":                                               claude,
		"bedrock:arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0": claude,
		"vertex:claude-sonnet-4-5@20250929":                                                                  claude,
		"bedrock:amazon.nova-lite-v1:0":                                                                      (200*0.06 + 300*0.015 + 500*0.06 + 100*0.24) / 1e6,
		"bedrock:apac.amazon.nova-pro-v1:0:300k":                                                             (200*0.8 + 300*0.2 + 500*0.8 + 100*3.2) / 1e6,
		"bedrock:somebody.model-v1:0":                                                                        -1,
	} {
		out, err := serveCloud(t, id, `{}`, replies(usage)).ask(t, "hi")
		if err != nil || out.Usage != (proviso.Usage{Prompt: 1000, Completion: 100, Cached: 300, Total: 1100, Requests: 1}) {
			t.Errorf("%s: %+v, %v", id, out.Usage, err)
		}
		if want < 0 && out.Cost != nil || want >= 0 && (out.Cost == nil || math.Abs(*out.Cost-want) > 1e-12) {
			t.Errorf("%s: cost %v, want %v", id, out.Cost, want)
		}
	}
}

func TestCloudReplies(t *testing.T) {
	t.Parallel()
	const answer = `{"why":"because","met":true}`
	for _, tc := range []struct{ id, config, want string }{
		{"bedrock:amazon.nova-lite-v1:0", `{}`, `"toolConfig":{"tools":[{"toolSpec":{"name":"verdicts","description":"Gives the answer.","inputSchema":{"json":` + verdictSchema + `}}}],"toolChoice":{"tool":{"name":"verdicts"}}}`},
		{"vertex:claude-sonnet-4@20250514", `{}`, `"tool_choice":{"type":"tool","name":"verdicts"}`},
		{"vertex:claude-sonnet-4-5@20250929", `{}`, `"output_config":{"format":{"type":"json_schema","schema":` + verdictSchema + `}}`},
		{"vertex:gemini-2.5-pro", `{}`, `"responseMimeType":"application/json","responseSchema":{`},
		{"bedrock:anthropic.claude-3-7-sonnet-20250219-v1:0", `{"thinking":{"type":"enabled","budget_tokens":1024}}`, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}}}`},
		{"bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0", `{}`, `"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + value.Stringify(verdictSchema) + `,"name":"verdicts"}}}}`},
	} {
		f := serveCloud(t, tc.id, tc.config, replies(fakemodel.Reply{Text: answer}))
		out, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)})
		if body := value.Stringify(f.server.Last().Body); err != nil || out.Value != answer || out.ToolCalls != nil || out.FinishReason != "stop" || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %v, %v\n got %s\nwant %s", tc.id, out.Value, err, body, tc.want)
		}
	}
	for id, want := range map[string]string{
		"bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": `"system":[{"text":"s"},{"cachePoint":{"type":"default"}}]`,
		"bedrock:meta.llama3-3-70b-instruct-v1:0":              `"system":[{"text":"s"}]`,
		"vertex:claude-sonnet-4-5":                             `"cache_control":{"type":"ephemeral"}`,
	} {
		f := serveCloud(t, id, `{}`, replies(fine))
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: `[{"role":"system","content":"s"},{"role":"user","content":"u"}]`, Static: 1})
		if body := value.Stringify(f.server.Last().Body); err != nil || !strings.Contains(body, want) {
			t.Errorf("%s: %v\n got %s\nwant %s", id, err, body, want)
		}
	}
}

func TestCloudEmbeddings(t *testing.T) {
	t.Parallel()
	for id, requests := range map[string]int{
		"bedrock:embeddings:amazon.titan-embed-text-v2:0": 2, "bedrock:embeddings:cohere.embed-english-v3": 1, "vertex:embedding:text-embedding-005": 1,
	} {
		f := serveCloud(t, id, `{}`, replies(fakemodel.Reply{Vector: []float64{0.1, 0.2, 0.3}, Usage: proviso.Usage{Prompt: 4}}))
		v, usage, err := f.Provider.(proviso.Embedder).Embed(t.Context(), []string{"a", "b"})
		if err != nil || len(v) != 2 || len(v[1]) != 3 || f.server.Count() != requests || usage.Requests != int64(requests) {
			t.Errorf("%s: %v, %+v, %v after %d requests", id, v, usage, err, f.server.Count())
		}
	}
}

// TestCloudFaults checks the messages for Amazon's errors, including an unknown
// model.
func TestCloudFaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reply fakemodel.Reply
		want  string
		asked int // requests after two calls
	}{
		{fakemodel.Reply{}.Failing(400, "ValidationException:http://internal.amazon.com/", "The provided model identifier is invalid."), "HTTP 400: The provided model identifier is invalid.", 1},
		{fakemodel.Reply{}.Failing(403, "AccessDeniedException", "You don't have access to the model with the specified model ID."), "HTTP 403: You don't have access", 1},
		{fakemodel.Reply{Status: 403, Raw: `{"Message":"The security token included in the request is invalid."}`}, "HTTP 403: The security token", 1},
		{fakemodel.Reply{}.Failing(400, "ValidationException", "Malformed input request"), "HTTP 400: Malformed input request", 2},
		{fakemodel.Reply{}.Failing(429, "ThrottlingException", "Too many requests, please wait before trying again."), "HTTP 429: Too many requests", 10},
	} {
		f := serveCloud(t, "bedrock:amazon.nova-lite-v1:0", `{}`, replies(tc.reply))
		for range 2 {
			_, err := f.ask(t, "hi")
			if e := coded(t, err, proviso.Unavailable); !strings.Contains(e.Error(), tc.want) {
				t.Errorf("%v, want %s", e, tc.want)
			}
		}
		if f.server.Count() != tc.asked {
			t.Errorf("%s: asked %d times, want %d", tc.want, f.server.Count(), tc.asked)
		}
	}
}

func TestCloudMistakes(t *testing.T) {
	t.Parallel()
	env := proviso.EnvMap{"AWS_BEARER_TOKEN_BEDROCK": secret, "VERTEX_API_KEY": secret}
	for _, tc := range []struct{ id, config, code, want string }{
		{"bedrock:", `{}`, proviso.Invalid, "name of a model"},
		{"bedrock:kb:x", `{}`, proviso.Unsupported, "bedrock:kb"},
		{"bedrock:x", `{"region":"us east"}`, proviso.Invalid, "region"},
		{"vertex:", `{}`, proviso.Invalid, "name of a model"},
		{"vertex:live:x", `{}`, proviso.Unsupported, "vertex:live"},
		{"vertex:messages:", `{}`, proviso.Invalid, "credentials"},
		{"vertex:messages:gemini-2.5-pro", `{}`, proviso.Invalid, "use vertex:gemini-2.5-pro"},
		{"vertex:claude-3", `{}`, proviso.Invalid, "credentials"},
		{"vertex:llama", `{"publisher":"meta"}`, proviso.Unsupported, "meta"},
		{"vertex:gemini", `{"apiVersion":"v1/x"}`, proviso.Invalid, "apiVersion"},
		{"vertex:gemini", `{"expressMode":false,"credentials":"nonsense"}`, proviso.Invalid, "JSON"},
		{"vertex:gemini", `{"expressMode":false,"credentials":{"type":"magic"}}`, proviso.Invalid, "magic"},
		{"vertex:gemini", `{"expressMode":false,"credentials":"file://no.json"}`, proviso.NotFound, "no.json"},
	} {
		_, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: parse(t, tc.config)}, provider.Options{Env: env, Files: files{}})
		if e := coded(t, err, tc.code); !strings.Contains(e.Error(), tc.want) {
			t.Errorf("%s %s: %v", tc.id, tc.config, e)
		}
	}
}
