package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/proviso-eval/proviso/internal/fakeforge"
	"github.com/proviso-eval/proviso/report"
)

// scriptForges are the forges of running scripts.
var scriptForges sync.Map

const forgeCommit = "0123456789abcdef0123456789abcdef01234567"

// startForge starts a forge that has comments of other people, and sets the environment of a CI
// job. The event of a GitHub job is in event.json of the script.
func startForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fakeforge github|gitlab")
	}
	o := fakeforge.Options{Token: "sekret-token-1234", Viewer: "github-actions[bot]", Pulls: []fakeforge.Pull{{Number: 5, Head: "guest:fix", SHA: forgeCommit}}}
	env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/app", "GITHUB_RUN_ID": "40", "GITHUB_SERVER_URL": "https://github.example", "GITHUB_EVENT_PATH": ts.MkAbs("event.json"), "GITHUB_TOKEN": o.Token}
	api := "GITHUB_API_URL"
	if args[0] == "gitlab" {
		o.GitLab, o.Viewer, api = true, "31", "CI_API_V4_URL"
		env = map[string]string{"GITLAB_CI": "true", "CI_PROJECT_ID": "77", "CI_MERGE_REQUEST_IID": "5", "CI_PIPELINE_ID": "40", "CI_COMMIT_SHA": forgeCommit, "GITLAB_TOKEN": o.Token}
	}
	s := fakeforge.New(o)
	ts.Defer(s.Close)
	env[api] = s.URL
	for name, v := range env {
		ts.Setenv(name, v)
	}
	for i := range 120 {
		s.Add("12", fmt.Sprintf("comment %d of somebody", i))
	}
	scriptForges.Store(ts, s)
}

// writeComments writes the comments other than those of other people.
func writeComments(ts *testscript.TestScript, neg bool, args []string) {
	v, ok := scriptForges.Load(ts)
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: comments FILE, after fakeforge")
	}
	var b strings.Builder
	for _, c := range v.(*fakeforge.Server).Comments() {
		if c.Author != "12" {
			fmt.Fprintf(&b, "comment by %s\n%s\n", c.Author, c.Body)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// TestCommentKeepsReports: the comment of an untrusted report equals the report of the gate, except
// for its links.
func TestCommentKeepsReports(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "gate/show/testdata/fail.md")
	plain := strings.NewReplacer(`\[`, "[", `\]`, "]", `\<`, "<", `\~`, "~", ":\u2060//", "://").Replace(report.UntrustedMarkdown(page))
	if strings.TrimSpace(plain) != strings.TrimSpace(strings.NewReplacer(`\[`, "[", `\]`, "]", `\<`, "<", `\~`, "~").Replace(page)) {
		t.Errorf("the report\n%s\nbecomes\n%s", page, plain)
	}
	if strings.Count(page, "\n") < 50 {
		t.Errorf("the report is short:\n%s", page)
	}
}
