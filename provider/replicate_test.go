package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/blobs"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/internal/transport"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

func TestReplicateRequests(t *testing.T) {
	t.Parallel()
	const version = "5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa"
	for _, tc := range []struct{ name, id, config, prompt, path, want string }{
		{name: "model", id: "replicate:meta/llama-4", prompt: "hi", path: "/v1/models/meta/llama-4/predictions", want: `{"input":{"prompt":"hi"}}`},
		{name: "version", id: "replicate:a/b:" + version, prompt: "hi", path: "/v1/predictions", want: `{"version":"` + version + `","input":{"prompt":"hi"}}`},
		{
			name: "settings", id: "replicate:a/b", prompt: "hi",
			config: `{"temperature":0.5,"max_new_tokens":9,"own":[1],"apiKey":"sk-own-key-1234","prompt":{"prefix":"[INST] ","suffix":" [/INST]"},"rpm":60000,"maxRetries":2}`,
			want:   `{"input":{"temperature":0.5,"max_new_tokens":9,"own":[1],"prompt":"[INST] hi [/INST]"}}`,
		},
		{
			name: "chat", id: "replicate:a/b", prompt: `[{"role":"system","content":"be brief"},{"role":"user","content":"one"},{"role":"user","content":"two"}]`, config: `{"system_prompt":"other"}`,
			want: `{"input":{"system_prompt":"be brief","prompt":"one"}}`,
		},
		{name: "picture", id: "replicate:image:a/b", prompt: "a cat", config: `{"width":64}`, want: `{"input":{"prompt":"a cat","width":64,"height":768}}`},
		{name: "moderation", id: "replicate:moderation:meta/llama-guard-4-12b", prompt: "hi", path: "/v1/models/meta/llama-guard-4-12b/predictions", want: `{"input":{"prompt":"hi"}}`},
	} {
		var cfg *value.Object
		if tc.config != "" {
			cfg = parse(t, tc.config)
		}
		f := serve(t, tc.id, cfg, provider.Options{}, replies(fine))
		if _, err := f.ask(t, tc.prompt); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		last := f.server.Last()
		if got := value.Stringify(last.Body); got != tc.want {
			t.Errorf("%s: asked\n%s, want\n%s", tc.name, got, tc.want)
		}
		if tc.path != "" && last.Path != tc.path {
			t.Errorf("%s: at %s, want %s", tc.name, last.Path, tc.path)
		}
		if key := last.Header.Get("Authorization"); !strings.HasPrefix(key, "Bearer sk-") || last.Header.Get("Prefer") != "wait=60" {
			t.Errorf("%s: header %v", tc.name, last.Header)
		}
	}
}

// TestReplicatePolls polls predictions until they are done.
func TestReplicatePolls(t *testing.T) {
	t.Parallel()
	starting := fakemodel.Reply{Status: 201, Raw: `{"id":"abc1","status":"starting","error":null}`}
	processing := fakemodel.Reply{Raw: `{"id":"abc1","status":"processing","output":null}`}
	done := fakemodel.Reply{Raw: `{"id":"abc1","status":"succeeded","output":["Hel","lo"],"metrics":{"predict_time":2}}`}
	f := serve(t, "replicate:a/b", nil, provider.Options{}, replies(starting, processing, fakemodel.Broken(502), done))
	out, err := f.ask(t, "hi")
	if err != nil || out.Text() != "Hello" || out.Usage.Requests != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	if n, last := f.server.Count(), f.server.Last(); n != 4 || last.Path != "/v1/predictions/abc1" {
		t.Errorf("%d requests, the last at %s", n, last.Path)
	}
	if naps := f.naps.all(); len(naps) != 3 || naps[0] != time.Second || *out.Latency < 2*time.Second {
		t.Errorf("waited %v, latency %v", naps, out.Latency)
	}

	for name, tc := range map[string]struct {
		reply fakemodel.Reply
		code  string
		want  string
	}{
		"failed":           {fakemodel.Reply{Raw: `{"id":"abc1","status":"failed","error":"CUDA out of memory"}`}, proviso.Unavailable, "CUDA out of memory"},
		"canceled":         {fakemodel.Reply{Raw: `{"id":"abc1","status":"canceled"}`}, proviso.Unavailable, "the prediction ended with status canceled"},
		"no text":          {fakemodel.Reply{Raw: `{"id":"abc1","status":"succeeded","output":{"a":1}}`}, proviso.Unavailable, "the prediction has no text"},
		"an id with a way": {fakemodel.Reply{Raw: `{"id":"../x?y","status":"starting"}`}, proviso.Unavailable, "the prediction has no id"},
		"problem":          {fakemodel.Reply{Status: 422, Raw: `{"title":"Input validation failed","detail":"prompt is required","status":422}`}, proviso.Unavailable, "HTTP 422: prompt is required"},
		"no money":         {fakemodel.Reply{Status: 402, Raw: `{"title":"Insufficient credit","detail":"You have insufficient credit","status":402}`}, proviso.Unavailable, "You have insufficient credit"},
		"never done":       {processing, proviso.Timeout, "did not finish within 5s"},
	} {
		f := serve(t, "replicate:a/b", nil, provider.Options{Timeout: 5 * time.Second}, fakemodel.Options{Reply: func(fakemodel.Request) fakemodel.Reply { return tc.reply }})
		_, err := f.ask(t, "hi")
		if e := coded(t, err, tc.code); !strings.Contains(e.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, e, tc.want)
		}
	}
}

func TestReplicatePictures(t *testing.T) {
	t.Parallel()
	f := serve(t, "replicate:image:a/b", nil, provider.Options{}, replies(fakemodel.Reply{Raw: `{"id":"p","status":"succeeded","output":["https://r.test/1.png","https://r.test/2.png"]}`}))
	if out, err := f.ask(t, "a [cat]\non a mat, as painted by somebody who has never seen a cat"); err != nil || out.Text() != "![a (cat) on a mat, as painted by somebody who ha...](https://r.test/1.png)" {
		t.Errorf("%q, %v", out.Text(), err)
	}
}

func TestReplicateModerates(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"\n\nsafe": "", "unsafe\nS1,S10": "S1 Violent Crimes, S10 Hate", "unsafe": "error", "unsafe\nS99": "error", "maybe": "error"} {
		f := serve(t, "replicate:moderation:meta/llama-guard-4-12b", nil, provider.Options{}, replies(fakemodel.Reply{Text: said}))
		flags, err := f.Provider.(proviso.Moderator).Moderate(t.Context(), "q", "a")
		var got []string
		for _, flag := range flags {
			got = append(got, flag.Code+" "+flag.Description)
		}
		if (err != nil) != (want == "error") || err == nil && strings.Join(got, ", ") != want {
			t.Errorf("%q: %v, %v; want %s", said, got, err, want)
		}
		if input := f.server.Last().Body.At("input"); value.Stringify(input) != `{"prompt":"Human: q\n\nAssistant: a"}` {
			t.Errorf("asked %v", value.Stringify(input))
		}
	}
}

// TestReplicateReplays: a recorded prediction is replayed without the time that it
// took, and without a key.
func TestReplicateReplays(t *testing.T) {
	t.Parallel()
	store := blobs.Open(t.TempDir())
	server := fakemodel.New(replies(
		fakemodel.Reply{Raw: `{"id":"abc1","status":"starting"}`}, fakemodel.Reply{Raw: `{"id":"abc1","status":"processing"}`},
		fakemodel.Reply{Raw: `{"id":"abc1","status":"succeeded","output":"Hello"}`}))
	defer server.Close()
	env := environment(server.URL)
	for _, cassette := range []*transport.Cassette{transport.Record(store, transport.CassetteOptions{}), transport.Replay(store, transport.CassetteOptions{})} {
		o := provider.Options{Env: env, Sleep: (&naps{}).sleep, Cassette: cassette, Client: transport.New(transport.Options{Wrap: cassette.Wrap}).Client()}
		p, err := provider.Open(proviso.ProviderSpec{ID: "replicate:a/b"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil || out.Text() != "Hello" {
			t.Errorf("%q, %v", out.Text(), err)
		}
		env = proviso.EnvMap{"REPLICATE_API_BASE_URL": server.URL + "/v1"} // a replay needs no key
	}
	if server.Count() != 3 {
		t.Errorf("%d requests", server.Count())
	}
}

func TestReplicateSettings(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"replicate:": "the name of a model is missing", "replicate:moderation:": "the name of a model is missing", "replicate:a/../b": "is not the name of a model", "replicate:a?b": "is not the name of a model",
		"replicate:a/b": "set REPLICATE_API_TOKEN or REPLICATE_API_KEY in the environment",
	} {
		if _, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Env: proviso.EnvMap{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
	server := fakemodel.New(replies(fine))
	defer server.Close()
	env := environment(server.URL)
	env["REPLICATE_MAX_NEW_TOKENS"], env["REPLICATE_SYSTEM_PROMPT"], env["REPLICATE_TEMPERATURE"] = "7", "be brief", "0.5"
	p, err := provider.Open(proviso.ProviderSpec{ID: "replicate:a/b", Config: parse(t, `{"temperature":0.1}`)}, provider.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Answer(t.Context(), proviso.Ask{Prompt: "hi"}); err != nil {
		t.Fatal(err)
	}
	if got := value.Stringify(server.Last().Body); got != `{"input":{"max_new_tokens":7,"temperature":0.1,"system_prompt":"be brief","prompt":"hi"}}` {
		t.Errorf("asked %s", got)
	}
	if !provider.VendorHost("api.replicate.com") {
		t.Error("the vendor's host is not known")
	}
}
