package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/value"
)

// The paths of the APIs, and a request to each.
var forms = []struct{ name, path, body string }{
	{"chat", "/openai/v1/chat/completions", `{"model":"gpt-4.1","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":[{"type":"text","text":"How are you?"}]}],"stream_options":{"include_usage":true},"stream":%t}`},
	{"responses", "/openai/v1/responses", `{"model":"gpt-4.1","instructions":"Be kind.","input":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"output_text","text":"Yes?"}]},{"role":"user","content":[{"type":"input_text","text":"How are you?"}]}],"stream":%t}`},
	{"messages", "/anthropic/v1/messages", `{"model":"claude-sonnet-4-5","system":"Be kind.","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":[{"type":"text","text":"How are you?"}]}],"stream":%t}`},
	{"completions", "/openai/v1/completions", `{"model":"gpt-3.5-turbo-instruct","prompt":"How are you?","stream":%t}`},
}

// TestEvents: an exchange gives the same event with and without a stream, and the event has the
// content of request and reply.
func TestEvents(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]fakemodel.Reply{
		"text":           {Text: "I am fine. Grüße an alle 🎉 \u2028 ok", Usage: proviso.Usage{Prompt: 20, Completion: 9}},
		"call":           {Calls: []fakemodel.Call{{ID: "call_1", Name: "weather", Arguments: `{"city":"Köln"}`}, {ID: "call_2", Name: "time", Arguments: `{}`}}},
		"text and calls": {Text: "Let me see.", Calls: []fakemodel.Call{{ID: "call_1", Name: "weather", Arguments: `{"city":"Bonn","days":[1,2]}`}}},
		"refusal":        {Refusal: "I cannot help with that."},
		"length":         {Text: "It is", FinishReason: "length"},
		"thoughts":       {Text: "42", Thinking: "Let me think about it."},
		"nothing":        {},
	} {
		for _, form := range forms {
			if name != "text" && name != "length" && form.name == "completions" {
				continue
			}
			t.Run(name+"/"+form.name, func(t *testing.T) {
				t.Parallel()
				reply := reply
				if form.name == "responses" && reply.FinishReason != "" {
					reply.FinishReason = "max_output_tokens"
				}
				model := fakemodel.New(fakemodel.Options{Streams: true, Reply: func(fakemodel.Request) fakemodel.Reply { return reply }})
				defer model.Close()
				c := newCollector(t)
				p := start(t, configFor(model.URL, c.URL))
				var got []string
				for i, stream := range []bool{false, true} {
					status, _ := ask(t, p.url+form.path, fmt.Sprintf(form.body, stream), "Authorization: Bearer sk-secret-of-the-client", "X-Proviso-Agent: support",
						"X-Proviso-Conversation: c1", "X-Proviso-User: eve", "X-Lang: de", "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
					if status != 200 {
						t.Fatal(status)
					}
					e := c.wait(t, i+1)[i]
					if e.Latency <= 0 || !strings.HasPrefix(e.ID, "px_") || e.Time.IsZero() {
						t.Errorf("%+v", e)
					}
					if e.Metadata.At("first_token_ms") == nil || (e.Metadata.At("stream") == true) != stream {
						t.Error(shown(e))
					}
					e.ID, e.Latency, e.Time = "", 0, e.Time.Truncate(0)
					for _, key := range []string{"first_token_ms", "stream"} {
						e.Metadata.Delete(key)
					}
					o := e.Object()
					o.Delete("time")
					got = append(got, value.Stringify(o))
					for _, header := range []string{"X-Proviso-Agent", "X-Proviso-Conversation", "X-Proviso-User", "X-Lang"} {
						if h := model.Last().Header; h.Get(header) != "" {
							t.Errorf("the upstream gets %s", header)
						}
					}
					if h := model.Last().Header; h.Get("Authorization") != "Bearer sk-secret-of-the-client" || h.Get("X-Forwarded-For") != "" || h.Get("Traceparent") == "" {
						t.Errorf("the upstream gets %v", h)
					}
				}
				if name == "refusal" || name == "nothing" {
					if form.name != "chat" {
						return
					}
				}
				if d := cmp.Diff(got[0], got[1]); d != "" {
					t.Errorf("a stream is another event:\n%s\n%s", got[0], got[1])
				}
			})
		}
	}
}

// TestEventSays checks every field of the event of each API.
func TestEventSays(t *testing.T) {
	t.Parallel()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			model := fakemodel.New(fakemodel.Options{Streams: true, Reply: func(fakemodel.Request) fakemodel.Reply {
				return fakemodel.Reply{Text: "I am fine.", Usage: proviso.Usage{Prompt: 20, Completion: 9, Cached: 4}}
			}})
			defer model.Close()
			c := newCollector(t)
			p := start(t, configFor(model.URL, c.URL))
			ask(t, p.url+form.path, fmt.Sprintf(form.body, true), "X-Proviso-Agent: support", "X-Proviso-Conversation: c1", "X-Proviso-User: eve", "X-Lang: de")
			e := c.wait(t, 1)[0]
			if e.Agent != "support" || e.Conversation != "c1" || e.User != "eve" || e.Segment["lang"] != "de" || e.Input != "How are you?" || e.Output != "I am fine." || e.Error != "" {
				t.Error(shown(e))
			}
			if form.name != "completions" && (e.Prompt != "Be kind." || e.Version != ingest.PromptHash("Be kind.") || len(e.Metadata.At("messages").([]any)) != 3 || e.Cost <= 0) {
				t.Error(shown(e))
			}
			if e.Usage.Prompt != 20 || e.Usage.Completion != 9 || e.Model == "" || e.Metadata.At("api") != form.name || e.Metadata.At("status") != 200.0 {
				t.Error(shown(e))
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.keys["Bearer "+testKey] || len(c.keys) != 1 {
				t.Errorf("keys %v", c.keys)
			}
		})
	}
}
