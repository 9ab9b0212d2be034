package provider_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// canned is a transport that answers all requests in the same way.
type canned func() *http.Response

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	resp := c()
	resp.Request = req
	return resp, nil
}

// FuzzAnswer sends arbitrary responses and prompts to every provider: the
// result is an output or an error that can be shown, never a panic.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"x","tool_calls":[1,{"function":null}]},"logprobs":{"content":[null]}}],"usage":{"prompt_tokens":"x"}}`,
		`{"output":[null,{"type":"message","content":[1]},{"type":"mcp_call","error":[1]},{"type":"reasoning","summary":{}}],"status":"completed"}`,
		`{"content":[null,{"type":"tool_use"}],"usage":[],"stop_reason":1}`,
		`{"candidates":[{"content":{"parts":[null,{"functionCall":1},{"text":1}]},"finishReason":"SAFETY"}]}`,
		`{"message":{"content":null,"tool_calls":[{}]},"response":1,"error":{"code":1e999}}`,
		`[{"error":{"code":429,"message":"\u0000\u001b[31m"}}]`, `{"error":{"code":"700"}}`, `{"data":[{"index":1e300,"embedding":[1]}]}`, "\xff\xfe{", `null`,
	} {
		f.Add(seed, 200, `[{"role":"user","content":[{"type":"image_url"},null,{"type":"text","text":1}],"tool_calls":[null]}]`)
		f.Add(seed, 404, `{"contents":[1]}`)
	}
	f.Fuzz(func(t *testing.T, answer string, code int, prompt string) {
		client := &http.Client{Transport: canned(func() *http.Response {
			return &http.Response{StatusCode: max(200, min(code, 599)), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), ContentLength: -1}
		})}
		for _, id := range append(everyone, "openai:embeddings:m", "google:embedding:m", "ollama:embeddings:m", "bedrock:embeddings:m", "vertex:embedding:m") {
			p, err := provider.Open(proviso.ProviderSpec{ID: id}, provider.Options{Env: environment("http://fake"), Client: client, MaxRetries: -1})
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := p.(proviso.Embedder); ok {
				_, _, err = e.Embed(t.Context(), []string{"a", "b"})
			} else {
				var out proviso.Output
				if out, err = p.Answer(t.Context(), proviso.Ask{Prompt: prompt}); err == nil {
					_ = value.Stringify(out.Value)
				}
			}
			if err == nil {
				continue
			}
			coded(t, err, proviso.Unavailable)
			if len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
				t.Errorf("%q cannot be shown", err.Error())
			}
		}
	})
}
