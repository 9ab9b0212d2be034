package provider_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

func parse(t *testing.T, text string) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(*value.Object)
}

const (
	chat     = `[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"},{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}]`
	toolTurn = `[{"role":"user","content":"w?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"sunny"}]`
)

// TestRequests compares whole bodies, and the path, with the vendors' references.
func TestRequests(t *testing.T) {
	t.Parallel()
	f := files{
		"tools.yaml":  "- type: function\n  function: {name: f, parameters: {type: object}}\n",
		"one.json":    `{"type":"function","function":{"name":"g"}}`,
		"schema.json": `{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":{"type":"object"}}}`,
	}
	for _, tc := range []struct {
		name, id, config, prompt, ask, path, want string
	}{
		{name: "text", id: "openai:chat:gpt-4o", prompt: "hi", path: "/v1/chat/completions",
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"temperature":0,"max_tokens":1024}`},
		{name: "chat", id: "openai:gpt-4o", prompt: chat, path: "/v1/chat/completions",
			want: `{"model":"gpt-4o","messages":` + chat + `,"temperature":0,"max_tokens":1024}`},
		{name: "chat in YAML", id: "openai:gpt-4o", prompt: "- role: user\n  content: hi\n", config: `{"omitDefaults":true}`,
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`},
		{name: "JSON that is no chat", id: "openai:gpt-4o", prompt: `[1, 2]`, config: `{"omitDefaults":true}`,
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"[1, 2]"}]}`},
		{name: "settings", id: "openai:chat:gpt-4o", prompt: "hi",
			config: `{"temperature":0.5,"max_tokens":9,"seed":1,"stop":["x"],"logprobs":true,"top_p":0.9,"apiKey":"sk-own-key","headers":{"X-A":"b"},"unknown":1,"passthrough":{"unknown":2,"seed":3}}`,
			want:   `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"top_p":0.9,"max_tokens":9,"seed":3,"stop":["x"],"logprobs":true,"unknown":2}`},
		{name: "settings of the question", id: "openai:chat:gpt-4o", prompt: "hi", config: `{"temperature":0.5,"max_tokens":9}`, ask: `{"temperature":1,"response_format":"file://schema.json"}`,
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"temperature":1,"max_tokens":9,"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":{"type":"object"}}}}`},
		{name: "tools from a file", id: "openai:chat:gpt-4o", prompt: "hi", config: `{"omitDefaults":true,"tools":"file://tools.yaml","tool_choice":"auto"}`,
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"auto"}`},
		{name: "tools from files", id: "openai:chat:gpt-4o", prompt: "hi", config: `{"omitDefaults":true,"tools":["file://tools.yaml","file://one.json"]}`,
			want: `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}}]}`},
		{name: "reasoning", id: "openai:chat:gpt-5-mini", prompt: "hi", config: `{"temperature":0,"max_tokens":100,"max_completion_tokens":500,"reasoning":{"effort":"low"}}`,
			want: `{"model":"gpt-5-mini","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":500,"reasoning_effort":"low"}`},
		{name: "reasoning by another name", id: "openrouter:openai/o3", prompt: "hi", config: `{"reasoning":{"effort":"low"}}`, path: "/v1/chat/completions",
			want: `{"model":"openai/o3","messages":[{"role":"user","content":"hi"}],"reasoning":{"effort":"low"}}`},
		{name: "model with colons", id: "openrouter:meta/llama:free", prompt: "hi", config: `{"omitDefaults":true}`,
			want: `{"model":"meta/llama:free","messages":[{"role":"user","content":"hi"}]}`},
		{name: "completion", id: "openai:completion:davinci-002", prompt: "Once", path: "/v1/completions",
			want: `{"model":"davinci-002","prompt":"Once","temperature":0,"max_tokens":1024}`},
		{name: "responses", id: "openai:responses:gpt-4.1", prompt: "hi", path: "/v1/responses",
			config: `{"max_tokens":50,"instructions":"be brief","response_format":"file://schema.json","tools":[{"type":"mcp","server_label":"d"}]}`,
			want:   `{"model":"gpt-4.1","input":"hi","instructions":"be brief","tools":[{"type":"mcp","server_label":"d"}],"max_output_tokens":50,"temperature":0,"text":{"format":{"type":"json_schema","name":"s","strict":true,"schema":{"type":"object"}}}}`},
		{name: "responses of a model that reasons", id: "openai:responses:o3", prompt: toolTurn, config: `{"reasoning_effort":"high","temperature":0}`,
			want: `{"model":"o3","input":` + toolTurn + `,"reasoning":{"effort":"high"}}`},
		{name: "a new model alone", id: "openai:gpt-5.6", prompt: "hi", path: "/v1/responses", want: `{"model":"gpt-5.6","input":"hi"}`},
		{name: "a newer model with a date", id: "openai:gpt-7-mini-2027-01-31", prompt: "hi", path: "/v1/responses", config: `{"omitDefaults":true}`, want: `{"model":"gpt-7-mini-2027-01-31","input":"hi"}`},
		{name: "the newest of two digits", id: "openai:gpt-5.10", prompt: "hi", path: "/v1/responses", want: `{"model":"gpt-5.10","input":"hi"}`},
		{name: "a model before it", id: "openai:gpt-5.5", prompt: "hi", path: "/v1/chat/completions", want: `{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}]}`},
		{name: "a name of Azure", id: "openai:gpt-35-turbo", prompt: "hi", path: "/v1/chat/completions", config: `{"omitDefaults":true}`, want: `{"model":"gpt-35-turbo","messages":[{"role":"user","content":"hi"}]}`},
		{name: "a pro model with a date", id: "openai:o3-pro-2025-06-10", prompt: "hi", path: "/v1/responses", want: `{"model":"o3-pro-2025-06-10","input":"hi"}`},
		{name: "chat where it is said", id: "openai:chat:gpt-5.6", prompt: "hi", path: "/v1/chat/completions", want: `{"model":"gpt-5.6","messages":[{"role":"user","content":"hi"}]}`},
		{name: "chat without a model", id: "openai:chat", prompt: "hi", path: "/v1/chat/completions", want: `{"model":"gpt-5.6-terra","messages":[{"role":"user","content":"hi"}]}`},
		{name: "the model of the configuration", id: "openai:responses", prompt: "hi", path: "/v1/responses", config: `{"model":"gpt-5.6-luna"}`, want: `{"model":"gpt-5.6-luna","input":"hi"}`},
		{name: "any claude", id: "anthropic:claude-nova-9", prompt: "hi", path: "/v1/messages", config: `{"max_tokens":5}`,
			want: `{"model":"claude-nova-9","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":5}`},
		{name: "anthropic", id: "anthropic:messages:claude-3-5-haiku-20241022", prompt: chat, path: "/v1/messages",
			want: `{"model":"claude-3-5-haiku-20241022","system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"yes?"}]},{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"image","source":{"type":"url","url":"https://x.test/a.png"}}]}],"max_tokens":1024,"temperature":0}`},
		{name: "anthropic after a tool", id: "anthropic:claude-opus-4-8", prompt: toolTurn, config: `{"max_tokens":7}`,
			want: `{"model":"claude-opus-4-8","messages":[{"role":"user","content":[{"type":"text","text":"w?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sunny"}]}],"max_tokens":7}`},
		{name: "anthropic without a temperature", id: "anthropic:claude-sonnet-5-5", prompt: "hi", config: `{"temperature":0,"top_p":0.5,"top_k":3}`,
			want: `{"model":"claude-sonnet-5-5","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"max_tokens":8192}`},
		{name: "anthropic's alias", id: "anthropic:claude-sonnet-4", prompt: "hi", config: `{"temperature":0.5}`,
			want: `{"model":"claude-sonnet-4","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"temperature":0.5,"max_tokens":1024}`},
		{name: "anthropic thinking", id: "anthropic:messages:claude-sonnet-4-5", prompt: `[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"q"}]`,
			config: `{"thinking":{"type":"enabled","budget_tokens":4000},"extra_body":{"x":1}}`,
			want:   `{"model":"claude-sonnet-4-5","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}],"thinking":{"type":"enabled","budget_tokens":4000},"max_tokens":5024,"x":1}`},
		{name: "google", id: "google:gemini-2.5-flash", prompt: chat, path: "/v1beta/models/gemini-2.5-flash:generateContent",
			config: `{"temperature":0.2,"maxOutputTokens":5,"generationConfig":{"topK":3},"tools":"file://tools.yaml"}`,
			want:   `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"yes?"}]},{"role":"user","parts":[{"text":"what is it?"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"fileData":{"fileUri":"https://x.test/a.png"}}]}],"systemInstruction":{"parts":[{"text":"be brief"}]},"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"object"}}]}],"generationConfig":{"temperature":0.2,"maxOutputTokens":5,"topK":3}}`},
		{name: "google's own form", id: "google:gemini-2.5-flash", prompt: `{"contents":[{"parts":[{"text":"hi"}]}]}`, config: `{"systemInstruction":"be brief","responseSchema":{"type":"object"}}`,
			want: `{"contents":[{"parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"be brief"}]},"generationConfig":{"responseSchema":{"type":"object"},"responseMimeType":"application/json"}}`},
		{name: "ollama", id: "ollama:chat:llama3.2:1b", prompt: `[{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]`, path: "/api/chat",
			config: `{"num_predict":5,"think":false,"max_tokens":3,"passthrough":{"format":"json","options":{"seed":1}}}`,
			want:   `{"model":"llama3.2:1b","messages":[{"role":"user","content":"what?","images":["QUJD"]}],"stream":false,"think":false,"format":"json","options":{"num_predict":5,"seed":1}}`},
		{name: "ollama after a tool", id: "ollama:chat:llama3", prompt: toolTurn,
			want: `{"model":"llama3","messages":[{"role":"user","content":"w?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":{"a":1}}}]},{"role":"tool","tool_call_id":"c1","content":"sunny"}],"stream":false}`},
		{name: "ollama completion", id: "ollama:llama3.2:1b", prompt: "Once", path: "/api/generate", want: `{"model":"llama3.2:1b","prompt":"Once","stream":false}`},
		{name: "azure", id: "azure:chat:mine", prompt: "hi", config: `{"omitDefaults":true}`, path: "/openai/deployments/mine/chat/completions?api-version=2024-12-01-preview",
			want: `{"model":"mine","messages":[{"role":"user","content":"hi"}]}`},
		{name: "azure with a model that reasons", id: "azure:chat:mine", prompt: "hi", config: `{"modelName":"o3","apiVersion":"v9"}`, path: "/openai/deployments/mine/chat/completions?api-version=v9",
			want: `{"model":"mine","messages":[{"role":"user","content":"hi"}]}`},
		{name: "azure responses", id: "azure:responses:mine", prompt: "hi", config: `{"omitDefaults":true}`, path: "/openai/v1/responses?api-version=preview",
			want: `{"model":"mine","input":"hi"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(fakemodel.Options{})
			defer s.Close()
			cfg, env := value.NewObject(1), environment(s.URL)
			if tc.config != "" {
				cfg = parse(t, tc.config)
			}
			if strings.HasPrefix(tc.id, "openrouter:") {
				env["OPENROUTER_API_KEY"] = secret
				cfg.Set("apiBaseUrl", s.URL+"/v1/")
			}
			p, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: cfg}, provider.Options{Env: env, Files: f})
			if err != nil {
				t.Fatal(err)
			}
			ask := proviso.Ask{Prompt: tc.prompt}
			if tc.ask != "" {
				ask.Config = parse(t, tc.ask)
			}
			before := value.Stringify(cfg)
			if _, err := p.Answer(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			got := s.Last()
			if g := value.Stringify(got.Body); g != tc.want {
				t.Errorf("body\n got %s\nwant %s", g, tc.want)
			}
			if tc.path != "" && got.Path != tc.path {
				t.Errorf("path %s, want %s", got.Path, tc.path)
			}
			if after := value.Stringify(cfg); after != before {
				t.Errorf("the configuration was changed to %s", after)
			}
			if strings.HasPrefix(tc.name, "settings") && tc.ask == "" && (got.Header.Get("Authorization") != "Bearer sk-own-key" || got.Header.Get("X-A") != "b") {
				t.Errorf("headers %v", got.Header)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]map[string]string{
		"openai:gpt-4o":         {"Authorization": "Bearer " + secret, "Content-Type": "application/json", "Openai-Organization": "org"},
		"anthropic:claude-3":    {"X-Api-Key": secret, "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "a,b", "Authorization": ""},
		"google:gemini-2.5-pro": {"X-Goog-Api-Key": secret, "Authorization": ""},
		"azure:chat:mine":       {"Api-Key": secret, "Authorization": ""},
		"ollama:llama3":         {"Authorization": ""},
	} {
		f := serve(t, id, parse(t, `{"organization":"org","beta":["a","b"]}`), provider.Options{}, fakemodel.Options{})
		if _, err := f.ask(t, "hi"); err != nil {
			t.Fatal(err)
		}
		last := f.server.Last()
		for name, v := range want {
			if got := last.Header.Get(name); got != v {
				t.Errorf("%s: %s is %q, want %q", id, name, got, v)
			}
		}
		if strings.Contains(last.Path+value.Stringify(last.Body), secret) {
			t.Errorf("%s: the key is outside of the header", id)
		}
	}
}

// TestOutputs reads every kind of answer in every format.
func TestOutputs(t *testing.T) {
	t.Parallel()
	call := fakemodel.Call{ID: "c1", Name: "f", Arguments: `{"a":1}`}
	const (
		calls     = `[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
		anonymous = `[{"type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
		toolUse   = `{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}`
	)
	for _, tc := range []struct {
		name, id, config  string
		reply             fakemodel.Reply
		value, finish     string
		calls, guardrails string
		refused           bool
	}{
		{name: "text", id: "openai:gpt-4o", reply: fakemodel.Reply{Text: "hello"}, value: "hello", finish: "stop"},
		{name: "JSON stays text", id: "openai:gpt-4o", config: `{"response_format":{"type":"json_object"}}`, reply: fakemodel.Reply{Text: `{"a": 1}`}, value: `{"a": 1}`, finish: "stop"},
		{name: "schema", id: "openai:gpt-4o", config: `{"response_format":{"type":"json_schema"}}`, reply: fakemodel.Reply{Text: `{"a": 1}`}, value: `{"a":1}`, finish: "stop"},
		{name: "schema broken", id: "openai:gpt-4o", config: `{"response_format":{"type":"json_schema"}}`, reply: fakemodel.Reply{Text: `{"a": `, FinishReason: "length"}, value: `{"a": `, finish: "length"},
		{name: "calls", id: "openai:gpt-4o", reply: fakemodel.Reply{Calls: []fakemodel.Call{call}}, value: calls, calls: calls, finish: "tool_calls"},
		{name: "text and calls", id: "openai:gpt-4o", reply: fakemodel.Reply{Text: "t", Calls: []fakemodel.Call{call}}, value: `{"role":"assistant","content":"t","refusal":null,"tool_calls":` + calls + `}`, calls: calls, finish: "tool_calls"},
		{name: "function call", id: "openai:gpt-4o", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}},"finish_reason":"function_call"}]}`}, value: `{"name":"f","arguments":"{\"a\":1}"}`, calls: anonymous, finish: "tool_calls"},
		{name: "refusal", id: "openai:gpt-4o", reply: fakemodel.Reply{Refusal: "I cannot"}, value: "I cannot", finish: "stop", refused: true, guardrails: `{"flagged":true}`},
		{name: "refusal as a part", id: "openai:gpt-4o", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":[{"type":"text","text":"yes"},{"type":"refusal","refusal":"I cannot"}]},"finish_reason":"stop"}]}`}, value: "I cannot", finish: "stop", refused: true, guardrails: `{"flagged":true}`},
		{name: "filtered", id: "openai:gpt-4o", reply: fakemodel.Reply{FinishReason: "content_filter"}, value: "Content filtered by provider", finish: "content_filter", refused: true, guardrails: `{"flagged":true}`},
		{name: "thinking", id: "deepseek:deepseek-reasoner", reply: fakemodel.Reply{Text: "42", Thinking: "hm"}, value: "Thinking: hm\n\n42", finish: "stop"},
		{name: "thinking hidden", id: "deepseek:deepseek-reasoner", config: `{"showThinking":false}`, reply: fakemodel.Reply{Text: "42", Thinking: "hm"}, value: "42", finish: "stop"},
		{name: "null", id: "openai:gpt-4o", reply: fakemodel.Reply{FinishReason: "length"}, value: "", finish: "length"},
		{name: "empty", id: "openai:gpt-4o", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`}, value: "", finish: "stop"},
		{name: "unknown reason", id: "openai:gpt-4o", reply: fakemodel.Reply{Text: "x", FinishReason: "Eos"}, value: "x", finish: "eos"},
		{name: "parts, and thoughts among them", id: "openai:gpt-4o", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":[{"type":"reasoning","text":"hm"},{"type":"thinking","text":"hm"},{"type":"text","text":"4"},{"text":"2"}]},"finish_reason":"stop"}]}`}, value: "42", finish: "stop"},
		{name: "no reason", id: "openai:gpt-4o", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":"x"}}]}`}, value: "x"},
		{name: "policy", id: "openai:gpt-4o", reply: fakemodel.Reply{}.Failing(400, "invalid_prompt", "flagged as potentially violating"), value: "flagged as potentially violating", finish: "content_filter", refused: true, guardrails: `{"flagged":true,"flaggedInput":true,"flaggedOutput":false,"reason":"flagged as potentially violating"}`},
		{name: "azure's filter on the prompt", id: "azure:chat:mine", reply: fakemodel.Reply{}.Failing(400, "content_filter", "The response was filtered"), value: "The response was filtered", finish: "content_filter", refused: true, guardrails: `{"flagged":true,"flaggedInput":true,"flaggedOutput":false,"reason":"The response was filtered"}`},
		{name: "azure's filter on the answer", id: "azure:chat:mine", reply: fakemodel.Reply{Raw: `{"choices":[{"message":{"content":""},"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":true}}}],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]}`}, value: "Content filtered by provider", finish: "content_filter", refused: true, guardrails: `{"flagged":true,"flaggedInput":false,"flaggedOutput":true,"reason":"content filter: hate"}`},

		{name: "responses", id: "openai:responses:gpt-4o", reply: fakemodel.Reply{Text: "hello", Thinking: "hm"}, value: "Reasoning: hm\nhello", finish: "stop"},
		{name: "responses calls", id: "openai:responses:gpt-4o", reply: fakemodel.Reply{Calls: []fakemodel.Call{call}}, value: `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":1}","status":"completed"}`, calls: calls, finish: "tool_calls"},
		{name: "responses refusal", id: "openai:responses:gpt-4o", reply: fakemodel.Reply{Refusal: "no"}, value: "no", refused: true, finish: "stop", guardrails: `{"flagged":true}`},
		{name: "responses cut", id: "openai:responses:gpt-4o", reply: fakemodel.Reply{Text: "half", FinishReason: "max_output_tokens"}, value: "half", finish: "length"},
		{name: "responses schema", id: "openai:responses:gpt-4o", config: `{"response_format":{"type":"json_schema"}}`, reply: fakemodel.Reply{Text: `[1]`}, value: `[1]`, finish: "stop"},
		{name: "MCP", id: "openai:responses:gpt-4o", reply: fakemodel.Reply{Raw: `{"status":"completed","output":[{"type":"mcp_list_tools","server_label":"d","tools":[{"name":"x"}]},{"type":"mcp_call","name":"x","output":"12","error":null},{"type":"mcp_call","name":"y","error":"refused"},{"type":"mcp_call","name":"z","error":{"message":"late"}},{"type":"mcp_approval_request","server_label":"d","name":"w","arguments":"{}"}]}`},
			value: "MCP Tools from d: [\n  {\n    \"name\": \"x\"\n  }\n]\nMCP Tool Result (x): 12\nMCP Tool Error (y): refused\nMCP Tool Error (z): late\nMCP Approval Required for d.w: {}", finish: "stop"},

		{name: "completion", id: "openai:completion:davinci-002", reply: fakemodel.Reply{Text: " upon"}, value: " upon", finish: "stop"},

		{name: "anthropic", id: "anthropic:claude-3", reply: fakemodel.Reply{Text: "hello"}, value: "hello", finish: "stop"},
		{name: "anthropic tool", id: "anthropic:claude-3", reply: fakemodel.Reply{Text: "let me", Calls: []fakemodel.Call{call}}, value: "let me\n\n" + toolUse, calls: calls, finish: "tool_calls"},
		{name: "anthropic thinking", id: "anthropic:claude-3", reply: fakemodel.Reply{Text: "42", Thinking: "hm"}, value: "Thinking: hm\nSignature: sig\n\n42", finish: "stop"},
		{name: "anthropic thinking hidden", id: "anthropic:claude-3", config: `{"showThinking":false}`, reply: fakemodel.Reply{Text: "42", Thinking: "hm"}, value: "42", finish: "stop"},
		{name: "anthropic cut", id: "anthropic:claude-3", reply: fakemodel.Reply{Text: "half", FinishReason: "max_tokens"}, value: "half", finish: "length"},
		{name: "anthropic sequence", id: "anthropic:claude-3", reply: fakemodel.Reply{Text: "half", FinishReason: "stop_sequence"}, value: "half", finish: "stop"},
		{name: "anthropic refusal", id: "anthropic:claude-3", reply: fakemodel.Reply{FinishReason: "refusal"}, value: "", finish: "content_filter", refused: true, guardrails: `{"flagged":true}`},

		{name: "google", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{Text: "hello"}, value: "hello", finish: "stop"},
		{name: "google thinking", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{Text: "42", Thinking: "hm"}, value: "Thinking: hm\n\n42", finish: "stop"},
		{name: "google call", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{Calls: []fakemodel.Call{call}}, value: `[{"functionCall":{"name":"f","args":{"a":1}}}]`, calls: anonymous, finish: "tool_calls"},
		{name: "google cut", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{Text: "half", FinishReason: "MAX_TOKENS"}, value: "half", finish: "length"},
		{name: "google filter", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{FinishReason: "SAFETY"}, value: "Content was blocked due to safety settings: SAFETY", finish: "content_filter", refused: true,
			guardrails: `{"flagged":true,"flaggedInput":false,"flaggedOutput":true,"reason":"Content was blocked due to safety settings: SAFETY"}`},
		{name: "google filter on the prompt", id: "google:gemini-2.5-pro", reply: fakemodel.Reply{Raw: `{"promptFeedback":{"blockReason":"OTHER"}}`}, value: "Content was blocked due to safety settings: OTHER", finish: "content_filter", refused: true,
			guardrails: `{"flagged":true,"flaggedInput":true,"flaggedOutput":false,"reason":"Content was blocked due to safety settings: OTHER"}`},

		{name: "ollama", id: "ollama:chat:llama3", reply: fakemodel.Reply{Text: "hello"}, value: "hello", finish: "stop"},
		{name: "ollama calls", id: "ollama:chat:llama3", reply: fakemodel.Reply{Calls: []fakemodel.Call{call}}, value: `[{"function":{"name":"f","arguments":{"a":1}}}]`, calls: `[{"function":{"name":"f","arguments":{"a":1}}}]`, finish: "tool_calls"},
		{name: "ollama completion", id: "ollama:llama3", reply: fakemodel.Reply{Text: "upon", Thinking: "hm", FinishReason: "length"}, value: "Thinking: hm\n\nupon", finish: "length"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(replies(tc.reply))
			defer s.Close()
			env := environment(s.URL)
			cfg := value.NewObject(1)
			if tc.config != "" {
				cfg = parse(t, tc.config)
			}
			if strings.HasPrefix(tc.id, "deepseek:") {
				env["DEEPSEEK_API_KEY"] = secret
				cfg.Set("apiBaseUrl", s.URL)
			}
			p, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: cfg}, provider.Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			if out.Text() != tc.value {
				t.Errorf("value\n got %s\nwant %s", out.Text(), tc.value)
			}
			if out.FinishReason != tc.finish || out.Refused != tc.refused {
				t.Errorf("finish reason %q, refused %v", out.FinishReason, out.Refused)
			}
			if got := listed(out.ToolCalls); got != tc.calls {
				t.Errorf("calls %s, want %s", got, tc.calls)
			}
			if g := ""; out.Guardrails != nil || tc.guardrails != "" {
				if g = value.Stringify(out.Guardrails); g != tc.guardrails {
					t.Errorf("guardrails %s, want %s", g, tc.guardrails)
				}
			}
		})
	}
}

func listed(calls []any) string {
	if calls == nil {
		return ""
	}
	return value.Stringify(calls)
}

func TestUsageAndCost(t *testing.T) {
	t.Parallel()
	usage := proviso.Usage{Prompt: 1000, Completion: 100, Cached: 400}
	want := proviso.Usage{Prompt: 1000, Completion: 100, Cached: 400, Total: 1100, Requests: 1}
	for _, tc := range []struct {
		id, config string
		cost       float64 // -1 means unknown
	}{
		{"openai:chat:gpt-4o", ``, (600*2.5 + 400*1.25 + 100*10) / 1e6},
		{"openai:gpt-4o-2024-08-06", ``, (600*2.5 + 400*1.25 + 100*10) / 1e6},
		{"openai:responses:gpt-5-mini-2025-08-07", ``, (600*0.25 + 400*0.025 + 100*2) / 1e6},
		{"openai:completion:gpt-3.5-turbo-instruct", ``, (1000*1.5 + 100*2) / 1e6},
		{"openai:my-own", ``, -1},
		{"openai:my-own", `{"cost":0.001}`, 1.1},
		{"openai:my-own", `{"inputCost":0.001,"outputCost":0.01}`, 2},
		{"openai:gpt-4o", `{"outputCost":0.01}`, (600*2.5+400*1.25)/1e6 + 1},
		{"openai:gpt-4o", `{"cost":0}`, 0},
		{"anthropic:claude-3-5-haiku-20241022", ``, (600*0.8 + 400*0.08 + 100*4) / 1e6},
		{"anthropic:messages:claude-sonnet-4-5-20250929", ``, (600*3 + 400*0.3 + 100*15) / 1e6},
		{"google:gemini-2.5-pro", ``, (600*1.25 + 400*0.125 + 100*10) / 1e6},
		{"azure:chat:mine", `{"modelName":"gpt-4o"}`, (600*2.5 + 400*1.25 + 100*10) / 1e6},
		{"ollama:chat:llama3", ``, -1},
	} {
		var cfg *value.Object
		if tc.config != "" {
			cfg = parse(t, tc.config)
		}
		f := serve(t, tc.id, cfg, provider.Options{}, replies(fakemodel.Reply{Text: "x", Usage: usage}))
		out, err := f.ask(t, "hi")
		if err != nil {
			t.Fatal(err)
		}
		w := want
		if strings.HasPrefix(tc.id, "ollama:") {
			w.Cached = 0
		}
		if strings.HasPrefix(tc.id, "google:") {
			w.Total = 1100
		}
		if out.Usage != w {
			t.Errorf("%s: usage %+v", tc.id, out.Usage)
		}
		if tc.cost < 0 && out.Cost != nil || tc.cost >= 0 && (out.Cost == nil || math.Abs(*out.Cost-tc.cost) > 1e-12) {
			t.Errorf("%s %s: cost %v, want %v", tc.id, tc.config, out.Cost, tc.cost)
		}
	}
}

func TestCostOfLongPromptsAndGateways(t *testing.T) {
	t.Parallel()
	long := fakemodel.Reply{Text: "x", Usage: proviso.Usage{Prompt: 300_000, Completion: 10}}
	out, err := serve(t, "google:gemini-2.5-pro", nil, provider.Options{}, replies(long)).ask(t, "hi")
	if want := (300_000*2.5 + 10*15) / 1e6; err != nil || math.Abs(*out.Cost-want) > 1e-9 {
		t.Errorf("cost %v, want %v (%v)", *out.Cost, want, err)
	}
	told := fakemodel.Reply{Raw: `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.25}}`}
	if out, err = serve(t, "openai:gpt-4o", nil, provider.Options{}, replies(told)).ask(t, "hi"); err != nil || *out.Cost != 0.25 {
		t.Errorf("cost %v, %v", out.Cost, err)
	}
}

func TestLogProbs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"openai:gpt-4o", "openai:completion:davinci-002", "google:gemini-2.5-pro"} {
		out, err := serve(t, id, nil, provider.Options{}, replies(fakemodel.Reply{Text: "x", LogProbs: []float64{-0.5, -1}})).ask(t, "hi")
		if err != nil || !slices.Equal(out.LogProbs, []float64{-0.5, -1}) {
			t.Errorf("%s: %v, %v", id, out.LogProbs, err)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	t.Parallel()
	for id, path := range map[string]string{
		"openai:embeddings:text-embedding-3-small": "/v1/embeddings", "openai:text-embedding-3-small": "/v1/embeddings",
		"google:embedding:gemini-embedding-001": "/v1beta/models/gemini-embedding-001:batchEmbedContents",
		"ollama:embeddings:all-minilm":          "/api/embed", "azure:embedding:mine": "/openai/deployments/mine/embeddings?api-version=2024-12-01-preview",
	} {
		f := serve(t, id, nil, provider.Options{}, replies(fakemodel.Broken(500), fakemodel.Reply{Usage: proviso.Usage{Prompt: 3, Total: 3}}))
		e, ok := f.Provider.(proviso.Embedder)
		if !ok {
			t.Fatalf("%s cannot embed", id)
		}
		v, usage, err := e.Embed(t.Context(), []string{"a", "b"})
		if err != nil || len(v) != 2 || len(v[0]) != 2 || usage.Requests != 1 {
			t.Errorf("%s: %v, %+v, %v", id, v, usage, err)
		}
		if f.server.Last().Path != path {
			t.Errorf("%s asked %s", id, f.server.Last().Path)
		}
		if strings.HasPrefix(id, "openai") && (v[0][0] != 0 || v[1][0] != 1 || usage.Total != 3) {
			t.Errorf("%s: vectors are out of order: %v, %+v", id, v, usage)
		}
		if _, err := f.ask(t, "hi"); err == nil {
			t.Errorf("%s answers a prompt", id)
		}
	}
	for _, raw := range []string{`{"data":[]}`, `{"data":[{"embedding":["x"]}]}`, `{"data":[{"embedding":[]}]}`, `{"data":[{"index":-1,"embedding":null}]}`} {
		f := serve(t, "openai:embeddings:m", nil, provider.Options{}, replies(fakemodel.Reply{Raw: raw}))
		if v, _, err := f.Provider.(proviso.Embedder).Embed(t.Context(), []string{"a"}); err == nil {
			t.Errorf("%s gives %v", raw, v)
		}
	}
}
