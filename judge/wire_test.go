package judge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakejudge"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// TestWire judges over the vendors' own formats, with each vendor's form of structured
// output.
func TestWire(t *testing.T) {
	t.Parallel()
	for id, shaped := range map[string]string{
		"openai:chat:gpt-4.1":                   "response_format",
		"openai:responses:gpt-5":                "text",
		"anthropic:messages:claude-sonnet-4-5":  "output_config",
		"google:gemini-2.5-flash":               "generationConfig",
		"ollama:chat:llama3":                    "format",
		"openai:chat:gpt-4.1 without structure": "",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			server := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
				if shaped == "" && r.Body.Has("response_format") {
					return fakemodel.Reply{}.Failing(http.StatusBadRequest, "unsupported_parameter", "Unknown parameter: response_format")
				}
				return fakemodel.Reply{Text: replyTo(t, r), Usage: proviso.Usage{Prompt: 1200, Completion: 80, Cached: 1024, Total: 1280}}
			}})
			t.Cleanup(server.Close)
			name, _, _ := strings.Cut(id, " ")
			spec := proviso.ProviderSpec{ID: name, Config: value.ObjectOf("apiKey", "k", "apiBaseUrl", server.URL)}
			o := provider.Options{Client: http.DefaultClient}
			p, err := provider.Open(spec, o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := judge.Evaluate(t.Context(), &judge.Request{Input: "i", Output: "o", Assertions: []judge.Assertion{wants("a", "yes", "no: x"), wants("b", "yes")}},
				judge.Options{Judges: []judge.Seat{{Provider: p, Spec: spec, Identity: provider.Identity(spec, o)}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := statuses(r); got != "a=fail b=pass" {
				t.Errorf("%s %+v", got, r.Errors)
			}
			last := server.Last().Body
			if shaped != "" && last.At(shaped) == nil {
				t.Errorf("the request has no %s: %s", shaped, value.Stringify(last))
			}
			if strings.HasPrefix(id, "anthropic") && !strings.Contains(value.Stringify(last), `"cache_control":{"type":"ephemeral"}`) {
				t.Errorf("the constant part is not marked for the cache: %s", value.Stringify(last))
			}
			if !strings.HasPrefix(r.Results[0].Judge, name+"#") {
				t.Errorf("the judge is %q", r.Results[0].Judge)
			}
			if cached := r.Results[0].Usage.Cached + r.Results[1].Usage.Cached; !strings.HasPrefix(id, "ollama") && cached != 1024 {
				t.Errorf("the vendor's cache gave %d tokens", cached)
			}
		})
	}
}

// replyTo answers a request as an honest judge does.
func replyTo(t *testing.T, r fakemodel.Request) string {
	t.Helper()
	c, err := fakejudge.Understand(proviso.Ask{Prompt: value.Stringify([]any{
		value.ObjectOf("role", "system", "content", ""), value.ObjectOf("role", "user", "content", r.Prompt),
	})})
	if err != nil {
		t.Error(err)
		return ""
	}
	return fakejudge.Honest(c)
}
