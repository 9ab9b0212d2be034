package attacks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestReplyOfSmallObjects has a model and an HTTP endpoint reply with millions of small
// objects. Parsing them would take seventy times the size of the text: the row is
// undecided with the code limit. A long text in a single value is accepted.
func TestReplyOfSmallObjects(t *testing.T) {
	t.Parallel()
	objects := "[" + strings.Repeat("{},", 2_000_000) + "{}]"
	long := `{"text":"` + strings.Repeat("a", 10<<20) + `"}`
	for _, c := range []struct{ name, body, want string }{
		{"small objects", `{"choices":` + objects + `}`, "the JSON holds more than 1000000 values"},
		{"a long text", `{"choices":[{"message":{"content":"` + strings.Repeat("a", 20<<20) + `"}}]}`, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, c.body)
		}))
		t.Cleanup(server.Close)
		limited(t, c.name, "openai:chat:fake\n    config: {apiBaseUrl: '"+server.URL+"/v1', apiKey: not-a-key}", "contains, value: a", c.want)
	}
	for _, c := range []struct{ name, body, want string }{{"small objects of an endpoint", objects, "the JSON holds more than 1000000 values"}, {"a long text of an endpoint", long, ""}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) }))
		t.Cleanup(server.Close)
		limited(t, c.name, "'"+server.URL+"'\n    config: {method: POST, body: {q: '{{prompt}}'}}", "contains, value: a", c.want)
	}
	const many = "the JSON holds more than 1000000 values"
	call := fakemodel.Reply{Calls: []fakemodel.Call{{ID: "c", Name: "f", Arguments: `{"a":` + objects + `}`}}}
	for _, c := range []struct {
		assert string
		reply  fakemodel.Reply // the reply that the model wrote
		want   string
	}{
		{"is-json", fakemodel.Reply{Text: objects}, many},
		{"json-path, value: '$[0]'", fakemodel.Reply{Text: objects}, many},
		{"equals, value: {a: 1}", fakemodel.Reply{Text: objects}, many},
		{"not-equals, value: {a: 1}", fakemodel.Reply{Text: objects}, many},
		{"contains-json, value: {type: object, required: [a]}", fakemodel.Reply{Text: strings.Repeat("{", 20<<20)}, "the text holds 20971520 braces"},
		{"tool-call-f1, value: [f]", fakemodel.Reply{Text: objects}, many},
		{"tool-call-f1, value: [f]", fakemodel.Reply{Text: "Here they are:\n" + objects}, many},
		{"is-valid-openai-tools-call", call, many},
		{"not-is-valid-openai-tools-call", call, many},
	} {
		server := fakemodel.New(fakemodel.Options{Forget: true, Reply: func(fakemodel.Request) fakemodel.Reply { return c.reply }})
		t.Cleanup(server.Close)
		limited(t, c.assert, "openai:chat:fake\n    config: {apiBaseUrl: '"+server.URL+"/v1', apiKey: not-a-key, tools: [{type: function, function: {name: f, parameters: {type: object}}}]}", c.assert, c.want)
	}
}

// mostMemory is the memory allowed for evaluating a row: the text, a million values, and
// room for garbage collection.
const mostMemory = 1 << 29

// limited evaluates one row. The row must end with an error that contains want, or pass
// if want is "", and must not use more than mostMemory.
func limited(t *testing.T, name, provider, assert, want string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"proviso.yaml": "prompts: [hi]\nproviders:\n  - id: " + provider + "\ntests:\n  - assert: [{type: " + assert + "}]\n"})
	cmd := command(t, dir, "eval", "--no-cache", "--run-dir", "runs")
	out, used, err := output(t, cmd)
	t.Logf("%s: %d MiB", name, used>>20)
	if used > mostMemory {
		t.Errorf("%s: it took %d MiB of memory", name, used>>20)
	}
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want)) {
		t.Errorf("%s: %v\n%.1500s", name, err, out)
	}
}
