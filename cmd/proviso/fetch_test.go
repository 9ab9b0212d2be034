package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestFetchedCases runs the scripts in testdata/fetch with a server for the files in
// the folder site; SITE in the suites is its address. In addition to the commands of
// TestCommands they have:
//
//	fetched N      the server got N requests since the last time
func TestFetchedCases(t *testing.T) {
	t.Parallel()
	type counter struct{}
	cmds := commandsOfScripts()
	cmds["fetched"] = func(ts *testscript.TestScript, neg bool, args []string) {
		n, _ := ts.Value(counter{}).(*atomic.Int64)
		if got := strconv.FormatInt(n.Swap(0), 10); neg || len(args) != 1 || got != args[0] {
			ts.Fatalf("the server was asked %s times, want %v", got, args)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "fetch"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			files := http.FileServer(http.Dir(filepath.Join(e.WorkDir, "site")))
			n := &atomic.Int64{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n.Add(1)
				files.ServeHTTP(w, r)
			}))
			e.Defer(server.Close)
			e.Values[counter{}] = n
			names, err := filepath.Glob(filepath.Join(e.WorkDir, "*.yaml"))
			if err != nil {
				return err
			}
			for _, name := range names { // they contain the server's URL
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				if err := os.WriteFile(name, bytes.ReplaceAll(data, []byte("SITE"), []byte(server.URL)), 0o644); err != nil {
					return err
				}
			}
			e.Setenv("SECRET", "sk-in-the-environment")
			return setup(e)
		},
		Cmds: cmds,
	})
}
