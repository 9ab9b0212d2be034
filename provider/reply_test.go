package provider_test

import (
	"math"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

const verdictSchema = `{"type":"object","properties":{"why":{"type":"string"},"met":{"type":["boolean","null"]}},"required":["why","met"],"additionalProperties":false}`

func verdicts(t *testing.T) *proviso.Reply {
	t.Helper()
	return &proviso.Reply{Name: "verdicts", Schema: parse(t, verdictSchema)}
}

// TestReplyBounds leaves bounds out of a schema for vendors that reject them.
func TestReplyBounds(t *testing.T) {
	t.Parallel()
	const bounded = `{"type":"object","properties":{"minimum":{"type":"integer","minimum":1},"list":{"type":"array","items":{"anyOf":[{"type":"string","minLength":2},{"type":"number","maximum":3}]},"minItems":1}},"required":["minimum","list"],"additionalProperties":false}`
	const bare = `{"type":"object","properties":{"minimum":{"type":"integer"},"list":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}},"required":["minimum","list"],"additionalProperties":false}`
	for id, want := range map[string]string{
		"openai:gpt-4o": bounded, "openai:responses:gpt-4o": bounded, "azure:chat:mine": bounded, "ollama:chat:llama3": bounded,
		"anthropic:claude-opus-4-1":   bounded, // a tool
		"anthropic:claude-sonnet-5-5": bare, "groq:llama": bare, "groq:responses:llama": bare,
	} {
		s := fakemodel.New(replies(fakemodel.Reply{Text: `{"minimum":1,"list":["ab"]}`}))
		env := environment(s.URL)
		env["GROQ_API_KEY"] = secret
		spec := proviso.ProviderSpec{ID: id}
		if strings.HasPrefix(id, "groq") {
			spec.Config = value.ObjectOf("apiBaseUrl", s.URL+"/v1")
		}
		p, err := provider.Open(spec, provider.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: &proviso.Reply{Name: "verdicts", Schema: parse(t, bounded)}})
		if got := value.Stringify(s.Last().Body); err != nil || !strings.Contains(got, want) || strings.Contains(got, bounded) != (want == bounded) {
			t.Errorf("%s: %v, %s", id, err, got)
		}
		s.Close()
	}
}

// TestReply checks how the shape of an answer is requested on the wire.
func TestReply(t *testing.T) {
	t.Parallel()
	const answer = `{"why":"because","met":true}`
	for _, tc := range []struct {
		name, id, config string
		key, want        string // a member of the body and its expected value; "" means absent
	}{
		{"chat", "openai:gpt-4o", ``, "response_format", `{"type":"json_schema","json_schema":{"name":"verdicts","strict":true,"schema":` + verdictSchema + `}}`},
		{"a vendor that speaks OpenAI's API", "groq:llama", ``, "response_format", `{"type":"json_schema","json_schema":{"name":"verdicts","strict":true,"schema":` + verdictSchema + `}}`},
		{"a vendor without schemas", "deepseek:deepseek-chat", ``, "response_format", `{"type":"json_object"}`},
		{"azure", "azure:chat:mine", ``, "response_format", `{"type":"json_schema","json_schema":{"name":"verdicts","strict":true,"schema":` + verdictSchema + `}}`},
		{"the suite's own", "openai:gpt-4o", `{"response_format":{"type":"json_object"}}`, "response_format", `{"type":"json_object"}`},
		{"the suite's own, raw", "openai:gpt-4o", `{"passthrough":{"response_format":{"type":"text"}}}`, "response_format", `{"type":"text"}`},
		{"forbidden", "openai:gpt-4o", `{"structured":false}`, "response_format", ``},
		{"responses", "openai:responses:gpt-4o", `{"verbosity":"low"}`, "text", `{"verbosity":"low","format":{"type":"json_schema","name":"verdicts","strict":true,"schema":` + verdictSchema + `}}`},
		{"the suite's own for responses", "openai:responses:gpt-4o", `{"response_format":{"type":"json_object"}}`, "text", `{"format":{"type":"json_object"}}`},
		{"azure responses", "azure:responses:mine", ``, "text", `{"format":{"type":"json_schema","name":"verdicts","strict":true,"schema":` + verdictSchema + `}}`},
		{"anthropic", "anthropic:claude-sonnet-5-5", ``, "output_config", `{"format":{"type":"json_schema","schema":` + verdictSchema + `}}`},
		{"anthropic thinking", "anthropic:claude-sonnet-4-5", `{"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`, "output_config", `{"effort":"low","format":{"type":"json_schema","schema":` + verdictSchema + `}}`},
		{"an older claude", "anthropic:claude-sonnet-4-20250514", ``, "tool_choice", `{"type":"tool","name":"verdicts"}`},
		{"an older claude's tool", "anthropic:claude-opus-4-1", `{"tools":[{"name":"other"}]}`, "tools", `[{"name":"other"},{"name":"verdicts","description":"Gives the answer.","input_schema":` + verdictSchema + `}]`},
		{"an older claude thinking", "anthropic:claude-3-7-sonnet-20250219", `{"thinking":{"type":"enabled","budget_tokens":1024}}`, "tool_choice", ``},
		{"the suite's own for anthropic", "anthropic:claude-sonnet-4-5", `{"output_config":{"format":{"type":"json_schema"}}}`, "output_config", `{"format":{"type":"json_schema"}}`},
		{"the suite's own tool for anthropic", "anthropic:claude-sonnet-4", `{"tool_choice":{"type":"auto"}}`, "tool_choice", `{"type":"auto"}`},
		{"google", "google:gemini-2.5-flash", `{"temperature":0}`, "generationConfig", `{"temperature":0,"responseMimeType":"application/json","responseSchema":{"type":"object","properties":{"why":{"type":"string"},"met":{"nullable":true,"type":"boolean"}},"propertyOrdering":["why","met"],"required":["why","met"]}}`},
		{"the suite's own for google", "google:gemini-2.5-flash", `{"responseMimeType":"text/plain"}`, "generationConfig", `{"responseMimeType":"text/plain"}`},
		{"ollama", "ollama:chat:llama3", ``, "format", verdictSchema},
		{"ollama completion", "ollama:llama3", ``, "format", verdictSchema},
		{"the suite's own for ollama", "ollama:chat:llama3", `{"format":"json"}`, "format", `"json"`},
		{"completion has nothing", "openai:completion:davinci-002", ``, "response_format", ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := fakemodel.New(replies(fakemodel.Reply{Text: answer, Thinking: "hm"}))
			defer s.Close()
			cfg := value.NewObject(1)
			if tc.config != "" {
				cfg = parse(t, tc.config)
			}
			env := environment(s.URL)
			env["GROQ_API_KEY"], env["DEEPSEEK_API_KEY"] = secret, secret
			if strings.HasPrefix(tc.id, "groq") || strings.HasPrefix(tc.id, "deepseek") {
				cfg.Set("apiBaseUrl", s.URL+"/v1")
			}
			p, err := provider.Open(proviso.ProviderSpec{ID: tc.id, Config: cfg}, provider.Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			before := value.Stringify(cfg)
			out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v, ok := s.Last().Body.Get(tc.key); ok {
				got = value.Stringify(v)
			}
			if got != tc.want {
				t.Errorf("%s\n got %s\nwant %s", tc.key, got, tc.want)
			}
			if out.Value != answer || len(out.ToolCalls) > 0 || out.FinishReason != "stop" {
				t.Errorf("value %#v, calls %v, %s", out.Value, out.ToolCalls, out.FinishReason)
			}
			if value.Stringify(cfg) != before {
				t.Error("the configuration was changed")
			}
			if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "p"}); err != nil {
				t.Fatal(err)
			}
			if tc.config == "" && s.Last().Body.Has(tc.key) {
				t.Errorf("%s is asked for without a reply", tc.key)
			}
		})
	}
}

// TestReplyWithoutSchema asks for any JSON object.
func TestReplyWithoutSchema(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"openai:gpt-4o":            `"response_format":{"type":"json_object"}`,
		"openai:responses:gpt-4o":  `"text":{"format":{"type":"json_object"}}`,
		"anthropic:claude-3-haiku": `"input_schema":{"type":"object"}`,
		"google:gemini-2.5-flash":  `"generationConfig":{"responseMimeType":"application/json"}`,
		"ollama:chat:llama3":       `"format":"json"`,
	} {
		f := serve(t, id, nil, provider.Options{}, replies(fakemodel.Reply{Text: `{}`}))
		out, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: &proviso.Reply{}})
		if body := value.Stringify(f.server.Last().Body); err != nil || out.Value != "{}" || !strings.Contains(body, want) {
			t.Errorf("%s: %v, %v\n got %s\nwant %s", id, out.Value, err, body, want)
		}
	}
}

// TestSchemasForGoogle converts schemas to Google's form, or uses the member
// for JSON Schema.
func TestSchemasForGoogle(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"array","items":{"type":"object","properties":{"b":{"const":"x"},"a":{"enum":["u","v"]}}}}`: `"responseSchema":{"type":"array","items":{"type":"object","properties":{"b":{"enum":["x"]},"a":{"enum":["u","v"]}},"propertyOrdering":["b","a"]}}`,
		`{"anyOf":[{"type":"string","maxLength":3},{"type":"integer"}]}`:                                     `"responseSchema":{"anyOf":[{"type":"string","maxLength":3},{"type":"integer"}]}`,
		`{"$ref":"#/$defs/a"}`:                     `"responseJsonSchema":{"$ref":"#/$defs/a"}`,
		`{"type":["string","number"]}`:             `"responseJsonSchema":`,
		`{"enum":[1]}`:                             `"responseJsonSchema":`,
		`{"additionalProperties":{"type":"null"}}`: `"responseJsonSchema":`,
		strings.Repeat(`{"items":`, 99) + `{"oneOf":[]}` + strings.Repeat(`}`, 99): `"responseJsonSchema":`,
	} {
		f := serve(t, "google:gemini-2.5-flash", nil, provider.Options{}, replies(fakemodel.Reply{Text: `{}`}))
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: &proviso.Reply{Schema: parse(t, schema)}})
		if body := value.Stringify(f.server.Last().Body); err != nil || !strings.Contains(body, want) {
			t.Errorf("%v\n got %s\nwant %s", err, body, want)
		}
	}
}

// TestReplyRefused uses an endpoint that does not support the shape of answers:
// the request is repeated without it, and so are all later ones.
func TestReplyRefused(t *testing.T) {
	t.Parallel()
	refuse := func(r fakemodel.Request) fakemodel.Reply {
		if r.Body.Has("response_format") {
			return fakemodel.Reply{}.Failing(400, "invalid_request_error", "This response_format type is unavailable now")
		}
		return fakemodel.Reply{Text: "{}"}
	}
	f := serve(t, "openai:gpt-4o", nil, provider.Options{}, fakemodel.Options{Reply: refuse})
	for range 3 {
		if out, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)}); err != nil || out.Value != "{}" {
			t.Fatalf("%v, %v", out.Value, err)
		}
	}
	if n := f.server.Count(); n != 4 {
		t.Errorf("asked %d times, want 4", n)
	}
	denied := fakemodel.Reply{}.Failing(403, "permission_error", "structured outputs are disabled by the organization")
	f = serve(t, "anthropic:claude-sonnet-5-5", nil, provider.Options{}, replies(denied, fakemodel.Reply{Text: "{}"}))
	for range 2 {
		if out, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)}); err != nil || out.Value != "{}" {
			t.Fatalf("%v, %v", out.Value, err)
		}
	}
	if n := f.server.Count(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	f = serve(t, "anthropic:claude-sonnet-5-5", nil, provider.Options{}, replies(denied))
	for range 3 {
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)})
		coded(t, err, proviso.Unavailable)
	}
	if n := f.server.Count(); n != 2 {
		t.Errorf("asked %d times without permission, want 2", n)
	}
	f = serve(t, "openai:gpt-4o", nil, provider.Options{}, replies(fakemodel.Reply{}.Failing(400, "", "the prompt is too long")))
	_, err := f.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: verdicts(t)})
	coded(t, err, proviso.Unavailable)
}

// TestReplyRefusedReplayed replays the recording of such an endpoint in another
// order.
func TestReplyRefusedReplayed(t *testing.T) {
	t.Parallel()
	s := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if r.Body.Has("response_format") {
			return fakemodel.Reply{}.Failing(400, "", "no")
		}
		return fakemodel.Reply{Text: r.Prompt}
	}})
	defer s.Close()
	shelf := blobs.Open(t.TempDir())
	ask := func(c *transport.Cassette, prompts ...string) {
		client := transport.New(transport.Options{Wrap: c.Wrap}).Client()
		p, err := provider.Open(proviso.ProviderSpec{ID: "openai:gpt-4o"}, provider.Options{Env: environment(s.URL), Client: client})
		if err != nil {
			t.Fatal(err)
		}
		for _, prompt := range prompts {
			if out, err := p.Answer(t.Context(), proviso.Ask{Prompt: prompt, Reply: verdicts(t)}); err != nil || out.Value != prompt {
				t.Errorf("%v, %v", out.Value, err)
			}
		}
	}
	ask(transport.Record(shelf, transport.CassetteOptions{}), "a", "b")
	ask(transport.Replay(shelf, transport.CassetteOptions{}), "b", "a")
}

// TestReplyIsPartOfTheQuestion: the cache distinguishes answers of different
// shapes.
func TestReplyIsPartOfTheQuestion(t *testing.T) {
	t.Parallel()
	f := serve(t, "openai:gpt-4o", nil, provider.Options{}, replies(fakemodel.Reply{Text: "{}"}))
	p := provider.NewCache(blobs.Open(t.TempDir()), provider.CacheOptions{}).Provider(f.Provider, "identity")
	other := verdicts(t)
	other.Schema.Set("title", "other")
	for i, r := range []*proviso.Reply{nil, verdicts(t), other, {}, verdicts(t), nil} {
		if out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "p", Reply: r}); err != nil || out.Cached != (i > 3) {
			t.Errorf("ask %d: cached %t, %v", i, out.Cached, err)
		}
	}
}

// TestStatic checks where Anthropic's cache markers are.
func TestStatic(t *testing.T) {
	t.Parallel()
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for _, tc := range []struct {
		prompt string
		static int
		want   string
	}{
		{`[{"role":"system","content":"s"},{"role":"user","content":"u"}]`, 1, `"system":[{"type":"text","text":"s"` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"u"}]}]`},
		{`[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"user","content":"v"}]`, 2, `"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"u"` + mark + `}]},{"role":"user","content":[{"type":"text","text":"v"}]}]`},
		{`[{"role":"system","content":"s"},{"role":"user","content":"u"}]`, 0, `"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"u"}]}]`},
		{`[{"role":"system","content":"s"}]`, 9, `"system":[{"type":"text","text":"s"` + mark + `}],"messages":[]`},
		{`[{"role":"user","content":""},{"role":"user","content":"u"}]`, 1, `"messages":[{"role":"user","content":[{"type":"text","text":""}]},`},
		{`[{"role":"system","content":[{"type":"text","text":"a"` + mark + `},{"type":"text","text":"b"}]},{"role":"user","content":"u"}]`, 1, `"system":[{"type":"text","text":"a"` + mark + `},{"type":"text","text":"b"}]`},
		{`plain`, 1, `"messages":[{"role":"user","content":[{"type":"text","text":"plain"` + mark + `}]}]`},
	} {
		f := serve(t, "anthropic:claude-sonnet-4-5", nil, provider.Options{}, replies(fine))
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: tc.prompt, Static: tc.static})
		if body := value.Stringify(f.server.Last().Body); err != nil || !strings.Contains(body, tc.want) {
			t.Errorf("%s %d: %v\n got %s\nwant %s", tc.prompt, tc.static, err, body, tc.want)
		}
	}
}

// TestShared checks the cache markers for text that several requests share.
func TestShared(t *testing.T) {
	t.Parallel()
	const mark = `,"cache_control":{"type":"ephemeral"}`
	const chat = `[{"role":"system","content":"s"},{"role":"user","content":"input, question"},{"role":"assistant","content":"a"},{"role":"user","content":"again"}]`
	for _, tc := range []struct {
		prompt string
		shared int
		want   string
	}{
		{chat, 7, `"system":[{"type":"text","text":"s"` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"input, "` + mark + `},{"type":"text","text":"question"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"again"}]}]`},
		{chat, 0, `"messages":[{"role":"user","content":[{"type":"text","text":"input, question"}]}`},
		{chat, 15, `"messages":[{"role":"user","content":[{"type":"text","text":"input, question"}]}`},
		{`[{"role":"system","content":"s"}]`, 3, `"messages":[]`},
		{`[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"abc"}]}]`, 2, `"messages":[{"role":"user","content":[{"type":"text","text":"abc"}]}]`},
	} {
		f := serve(t, "anthropic:claude-sonnet-4-5", nil, provider.Options{}, replies(fine))
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: tc.prompt, Static: 1, Shared: tc.shared})
		if body := value.Stringify(f.server.Last().Body); err != nil || !strings.Contains(body, tc.want) {
			t.Errorf("%s %d: %v\n got %s\nwant %s", tc.prompt, tc.shared, err, body, tc.want)
		}
	}
	for id, want := range map[string]string{
		"bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0": `"content":[{"text":"input, "},{"cachePoint":{"type":"default"}},{"text":"question"}]`,
		"bedrock:meta.llama3-3-70b-instruct-v1:0":              `"content":[{"text":"input, question"}]`,
	} {
		f := serveCloud(t, id, `{}`, replies(fine))
		_, err := f.Answer(t.Context(), proviso.Ask{Prompt: chat, Static: 1, Shared: 7})
		if body := value.Stringify(f.server.Last().Body); err != nil || !strings.Contains(body, want) {
			t.Errorf("%s: %v\n got %s\nwant %s", id, err, body, want)
		}
	}
	f := serve(t, "openai:gpt-4o", nil, provider.Options{}, replies(fine))
	if _, err := f.Answer(t.Context(), proviso.Ask{Prompt: chat, Static: 1, Shared: 7}); err != nil || !strings.Contains(value.Stringify(f.server.Last().Body), `"content":"input, question"`) {
		t.Errorf("a vendor that finds by itself what is shared is told: %v", err)
	}
}

// TestWrittenTokens counts and prices what Anthropic wrote to its cache.
func TestWrittenTokens(t *testing.T) {
	t.Parallel()
	f := serve(t, "anthropic:claude-sonnet-4-5", nil, provider.Options{},
		replies(fakemodel.Reply{Text: "x", Usage: proviso.Usage{Prompt: 1000, Completion: 100, Cached: 300}, Written: 500}))
	out, err := f.ask(t, "p")
	if want := (200*3 + 300*0.3 + 500*3.75 + 100*15) / 1e6; err != nil || math.Abs(*out.Cost-want) > 1e-12 {
		t.Errorf("cost %v, want %v (%v)", *out.Cost, want, err)
	}
	if out.Usage.Prompt != 1000 || out.Usage.Cached != 300 {
		t.Errorf("usage %+v", out.Usage)
	}
}

// TestVerbatim: the reader of a judge's answer gets its text, not the parsed
// value, even if the suite asks for JSON of its own.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	const answer = `{"met":false,"met":true}`
	for id, config := range map[string]string{
		"openai:gpt-4o":               `{"response_format":{"type":"json_schema","json_schema":{"name":"v","schema":{"type":"object"}}}}`,
		"openai:responses:gpt-4o":     `{"response_format":{"type":"json_schema","name":"v","schema":{"type":"object"}}}`,
		"anthropic:claude-sonnet-4-5": `{"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`,
	} {
		p := serve(t, id, parse(t, config), provider.Options{}, replies(fakemodel.Reply{Text: answer}))
		for verbatim, want := range map[bool]string{true: answer, false: `{"met":true}`} {
			out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "x", Verbatim: verbatim})
			if err != nil || out.Text() != want {
				t.Errorf("%s, verbatim %v: %q, %v", id, verbatim, out.Text(), err)
			}
		}
	}
}
