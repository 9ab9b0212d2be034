package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

const pushedSuite = `description: pushed suite
prompts: ["Hello {{x}}"]
providers: [echo]
tests:
  - {vars: {x: a}, assert: [{type: contains, value: Hello, metric: greets}]}
  - {vars: {x: b}, assert: [{type: contains, value: c, metric: names}]}
`

var keptLine = regexp.MustCompile(`Kept in .*`)

// TestPushAndName pushes a run to a real server. Other commands accept the printed URL as the name
// of the run.
func TestPushAndName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	secret := ""
	proviso := func(code int, args ...string) (out, errs string) {
		t.Helper()
		cmd := provisoCommand(t, dir, model.URL, args...)
		var o, e bytes.Buffer
		cmd.Env = append(cmd.Env, "PROVISO_API_KEY="+secret)
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("proviso %v: exit code %d, want %d\n%s%s", args, got, code, o.String(), e.String())
		}
		return o.String(), e.String()
	}
	if err := os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(pushedSuite), 0o600); err != nil {
		t.Fatal(err)
	}
	key := func(scope string) string {
		out, _ := proviso(0, "key", "create", scope, "--scope", scope)
		return strings.TrimSpace(out)
	}
	edit, read := key("edit"), key("read")
	s := startServe(t, dir, model.URL)
	proviso(1, "eval", "-c", "suite.yaml")

	if _, errs := proviso(2, "push", "last", s.url); !strings.Contains(errs, "PROVISO_API_KEY is not set") {
		t.Errorf("without a key: %s", errs)
	}
	secret = read
	if _, errs := proviso(2, "push", "last", s.url); !strings.Contains(errs, "needs a key with the scope edit") {
		t.Errorf("with a key that only reads: %s", errs)
	}
	secret = edit
	link, _ := proviso(0, "push", "last", s.url)
	if again, _ := proviso(0, "push", "last", s.url+"/v1/runs/"); again != link {
		t.Errorf("pushed again as %s, and before as %s", again, link)
	}
	link = strings.TrimSpace(link)
	if !strings.HasPrefix(link, s.url+"/runs/run_") {
		t.Fatalf("the link is %s", link)
	}
	resp, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the link is no page: %s %v", resp.Status, resp.Header)
	}
	if again, _ := proviso(0, "push", "last", s.url+"/runs/"); strings.TrimSpace(again) != link {
		t.Errorf("pushed to the page of all runs as %s, and before as %s", again, link)
	}
	secret = read
	local, _ := proviso(0, "show", "last")
	shown, errs := proviso(0, "show", link)
	if want := keptLine.ReplaceAllString(local, "Kept in "+link); shown != want || errs != "" {
		t.Errorf("shown from the server:\n%s%s\nwant:\n%s", shown, errs, want)
	}
	if out, _ := proviso(0, "compare", link, "last"); !strings.HasPrefix(strings.Join(strings.Fields(out), " "), "base "+link+", head 2") || !strings.Contains(out, "= no case changed") {
		t.Errorf("compared with the server:\n%s", out)
	}
	proviso(0, "judge", "--lint", "--run", link)
	if _, errs := proviso(2, "align", "--template", link); !strings.Contains(errs, "the run has no verdict of a judge") {
		t.Errorf("align says %s", errs)
	}
	secret = edit
	if same, _ := proviso(0, "push", link, s.url); strings.TrimSpace(same) != link {
		t.Errorf("a run of the server is pushed as %s, not as %s", same, link)
	}
	secret = ""
	if _, errs := proviso(2, "show", link); !strings.Contains(errs, "status 401") {
		t.Errorf("without a key: %s", errs)
	}
	secret = read
	if _, errs := proviso(2, "show", s.url+"/v1/runs/run_none"); !strings.Contains(errs, "there is no run") {
		t.Errorf("no such run: %s", errs)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "proviso-fetched-*")); len(left) > 0 {
		t.Errorf("copies stay: %v", left)
	}
}

// TestRedirectedKey: the key is sent only to the server that the user names, not to another port of
// the same host after a redirect.
func TestRedirectedKey(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer other.Close()
	named := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/runs/run_1/file", http.StatusTemporaryRedirect))
	defer named.Close()
	cmd := provisoCommand(t, t.TempDir(), "", "show", named.URL+"/v1/runs/run_1")
	cmd.Env = append(cmd.Env, "PROVISO_API_KEY=pk_secret")
	out, err := cmd.CombinedOutput()
	if err == nil || asked.Load() || !strings.Contains(string(out), "redirects to "+other.URL) {
		t.Errorf("%v, asked %v: %s", err, asked.Load(), out)
	}
}
