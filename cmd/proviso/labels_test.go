package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proviso-eval/proviso/internal/fakemodel"
)

// TestLabelsOfServer moves labels into a server and out of it.
func TestLabelsOfServer(t *testing.T) {
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
	keys := map[string]string{}
	for _, scope := range []string{"admin", "read", "label"} {
		out, _ := proviso(0, "key", "create", scope, "--scope", scope)
		keys[scope] = strings.TrimSpace(out)
	}
	s := startServe(t, dir, model.URL)
	var text strings.Builder
	for i := range 2100 { // in several requests
		fmt.Fprintf(&text, `{"label_id":"label_%d","run":"run_gone","row":%d,"assertion":"kind","human":"pass","by":"ana","created":"2026-01-05T09:15:00Z"}`+"\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "labels.jsonl"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	secret = keys["read"]
	if _, errs := proviso(2, "labels", "import", "labels.jsonl", "--server", s.url); !strings.Contains(errs, "the scope admin") {
		t.Errorf("with a key that only reads: %s", errs)
	}
	secret = keys["admin"]
	if _, errs := proviso(0, "labels", "import", "labels.jsonl", "--server", s.url); !strings.Contains(errs, "added 2100 labels\n") {
		t.Errorf("%s", errs)
	}
	if _, errs := proviso(0, "labels", "import", "labels.jsonl", "--server", s.url+"/"); !strings.Contains(errs, "added 0 labels, 2100 existed already\n") {
		t.Errorf("again: %s", errs)
	}
	secret = keys["read"]
	out, _ := proviso(0, "labels", "export", "--server", s.url, "--run", "run_gone", "--by", "ana")
	if out != text.String() {
		t.Errorf("exported: %.300s", out)
	}
	if out, _ := proviso(0, "labels", "list", "--server", s.url, "--by", "nobody"); strings.Count(out, "\n") != 1 {
		t.Errorf("of nobody: %s", out)
	}
	secret = keys["label"] // none of its own
	if out, _ := proviso(0, "labels", "export", "--server", s.url); out != "" {
		t.Errorf("with a key that only labels: %.300s", out)
	}
	if _, errs := proviso(2, "labels", "export", "--server", "nowhere"); !strings.Contains(errs, "is not the URL of a server") {
		t.Errorf("no URL: %s", errs)
	}
}

// TestViewLabels: view accepts labels and queues, stores the labels beside the runs, and continues
// with them when it starts again.
func TestViewLabels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := fakemodel.New(fakemodel.Options{})
	defer model.Close()
	if err := os.WriteFile(filepath.Join(dir, "suite.yaml"), []byte(pushedSuite), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = provisoCommand(t, dir, model.URL, "eval", "-c", "suite.yaml", "--run-dir", "runs").Run() // one case fails
	var v *viewer
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, v.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for key, text := range map[string]string{"Origin": v.base, "X-Proviso": "1", "Content-Type": "application/json", "Idempotency-Key": method + path + body} {
			req.Header.Set(key, text)
		}
		resp, err := v.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(data)
	}
	ids, err := filepath.Glob(filepath.Join(dir, "runs", "*-*-*"))
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	run := filepath.Base(ids[0])
	for i, want := range []string{`"left":2,"mine":0`, `"left":1,"mine":1`} {
		if v, err = startViewer(provisoCommand(t, dir, model.URL, "view", "--no-open", "--run-dir", "runs")); err != nil {
			t.Fatal(err)
		}
		if status, body, err := v.get(v.link); status != 200 || err != nil {
			t.Fatal(status, body, err)
		}
		if status, body := ask("PUT", "/v1/label-queues/q", fmt.Sprintf(`{"run": %q, "assertions": ["greets", "names"], "people": 2}`, run)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		status, body := ask("POST", "/v1/label-queues/q/lease", "")
		if status != 200 || !strings.Contains(body, want) {
			t.Fatalf("%d %s", status, body)
		}
		var lease struct {
			Item struct {
				Index     int
				Assertion string
			}
		}
		if err := json.Unmarshal([]byte(body), &lease); err != nil {
			t.Fatal(err)
		}
		label := fmt.Sprintf(`{"run": %q, "index": %d, "assertion": %q, "label": "fail", "queue": "q"}`, run, lease.Item.Index, lease.Item.Assertion)
		status, body = ask("POST", "/v1/labels", label)
		again, same := ask("POST", "/v1/labels", label)
		if status != 201 || again != 201 || same != body {
			t.Fatalf("%d %s\n%d %s", status, body, again, same)
		}
		if code := v.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		data, err := os.ReadFile(filepath.Join(dir, "runs", "labels.jsonl"))
		if err != nil || strings.Count(string(data), "\n") != i+1 {
			t.Errorf("%s %v", data, err)
		}
	}
}
