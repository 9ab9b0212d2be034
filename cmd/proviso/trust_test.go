package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/check"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/suite"
)

// TestUntrustedNetwork runs the scripts in testdata/untrusted against a local server. In their
// suites, HERE is its address, and NAMED the same address with a host name.
func TestUntrustedNetwork(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "untrusted"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			seen := filepath.Join(e.WorkDir, "seen")
			here, stop := serveVerdicts(seen)
			e.Defer(stop)
			e.Setenv("HERE", here)
			e.Setenv("SEEN", seen)
			suites, err := filepath.Glob(filepath.Join(e.WorkDir, "*.yaml"))
			if err != nil {
				return err
			}
			for _, name := range suites {
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				text := strings.NewReplacer("HERE", here, "NAMED", strings.Replace(here, "127.0.0.1", "localhost", 1)).Replace(string(data))
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					return err
				}
			}
			return setup(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": wantExit},
	})
}

// serveVerdicts answers webhooks and chats, and records the keys it receives.
func serveVerdicts(seen string) (here string, stop func()) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Authorization"); key != "" {
			_ = os.WriteFile(seen, []byte(key), 0o600)
		}
		w.Header().Set("Content-Type", "application/json")
		switch _, port, _ := strings.Cut(r.Host, ":"); {
		case r.URL.Path == "/away":
			http.Redirect(w, r, "http://localhost:"+port+"/pass", http.StatusTemporaryRedirect)
		case strings.HasSuffix(r.URL.Path, "/pass"):
			_, _ = io.WriteString(w, `{"pass": true}`)
		default:
			_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}`)
		}
	}))
	return strings.TrimPrefix(srv.URL, "http://"), srv.Close
}

// TestUntrustedTypes checks that every assertion type that runs code is refused when
// the suite is read.
func TestUntrustedTypes(t *testing.T) {
	t.Parallel()
	for _, kind := range check.Kinds() {
		if kind.Needs&check.NeedsCode == 0 {
			continue
		}
		name := filepath.Join(t.TempDir(), "proviso.yaml")
		text := fmt.Sprintf("prompts: [p]\nproviders: [echo]\ntests: [{assert: [{type: %s, value: 'true'}]}]\n", kind.Type)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, mistakes := suite.Read(t.Context(), []string{name}, suite.Options{Facts: engine.Facts(), Trust: &suite.Trust{}})
		if len(mistakes) != 1 || mistakes[0].Code != proviso.Refused || mistakes[0].Place.Line != 3 {
			t.Errorf("%s: %v", kind.Type, mistakes)
		}
	}
}
