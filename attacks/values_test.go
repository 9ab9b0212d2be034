package attacks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestReplyOfSmallObjects has a model and an HTTP endpoint answer with millions of
// small objects. Reading them would take seventy times the memory of the text: the row
// is undecided with the code limit. A long text in one value is read.
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
	for _, kind := range []string{"is-json", "json-path, value: '$[0]'"} { // a text that the model wrote
		server := fakemodel.New(fakemodel.Options{Forget: true, Reply: func(fakemodel.Request) fakemodel.Reply { return fakemodel.Reply{Text: objects} }})
		t.Cleanup(server.Close)
		limited(t, kind, "openai:chat:fake\n    config: {apiBaseUrl: '"+server.URL+"/v1', apiKey: not-a-key}", kind, "the JSON holds more than 1000000 values")
	}
}

// limited evaluates one row. It ends with an error that says want, or passes if want is "".
func limited(t *testing.T, name, provider, assert, want string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"proviso.yaml": "prompts: [hi]\nproviders:\n  - id: " + provider + "\ntests:\n  - assert: [{type: " + assert + "}]\n"})
	cmd := command(t, dir, "eval", "--no-cache", "--run-dir", "runs")
	out, err := cmd.CombinedOutput()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want)) {
		t.Errorf("%s: %v\n%.1500s", name, err, out)
	}
}
