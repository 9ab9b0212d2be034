package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestHub runs the scripts in testdata/hub with a fake of LangSmith's hub, which shows the
// prompt shop/bakery to the key ls-right.
func TestHub(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "hub"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Header.Get("X-Api-Key") != "ls-right":
					w.WriteHeader(http.StatusUnauthorized)
				case r.URL.Path != "/commits/shop/bakery":
					w.WriteHeader(http.StatusNotFound)
				default:
					fmt.Fprint(w, `{"total":2,"commits":[`+
						`{"commit_hash":"b096","created_at":"2026-03-09T09:00:00+00:00","manifest":{"lc":1,"type":"constructor","id":["langchain","prompts","prompt","PromptTemplate"],"kwargs":{"template":"You answer customers.\nAnswer in at most 3 sentences.\n{question}"}}},`+
						`{"commit_hash":"a028","created_at":"2026-03-02T09:00:00+00:00","manifest":{"lc":1,"type":"constructor","id":["langchain","prompts","prompt","PromptTemplate"],"kwargs":{"template":"You answer customers.\n{question}"}}}]}`)
				}
			}))
			e.Defer(server.Close)
			e.Setenv("LANGSMITH_ENDPOINT", server.URL)
			return setup(e)
		},
		Cmds: commandsOfScripts(),
	})
}
