package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestTraffic runs the scripts in testdata/traffic with a fake of a server of proviso, which
// shows the answers of the agent support since March in two pages to the key pv-right.
func TestTraffic(t *testing.T) {
	t.Parallel()
	const pages = `{"items":[{"id":"e1","agent":"support","time":"2026-03-05T09:00:00Z","input":"When?","output":"At six.","version":"7","up":1,"down":0},` +
		`{"id":"e2","agent":"support","time":"2026-03-04T09:00:00Z","input":"Where?","output":"No idea.","up":0,"down":2}],"next":"p2"}`
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "traffic"),
		RequireExplicitExec: true,
		Condition:           condition,
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				q := r.URL.Query()
				switch {
				case r.Header.Get("Authorization") != "Bearer pv-right":
					w.WriteHeader(http.StatusUnauthorized)
				case r.URL.Path != "/v1/events" || q.Get("texts") != "full" || q.Get("kept") != "yes":
					w.WriteHeader(http.StatusBadRequest)
				case q.Get("agent") != "support":
					fmt.Fprint(w, `{"items":[]}`)
				case q.Get("since") != "2026-03-01T00:00:00Z":
					w.WriteHeader(http.StatusBadRequest)
				case q.Get("after") == "p2":
					fmt.Fprint(w, `{"items":[{"id":"e3","agent":"support","time":"2026-03-02T09:00:00Z","output":"Yes.","up":0,"down":0}]}`)
				default:
					fmt.Fprint(w, pages)
				}
			}))
			e.Defer(server.Close)
			e.Setenv("SERVER", server.URL)
			e.Setenv("PROVISO_API_KEY", "pv-right")
			return setup(e)
		},
		Cmds: commandsOfScripts(),
	})
}

func TestParseSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-03-01": "2026-03-01T00:00:00Z", "2026-03-01T06:00:00Z": "2026-03-01T06:00:00Z",
		"36h": "2026-03-07T00:00:00Z", "7d": "2026-03-01T12:00:00Z", "0d": "2026-03-08T12:00:00Z",
		"yesterday": "", "-1d": "", "-3h": "", "99999999d": "", "": "",
	} {
		got, err := parseSince(text, now)
		if (err == nil) != (want != "") || err == nil && got.Format(time.RFC3339) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}
