package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/ingest"
	"github.com/proviso-eval/proviso/value"
)

var now = time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)

func object(t testing.TB, text string) *value.Object {
	t.Helper()
	v, err := value.ParseJSON(text)
	o, ok := v.(*value.Object)
	if err != nil || !ok {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// TestReadEvent checks the meaning of an event, and that it survives writing and reading.
func TestReadEvent(t *testing.T) {
	t.Parallel()
	const full = `{"id":"e1","agent":"support","time":"2026-01-31T08:59:00Z","conversation":"c","trace_id":"t","input":[{"role":"user","content":"hi"}],
		"output":"hello","context":"c","version":"v1","prompt":"Be kind.","model":"m","segment":{"lang":"de","tier":1},"user":"u","metadata":{"a":[1]},
		"usage":{"prompt_tokens":3,"completion_tokens":2},"cost":0.5,"latency_ms":12.5}`
	e, wrong := ingest.ReadEvent(object(t, full), now)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	want := ingest.Event{ID: "e1", Agent: "support", Time: now.Add(-time.Minute), Conversation: "c", TraceID: "t", Input: `[{"role":"user","content":"hi"}]`,
		Output: "hello", Context: "c", Version: "v1", Prompt: "Be kind.", Model: "m", Segment: map[string]string{"lang": "de", "tier": "1"}, User: "u",
		Metadata: e.Metadata, Usage: proviso.Usage{Prompt: 3, Completion: 2, Total: 5}, Cost: 0.5, Latency: 12500 * time.Microsecond}
	if d := cmp.Diff(want, e, cmp.AllowUnexported(value.Object{})); d != "" {
		t.Error(d)
	}
	again, wrong := ingest.ReadEvent(e.Object(), now)
	if d := cmp.Diff(e, again, cmp.AllowUnexported(value.Object{})); d != "" || len(wrong) > 0 {
		t.Error(d, wrong)
	}
	if got := e.Group(); got != "c:c" {
		t.Error(got)
	}
	if h := ingest.PromptHash(e.Prompt); !ingest.IsPromptHash(h) || ingest.PromptHash(h) != h || ingest.PromptHash("") != "" {
		t.Error(h)
	}
}

// TestMistakesOfEvents: all mistakes are reported at once, each with its position.
func TestMistakesOfEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ event, want string }{
		{`{}`, ": id is missing; : agent is missing; : output and error are missing; an event needs one of them"},
		{`{"id":"","agent":"a","output":""}`, "/id: id is empty"},
		{`{"agent":"a","output":""}`, ": id is missing"},
		{`{"id":"..","agent":"a","conversation":".","output":""}`, `/id: id cannot be "..", which means another place in an address; /conversation: conversation cannot be ".", which means another place in an address`},
		{`{"id":"a/../b","agent":"../a","output":""}`, ""},
		{`{"id":"e","agent":"a","error":"timeout"}`, ""},
		{`{"id":"e","agent":"a","output":null}`, ": output and error are missing; an event needs one of them"},
		{`{"id":"e","agent":"a","output":null,"error":"timeout"}`, ""},
		{`{"id":"e","agent":"a","output":"x","ouput":"y"}`, `/ouput: unknown field "ouput"; did you mean "output"?`},
		{`{"id":7,"agent":"a","output":"x","time":"yesterday"}`, `/id: id has to be text, not a number; /time: time has to be a time such as 2026-01-31T09:00:00Z, not "yesterday"`},
		{`{"id":"e","agent":"a","output":"x","time":"2026-01-31T11:00:00Z"}`, "/time: time is 2h0m0s ahead of the clock of the server; at most 1h0m0s are allowed"},
		{`{"id":"e","agent":"a","output":"x","time":"2026-01-30T09:00:00Z"}`, ""},
		{`{"id":"e","agent":"a","output":"x","segment":"de"}`, `/segment: segment has to be an object such as {"lang": "de"}, not a text`},
		{`{"id":"e","agent":"a","output":"x","segment":{"lang":null}}`, `/segment: segment.lang has to be text, not null`},
		{`{"id":"e","agent":"a","output":"x","cost":-1}`, `/cost: cost has to be a number from 0 to 1e+06, not -1`},
		{`{"id":"e","agent":"a","output":"x","usage":{"prompt_tokens":1.5}}`, `/usage: usage.prompt_tokens has to be a whole number from 0, not 1.5`},
		{`{"id":"e","agent":"a","output":"x","metadata":[]}`, `/metadata: metadata has to be an object, not a list`},
		{`{"id":"e\n","agent":"\u202ea","output":"x","segment":{"a":"\u001b"}}`, `/id: id has to be a text on one line, without control characters, not "e\n"; /agent: agent has to be a text on one line, without control characters, not "\u202ea"; /segment: the names and values of segment have to be texts on one line, not "a": "\x1b"`},
		{`{"id":"e","agent":"` + strings.Repeat("a", 201) + `","output":"x"}`, `/agent: agent has 201 bytes, and at most 200 are allowed`},
		{`{"id":"e","agent":"a","output":"` + strings.Repeat("x", ingest.MaxText+1) + `"}`, `/output: output has 2097153 bytes, and at most 2097152 are allowed`},
	} {
		_, wrong := ingest.ReadEvent(object(t, c.event), now)
		if got := texts(wrong); got != c.want {
			t.Errorf("%.80s:\n got %s\nwant %s", c.event, got, c.want)
		}
	}
}

func texts(list []*proviso.Error) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Pointer+": "+e.Message)
	}
	return strings.Join(all, "; ")
}

// TestReadFeedback: feedback names either an event or a trace, and is up or down.
func TestReadFeedback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ thumb, want string }{
		{`{"event":"e","user":"u","value":1}`, ""},
		{`{"trace_id":"t","value":-1,"comment":"no"}`, ""},
		{`{"value":1}`, ": a thumb needs either an event or a trace_id"},
		{`{"event":"e","trace_id":"t","value":2}`, ": a thumb needs either an event or a trace_id; /value: value has to be 1 or -1, not 2"},
		{`{"event":"e","vlaue":1}`, `/vlaue: unknown field "vlaue"; did you mean "value"?; : value is missing: 1 or -1`},
	} {
		f, wrong := ingest.ReadFeedback(object(t, c.thumb), now)
		if got := texts(wrong); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.thumb, got, c.want)
		}
		if c.want == "" && (f.Value != 1 && f.Value != -1 || !f.Time.Equal(now)) {
			t.Errorf("%s: %+v", c.thumb, f)
		}
	}
}

const secret = "4929123412341234"

// TestRedact: no text that a rule matches remains anywhere, and hashes are stable for the same
// salt.
func TestRedact(t *testing.T) {
	t.Parallel()
	env := proviso.EnvMap{"SALT": "s"}
	r, err := ingest.NewRedactor([]ingest.Rule{{Pattern: `\d{16}`}, {Field: "user", HashEnv: "SALT"}, {Field: "metadata.iban"}, {Field: "segment.customer", HashEnv: "SALT"}}, env)
	if err != nil {
		t.Fatal(err)
	}
	e := ingest.Event{ID: "e", Agent: "a", Input: "my card " + secret, Output: secret + secret, Context: secret, Prompt: "p " + secret, Error: secret, User: "eve", Conversation: "c",
		Segment:  map[string]string{"customer": "acme", "card": secret},
		Metadata: object(t, `{"iban":"DE1","deep":[{"`+secret+`":"x","n":`+secret+`}],"keep":1}`)}
	before := value.Stringify(e.Metadata)
	meta := e.Metadata
	r.Event(&e)
	text := value.Stringify(e.Object())
	if strings.Contains(text, secret) || strings.Contains(text, "eve") || strings.Contains(text, "acme") || strings.Contains(text, "DE1") {
		t.Error(text)
	}
	if value.Stringify(meta) != before {
		t.Error("the metadata of the caller was changed")
	}
	if e.User != r.User("eve") || !strings.HasPrefix(e.User, "hash:") || e.Conversation != "c" || e.Metadata.At("keep") != 1.0 {
		t.Errorf("%+v", e)
	}
	f := ingest.Feedback{User: "eve", Comment: "card " + secret}
	if r.Feedback(&f); f.User != e.User || f.Comment != "card [redacted]" {
		t.Errorf("%+v", f)
	}
	if p, err := ingest.NewRedactor([]ingest.Rule{{Pattern: `\d`}, {Pattern: `\S+@\S+`}}, env); err != nil || p.User("eve@example.com") != "[redacted]" {
		t.Errorf("a user that a pattern matches: %v", err)
	} else {
		grown := ingest.Event{Output: strings.Repeat("1", ingest.MaxText/4), Segment: map[string]string{"a": strings.Repeat("1é", 60)}}
		if p.Event(&grown); len(grown.Output) > ingest.MaxText || len(grown.Segment["a"]) > ingest.MaxName {
			t.Errorf("%d and %d bytes after redaction", len(grown.Output), len(grown.Segment["a"]))
		}
	}
	var none *ingest.Redactor
	none.Event(&e)
	if none.Text("a") != "a" || none.User("u") != "u" {
		t.Error("without rules")
	}
}

// TestRules: the error of a rule that cannot work has a position and a reason.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rules, want string }{
		{`[{"pattern":"\\d+"},{"field":"user","hash_env":"SALT"},{"field":"metadata.email"}]`, ""},
		{`{}`, "/redact: the rules have to be a list, not an object"},
		{`[1]`, "/redact/0: a rule has to be an object with pattern or field, not a number"},
		{`[{}]`, "/redact/0: a rule needs either a pattern or a field"},
		{`[{"pattern":"("}]`, "/redact/0/pattern: the pattern is not a valid RE2 regular expression: error parsing regexp: missing closing ): `(`"},
		{`[{"pattern":"x*"}]`, "/redact/0/pattern: the pattern matches the empty text, so that it would match everywhere"},
		{`[{"patern":"x"}]`, `/redact/0/patern: unknown field "patern"; did you mean "pattern"?`},
		{`[{"field":"usr"}]`, `/redact/0/field: there is no field "usr"; did you mean "user"?`},
		{`[{"field":"metadata"}]`, `/redact/0/field: metadata has to name a member, such as metadata.customer`},
		{`[{"pattern":"x","hash_env":"S"}]`, "/redact/0/hash_env: hash_env is for a field; what a pattern matches is removed"},
	} {
		v, err := value.ParseJSON(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		if _, wrong := ingest.ReadRules(v, "/redact"); texts(wrong) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.rules, texts(wrong), c.want)
		}
	}
	if _, err := ingest.NewRedactor([]ingest.Rule{{Field: "user", HashEnv: "NONE"}}, proviso.EnvMap{}); err == nil || !strings.Contains(err.Error(), "NONE") {
		t.Error(err)
	}
}

// FuzzReadEvent: no input crashes the reader, a valid event survives writing and reading, and no
// redacted event contains a match of the pattern.
func FuzzReadEvent(f *testing.F) {
	f.Add(`{"id":"e","agent":"a","output":"my card 4929123412341234","segment":{"a":"1"},"metadata":{"b":[{"c":"4929123412341234"}]}}`)
	f.Add(`{"id":"e","agent":"a","error":"x","usage":{"total":1e300},"time":"2026-01-31T09:00:00+24:00"}`)
	r, err := ingest.NewRedactor([]ingest.Rule{{Pattern: `\d{16}`}, {Field: "user", HashEnv: "S"}}, proviso.EnvMap{"S": "s"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.ParseJSON(text)
		o, ok := v.(*value.Object)
		if err != nil || !ok {
			return
		}
		_, _ = ingest.ReadFeedback(o, now)
		e, wrong := ingest.ReadEvent(o, now)
		if len(wrong) > 0 {
			return
		}
		again, wrong := ingest.ReadEvent(e.Object(), now)
		if len(wrong) > 0 || value.Stringify(again.Object()) != value.Stringify(e.Object()) {
			t.Fatalf("%v\n%s\n%s", wrong, value.Stringify(e.Object()), value.Stringify(again.Object()))
		}
		r.Event(&e)
		texts := []string{e.Input, e.Output, e.Context, e.Error, value.Stringify(e.Metadata)}
		for _, text := range e.Segment {
			texts = append(texts, text)
		}
		for _, text := range texts {
			if text != "undefined" && r.Text(text) != text {
				t.Fatalf("not redacted: %q", text)
			}
		}
	})
}
