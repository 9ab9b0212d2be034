package main

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestModels runs the scripts in testdata/models against a server that stands for
// OpenAI and Anthropic. A word in the prompt selects the answer, see replies. In
// addition to the commands of TestCommands they have:
//
//	asked N        the server got N requests since the last time
func TestModels(t *testing.T) {
	t.Parallel()
	cmds := commandsOfScripts()
	cmds["asked"] = asked
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "models"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := fakemodel.New(fakemodel.Options{Reply: reply})
			e.Defer(server.Close)
			e.Values[serverKey{}] = server
			e.Setenv("MODEL", server.URL)
			e.Setenv("OPENAI_API_KEY", "sk-made-up-for-tests")
			e.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
			e.Setenv("ANTHROPIC_API_KEY", "sk-ant-made-up-for-tests")
			e.Setenv("ANTHROPIC_BASE_URL", server.URL)
			return setup(e)
		},
		Cmds: cmds,
	})
}

type serverKey struct{}

func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked N")
	}
	server, _ := ts.Value(serverKey{}).(*fakemodel.Server)
	if got := strconv.Itoa(server.Count()); got != args[0] {
		ts.Fatalf("the server was asked %s times, want %s", got, args[0])
	}
	server.Reset()
}

// replies are the server's replies to prompts with a given word.
func replies() map[string]fakemodel.Reply {
	return map[string]fakemodel.Reply{
		"unknown-model": fakemodel.Reply{}.Failing(http.StatusNotFound, "model_not_found", "The model `gpt-4.1-minni` does not exist or you do not have access to it."),
		"wrong-key":     fakemodel.Reply{}.Failing(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided."),
		"html-page":     fakemodel.HTML(http.StatusOK),
		"html-gateway":  fakemodel.HTML(http.StatusBadGateway),
		"error-in-200":  {Status: http.StatusOK, Raw: `{"error": {"message": "upstream is out of memory", "type": "server_error", "code": 507}}`},
		"no-json":       {Raw: `{"choices": [`},
		"empty-body":    {Raw: " "},
		"hang":          {Hang: true},
		"cut":           {Text: strings.Repeat("long ", 1000), Cut: true},
		"reset":         {Reset: true},
		"slow-down":     fakemodel.RateLimited(""),
		"out-of-quota":  fakemodel.OutOfQuota(),
		"broken":        fakemodel.Broken(http.StatusInternalServerError),
	}
}

// reply answers with the prompt, unless it contains a word of replies.
func reply(r fakemodel.Request) fakemodel.Reply {
	for word, answer := range replies() {
		if strings.Contains(r.Prompt, word) {
			return answer
		}
	}
	n := int64(len(r.Prompt))
	return fakemodel.Reply{Header: map[string]string{"X-Request-Id": "req_of_the_test"}, Text: "You said: " + r.Prompt, Usage: proviso.Usage{Total: 1010 + n, Prompt: 1000 + n, Completion: 10}}
}
