package otlp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/otlp"
	"github.com/proviso-eval/proviso/value"
)

const answered = "ab000000000000000000000000000001"

func spansIn(t testing.TB, file string) []proviso.Span {
	t.Helper()
	b, err := otlp.DecodeJSON(readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var spans []proviso.Span
	for _, r := range b.Records {
		spans = append(spans, r.Span)
	}
	return spans
}

func answersOf(spans []proviso.Span, final bool) (list []string, waits bool) {
	answers, waits := otlp.Answers(answered, spans, final)
	for _, a := range answers {
		list = append(list, value.Stringify(a.Event))
	}
	return list, waits
}

const latest = `{"id":"` + answered + `-cd00000000000004","trace_id":"` + answered + `","time":"2026-01-02T03:04:05.4Z","agent":"support","input":"How long can I return the lamp?",` +
	`"prompt":"You answer questions about returns.","conversation":"c-17","user":"u-4711","version":"v7","output":"Within 30 days.","latency_ms":290,"model":"m-large-2026","usage":{"prompt_tokens":410,"completion_tokens":10}}`

// TestAnswers: in each convention, the topmost agent of a trace is the answer. Plans, workflows,
// tools and agents below it are not. The messages of answers-messages.json have the shape that the
// schemas gen-ai-input-messages.json and gen-ai-output-messages.json of the OpenTelemetry semantic
// conventions define, with a tool call and its response.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"answers-latest.json": latest,
		"answers-earlier.json": `{"id":"` + answered + `-cd00000000000001","trace_id":"` + answered + `","time":"2026-01-02T03:04:05.2Z","agent":"openai.chat","input":"How long?",` +
			`"prompt":"You answer questions about returns.","output":"30 days.","latency_ms":200,"model":"m-large-2024","usage":{"prompt_tokens":40,"completion_tokens":3}}`,
		"answers-messages.json": `{"id":"` + answered + `-cd00000000000001","trace_id":"` + answered + `","time":"2026-01-02T03:04:05.2Z","agent":"weather",` +
			`"input":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Is it raining in Lisbon?\"}]},{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"call_1\",\"name\":\"get_weather\",\"arguments\":{\"location\":\"Lisbon\"}}]},{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"call_1\",\"response\":\"dry, 19 °C\"}]}]","prompt":"You answer questions about the weather.","conversation":"conv_5j66UpCpwteGg4YSxUnt7lPY","version":"1.4.0","output":"No, it is dry in Lisbon, at 19 °C.","latency_ms":200,"model":"m-large-2026","usage":{"prompt_tokens":100,"completion_tokens":180}}`,
		"answers-openinference.json": `{"id":"` + answered + `-cd00000000000002","trace_id":"` + answered + `","time":"2026-01-02T03:04:05.1Z","agent":"support","input":"{\"question\": \"How long?\"}",` +
			`"conversation":"s-1","user":"u","output":"30 days.","latency_ms":90,"model":"m-large","usage":{"prompt_tokens":12,"completion_tokens":4}}`,
	} {
		got, waits := answersOf(spansIn(t, file), false)
		if d := cmp.Diff([]string{want}, got); d != "" || waits {
			t.Errorf("%s: waits %v\n%s", file, waits, d)
		}
	}
}

// TestAnswersWait: an agent whose ancestors are unknown waits, unless no more spans are expected.
func TestAnswersWait(t *testing.T) {
	t.Parallel()
	spans := spansIn(t, "answers-latest.json")
	for n := 1; n < len(spans); n++ {
		got, waits := answersOf(spans[:n], false)
		if len(got) != 0 || !waits {
			t.Errorf("after %d spans: %v, waits %v", n, got, waits)
		}
	}
	if got, _ := answersOf(spans[:5], true); len(got) != 1 || got[0] != latest {
		t.Errorf("at last: %v", got)
	}
	loop := []proviso.Span{spans[4], spans[4]}
	loop[0].ID, loop[0].ParentID, loop[1].ID, loop[1].ParentID = "a", "b", "b", "a"
	loop[1].Attributes = value.ObjectOf("x", 1.0)
	if got, _ := answersOf(loop, true); len(got) != 0 {
		t.Errorf("in a loop: %v", got)
	}
	failed := spans[4]
	failed.Attributes, failed.ParentID, failed.StatusCode, failed.StatusMessage = value.ObjectOf("gen_ai.operation.name", "invoke_agent"), "", 2, "overloaded"
	if list, _ := otlp.Answers(answered, []proviso.Span{failed}, false); len(list) != 1 || list[0].Event.Text("error") != "overloaded" || list[0].Event.Text("agent") != "support" {
		t.Errorf("an error: %v", list)
	}
	failed.StatusCode = 0
	if list, _ := otlp.Answers(answered, []proviso.Span{failed}, true); len(list) != 0 {
		t.Errorf("without contents: %v", list)
	}
}

// TestAnswersInEvents: messages may be in events of the span, in the two forms of earlier
// conventions. Attributes take precedence.
func TestAnswersInEvents(t *testing.T) {
	t.Parallel()
	const span = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"` + answered + `","spanId":"cd00000000000001","name":"chat m",
		"startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}MORE],"events":[EVENTS]}]}]}]}`
	event := func(name, key, text string) string {
		return `{"name":"` + name + `","timeUnixNano":"1","attributes":[{"key":"` + key + `","value":{"stringValue":` + value.Stringify(text) + `}}]}`
	}
	messages := event("gen_ai.system.message", "content", "Be brief.") + "," + event("gen_ai.user.message", "content", "Open?") + ","
	for _, c := range []struct{ name, more, events, want string }{
		{"content events", "", event("gen_ai.content.prompt", "gen_ai.prompt", `[{"role":"system","content":"Be brief."},{"role":"user","content":"Open?"}]`) + "," +
			event("gen_ai.content.completion", "gen_ai.completion", `[{"role":"assistant","content":"At nine."}]`), `Open? Be brief. At nine.`},
		{"message events", "", messages + event("gen_ai.choice", "message", `{"content":"At nine."}`), `Open? Be brief. At nine.`},
		{"a choice without an object", "", messages + event("gen_ai.choice", "content", "At nine."), `Open? Be brief. At nine.`},
		{"the first choice", "", messages + event("gen_ai.choice", "message", "At nine.") + "," + event("gen_ai.choice", "message", "At ten."), `Open? Be brief. At nine.`},
		{"an attribute", `,{"key":"gen_ai.completion.0.content","value":{"stringValue":"At eight."}}`, messages + event("gen_ai.choice", "message", "At nine."), `Open? Be brief. At eight.`},
	} {
		b, err := otlp.DecodeJSON([]byte(strings.NewReplacer("MORE", c.more, "EVENTS", c.events).Replace(span)))
		if err != nil || len(b.Records) != 1 {
			t.Fatalf("%s: %v", c.name, err)
		}
		answers, _ := otlp.Answers(answered, []proviso.Span{b.Records[0].Span}, true)
		if len(answers) != 1 {
			t.Errorf("%s: %d answers", c.name, len(answers))
			continue
		}
		e := answers[0].Event
		if got := strings.Join([]string{e.Text("input"), e.Text("prompt"), e.Text("output")}, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzAnswers: no spans crash the reader, and each span gives at most one answer.
func FuzzAnswers(f *testing.F) {
	for _, file := range []string{"answers-latest.json", "answers-earlier.json", "answers-openinference.json", "answers-messages.json", "go-sdk.json"} {
		f.Add(readFile(f, file), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, final bool) {
		b, err := otlp.DecodeJSON(data)
		if err != nil {
			return
		}
		var spans []proviso.Span
		for _, r := range b.Records {
			spans = append(spans, r.Span)
		}
		list, waits := otlp.Answers("t", spans, final)
		if len(list) > len(spans) || final && waits {
			t.Fatalf("%d answers of %d spans, waits %v", len(list), len(spans), waits)
		}
	})
}
