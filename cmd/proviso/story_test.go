package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// storyLimit is the maximum number of lines that `make demo` prints after the build: about a minute
// of reading.
const storyLimit = 60

// story runs examples/demo.sh as `make demo` does, without keys and with every
// connection refused, and returns its output with varying parts replaced.
func story(t *testing.T, env ...string) string {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("the demo is for a shell, and prints paths with slashes")
	}
	cmd := exec.Command(shell, filepath.Join(repository, "examples", "demo.sh"), "proviso")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=",
		"HTTP_PROXY=http://localhost:1", "HTTPS_PROXY=http://localhost:1")
	cmd.Env = append(cmd.Env, env...)
	data, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return steady(string(data))
}

// steady replaces what varies between runs: durations and folders.
func steady(text string) string {
	text = regexp.MustCompile(`(rows?), [0-9.]+ m?s`).ReplaceAllString(text, "$1, 5 ms")
	return regexp.MustCompile(`(?m)Kept in .*$`).ReplaceAllString(text, "Kept in ~/.local/state/proviso/runs/20260105-091500-k3x9/run.jsonl")
}

// TestStoryIsShort checks the first command that a newcomer runs: at most a minute of reading, with
// what is broken, where, why, and what to do next.
func TestStoryIsShort(t *testing.T) {
	text := story(t, "NO_COLOR=1")
	if n := strings.Count(text, "\n"); n >= storyLimit {
		t.Errorf("make demo prints %d lines, want fewer than %d:\n%s", n, storyLimit, text)
	}
	for _, part := range []string{"✗ not-icontains", "^^^^^^^^^^^", "1 failed", "What to do next", "4 passed, 0 failed"} {
		if !strings.Contains(text, part) {
			t.Errorf("the demo does not show %q:\n%s", part, text)
		}
	}
}

// TestStoryEndsWithCommands runs the commands that the demo suggests at its end; the last
// one shows the runs of the demo.
func TestStoryEndsWithCommands(t *testing.T) {
	dir := t.TempDir()
	_, offered, _ := strings.Cut(story(t, "NO_COLOR=1", "XDG_STATE_HOME="+filepath.Join(dir, "state")), "\nNow you\n")
	lines := strings.Split(strings.TrimSpace(offered), "\n")
	if len(lines) != 4 || !strings.HasPrefix(strings.TrimSpace(lines[3]), "./proviso view  ") {
		t.Fatalf("the demo ends with %d commands, want 4, view the last:\n%s", len(lines), offered)
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Symlink(filepath.Join(root, "examples"), "examples"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	for _, line := range lines[:3] {
		command, what, ok := strings.Cut(strings.TrimSpace(line), "  ")
		args := strings.Fields(command)
		if !ok || what == "" || args[0] != "./proviso" {
			t.Errorf("%q is not a command with what it does", line)
			continue
		}
		if code, out := printed(t, args[1:]...); code != exitOK && code != exitFailed {
			t.Errorf("%s: exit code %d\n%s", command, code, out)
		}
	}
	for _, name := range []string{"report.html", "my-suite/proviso.yaml"} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the commands did not write %s", name)
		}
	}
	cmd := provisoCommand(t, dir, "", "view", "--no-open")
	v, err := startViewer(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if status, _, err := v.get(v.link); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	var shown struct{ Items []struct{ Suite string } }
	if v.json(t, "/v1/runs", &shown); len(shown.Items) != 2 {
		t.Errorf("%+v", shown)
	}
}

// TestStoryIsThePicture compares the terminal picture in the README with the demo's output from its
// first command to the explanation. The first picture is of the app.
func TestStoryIsThePicture(t *testing.T) {
	text := story(t, "FORCE_COLOR=1")
	_, shown, ok1 := strings.Cut(text, "\n$ ")
	shown, _, ok2 := strings.Cut(shown, "\n\nHow to read this\n")
	command, out, ok3 := strings.Cut(shown, "\n")
	if !ok1 || !ok2 || !ok3 {
		t.Fatalf("the demo has no first command with an explanation:\n%s", text)
	}
	picture := svg(command, out)
	if *updateDocs {
		if err := os.WriteFile(filepath.Join(repository, "docs/demo.svg"), []byte(picture), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if readDoc(t, "docs/demo.svg") != picture {
		t.Error("docs/demo.svg is not what the demo prints; run go test ./cmd/proviso -update-docs")
	}
	readme := readDoc(t, "README.md")
	top, _, _ := strings.Cut(readme, "\n## ")
	if !strings.Contains(top, "](docs/app/") || !strings.Contains(readme, "](docs/demo.svg)") {
		t.Error("README.md does not show the app before its first heading, and docs/demo.svg below")
	}
}

// TestSupportDemo runs the suite of `make demo-support`.
func TestSupportDemo(t *testing.T) {
	code, out := printed(t, "eval", "-c", filepath.Join(repository, "examples/support/proviso.yaml"))
	if code != exitFailed || !strings.HasSuffix(out, "6 passed, 4 failed, 0 errors\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
