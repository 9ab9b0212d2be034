package judge_test

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
	"github.com/proviso-eval/proviso/judge"
	"github.com/proviso-eval/proviso/provider"
	"github.com/proviso-eval/proviso/value"
)

// The results of reading a reply.
const (
	accepted = "accepted"
	again    = "asked again once"
	never    = "never accepted" // it is ambiguous
)

// replyShapes are the replies that models are known for. Each replies to a call about the
// assertion a with criteria 1 and 2, of which the second is not met. shown is the text in
// the manual's table.
var replyShapes = []struct {
	name, shown, reply string
	finish             string // finish reason
	refused            bool
	calls              []string // arguments of the tool calls that are the answer
	becomes            string
	asks               string // assertions in the call; "" means "a"
	want               string // "" means "a=fail"
}{
	{name: "as asked for", shown: `"verdict":"not_met"`, becomes: accepted,
		reply: shape(`{"n":1,"evidence":[],"reasoning":"r","verdict":"met"},{"n":2,"evidence":[],"reasoning":"r","verdict":"not_met"}`)},
	{name: "a verdict in other letters", shown: `"verdict":"Not met"`, becomes: accepted, reply: shape(`{"n":1,"verdict":"MET"},{"n":2,"verdict":"Not met"}`)},
	{name: "the judge cannot tell", shown: `"verdict":"cannot_tell"`, becomes: accepted, want: "a=error", reply: shape(`{"n":1,"verdict":"met"},{"n":2,"verdict":"cannot_tell"}`)},
	{name: "true and false", shown: `"met":false`, becomes: accepted, reply: shape(`{"n":1,"met":true},{"n":2,"met":false}`)},
	{name: "`pass` in place of `met`", shown: `"pass":false`, becomes: accepted, reply: shape(`{"n":1,"pass":true},{"n":2,"pass":false}`)},
	{name: "yes and no", shown: `"met":"no"`, becomes: accepted, reply: shape(`{"n":1,"met":"Yes"},{"n":2,"met":"no"}`)},
	{name: "1 and 0", shown: `"met":0`, becomes: accepted, reply: shape(`{"n":1,"met":1},{"n":2,"met":0}`)},
	{name: "no numbers, as many criteria as were asked for", shown: `[{"met":true},{"met":false}]`, becomes: accepted, reply: shape(`{"met":true},{"met":false}`)},
	{name: "a number as text", shown: `"n":"2"`, becomes: accepted, reply: shape(`{"n":"1","met":true},{"n":"2","met":false}`)},
	{name: "an id in another case, if it is the only one", shown: `"id":"A"`, becomes: accepted, reply: strings.Replace(shapeNot, `"a"`, `"A"`, 1)},
	{name: "line breaks inside a text", shown: "`\"It ends.` ⏎ `Here.\"`", becomes: accepted, reply: shape("{\"n\":1,\"met\":true},{\"n\":2,\"reasoning\":\"It ends.\nHere.\tYes.\",\"met\":false}")},
	{name: "quotation marks inside a text that are not escaped", shown: `"It says "we", which is right"`, becomes: accepted,
		reply: shape(`{"n":1,"met":true},{"n":2,"evidence":["a "really" b","c"],"reasoning":"It says "we", which is "right"","met":false}`)},
	{name: "single quotation marks, True and False", shown: `{'n':1,'met':True}`, becomes: accepted,
		reply: `{'results': [{'id': 'a', 'criteria': [{'n': 1, 'evidence': [], 'reasoning': "It doesn't", 'met': True}, {'n': 2, 'reasoning': 'It doesn't, see \'x\'', 'met': False}]}]}`},
	{name: "prose or a code fence around it", shown: "` ```json … ``` `", becomes: accepted, reply: "Here it is:\n```json\n" + shapeNot + "\n```\nI hope {that} helps."},
	{name: "a list, a single result, an object a line", shown: `[{"id":…}]`, becomes: accepted, reply: strings.TrimSuffix(strings.TrimPrefix(shapeNot, `{"results":`), "}")},
	{name: "thoughts that end", shown: `<think>…</think>{…}`, becomes: accepted, reply: "<think>Is it? " + shapeAll + "\nNo.</think>\n" + shapeNot},
	{name: "thoughts of which only the end is shown", shown: `…</think>{…}`, becomes: accepted, reply: "Let me see. " + shapeAll + " No, wait.\n</think>\n\n" + shapeNot},
	{name: "channels", shown: "<|channel|>analysis…<|channel|>final…", becomes: accepted,
		reply: "<|channel|>analysis<|message|>Maybe " + shapeAll + "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>" + shapeNot + "<|return|>"},
	{name: "a mark of thoughts inside a text", shown: `"reasoning":"It says <think>."`, becomes: accepted, reply: shape(`{"n":1,"met":true},{"n":2,"reasoning":"It says <think> and </think>.","met":false}`)},
	{name: "other fields that agree", shown: `"confidence":0.9,"final_verdict":"met"`, becomes: accepted,
		reply: shape(`{"n":1,"met":true,"confidence":0.9,"unmet":false,"final_verdict":"met"},{"n":2,"certain":true,"met":false,"status":"fail","passage_found":true}`)},
	{name: "thoughts of a name of their own", shown: `<my_thinking>…</my_thinking>{…}`, becomes: accepted, reply: "<my_thinking a=\"b\">" + shapeAll + "</my_thinking>" + shapeNot},
	{name: "results that nobody asked for", shown: `{"id":"z",…}`, becomes: accepted, reply: strings.Replace(shapeNot, `[{`, `[{"id":"z","criteria":[{"n":1,"met":true}]},{`, 1)},
	{name: "verdicts in a tool call", becomes: accepted, calls: []string{shapeNot}},

	{name: "an empty reply", becomes: again, reply: " \n"},
	{name: "a refusal", shown: "I cannot help with that.", becomes: again, reply: "I cannot help with that.", refused: true},
	{name: "no verdicts in it", shown: "I cannot say.", becomes: again, reply: "I cannot say."},
	{name: "a reply that was cut", shown: "finish reason `length`", becomes: again, reply: shapeAll, finish: "length"},
	{name: "a reply that was broken off", shown: "finish reason `error`", becomes: again, reply: shapeAll, finish: "error"},
	{name: "a reply that breaks off", shown: `{"n":2,"met":fal`, becomes: again, reply: shapeAll[:len(shapeAll)-8]},
	{name: "thoughts that do not end", shown: `<think>… {…}`, becomes: again, reply: "<think>It might be this: " + shapeAll},
	{name: "thoughts of a name of their own that do not end", shown: `<my_thinking>… {…}`, becomes: again, reply: "<my_thinking>It might be this: " + shapeAll},
	{name: "an analysis without a final channel", shown: "<|channel|>analysis… {…}", becomes: again, reply: "<|channel|>analysis<|message|>It might be " + shapeAll},
	{name: "other ids", shown: `"id":"c"`, becomes: again, reply: strings.Replace(shapeAll, `"a"`, `"c"`, 1)},
	{name: "criteria counted from 0", shown: `"n":0`, becomes: again, reply: shape(`{"n":0,"met":true},{"n":1,"met":true}`)},
	{name: "criteria counted from 2", shown: `"n":3`, becomes: again, reply: shape(`{"n":2,"met":true},{"n":3,"met":true}`)},
	{name: "a criterion is missing", becomes: again, reply: shape(`{"n":1,"met":true}`)},
	{name: "a number that nobody asked for", becomes: again, reply: shape(`{"n":1,"met":true},{"n":2,"met":true},{"n":3,"met":true}`)},
	{name: "a number that is none", shown: `"n":"second"`, becomes: again, reply: shape(`{"n":1,"met":true},{"n":"second","met":true}`)},
	{name: "a criterion without a verdict", shown: `"met":null`, becomes: again, reply: shape(`{"n":1,"met":true},{"n":2,"met":null}`)},
	{name: "another word for a verdict", shown: `"verdict":"partly"`, becomes: again, reply: shape(`{"n":1,"verdict":"met"},{"n":2,"verdict":"partly"}`)},
	{name: "met, and no quote of it occurs in the output", shown: `"evidence":["…"],"verdict":"met"`, becomes: again, reply: shape(`{"n":1,"met":true},{"n":2,"evidence":["It was invented.","This too."],"met":true}`)},
	{name: "met, and only a letter or a mark of its quotes occurs", shown: `"evidence":["…","e"]`, becomes: again, reply: shape(`{"n":1,"met":true},{"n":2,"evidence":["It was invented.","e","."],"met":true}`)},
	{name: "met, and quotes in objects that do not occur", shown: `"evidence":[{"quote":"…"}]`, becomes: again, reply: shape(`{"n":1,"met":true},{"n":2,"evidence":[{"quote":"It was invented."}],"met":true}`)},

	{name: "a key twice", shown: `"met":false,"met":true`, becomes: never, reply: shape(`{"n":1,"met":true},{"n":2,"met":false,"met":true}`)},
	{name: "two verdicts on a criterion", shown: `"verdict":"met","met":false`, becomes: never, reply: shape(`{"n":1,"met":true},{"n":2,"verdict":"met","met":false}`)},
	{name: "a verdict on the assertion that is not that on its criteria", shown: `"pass":true`, becomes: never, reply: strings.Replace(shapeNot, `"id"`, `"pass":true,"id"`, 1)},
	{name: "a number twice, even with the same verdict", shown: `"n":1`, becomes: never, reply: shape(`{"n":1,"met":true},{"n":1,"met":true},{"n":2,"met":true}`)},
	{name: "numbers for some criteria only", shown: `[{"n":1,…},{…}]`, becomes: never, reply: shape(`{"n":1,"met":true},{"met":true}`)},
	{name: "two results for an assertion, with different verdicts", becomes: never, reply: shapeNot + "\nOr rather:\n" + shapeAll},
	{name: "an id in another case, where that could mean two", shown: `"id":"AB"`, becomes: never, asks: "aB Ab", want: "aB=fail Ab=fail",
		reply: strings.Replace(shapeAll, `"a"`, `"AB"`, 1)},
	{name: "another verdict in a field that nobody asked for", shown: `"verdict":"met","final_verdict":"not_met"`, becomes: never, reply: shape(`{"n":1,"met":true},{"n":2,"verdict":"met","final_verdict":"not_met"}`)},
	{name: "another verdict in a field of another case, or deeper", shown: `"met":true,"Met":false`, becomes: never, reply: shape(`{"n":1,"met":true,"assessment":{"verdict":"not_met"}},{"n":2,"met":true,"Met":false}`)},
	{name: "an assertion that has another verdict under any name", shown: `"status":"fail"`, becomes: never, reply: strings.Replace(shapeAll, `"id"`, `"status":"fail","id"`, 1)},
	{name: "a verdict on the whole that is not that on its parts", shown: `{"pass":false,"results":…}`, becomes: never, reply: `{"pass":false,` + shapeAll[1:]},
	{name: "a result without criteria beside one that has them", shown: `{"id":"a","pass":false}`, becomes: never, reply: strings.Replace(shapeAll, `[{`, `[{"id":"a","pass":false},{`, 1)},
	{name: "two verdicts on a criterion, and a second result", becomes: never, reply: shape(`{"n":1,"met":true},{"n":2,"verdict":"met","met":false}`) + shapeAll},
	{name: "two results for an assertion, one without a verdict", shown: `"verdict":"partly"`, becomes: never, reply: shape(`{"n":1,"met":true},{"n":2,"verdict":"partly"}`) + shapeAll},
	{name: "other results in another field", shown: `{"results":…,"corrected":{"results":…}}`, becomes: never, reply: shapeAll[:len(shapeAll)-1] + `,"corrected":` + shapeNot + `}`},
	{name: "numbers under another name", shown: `"number":2`, becomes: never, reply: shape(`{"number":2,"met":true},{"number":1,"met":true}`)},
	{name: "prose behind it that takes it back", shown: "`{…} Wait, the second is not met.`", becomes: never, reply: shapeAll + "\nWait, the second is **not** met."},
	{name: "prose behind it that says the opposite", shown: "`{…} Final answer: criterion 2 fails.`", becomes: never, reply: "Thinking: " + shapeAll + "\nFinal answer: criterion 2 fails."},
	{name: "prose that takes it back, and a value behind that", shown: "`{…} Wait, the second is not met [1].`", becomes: never, reply: shapeAll + "\nWait, the second is not met [1]. {}"},
	{name: "prose that corrects it where another criterion is not met", shown: "`{…} Correction: …`", becomes: never, reply: shapeNot + "\nCorrection: criterion 1 is not met, too."},
	{name: "another verdict in a value behind it", shown: `{…} {"verdict":"not_met"}`, becomes: never, reply: shapeAll + `Final answer: {"verdict":"not_met"}`},
	{name: "another verdict in a value before it", shown: `{"pass":false} {…}`, becomes: never, reply: `{"pass":false}` + shapeAll},
	{name: "other results in a value of another name", shown: `{…} {"final":{"results":…}}`, becomes: never, reply: "Draft: " + shapeAll + "\nFinal: {\"final\":" + shapeNot + "}"},
	{name: "another verdict behind it that breaks off", shown: `{…} {"met":false,"reas`, becomes: never, reply: shapeAll + `Rather: {"results":[{"id":"a","criteria":[{"n":2,"met":false,"reas`},
	{name: "another verdict in a list", shown: `"verdict":"met","parts":[{"verdict":"not_met"}]`, becomes: never,
		reply: shape(`{"n":1,"met":true,"parts":[{"met":true},{"verdict":"not_met"}]},{"n":2,"met":true,"verdicts":["met","not_met"]}`)},
	{name: "another verdict in other words", shown: `"verdict":"met","final_verdict":"partly"`, becomes: never, reply: shape(`{"n":1,"met":true,"violated":true},{"n":2,"verdict":"met","final_verdict":"partly"}`)},
	{name: "corrections beside the results", shown: `{"results":…,"corrections":{"a":false}}`, becomes: never, reply: shapeAll[:len(shapeAll)-1] + `,"corrections":{"a":false}}`},
	{name: "another verdict in a tool call beside the text", becomes: never, reply: shapeNot, calls: []string{shapeAll}},
	{name: "two tool calls with different verdicts", becomes: never, calls: []string{shapeAll, shapeNot}},
	{name: "a quotation mark that is not escaped and could end the text", shown: `"It says "x","met":true}…`, becomes: never,
		reply: `{"results":[{"id":"a","criteria":[{"n":1,"met":true},{"n":2,"reasoning":"It says "x","met":true}]}]} there","met":false}]}]}`},
}

const (
	shapeAll = `{"results":[{"id":"a","criteria":[{"n":1,"reasoning":"r","evidence":[],"met":true},{"n":2,"reasoning":"r","evidence":[],"met":true}]}]}`
	shapeNot = `{"results":[{"id":"a","criteria":[{"n":1,"reasoning":"r","evidence":[],"met":true},{"n":2,"reasoning":"r","evidence":[],"met":false}]}]}`
)

func shape(criteria string) string { return `{"results":[{"id":"a","criteria":[` + criteria + `]}]}` }

// TestReplyShapes is the contract for replies, over the wire: an accepted reply decides
// at once, and every other one is requested again once. If the second reply is no better,
// nothing is decided.
func TestReplyShapes(t *testing.T) {
	t.Parallel()
	for _, c := range replyShapes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want, asks := or(c.want, "a=fail"), strings.Fields(or(c.asks, "a"))
			for _, better := range []bool{true, false} {
				got, calls := shapeStatuses(t, shapeReply(c.reply, c.finish, c.refused, c.calls), asks, better)
				switch {
				case c.becomes == accepted && (got != want || calls != 1):
					t.Errorf("%s after %d calls, want %s after 1", got, calls, want)
				case c.becomes != accepted && better && (got != want || calls != 2):
					t.Errorf("%s after %d calls, want %s after 2", got, calls, want)
				case c.becomes != accepted && !better && (strings.Contains(got, "pass") || strings.Contains(got, "fail") || calls != 2):
					t.Errorf("%s after %d calls that say the same, want errors after 2", got, calls)
				}
			}
		})
	}
}

func shapeReply(text, finish string, refused bool, calls []string) fakemodel.Reply {
	if refused {
		return fakemodel.Reply{Refusal: text}
	}
	r := fakemodel.Reply{Text: text, FinishReason: finish}
	for _, arguments := range calls {
		r.Calls = append(r.Calls, fakemodel.Call{ID: "c", Name: "verdicts", Arguments: arguments})
	}
	return r
}

// judgeAt returns a judge that asks the model server at an address.
func judgeAt(t testing.TB, address string) *judge.Judge {
	t.Helper()
	spec := proviso.ProviderSpec{ID: "openai:chat:gpt-4.1", Config: value.ObjectOf("apiKey", "k", "apiBaseUrl", address)}
	p, err := provider.Open(spec, provider.Options{Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	j, err := judge.New(judge.Options{Judges: []judge.Seat{{Provider: p, Spec: spec}}})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// shapeStatuses calls a model that returns the given reply and, if better is set, a good
// one on the second call.
func shapeStatuses(t *testing.T, reply fakemodel.Reply, asks []string, better bool) (string, int) {
	t.Helper()
	var calls atomic.Int64
	server := fakemodel.New(fakemodel.Options{Reply: func(r fakemodel.Request) fakemodel.Reply {
		if calls.Add(1) > 1 && better {
			messages, _ := r.Body.At("messages").([]any)
			r.Prompt, _ = messages[1].(*value.Object).At("content").(string) // the question, without the mistake in the reply
			return fakemodel.Reply{Text: replyTo(t, r)}
		}
		return reply
	}})
	defer server.Close()
	j := judgeAt(t, server.URL)
	var list []judge.Assertion
	for _, id := range asks {
		list = append(list, wants(id, "1", "no: 2"))
	}
	return statuses(evaluate(t, j, list...)), int(calls.Load())
}

// TestDocsOfReplies keeps the manual's table equal to the contract.
func TestDocsOfReplies(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("<!-- begin replies -->\n| reply | such as | |\n|---|---|---|\n")
	for _, c := range replyShapes {
		shown := c.shown
		if shown != "" && !strings.Contains(shown, "`") && !strings.HasPrefix(shown, "I cannot") {
			shown = "`" + strings.ReplaceAll(shown, "|", `\|`) + "`"
		}
		b.WriteString("| " + c.name + " | " + shown + " | " + c.becomes + " |\n")
	}
	b.WriteString("<!-- end replies -->\n")
	data, err := os.ReadFile("../docs/judge.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), b.String()) {
		t.Errorf("docs/judge.md lacks this table:\n%s", b.String())
	}
}

func or(text, def string) string {
	if text == "" {
		return def
	}
	return text
}
