package judge_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// vendors are judges of several vendors, with the request setting that bounds a reply and
// the finish reason for a truncated reply.
var vendors = []struct{ id, room, cut string }{
	{"openai:chat:gpt-4.1", "max_tokens", "length"},
	{"openai:responses:gpt-4.1", "max_output_tokens", "max_output_tokens"},
	{"anthropic:messages:claude-sonnet-4-5", "max_tokens", "max_tokens"},
	{"google:gemini-2.5-flash", "generationConfig", "MAX_TOKENS"},
	{"ollama:chat:llama3", "", "length"},
	{"mistral:mistral-small", "max_tokens", "model_length"},
}

// overWire evaluates one assertion with a judge whose server answers according to the
// number of the call.
func overWire(t *testing.T, id string, config *value.Object, answer func(call int, r fakemodel.Request) fakemodel.Reply) (*judge.Response, *fakemodel.Server) {
	t.Helper()
	var calls atomic.Int64
	server := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply { return answer(int(calls.Add(1)), r) }})
	t.Cleanup(server.Close)
	all := value.ObjectOf("apiKey", "k", "apiBaseUrl", server.URL)
	for k, v := range config.All() {
		all.Set(k, v)
	}
	spec := proviso.ProviderSpec{ID: id, Config: all}
	p, err := provider.Open(spec, provider.Options{Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	r, err := judge.Evaluate(t.Context(), &judge.Request{Input: "i", Output: "o", Assertions: []judge.Assertion{wants("a", "1", "2")}},
		judge.Options{Judges: []judge.Seat{{Provider: p, Spec: spec}}})
	if err != nil {
		t.Fatal(err)
	}
	return r, server
}

// TestCutReplies: truncated replies are never accepted, whatever they contain. They are
// requested again with twice the limit, and the error says where they were truncated.
func TestCutReplies(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.id, func(t *testing.T) {
			t.Parallel()
			var rooms []string
			r, _ := overWire(t, v.id, nil, func(call int, r fakemodel.Request) fakemodel.Reply {
				rooms = append(rooms, value.Stringify(r.Body.At(v.room)))
				if call == 1 {
					return fakemodel.Reply{Text: shapeAll, FinishReason: v.cut}
				}
				return fakemodel.Reply{Text: shapeNot}
			})
			if got := statuses(r); got != "a=fail" || len(rooms) != 2 {
				t.Errorf("%s after %d calls", got, len(rooms))
			}
			if v.room != "" && (!strings.Contains(rooms[0], "4096") || !strings.Contains(rooms[1], "8192")) {
				t.Errorf("the rooms are %v", rooms)
			}
			r, _ = overWire(t, v.id, nil, func(int, fakemodel.Request) fakemodel.Reply {
				return fakemodel.Reply{Text: shapeAll, FinishReason: v.cut, Usage: proviso.Usage{Prompt: 10, Completion: 777, Total: 787}}
			})
			if got := statuses(r); got != "a=error" || !strings.Contains(r.Results[0].Reasoning, "the reply was cut at 777 tokens; it was asked twice") {
				t.Errorf("%s: %s", got, r.Results[0].Reasoning)
			}
		})
	}
}

// TestOwnRoom: a limit in the configuration is respected, and named in the error.
func TestOwnRoom(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		calls := 0
		r, server := overWire(t, "openai:chat:gpt-4.1", value.ObjectOf(name, 300.0), func(int, fakemodel.Request) fakemodel.Reply {
			calls++
			return fakemodel.Reply{Text: shapeAll[:40], FinishReason: "length"}
		})
		if got := server.Last().Body.At(name); got != 300.0 || calls != 2 {
			t.Errorf("%s is %v in call %d", name, got, calls)
		}
		if want := "the reply was cut, by the limit of its configuration (" + name + ": 300)"; !strings.Contains(r.Results[0].Reasoning, want) {
			t.Errorf("the error is %q, which lacks %q", r.Results[0].Reasoning, want)
		}
	}
}

// TestThoughtsOfVendors: the separate reasoning in a vendor's response is never the
// answer.
func TestThoughtsOfVendors(t *testing.T) {
	t.Parallel()
	for _, v := range vendors {
		t.Run(v.id, func(t *testing.T) {
			t.Parallel()
			r, _ := overWire(t, v.id, nil, func(int, fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Thinking: shapeAll} })
			if got := statuses(r); got != "a=error" {
				t.Errorf("thoughts alone: %s", got)
			}
			r, _ = overWire(t, v.id, nil, func(int, fakemodel.Request) fakemodel.Reply {
				return fakemodel.Reply{Thinking: shapeAll, Text: shapeNot}
			})
			if got := statuses(r); got != "a=fail" {
				t.Errorf("thoughts and an answer: %s", got)
			}
		})
	}
}

// TestThoughts: reasoning in a reply is removed, whatever its marks.
func TestThoughts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ reply, want string }{
		"think":             {"<think>\nHm. " + shapeAll + "\n</think>\n" + shapeNot, "a=fail"},
		"other case":        {"<THINK>" + shapeAll + "</Think>" + shapeNot, "a=fail"},
		"thinking":          {"<thinking>" + shapeAll + "</thinking>```json\n" + shapeNot + "\n```", "a=fail"},
		"reasoning":         {"<reasoning>" + shapeAll + "</reasoning>" + shapeNot, "a=fail"},
		"brackets":          {"[THINK]" + shapeAll + "[/THINK]" + shapeNot, "a=fail"},
		"Kimi":              {"◁think▷" + shapeAll + "◁/think▷" + shapeNot, "a=fail"},
		"Gemma":             {"<|channel>thought\n" + shapeAll + "<channel|>" + shapeNot, "a=fail"},
		"channels, as text": {"analysisWe need to check. " + shapeAll + " No.assistantfinal" + shapeNot, "a=fail"},
		"a word":            {"analysis: " + shapeNot, "a=fail"},
		"twice":             {"<think>" + shapeAll + "</think><think>again</think>" + shapeNot, "a=fail"},
		"a quoted end":      {"<think>It says </think>. " + shapeAll + " No.</think>" + shapeNot, "a=fail"},
		"empty":             {"<think>\n\n</think>\n\n" + shapeNot, "a=fail"},
		"behind an answer":  {shapeNot + "\n<think>Was that right? " + shapeNot + "</think>", "a=fail"},
		"cut":               {"<think>Hm. " + shapeAll, "a=error"},
		"cut, as text":      {"analysisWe need to check. " + shapeAll, "a=error"},
		"cut, brackets":     {"[THINK]" + shapeAll, "a=error"},
		"cut the next time": {"<think>Hm.</think><think>" + shapeAll, "a=error"},
		"nothing else":      {"<think>" + shapeAll + "</think>", "a=error"},
		"joined":            {`{"results":[{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"reasoning":"x <think>y","met":false,</think>","met":true}]}]}`, "a=error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{Reply: func(seen) string { return c.reply }}
			if got := statuses(evaluate(t, one(t, f), wants("a", "1", "2"))); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestThoughtsAreQuick bounds the work on replies designed to be slow.
func TestThoughtsAreQuick(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"<think>", "</think>{", `</think>{"a":"`, "</think>[", "<think></think>{'", "◁think▷◁/think▷"} {
		f := &fake{Reply: func(seen) string { return strings.Repeat(unit, 1<<19/len(unit)) }}
		if got := statuses(evaluate(t, one(t, f), wants("a", "1"))); got != "a=error" {
			t.Errorf("%q: %s", unit, got)
		}
	}
}

// TestThoughtsOfGraders: reasoning is removed for all types that a model grades.
func TestThoughtsOfGraders(t *testing.T) {
	t.Parallel()
	pass, fail := `{"reason":"r","score":1,"pass":true}`, `{"reason":"r","score":0,"pass":false}`
	for reply, want := range map[string]string{
		"<think>" + pass + "</think>" + fail: "false",
		"<think>" + pass:                     "error",
	} {
		j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: answering(func(proviso.Ask) string { return reply })}}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := j.Grade(t.Context(), proviso.Question{Type: "llm-rubric", Value: "v", Output: "o"})
		if got := map[bool]string{true: "true", false: "false"}[g.Pass]; err != nil && want != "error" || err == nil && got != want {
			t.Errorf("%q: %v, %v; want %s", reply, g.Pass, err, want)
		}
	}
}

// TestBrokenOff lists vendors' finish reasons for replies that were ended before the
// model was done. Nothing in such a reply counts.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	for finish, counts := range map[string]bool{
		"stop": true, "": true, "eos_token": true, "COMPLETE": true,
		"MAX_TOKENS": false, "FinishReason.MAX_TOKENS": false, "max_new_tokens": false, "max-tokens": false, "limit": false, "truncated": false,
		"error": false, "ERROR_LIMIT": false, "abort": false, "aborted": false, "cancelled": false, "incomplete": false, "timeout": false,
		"insufficient_system_resource": false, "time_limit": false, "network_error": false, "SAFETY": false, "RECITATION": false, "OTHER": false,
		"guardrail_intervened": false, "content_filtered": false, "sensitive": false, "MALFORMED_FUNCTION_CALL": false, "repetition": false, "pause_turn": false,
	} {
		t.Run(finish, func(t *testing.T) {
			t.Parallel()
			got, calls := shapeStatuses(t, shapeReply(shapeNot, finish, false, nil), []string{"a"}, false)
			if counts && (got != "a=fail" || calls != 1) || !counts && (got != "a=error" || calls != 2) {
				t.Errorf("%s after %d calls", got, calls)
			}
		})
	}
}

// TestNamedThoughts has reasoning tags that models invented. A draft in them does not
// count.
func TestNamedThoughts(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"longcat_think", "antThinking", "analysis", "think hidden", "thought_process", "|think|", "think_fast", "cot", "inner_voice", `details type="reasoning"`} {
		if got, calls := shapeStatuses(t, shapeReply("<"+tag+">Maybe "+shapeAll, "stop", false, nil), []string{"a"}, false); got != "a=error" || calls != 2 {
			t.Errorf("<%s> that does not end: %s after %d calls", tag, got, calls)
		}
		name, _, _ := strings.Cut(tag, " ")
		if got, calls := shapeStatuses(t, shapeReply("<"+tag+">Maybe "+shapeAll+"</"+name+">"+shapeNot, "stop", false, nil), []string{"a"}, false); got != "a=fail" || calls != 1 {
			t.Errorf("<%s> that ends: %s after %d calls", tag, got, calls)
		}
	}
	for _, tag := range []string{"b", "details open", "answer"} {
		if got, _ := shapeStatuses(t, shapeReply("<"+tag+">Here: "+shapeNot, "stop", false, nil), []string{"a"}, false); got != "a=fail" {
			t.Errorf("<%s>, which is no thought: %s", tag, got)
		}
	}
}
